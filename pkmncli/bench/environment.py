"""The speed of a step against that of the bare emulator."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pkmncli.api import Environment
from pkmncli.api.actions import MASK
from pkmncli.api.spaces import blank_observation
from pkmncli.bench.pairs import Measurement, measure_pairs, never, quantity, ratio
from pkmncli.config import ResolvedSettings
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import Registry
from pkmncli.training.assembly import environment_spec
from pkmncli.training.workers.flat_environment import flattened

STEPS_PER_ROUND = 400
PAIRS = 9

BUDGET_STATE = 0.90
BUDGET_MULTI_MODAL = 0.85
BUDGET_FRAME_BY_FRAME = 2.5
BUDGET_READING_PERCENT = 6.0

READING = "state reader and mask"


def bench_environment(
    settings: ResolvedSettings, registry: Registry, pairs: int = PAIRS, stop: Callable[[], bool] = never
) -> list[Measurement]:
    """Measure ``step`` against the bare emulator with the same frames, and against stepping frame by frame.

    Each side takes the same actions from the same state; the environment defines its bare emulation, without its
    observations. An observation that the environment lacks is left out. Of an environment without an emulator, measure
    steps of random allowed actions with their observations.
    """
    model = registry.get("environments", settings.train.env).load_config()
    if model is None or "observation_type" not in model.model_fields:
        environment = flattened(environment_spec(settings, registry).build())
        try:
            (speeds,) = measure_pairs([_random_steps(environment)], pairs, stop)
        finally:
            environment.close()
        return [quantity("random allowed actions, with observations", speeds, "steps/s")]
    results: list[Measurement] = []
    for observed, screen, budget in (
        ("state", "packed", BUDGET_STATE),
        ("multi_modal", "packed", BUDGET_MULTI_MODAL),
        ("multi_modal", "rgb", BUDGET_MULTI_MODAL),
    ):
        spec = environment_spec(settings, registry)
        own = {**spec.settings, "observation_type": observed, "screen": screen}
        try:
            environment = replace(spec, settings=own).build()
        except ConfigurationError:
            if observed == "state":
                continue
            raise
        try:
            sides = _sides(environment)
            step, bare, frame_by_frame, *reading = measure_pairs(list(sides.values()), pairs, stop)
        finally:
            environment.close()
        name = observed if observed == "state" else f"{observed}, {screen} screens"
        speed = f"{STEPS_PER_ROUND / sorted(step)[len(step) // 2]:.0f} steps/s"
        results.append(ratio(f"step against bare emulator, {name}", bare, step, budget=budget, detail=speed))
        if len(results) == 1:
            results.append(
                ratio("step against frame by frame", frame_by_frame, step, budget=BUDGET_FRAME_BY_FRAME, detail=speed)
            )
            if reading:
                results.append(_reading_share(reading[0], step))
    return results


def _random_steps(environment: Environment) -> Callable[[], float]:
    """Return the measurement: steps per second of random allowed actions; ended episodes begin again."""
    choose = np.random.default_rng(0)
    observed = blank_observation(environment.observation_space)
    environment.reset(seed=0)

    def run() -> float:
        began = time.perf_counter()
        for step in range(STEPS_PER_ROUND):
            environment.write_observation(observed)
            allowed = np.flatnonzero(observed[MASK])
            _reward, terminated, truncated = environment.advance(int(allowed[choose.integers(len(allowed))]))
            if terminated or truncated:
                environment.reset(seed=step)
        return STEPS_PER_ROUND / (time.perf_counter() - began)

    return run


def _reading_share(reading: list[float], step: list[float]) -> Measurement:
    """Return the environment's own share: reading the state and computing the mask, in percent of a step."""
    shares = [100 * read / whole for read, whole in zip(reading, step, strict=True)]
    detail = f"{1e6 * sorted(reading)[len(reading) // 2] / STEPS_PER_ROUND:.1f} microseconds"
    return quantity(f"{READING}, share of a step", shares, "%", budget=BUDGET_READING_PERCENT, detail=detail)


def _sides(environment: Any) -> dict[str, Callable[[], float]]:
    """Return each side's measurement: seconds for the same actions from the same state."""
    environment.reset(seed=0)
    start = environment.save_state()
    presses = np.random.default_rng(0).choice([0, 1, 4, 5, 6, 7, 8], STEPS_PER_ROUND).tolist()

    def measured(play: Callable[[int], Any]) -> Callable[[], float]:
        def run() -> float:
            environment.load_state(start)
            began = time.perf_counter()
            for action in presses:
                play(action)
            return time.perf_counter() - began

        return run

    baselines = environment.baselines()

    def read_between() -> float:
        environment.load_state(start)
        spent = 0.0
        for action in presses:
            baselines["bare emulator"](action)
            began = time.perf_counter()
            baselines[READING](action)
            spent += time.perf_counter() - began
        return spent

    reading = {READING: read_between} if READING in baselines else {}
    return {
        "step": measured(environment.step),
        "bare emulator": measured(baselines["bare emulator"]),
        "frame by frame": measured(baselines["frame by frame"]),
        **reading,
    }
