"""Command `pkmn bench`: measure the speed of the parts on this machine."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pkmncli.bench.environment import bench_environment
from pkmncli.bench.llm import bench_llm
from pkmncli.bench.pairs import Measurement
from pkmncli.bench.startup import bench_startup
from pkmncli.bench.training import bench_memory, bench_training
from pkmncli.bench.workers import bench_workers
from pkmncli.config import ResolvedSettings, resolve_settings
from pkmncli.outgoing_text import drawing_stream
from pkmncli.plugins import Registry, get_registry
from pkmncli.tables import table
from pkmncli.training.interrupts import InterruptFlag


class Part(StrEnum):
    """Parts whose speed can be measured."""

    ENV = "env"
    WORKERS = "workers"
    TRAINING = "training"
    MEMORY = "memory"
    LLM = "llm"
    STARTUP = "startup"


Stop = Callable[[], bool]

_MEASURES: dict[Part, Callable[[ResolvedSettings, Registry, Stop], list[Measurement]]] = {
    Part.ENV: lambda settings, registry, stop: bench_environment(settings, registry, stop=stop),
    Part.WORKERS: lambda settings, registry, stop: bench_workers(settings, registry, stop=stop),
    Part.TRAINING: lambda _settings, registry, stop: bench_training(registry, stop=stop),
    Part.MEMORY: lambda _settings, registry, _stop: bench_memory(registry),
    Part.LLM: lambda _settings, registry, stop: bench_llm(registry, stop=stop),
    Part.STARTUP: lambda _settings, _registry, stop: bench_startup(stop=stop),
}


def bench(
    parts: Annotated[list[Part] | None, typer.Argument(help="Parts to measure. [default: all]")] = None,
    *,
    env: Annotated[str | None, typer.Option(help="Environment that env and workers measure. [default: pyboy]")] = None,
    rom: Annotated[
        Path | None,
        typer.Option(readable=False, help="Cartridge image of that environment. [default: the bundled game]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure the speed of the parts: ratios from repeated pairs in one run, with their budgets."""
    registry = get_registry()
    settings = resolve_settings({"mode": "rl-only", "env": env, "rom_path": rom}, registry=registry, environ={})
    console = Console(file=drawing_stream(error=as_json), highlight=False, stderr=as_json)
    results: dict[str, list[Measurement]] = {}
    with InterruptFlag() as interrupted:
        try:
            for part in dict.fromkeys(parts or list(Part)):
                with console.status(f"measuring {part.value}; about a minute"):
                    results[part.value] = _MEASURES[part](settings, registry, lambda: bool(interrupted))
                if not as_json:
                    _show(part.value, results[part.value])
        except KeyboardInterrupt:
            raise typer.Exit(interrupted.exit_code) from None
    if as_json:
        figures = {part: [one.as_dict() for one in measured] for part, measured in results.items()}
        machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
        typer.echo(json.dumps({"machine": machine, "parts": figures}, indent=2))


def _show(part: str, measured: list[Measurement]) -> None:
    rows = []
    for one in measured:
        sign = "at least" if one.at_least else "at most"
        budget = "" if one.budget is None else f"{sign} {one.budget:g}"
        verdict = {None: "", True: "met", False: "MISSED"}[one.met]
        rows.append(
            [
                one.name,
                f"{one.value:.2f} {one.unit}".strip(),
                f"{one.low:.2f} to {one.high:.2f}",
                f"{budget} {verdict}".strip(),
                one.detail,
            ]
        )
    headings = ["what", "median", "range", "budget", "how"]
    typer.echo(f"{part}\n{table(headings, rows, text=('what', 'how'), drop=('how',))}\n")
