"""A plan against wandering in the bundled game: its errands are played in three ways, from the same states.

    python benchmarks/quillwood_errands.py --seeds 0-4 --processes 2

For each seed the rules pilot plays from power-on, and a state is kept wherever an errand begins. From there each
errand is played "by plan" (the pilot with the places that the milestones name), "exploring" (the same pilot without
those places: it goes to new places, talks to everybody, and knows only maps that it has seen) and "at random" (uniform
among the actions that the mask allows). A row gives the median number of steps until the errand was done, over the
seeds that did it, and their number.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

ERRANDS = {
    "parcel": ("starter", "parcel_delivered"),
    "wood": ("wood_reached", "marrowmere_reached"),
    "light": ("marrowmere_reached", "light_shown"),
    "key": ("cave_reached", "gate_open"),
}
WAYS = ("by plan", "exploring", "at random")


def without_places(folder: Path) -> Path:
    """Return a copy of the bundled game whose milestones name no places."""
    from pkmn_pyboy.profile.loading import GAMES_FOLDER  # noqa: PLC0415

    copy = folder / "quillwood"
    copy.mkdir()
    for name in ("game.toml", "names.toml", "tables.toml", "world.toml", "milestones.toml", "quillwood.gbc"):
        shutil.copy(GAMES_FOLDER / "quillwood" / name, copy / name)
    file = copy / "milestones.toml"
    text = file.read_text(encoding="utf-8").split("[[errand]]")[0]
    text = re.sub(r"(?m)^\[milestone\.target\]\n(?:.+\n)*", "", text)
    text = re.sub(r"(?m)^(target|hint|needs_field_moves|catches|errands) = .*\n", "", text)
    file.write_text(text, encoding="utf-8")
    return copy


def begin_errands(seed: int, most_steps: int) -> dict[str, bytes]:
    """Return the state in which each errand begins, reached by the pilot."""
    from pkmn_pyboy.environment import PokemonEnvironment  # noqa: PLC0415
    from pkmn_pyboy.pilot.pilot import RulesPilot  # noqa: PLC0415
    from pkmn_pyboy.settings import EnvironmentSettings  # noqa: PLC0415

    settings = EnvironmentSettings(observation_type="state", max_steps_per_episode=most_steps)
    environment = PokemonEnvironment(settings)
    pilot = RulesPilot(environment)
    environment.reset(seed=seed)
    pilot.reset(seed)
    states: dict[str, bytes] = {}
    over = False
    while not over and len(states) < len(ERRANDS):
        _, terminated, truncated = environment.advance(pilot.act().action)
        over = terminated or truncated
        reached = dict(zip(environment.milestone_names, environment.milestone_steps(), strict=True))
        for errand, (first, _) in ERRANDS.items():
            if errand not in states and reached[first] >= 0:
                states[errand] = environment.save_state()
    environment.close()
    return states


def play(job: tuple[str, str, int, bytes, int, str]) -> tuple[str, str, int, int]:
    """Play an errand; return errand, way, seed, and its steps, -1 if it was not done."""
    import numpy as np  # noqa: PLC0415

    from pkmn_pyboy.environment import PokemonEnvironment  # noqa: PLC0415
    from pkmn_pyboy.pilot.pilot import RulesPilot  # noqa: PLC0415
    from pkmn_pyboy.settings import EnvironmentSettings  # noqa: PLC0415

    errand, way, seed, state, most_steps, folder = job
    known: dict[str, Any] = {} if way == "by plan" else {"game_folder": Path(folder), "knowledge": "seen"}
    environment = PokemonEnvironment(
        EnvironmentSettings(observation_type="state", max_steps_per_episode=100_000, goal=ERRANDS[errand][1], **known)
    )
    pilot, draw = RulesPilot(environment), np.random.default_rng(seed)
    environment.reset(seed=seed)
    environment.load_state(state)
    pilot.reset(seed)
    begun, done = environment.steps, False
    while not done and environment.steps - begun < most_steps:
        action = int(draw.choice(np.flatnonzero(environment.mask))) if way == "at random" else pilot.act().action
        done, _ = environment.advance(action)[1:]
    steps = environment.steps - begun
    environment.close()
    return errand, way, seed, steps if done else -1


def seed_list(text: str) -> list[int]:
    """Return "3", "0-9" or "1,4,7" as numbers."""
    seeds: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        seeds.extend(range(int(low), int(high or low) + 1))
    return seeds


def show(results: list[tuple[str, str, int, int]], most_steps: int) -> None:
    """Print a table: one row per errand, one column per way."""
    print("| errand | " + " | ".join(WAYS) + " |")
    print("| --- |" + " --- |" * len(WAYS))
    for errand in ERRANDS:
        row = []
        for way in WAYS:
            steps = [taken for one, other, _, taken in results if (one, other) == (errand, way)]
            done = [taken for taken in steps if taken >= 0]
            median = f"{statistics.median(done):,.0f}" if done else "never"
            row.append(f"{median} ({len(done)} of {len(steps)})")
        print(f"| {errand} | " + " | ".join(row) + " |")
    print(f"\nMedian steps of those who did it within {most_steps:,}, and how many did.")


def main() -> None:
    """Play, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-4", help="such as 0-9 or 3,5,7 (default: 0-4)")
    parser.add_argument("--steps", type=int, default=3000, help="most steps of an errand (default: 3000)")
    parser.add_argument("--way-steps", type=int, default=9000, help="most steps to the last errand (default: 9000)")
    parser.add_argument("--processes", type=int, default=2, help="errands played side by side (default: 2)")
    parser.add_argument("--json", type=Path, help="where to write all results")
    arguments = parser.parse_args()
    seeds = seed_list(arguments.seeds)
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(arguments.processes) as pool,
    ):
        copy = str(without_places(Path(folder)))
        begun = pool.starmap(begin_errands, [(seed, arguments.way_steps) for seed in seeds])
        jobs = [
            (errand, way, seed, state, arguments.steps, copy)
            for seed, states in zip(seeds, begun, strict=True)
            for errand, state in states.items()
            for way in WAYS
        ]
        results = []
        for result in pool.imap_unordered(play, jobs):
            results.append(result)
            print(*result, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    show(results, arguments.steps)


if __name__ == "__main__":
    main()
