"""Memory of the pilot for one episode, with a round trip through JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from pkmn_pyboy.pilot.notes import (
    AdviceNotes,
    BattleNotes,
    Healer,
    HuntNotes,
    MenuTask,
    MoveToForget,
    PageNotes,
    PathStep,
    PushNotes,
    RouteNotes,
    ShopNotes,
    StallNotes,
    StrengthNotes,
    TextNotes,
    Tuning,
    WalkNotes,
)
from pkmn_pyboy.pilot.older_memory import in_parts

SURE, LIKELY = 0.9, 0.7
"""Confidence of a decision that memory or the screen proves, and of one that is probably right."""

_WORD = (1 << 64) - 1


class GoalKind(StrEnum):
    """Kind of a goal."""

    TILE = "tile"
    """Reach a tile."""
    EXIT = "exit"
    """Leave by an exit."""
    TALK = "talk"
    """Talk to someone or read something."""
    PACE = "pace"
    """Walk about on a ground."""
    MENU = "menu"
    """Open the menu for a task."""
    LOOK = "look"
    """See what is beyond a tile."""
    PUSH = "push"
    """Push a boulder to a tile."""


TILE, EXIT, TALK, PACE, MENU, LOOK, PUSH = GoalKind

GRASS, FLOOR, WATER = "grass", "floor", "water"
"""Grounds for PACE: grass, any floor (of a cave), water."""


class AimKind(StrEnum):
    """Kind of an aim on an open screen."""

    ENTRY = "entry"
    """An entry of its list."""
    YES = "yes"
    NO = "no"
    AGAIN = "again"
    """A different answer than before."""
    LEAVE = "leave"
    SEARCH = "search"
    """An entry not shown in the list yet."""
    TURN = "turn"
    """Another pocket or card."""
    NAME = "name"
    """The end of a naming."""
    WAIT = "wait"


ENTRY, YES, NO, AGAIN, LEAVE, SEARCH, TURN, NAME, WAIT = AimKind


class Aim(NamedTuple):
    """Aim on the open screen, by rows below and columns right of the cursor."""

    kind: AimKind
    down: int
    right: int


@dataclass(slots=True)
class WalkGoal:
    """Goal to walk for. ``key`` identifies its tries; ``exit`` is the key of an exit of the map."""

    kind: GoalKind
    key: str
    map_id: int
    why: str
    confidence: float
    x: int = -1
    y: int = -1
    facing: int = -1
    """Direction to face when pressing A on the tile, -1 for no press; for people the direction to talk, -1 for any."""
    person: int = 0
    exit: str = ""
    on: str = GRASS
    """For PACE: the ground to walk about on."""


@dataclass(slots=True)
class PilotMemory:
    """State of the pilot that lasts from one step to the next: shared by its parts, then the notes of each."""

    random: int = 0
    """State of the generator behind :meth:`draw`."""
    proposed: int = -1
    """Latest proposed action."""
    reason: str = ""
    """Reason of the latest proposed action."""
    phase: int = -1
    """Phase of the latest step."""
    phase_steps: int = 0
    """Steps since the phase began."""
    map_id: int = -1
    """Map on which the player last had control."""
    health: float = 0.0
    """Share of the party's HP at the latest step."""
    goal: WalkGoal | None = None
    path: list[PathStep] = field(default_factory=list)
    """Actions to come for the goal."""
    aim: Aim | None = None
    """Aim on the open screen; None if there is no aim, or no screen is open."""
    tries: dict[str, int] = field(default_factory=dict)
    """Tries of each goal since the latest progress, by key."""
    taken: dict[str, int] = field(default_factory=dict)
    """Count of uses of each exit, from either side, by "map/exit"."""
    visits: dict[str, int] = field(default_factory=dict)
    """Count of entries of each map, by id."""
    healers: list[Healer] = field(default_factory=list)
    walk: WalkNotes = field(default_factory=WalkNotes)
    route: RouteNotes = field(default_factory=RouteNotes)
    pushing: PushNotes = field(default_factory=PushNotes)
    strength: StrengthNotes = field(default_factory=StrengthNotes)
    hunt: HuntNotes = field(default_factory=HuntNotes)
    shop: ShopNotes = field(default_factory=ShopNotes)
    battle: BattleNotes = field(default_factory=BattleNotes)
    page: PageNotes = field(default_factory=PageNotes)
    text: TextNotes = field(default_factory=TextNotes)
    forget: MoveToForget | None = None
    """Written by :mod:`pkmn_pyboy.pilot.battle.move_learning`."""
    task: MenuTask | None = None
    """Written by :mod:`pkmn_pyboy.pilot.screens.menu_tasks`."""
    task_steps: int = 0
    """Steps of the latest task."""
    tuning: Tuning | None = None
    """Written by :mod:`pkmn_pyboy.pilot.screens.radio`."""
    advice: AdviceNotes = field(default_factory=AdviceNotes)
    stall: StallNotes = field(default_factory=StallNotes)

    def draw(self, below: int) -> int:
        """Return a random number from 0 to ``below`` - 1 (SplitMix64)."""
        self.random = (self.random + 0x9E3779B97F4A7C15) & _WORD
        value = self.random
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        value = (value ^ value >> 27) * 0x94D049BB133111EB & _WORD
        return (value ^ value >> 31) % below

    def point(self, kind: AimKind, down: int = 0, right: int = 0) -> None:
        """Note the aim on the open screen, for the observation of the goal.

        Args:
            kind: what is aimed at.
            down: rows from the cursor to it, negative above it.
            right: columns from the cursor to it, negative left of it.
        """
        self.aim = Aim(kind, down, right)

    def count(self, table: dict[str, int], key: str) -> None:
        """Add one to an entry of a table."""
        table[key] = table.get(key, 0) + 1

    def leave_battle(self) -> None:
        """Forget the state of one battle."""
        if self.battle != BattleNotes():
            self.battle = BattleNotes()
            self.page.confirmed.clear()

    def try_again(self) -> None:
        """Forget failed tries and missing routes, since something new may have opened them."""
        self.tries.clear()
        self.route.avoid, self.route.missing = [], None

    def drop_goal(self, *, tried: bool) -> None:
        """Drop the goal, done or given up; ``tried`` counts a try."""
        if self.goal is not None and tried:
            self.count(self.tries, self.goal.key)
        self.goal = None
        self.path = []
        self.walk.waited = self.walk.bumps = self.walk.paths = 0

    def to_json(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        values: dict[str, Any] = _PLAIN.dump_python(self, mode="json")
        return values

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> PilotMemory:
        """Return the memory that :meth:`to_json` stored; missing fields get their defaults."""
        return _PLAIN.validate_python(in_parts(state))


_PLAIN = TypeAdapter(PilotMemory)
