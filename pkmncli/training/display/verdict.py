"""The verdict on a learner alone, in words: beside the pilot and random play from the same held-out starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pkmncli.tables import table, terminal_columns

PLAYERS = {"learner_alone": "learner alone", "pilot": "pilot", "random": "random play"}
"""Players whose results are compared: the key in ``summary.json``, and the name for people."""

Result = Mapping[str, Any]
"""The results of one player, as :func:`pkmncli.training.evaluation.evaluation.report` has them."""


def verdict(alone: Result, pilot: Result | None = None, random: Result | None = None) -> str:
    """Return one sentence that says how far the learner alone gets, beside the others as far as they were played.

    Args:
        alone: results of the learner alone.
        pilot: of the pilot from the same starts.
        random: of random play from the same starts.
    """
    if alone["goal"] is None:
        others = [
            f"{name} {one['avg_reward']:,.1f}" for name, one in (("the pilot", pilot), ("random play", random)) if one
        ]
        return f"The learner alone earns {alone['avg_reward']:,.1f} an episode{_beside(others)}."
    others = [f"{name} in {one['reached']}" for name, one in (("the pilot", pilot), ("random play", random)) if one]
    sentence = (
        f"The learner alone reaches {alone['goal']} in {_of(alone)} starts ({interval_of(alone)}){_beside(others)}."
    )
    if not alone["reached"] and alone["milestones"]:
        name, episodes = furthest(alone)
        sentence += f" It gets as far as {name}, in {episodes}." if name else " It reaches no milestone."
    return sentence


def furthest(result: Result) -> tuple[str, int]:
    """Return the last milestone in the game's order that any episode reached after its start, and in how many.

    An empty name stands for none.
    """
    found = [(name, one["episodes"]) for name, one in result["milestones"].items() if one["median_step"]]
    return found[-1] if found else ("", 0)


def interval_of(result: Result) -> str:
    """Return Wilson's 95% interval of the share that reached the goal: ``49% to 94%``."""
    return f"{result['goal_low']:.0%} to {result['goal_high']:.0%}"


def rows_of(found: Mapping[str, Any], players: Mapping[str, str] = PLAYERS) -> list[list[str]]:
    """Return a table of results, headings first: a row for each of ``players`` that ``found`` has."""
    results = [(name, found[key]) for key, name in players.items() if found.get(key)]
    goal = next((one["goal"] for _, one in results if one["goal"] is not None), None)
    if goal is None:
        return [["", "reward", "steps"], *([name, _reward(one), f"{one['avg_length']:,.0f}"] for name, one in results)]
    rows = [["", f"reaches {goal}", "95% interval", "steps to it", "reward"]]
    for name, one in results:
        steps = "-" if one["goal_steps"] is None else f"{one['goal_steps']:,}"
        rows.append([name, _of(one), interval_of(one), steps, _reward(one)])
    return rows


def table_lines(rows: Sequence[Sequence[str]], indent: str = "") -> list[str]:
    """Return rows, headings first, as the lines of a table that fits the terminal."""
    columns = terminal_columns()
    headings, *cells = rows
    drawn = table(
        headings,
        cells,
        text=headings[:1],
        drop=("steps to it", "steps", "95% interval"),
        width=None if columns is None else columns - len(indent),
    )
    return [indent + line for line in drawn.split("\n")]


def _of(result: Result) -> str:
    return f"{result['reached']} of {result['episodes']}"


def _reward(result: Result) -> str:
    return f"{result['avg_reward']:,.1f}"


def _beside(others: Sequence[str]) -> str:
    return f"; {', '.join(others)}" if others else ""
