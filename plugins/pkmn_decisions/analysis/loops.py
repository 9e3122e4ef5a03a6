"""Loops: stretches in which an episode saw the same few states repeatedly and earned nothing.

Each episode is divided into blocks of 32 decisions. The states of a block are counted by marking each state's hash on a
mask of 64 bits, which takes one number for each block and is slightly low rather than high. Consecutive blocks are one
loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pkmn_decisions.analysis.conditions import Condition, where
from pkmn_decisions.analysis.situations import has_maps
from pkmn_decisions.store.names import SOURCE_NAMES, Names
from pkmn_decisions.store.view import RunViews

BLOCK = 32
"""Decisions of a block."""

FEW_STATES = 10
"""Maximum states of a block in a loop: each is then visited three times or more."""

FEWEST_BLOCKS = 2
"""Minimum consecutive blocks of a loop: 64 decisions. A loop of 95 or more is always found."""

_NEAR = 2
"""Maximum tiles between the places of two loops at the same place."""

_FOUND = "loop_blocks"


@dataclass(slots=True)
class LoopPlace:
    """Place where episodes were in loops."""

    map_id: int
    left: int
    top: int
    right: int
    bottom: int
    loops: int = 0
    steps: int = 0
    """Decisions of all loops there: all wasted, since none brought a reward."""
    longest: int = 0
    first: str = ""
    """Longest loop: its episode as ``environment-episode``, after the run's name if there are several."""
    first_step: int = 0
    """Step of that episode at which it begins."""
    states: int = 0
    """Approximate number of states in a block of the longest loop."""
    phases: Counter[int] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    """Source -> number of decisions."""
    actions: Counter[int] = field(default_factory=Counter)
    """Action -> number of times that it was taken."""

    def in_words(self, names: Names) -> str:
        """Return map and tiles in words; empty if the environment has no maps."""
        return names.of("map", self.map_id) + self.tiles if has_maps(self.map_id, names) else ""

    @property
    def tiles(self) -> str:
        """Its tiles in words, after a map's name."""
        if (self.left, self.top) == (self.right, self.bottom):
            return f" at {self.left},{self.top}"
        return f" between {self.left},{self.top} and {self.right},{self.bottom}"

    def as_dict(self, names: Names) -> dict[str, Any]:
        """Return plain values, with the names of the numbers."""
        return {
            "map": self.map_id,
            "map_name": names.of("map", self.map_id),
            "x": [self.left, self.right],
            "y": [self.top, self.bottom],
            "phases": {names.of("phase", phase): count for phase, count in self.phases.most_common()},
            "loops": self.loops,
            "wasted_steps": self.steps,
            "longest": self.longest,
            "longest_episode": self.first,
            "longest_from_step": self.first_step,
            "states": self.states,
            "sources": dict(self.sources.most_common()),
            "actions": {names.of("action", action): count for action, count in self.actions.most_common()},
        }


def find_loops(views: RunViews, conditions: Sequence[Condition]) -> list[LoopPlace]:
    """Return the places of loops, the most wasted steps first."""
    # A loop does not depend on the question: only the selection of its decisions does.
    condition, parameters = where([one for one in conditions if one.key != "action"])
    episode = "environment, episode" if len(views.folders) == 1 else "run, environment, episode"
    # Hand-made records have no hash of the state after the step.
    state = "CASE WHEN fine_hash = 0 THEN coarse_hash ELSE fine_hash END"
    views.query(
        f"""
        CREATE OR REPLACE TEMP TABLE {_FOUND} AS
        SELECT {episode}, step // {BLOCK} AS block, count(*) AS steps,
            bit_count(bit_or(1::UBIGINT << ({state} & 63))) AS states
        FROM decision_rows GROUP BY ALL
        HAVING states <= {FEW_STATES} AND steps >= {BLOCK // 2} AND max(reward) <= 0
        """
    )
    _, rows = views.query(
        f"""
        WITH numbered AS (
            SELECT *, block - row_number() OVER (PARTITION BY {episode} ORDER BY block) AS loop FROM {_FOUND}
        ), long AS (
            SELECT *, count(*) OVER (PARTITION BY {episode}, loop) AS blocks FROM numbered
        ), kept AS (
            SELECT * FROM long WHERE blocks >= {FEWEST_BLOCKS}
        ), seen AS (
            SELECT {episode}, step // {BLOCK} AS block, step, map_id, x, y, phase, source, action FROM decision_rows
            WHERE {condition}
        ), at_places AS (
            SELECT {episode}, loop, map_id, phase, min(x) AS left_x, min(y) AS top_y, max(x) AS right_x,
                max(y) AS bottom_y,
                count(*) AS steps, min(step) AS step, min(states) AS states,
                {", ".join(f"count(*) FILTER (source = {number}) AS by_{number}" for number in SOURCE_NAMES)},
                histogram(action) AS taken
            FROM seen JOIN kept USING ({episode}, block) GROUP BY ALL
        )
        SELECT {episode}, loop, arg_max(map_id, place), min(left_x), min(top_y), max(right_x), max(bottom_y),
            arg_max(phase, place), sum(steps)::BIGINT AS steps, min(step), min(states),
            {", ".join(f"sum(by_{number})::BIGINT" for number in SOURCE_NAMES)},
            list(taken)
        FROM (SELECT *, (steps, -map_id::BIGINT, -phase::BIGINT) AS place FROM at_places) GROUP BY ALL
        ORDER BY steps DESC, {episode}, loop
        """,
        parameters,
    )
    return _places(rows, len(views.folders) > 1)


def _places(rows: Sequence[tuple[Any, ...]], several_runs: bool) -> list[LoopPlace]:
    """Return loops, merged if they are at the same place."""
    places: dict[int, list[LoopPlace]] = {}
    for row in rows:
        episode, rest = row[: 2 + several_runs], row[3 + several_runs :]
        map_id, left, top, right, bottom, phase, steps, first_step, states = rest[:9]
        known = places.setdefault(map_id, [])
        place = next((one for one in known if _touches(one, left, top, right, bottom)), None)
        if place is None:
            place = LoopPlace(map_id, left, top, right, bottom, longest=steps, first_step=first_step, states=states)
            place.first = "-".join(map(str, episode[-2:]))
            if several_runs:
                place.first = f"{episode[0]} {place.first}"
            known.append(place)
        place.loops += 1
        place.steps += steps
        place.phases[phase] += steps
        for number, name in SOURCE_NAMES.items():
            place.sources[name] += rest[9 + number]
        for taken in rest[-1]:
            place.actions.update(taken)
        place.sources = +place.sources
    found = [one for some in places.values() for one in some]
    for one in found:
        one.actions = Counter(dict(sorted(one.actions.items())))  # equally frequent ones in a fixed order
    return sorted(found, key=lambda one: (-one.steps, one.map_id))


def _touches(place: LoopPlace, left: int, top: int, right: int, bottom: int) -> bool:
    return (
        left <= place.right + _NEAR
        and right >= place.left - _NEAR
        and top <= place.bottom + _NEAR
        and bottom >= place.top - _NEAR
    )
