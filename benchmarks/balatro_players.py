"""Progress of players in Balatro: random play, the greedy and the planning pilot, on seeds that nothing was tuned on.

    python benchmarks/balatro_players.py
    python benchmarks/balatro_players.py --players planning --seeds 0-39 --processes 2
    python benchmarks/balatro_players.py --json /tmp/players.json
    pkmn export --policy --no-tables --to /tmp/policy
    python benchmarks/balatro_players.py --players policy --policy /tmp/policy --hand-positions 8

Each seed is a run of the red deck at white stake until it is won or lost. Means have 95% bootstrap intervals. The
milliseconds are those of the processor for a decision. A learned policy plays greedily, with the places of the hand
that it was trained with.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

HELD_OUT: Final = "10000-10199"
PLAYERS: Final = ("random", "greedy", "planning", "policy")
MOST_STEPS: Final = 20_000
CONFIDENCE: Final = 0.95


@cache
def policy_of(folder: str) -> Callable[[Mapping[str, Any]], int]:
    """Return an exported policy as a function from observations to actions."""
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    program = torch.export.load(f"{folder}/policy.pt2").module()
    names = json.loads(Path(folder, "policy.json").read_text())["observation"]
    return lambda observation: int(program({name: torch.as_tensor(observation[name]) for name in names})["action"])


def player_of(name: str, environment: Any, seed: int, policy: str) -> Callable[[], int]:
    """Return a function that chooses the next action."""
    import numpy as np  # noqa: PLC0415

    from pkmn_balatro.pilot.players import GreedyPlayer, PlanningPlayer  # noqa: PLC0415

    if name == "random":
        luck = np.random.default_rng(seed)
        return lambda: int(luck.choice(np.flatnonzero(environment.action_masks())))
    if name == "policy":
        chosen = policy_of(policy)
        return lambda: chosen(environment.observation())
    pilot = {"greedy": GreedyPlayer, "planning": PlanningPlayer}[name](environment)
    pilot.reset(seed)
    return lambda: pilot.act(None).action


def play(job: tuple[str, int, dict[str, Any], str]) -> dict[str, Any]:
    """Play one run; return how far it came and what a decision cost."""
    player, seed, settings, policy = job
    environment = begun(seed, settings)
    return played(player, seed, environment, player_of(player, environment, seed, policy))


def begun(seed: int, settings: Mapping[str, Any]) -> Any:
    """Return an environment at the start of the run of a seed."""
    from pkmn_balatro.environment import BalatroEnvironment  # noqa: PLC0415
    from pkmn_balatro.settings import BalatroSettings  # noqa: PLC0415

    environment = BalatroEnvironment(
        BalatroSettings(max_steps_per_episode=MOST_STEPS, illegal_actions="raise", **settings)
    )
    environment.reset(seed=seed)
    return environment


def played(player: str, seed: int, environment: Any, choose: Callable[[], int]) -> dict[str, Any]:
    """Play a run that has begun; return how far it came and what a decision cost."""
    thinking, done = 0.0, False
    while not done:
        before = time.process_time()
        action = choose()
        thinking += time.process_time() - before
        _, terminated, truncated = environment.advance(action)
        done = terminated or truncated
    found = environment.metrics()
    return {
        "player": player,
        "seed": seed,
        "ante": found["ante"],
        "blinds": found["round"],
        "won": float(environment.succeeded),
        "steps": environment.steps,
        "milliseconds": 1000 * thinking / environment.steps,
        "boss": environment.game.run.boss if environment.game.run.blind == 2 else -1,
        "money": found["money"],
        "levels": environment.game.run.levels,
        "jokers": [joker.kind for joker in environment.game.run.jokers],
        "best_hand": found["score"],
    }


def numbers(text: str) -> list[int]:
    """Return "3" or "0-9" as numbers.

    Raises:
        argparse.ArgumentTypeError: it is something else.
    """
    low, dash, high = text.partition("-")
    ends = (low, high if dash else low)
    if not all(end.isascii() and end.isdigit() for end in ends) or int(ends[0]) > int(ends[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no number or range; such as 3 or 0-9")
    return list(range(int(ends[0]), int(ends[1]) + 1))


def main() -> None:
    """Play the runs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--players", nargs="+", choices=PLAYERS, default=list(PLAYERS[:3]))
    parser.add_argument("--seeds", type=numbers, default=numbers(HELD_OUT), help="such as 0-99")
    parser.add_argument("--stake", default="white")
    parser.add_argument("--deck", default="red")
    parser.add_argument("--hand-positions", type=int, default=10)
    parser.add_argument("--policy", type=Path, help="folder of an exported policy, for the player policy")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="file for all results")
    chosen = parser.parse_args()
    if "policy" in chosen.players and chosen.policy is None:
        parser.error("the player policy needs --policy")
    settings = {name: getattr(chosen, name) for name in ("stake", "deck", "hand_positions")}
    jobs = [(player, seed, settings, str(chosen.policy)) for player in chosen.players for seed in chosen.seeds]
    if chosen.processes > 1:
        with multiprocessing.get_context("spawn").Pool(chosen.processes) as pool:
            results = list(pool.imap(play, jobs))
    else:
        results = [play(job) for job in jobs]
    print(f"{len(chosen.seeds)} runs each, deck {chosen.deck}, stake {chosen.stake}")
    print_table(results)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(results, indent=1))


def print_table(results: Sequence[Mapping[str, Any]]) -> None:
    """Print a row for each player: means with their intervals."""
    from pkmncli.api.runs import interval  # noqa: PLC0415

    print("| player | mean ante | blinds beaten | won | steps of a run | ms a decision |")
    print("| --- | --- | --- | --- | --- | --- |")
    for player in dict.fromkeys(result["player"] for result in results):
        own = [result for result in results if result["player"] == player]
        cells = []
        for name, form in (("ante", "{:.2f}"), ("blinds", "{:.2f}"), ("won", "{:.1%}")):
            found = interval([result[name] for result in own], "mean", confidence=CONFIDENCE)
            ends = "" if found.low is None else f" ({form.format(found.low)} to {form.format(found.high)})"
            cells.append(form.format(found.value) + ends)
        steps = sum(result["steps"] for result in own)
        spent = sum(result["milliseconds"] * result["steps"] for result in own) / steps
        print(f"| {player} | {' | '.join(cells)} | {steps / len(own):.0f} | {spent:.1f} |")


if __name__ == "__main__":
    main()
