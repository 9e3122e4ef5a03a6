"""Measure Ray on one machine: an engine of multi-model training, and workers, each against the local kind.

    python benchmarks/ray_speed.py
    python benchmarks/ray_speed.py --base random:7b --device cuda --precision bfloat16 --actors 2 --games 64 512

Both kinds take turns, so that what else the machine does slows both. It prints medians and their ratios.

With ``--base``, two adapters on that base are trained, in one process with one graphics card, and by actors of Ray with
one card each, or a part of one if there are fewer. Each batch begins with the same weights for all, and after it the
adapters are compared with those of one process that has played the same parts of the batch. A base ``random:SIZE`` has
random weights, as in ``multimodel_speed.py``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from multimodel_shards import base_folder, batch_speeds, settings_of

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training
from pkmncli.api import Source
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.pool import WorkerPool

ALONE, PARTS, RAY = "one process", "one process, the same parts", "ray"
TURNS = 9
GAMES = 32
STEPS = 300
ENVS = 2


def seconds(of: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    began = time.perf_counter()
    of()
    return time.perf_counter() - began


def compare(what: str, unit: str, amount: float, local: Callable[[], object], on_ray: Callable[[], object]) -> None:
    """Print the speed of both, measured in turn, after one turn that does not count."""
    times = [(seconds(local), seconds(on_ray)) for _ in range(TURNS + 1)][1:]
    here, there = (amount / median(one) for one in zip(*times, strict=True))
    ratio = median(one / other for one, other in times)
    print(f"{what}: local {here:.1f} {unit}/s, ray {there:.1f} {unit}/s, ratio {ratio:.2f}")


def engines(actors: int) -> None:
    """Compare the engines."""
    with ExitStack() as closed:
        both = []
        for engine in ("in-process", "ray"):
            settings = MultiModelConfig.model_validate(
                {
                    "num_models": 2,
                    "model_types": ["qwen3"],
                    "base": "tiny",
                    "weight_update_strategy": "synchronized",
                    "batch_size": GAMES,
                    "max_episodes": 100_000,
                    "engine": engine,
                    "actors": actors,
                }
            )
            training = Training(settings, game_maker("coop-compete", 2, {}), 0)
            both.append(closed.enter_context(closing(training)))
        compare(f"multi-model training, tiny base, actors = {actors}", "games", GAMES, both[0].batch, both[1].batch)


def workers(envs_per_worker: int) -> None:
    """Compare workers, on the bundled game."""
    registry = get_registry()
    settings = resolve_settings({"mode": "rl-only", "seed": 1}, registry=registry, environ={})
    spec = replace(worker_spec(settings, registry, Purpose.TRAINING, num_envs=ENVS), envs_per_worker=envs_per_worker)
    with WorkerPool(spec) as local, WorkerPool(replace(spec, ray=True)) as on_ray:

        def play(pool: WorkerPool) -> None:
            sources, confidences = np.full(ENVS, Source.EXPLORE, np.uint8), np.zeros(ENVS, np.float32)
            random = np.random.default_rng(0)
            pool.reset()
            for _ in range(STEPS):
                pool.step(random.integers(0, 9, ENVS), sources, confidences)

        compare(
            f"{ENVS} environments, {envs_per_worker} in a worker",
            "steps",
            ENVS * STEPS,
            lambda: play(local),
            lambda: play(on_ray),
        )


def cards(options: argparse.Namespace, base: str) -> list[dict[str, Any]]:
    """Compare one process with actors on the graphics cards, on a base of any size. Return the figures.

    Args:
        options: of the command line.
        base: folder of the base.
    """
    gpus = min(1.0, torch.cuda.device_count() / options.actors) if options.device == "cuda" else 0.0
    kinds = {ALONE: ("in-process", 1), PARTS: ("in-process", options.actors), RAY: ("ray", options.actors)}
    trainings: dict[str, Training] = {}
    with ExitStack() as closed:
        for name, (engine, actors) in kinds.items():
            settings = settings_of(options, base, engine=engine, actors=actors, gpus_per_actor=gpus)
            population = trainings[ALONE].population if trainings else None  # so there is room for a larger base
            make_game = game_maker("coop-compete", 2, {"rounds": 1})
            trainings[name] = closed.enter_context(closing(Training(settings, make_game, 0, population=population)))
            trainings[name].start()
        state = trainings[RAY].state_dict()
        while len(set(trainings[RAY].actor_processes)) < options.actors:  # until all have loaded the base
            trainings[RAY].play(range(options.games[0]))
        where = f"{options.base}, {options.precision}, {options.device}, {options.actors} actors of {gpus:g} cards"
        return [_turns(trainings, state, options.batches, games, where) for games in options.games]


def _turns(
    trainings: Mapping[str, Training], state: dict[str, Any], batches: int, games: int, where: str
) -> dict[str, Any]:
    """Measure all kinds in turn, each batch from the same weights. Print and return the figures."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in trainings}
    apart: dict[str, list[float]] = {"ray and one process": [], "one process, twice": []}
    for number in range(batches + 1):
        after: dict[str, dict[str, Any]] = {}
        names = list(trainings)
        for name in names[number % 3 :] + names[: number % 3]:
            trainings[name].load_state_dict(state)
            speeds = batch_speeds(trainings[name], number, games)
            after[name] = trainings[name].state_dict()
            if number:  # the first batch warms up
                found[name].append(speeds)
        apart["ray and one process"].append(difference(after[RAY], after[PARTS]))
        if number == 0:
            trainings[PARTS].load_state_dict(state)
            batch_speeds(trainings[PARTS], number, games)
            apart["one process, twice"].append(difference(trainings[PARTS].state_dict(), after[PARTS]))
        state = after[RAY]
    print(f"{where}: 2 adapters, batches of {games} games")
    for name, measured in found.items():
        print(f"{name:28}" + ", ".join(f"{part} {_words([it[part] for it in measured])}" for part in measured[0]))
    for other in (ALONE, PARTS):
        parts = {
            part: [one[part] / two[part] for one, two in zip(found[RAY], found[other], strict=True)]
            for part in found[RAY][0]
        }
        print(f"ray / {other}: " + ", ".join(f"{part} {_words(ratios, 2)}" for part, ratios in parts.items()))
    for name, values in apart.items():
        same = sum(value == 0.0 for value in values)
        print(f"adapters, {name}: equal in {same} of {len(values)} batches, largest difference {max(values):.3g}")
    print(flush=True)
    return {"where": where, "games": games, "tokens/s": found, "apart": apart}


def difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return the largest difference of two trainings' adapters, by their states."""
    first, second = one["population"]["adapters"], other["population"]["adapters"]
    return max(
        float(np.abs(weights - second[adapter][name]).max())
        for adapter, arrays in first.items()
        for name, weights in arrays.items()
    )


def _words(values: list[float], digits: int = 0) -> str:
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def main() -> None:
    """Measure by the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--base", help="folder, or random:SIZE; without it the tiny base and workers are measured")
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--games", type=int, nargs="+", default=[64], help="games of a batch")
    parser.add_argument("--tokens", type=int, default=8, help="most tokens of a reply")
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--threads", type=int, default=1, help="of the arithmetic, of all actors together")
    parser.add_argument("--out", type=Path, help="file of lines of JSON that the figures are added to")
    options = parser.parse_args()
    if options.base is None:
        for number in (1, 2):
            engines(number)
        for number in (1, 2):
            workers(number)
        return
    torch.set_num_threads(options.threads)
    with base_folder(options.base, options.device, options.precision) as base:
        figures = cards(options, base)
    if options.out is not None:
        with options.out.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in figures)


if __name__ == "__main__":
    main()
