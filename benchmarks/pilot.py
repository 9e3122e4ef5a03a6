"""The progress of the pilot alone: it plays the bundled game from power-on by rules only, one episode per seed.

    python benchmarks/pilot.py --seeds 100-109 --processes 2
    python benchmarks/pilot.py --seeds 0-9 --steps 9000 --json /tmp/pilot.json
    python benchmarks/pilot.py --seeds 200-219 --partners 1-3 --steps 20000

Every seed begins differently (idle frames, steps and turns before the first decision). A row says at which step and
emulated frame each badge and the end were reached, and how many seconds of wall time the whole episode took. With
several partners (the first choice of the story) a table of medians and worst cases follows, one row per partner.
With --rom and --game it plays another cartridge image.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
from pathlib import Path
from typing import Any


def play(job: tuple[int, int, dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    """Play one episode; return the step and frame of every milestone, and its cost."""
    from pkmn_pyboy.environment import PokemonEnvironment  # noqa: PLC0415
    from pkmn_pyboy.pilot.pilot import RulesPilot  # noqa: PLC0415
    from pkmn_pyboy.pilot.settings import PilotSettings  # noqa: PLC0415
    from pkmn_pyboy.settings import EnvironmentSettings  # noqa: PLC0415

    seed, steps, options, rules = job
    environment = PokemonEnvironment(
        EnvironmentSettings(observation_type="state", max_steps_per_episode=steps, **options)
    )
    pilot = RulesPilot(environment, PilotSettings(**rules))
    environment.reset(seed=seed)
    pilot.reset(seed)
    started, thinking, done, frames = time.perf_counter(), 0.0, False, {}
    reached = 0
    while not done:
        before = time.perf_counter()
        decision = pilot.act()
        thinking += time.perf_counter() - before
        _, terminated, truncated = environment.advance(decision.action)
        done = terminated or truncated
        if environment.milestones.count != reached:
            reached = environment.milestones.count
            for key, step in zip(environment.milestone_names, environment.milestone_steps(), strict=True):
                if step >= 0:
                    frames.setdefault(key, environment.frames)
    result = {
        "seed": seed,
        "partner": rules.get("partner", 0),
        "milestones": dict(zip(environment.milestone_names, environment.milestone_steps(), strict=True)),
        "frames": frames,
        "steps": environment.steps,
        "won": terminated,
        "wall_s": time.perf_counter() - started,
        "pilot_us": thinking / max(environment.steps, 1) * 1e6,
        "levels": [member.level for member in environment.state.party.members],
    }
    environment.close()
    return result


def numbers(text: str) -> list[int]:
    """Return "3", "0-9" or "1,4,7" as numbers, each once.

    Raises:
        argparse.ArgumentTypeError: it is something else, or has no number.
    """
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        ends = (low, high if dash else low)
        if not all(end.isascii() and end.isdigit() for end in ends) or int(ends[0]) > int(ends[1]):
            raise argparse.ArgumentTypeError(f"{text!r}: {part!r} is no number or range; such as 3, 0-9 or 1,4,7")
        found.extend(range(int(ends[0]), int(ends[1]) + 1))
    return list(dict.fromkeys(found))


def most_partners(rom: Path | None, game: str | None) -> int:
    """Return the number of partners to choose from in a game."""
    from pkmn_pyboy.profile.selection import select_game  # noqa: PLC0415
    from pkmn_pyboy.settings import EnvironmentSettings  # noqa: PLC0415

    profile, _ = select_game(EnvironmentSettings(rom_path=rom, game=game))
    goals = (*profile.milestones, *profile.errands.values())
    return max((len(goal.target.choices) for goal in goals if goal.target is not None), default=0)


def badges_of(keys: list[str]) -> list[str]:
    """Return the milestones to show: badges, then the last one."""
    return [key for key in keys if key.endswith("_badge")]


def show(results: list[dict[str, Any]]) -> None:
    """Print a table and a summary."""
    badges = badges_of(list(results[0]["milestones"]))
    heads = ["seed", *badges, "end", "frames", "wall s", "pilot us", "levels"]
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join("---" for _ in heads) + " |")
    for result in sorted(results, key=lambda one: int(one["seed"])):
        row = [str(result["seed"])]
        for badge in badges:
            step = result["milestones"][badge]
            row.append(f"{step:,} ({result['frames'][badge]:,})" if step >= 0 else "never")
        frames = max(result["frames"].values(), default=0)
        row += [f"{result['steps']:,}" if result["won"] else "never", f"{frames:,}", f"{result['wall_s']:.1f}"]
        row += [f"{result['pilot_us']:.0f}", "/".join(str(level) for level in result["levels"])]
        print("| " + " | ".join(row) + " |")
    first = [one["milestones"][badges[0]] for one in results if badges and one["milestones"][badges[0]] >= 0]
    won = [one["steps"] for one in results if one["won"]]
    median = f", median step {statistics.median(first):,.0f}" if first else ""
    print(f"\nFirst badge on {len(first)} of {len(results)} seeds{median}.")
    median = f", median step {statistics.median(won):,.0f}" if won else ""
    print(f"The end on {len(won)} of {len(results)} seeds{median}.")


def show_partners(results: list[dict[str, Any]]) -> None:
    """Print one row per partner: how many seeds reached each badge and the end, median step and worst."""
    keys = [*badges_of(list(results[0]["milestones"])), "end"]
    print("\n| partner | " + " | ".join(keys) + " |")
    print("| --- | " + " | ".join("---" for _ in keys) + " |")
    for partner in sorted({one["partner"] for one in results}):
        own = [one for one in results if one["partner"] == partner]
        cells = []
        for key in keys:
            reached = [one["steps"] if key == "end" else one["milestones"][key] for one in own]
            reached = [
                step for step, one in zip(reached, own, strict=True) if (one["won"] if key == "end" else step >= 0)
            ]
            figures = f"{statistics.median(reached):,.0f} (at most {max(reached):,})" if reached else "never"
            cells.append(f"{len(reached)} of {len(own)}: {figures}")
        print(f"| {partner} | " + " | ".join(cells) + " |")


def main() -> None:
    """Play, then print the table."""
    from pkmncli.errors import PkmnError  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=numbers, default="0-9", help="such as 0-9 or 3,5,7")
    parser.add_argument("--steps", type=int, default=9000, help="most steps of an episode (default: 9000)")
    parser.add_argument("--processes", type=int, default=2, help="episodes played side by side (default: 2)")
    parser.add_argument("--rom", type=Path, help="cartridge image; without one the bundled game")
    parser.add_argument("--game", help="game profile; follows from the image")
    parser.add_argument("--goal", help="milestone that ends an episode; the game's last without it")
    parser.add_argument(
        "--knowledge", choices=("cartridge", "seen"), default="cartridge", help="what it plans ways with"
    )
    parser.add_argument(
        "--partners", type=numbers, default="0", help="numbers of the pilot's setting `partner` (default: 0)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=JSON", help="setting of the pilot")
    parser.add_argument("--json", type=Path, help="where to write all results")
    arguments = parser.parse_args()
    options = {"rom_path": arguments.rom, "game": arguments.game, "goal": arguments.goal}
    options["knowledge"] = arguments.knowledge
    rules = {key: json.loads(value) for key, _, value in (one.partition("=") for one in arguments.set)}
    try:
        partners, most = arguments.partners, most_partners(arguments.rom, arguments.game)
    except PkmnError as error:
        parser.error(str(error))
    if max(partners) > most:
        parser.error(f"argument --partners: there is no partner {max(partners)}; there are {most} to choose among")
    jobs = [
        (seed, arguments.steps, options, {**rules, "partner": partner})
        for partner in partners
        for seed in arguments.seeds
    ]
    results = []
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        for result in pool.imap_unordered(play, jobs):
            results.append(result)
            how = "won" if result["won"] else "stopped"
            print(f"partner {result['partner']} seed {result['seed']}: {how} at {result['steps']}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    show(results)
    if len(partners) > 1:
        show_partners(results)


if __name__ == "__main__":
    main()
