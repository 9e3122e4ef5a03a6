"""What a language model costs a training in speed: one that answers in a second, against none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from pkmncli.bench.llm_server import answering_server
from pkmncli.bench.pairs import Measurement, measure_pairs, never, quantity, ratio
from pkmncli.bench.training import finished
from pkmncli.config import NONE, resolve_settings
from pkmncli.plugins import Registry
from pkmncli.training.console import ConsoleProgress
from pkmncli.training.session import TrainingSession

STEPS = 6000
PAIRS = 3
ANSWER_S = 1.0
BACKEND = "openai"
BUDGET = 0.9


def bench_llm(registry: Registry, pairs: int = PAIRS, stop: Callable[[], bool] = never) -> list[Measurement]:
    """Trainings with DQN that are advised by a server on loopback, and as many that are not.

    Raises:
        PluginError: the backend, or what it needs, is not installed.
    """
    registry.get("llm_backends", BACKEND).load()
    advised: list[dict[str, Any]] = []
    with answering_server(ANSWER_S) as address:
        sides = [
            lambda: _steps_per_second(registry, address, advised),
            lambda: _steps_per_second(registry, None, []),
        ]
        with_model, without = measure_pairs(sides, pairs, stop)
    rates = f"{median(with_model):.0f} against {median(without):.0f} steps/s"
    return [
        ratio(
            f"training with a model that answers in {ANSWER_S:g} s", with_model, without, budget=BUDGET, detail=rates
        ),
        quantity("answers in such a training", [float(one["replies"]) for one in advised], "answers"),
        quantity("steps that carried out advice", [100 * one["llm_steps"] / STEPS for one in advised], "%"),
    ]


def _steps_per_second(registry: Registry, address: str | None, advised: list[dict[str, Any]]) -> float:
    with tempfile.TemporaryDirectory(prefix="pkmn-bench-") as folder:
        settings = resolve_settings(
            {"steps": STEPS, "save_dir": Path(folder), "llm": BACKEND if address else NONE},
            registry=registry,
            environ={},
            sets=[f"{BACKEND}.base_url={address}", f"{BACKEND}.default_model=slow"] if address else [],
        )
        session = TrainingSession(settings, registry, ["pkmn", "bench"], ConsoleProgress(quiet=True))
        summary = finished(session.start()).summary
    if address:
        advised.append(summary["llm"])
    return float(summary["steps_per_second"])
