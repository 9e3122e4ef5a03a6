"""The cost of a language model in training speed: one that answers in a second, against none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from pkmncli.api import LLMBackend
from pkmncli.bench.llm_server import answering_server
from pkmncli.bench.pairs import Measurement, measure_pairs, never, quantity, ratio
from pkmncli.bench.training import finished
from pkmncli.config import NONE, resolve_settings
from pkmncli.errors import LLMConnectionError, PluginError
from pkmncli.plugins import Registry
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.session import TrainingSession

STEPS = 6000
PAIRS = 3
ANSWER_S = 1.0
BACKEND = "openai"
LOCAL = "local"
BUDGET = 0.9


def bench_llm(registry: Registry, pairs: int = PAIRS, stop: Callable[[], bool] = never) -> list[Measurement]:
    """Measure trainings with DQN with advice from a loopback server, and as many without.

    If a local model is available, measure it too: it takes computing time from the training.

    Raises:
        PluginError: the backend, or a requirement of it, is not installed.
    """
    registry.get("llm_backends", BACKEND).load()
    with answering_server(ANSWER_S) as address:
        server = [f"{BACKEND}.base_url={address}", f"{BACKEND}.default_model=slow"]
        found = _compare(registry, f"a model that answers in {ANSWER_S:g} s", BACKEND, server, pairs, stop, BUDGET)
    if _is_at_hand(registry, LOCAL) and not stop():
        found += _compare(registry, "a model on this machine", LOCAL, [], pairs, stop, None)
    return found


def _compare(
    registry: Registry,
    name: str,
    backend: str,
    sets: Sequence[str],
    pairs: int,
    stop: Callable[[], bool],
    budget: float | None,
) -> list[Measurement]:
    advised: list[dict[str, Any]] = []
    sides = [
        lambda: _steps_per_second(registry, backend, sets, advised),
        lambda: _steps_per_second(registry, NONE, (), []),
    ]
    with_model, without = measure_pairs(sides, pairs, stop)
    rates = f"{median(with_model):.0f} against {median(without):.0f} steps/s"
    late = [100 * one["outdated"] / max(one["replies"], 1) for one in advised]
    return [
        ratio(f"training with {name}", with_model, without, budget=budget, detail=rates),
        quantity("its answers", [float(one["replies"]) for one in advised], "answers"),
        quantity("those that came too late", late, "%"),
        quantity("steps that carried out its advice", [100 * one["llm_steps"] / STEPS for one in advised], "%"),
    ]


def _is_at_hand(registry: Registry, backend: str) -> bool:
    """Return True if a backend is installed and has a model."""
    settings = resolve_settings({"llm": backend}, registry=registry, environ={})
    try:
        model: LLMBackend = registry.get("llm_backends", backend).load()(settings.plugin(backend), None)
        model.check()
        model.close()
    except (PluginError, LLMConnectionError):
        return False
    return True


def _steps_per_second(registry: Registry, llm: str, sets: Sequence[str], advised: list[dict[str, Any]]) -> float:
    with tempfile.TemporaryDirectory(prefix="pkmn-bench-") as folder:
        settings = resolve_settings(
            {"steps": STEPS, "save_dir": Path(folder), "llm": llm}, registry=registry, environ={}, sets=sets
        )
        session = TrainingSession(settings, registry, ["pkmn", "bench"], ConsoleProgress(quiet=True))
        summary = finished(session.start()).summary
    if llm != NONE:
        advised.append(summary["llm"])
    return float(summary["steps_per_second"])
