"""Memory of the pilot for one episode: plain values only, for a round trip through JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

_WORD = (1 << 64) - 1

TILE, EXIT, TALK, PACE, MENU, LOOK, PUSH = "tile", "exit", "talk", "pace", "menu", "look", "push"
"""Kinds of goals: reach a tile, leave by an exit, talk to someone or read something, walk about on a ground, open
the menu for a task, see what is beyond a tile, push a boulder to a tile.
"""

GRASS, FLOOR, WATER = "grass", "floor", "water"
"""Grounds for PACE: grass, any floor (of a cave), water."""

ENTRY, YES, NO, AGAIN, LEAVE, SEARCH, TURN, NAME, WAIT = (
    "entry", "yes", "no", "again", "leave", "search", "turn", "name", "wait"
)  # fmt: skip
"""Aims on an open screen: an entry of its list, an answer, a different answer than before, to leave it, an entry not
shown in the list yet, another pocket or card, the end of a naming, to wait.
"""


@dataclass(slots=True)
class Goal:
    """Goal to walk for. ``key`` identifies its tries; ``exit`` is the key of an exit of the map."""

    kind: str
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
    """State of the pilot that lasts from one step to the next."""

    random: int = 0
    """State of the generator behind :meth:`draw`."""
    proposed: int = -1
    """Latest proposed action."""
    phase: int = -1
    """Phase of the latest step."""
    phase_steps: int = 0
    """Steps since the phase began."""
    map_id: int = -1
    """Map on which the player last had control."""
    place: list[int] = field(default_factory=lambda: [-1, -1])
    """Tile on which the player last had control."""
    faced: int = -1
    """Direction that the player faced when last in control."""
    still: int = 0
    """Steps with control since the player last changed tiles."""
    walked: int = 0
    """Tiles walked since the latest question."""
    interrupted: str = ""
    """Interruption since the player last had control: "words", "battle", "others" (another's press opened it), or "".
    """
    wander: int = 0
    """Random steps left to walk."""
    waited: int = 0
    """Steps spent waiting for someone to move out of the way."""
    bumps: int = 0
    """Presses towards a tile that did not reach it."""
    legs: int = 0
    """Paths walked on the ground for the goal."""
    goal: Goal | None = None
    path: list[list[int]] = field(default_factory=list)
    """Presses to come: column, row, action. The first one is due when the player is on its tile."""
    blocks: list[list[int]] = field(default_factory=list)
    """Tiles found blocked: map, column, row, step at which this expires."""
    tries: dict[str, int] = field(default_factory=dict)
    """Tries of each goal since the latest progress, by key."""
    taken: dict[str, int] = field(default_factory=dict)
    """Count of uses of each exit, from either side, by "map/exit"."""
    visits: dict[str, int] = field(default_factory=dict)
    """Count of entries of each map, by id."""
    healers: list[list[int]] = field(default_factory=list)
    """Places where the party was healed: map, column, row, facing."""
    progress: list[int] = field(default_factory=list)
    """Milestones reached, maps visited, and the step at which either last grew."""
    kinds: int = -1
    """Kinds of items in the bag when last read, -1 before that."""
    health: float = 0.0
    """Share of the party's HP at the latest step."""
    lost: bool = False
    """True if the whole party fainted in the latest battle."""
    train_to: int = 0
    """Level that the lead should reach before continuing, raised by every lost battle."""
    nemesis: list[int] = field(default_factory=list)
    """Class and number of the trainer who won the latest battle."""
    losses: int = 0
    """Battles lost since the latest milestone: foes are taken to be that much stronger than forecast."""
    training: dict[str, Any] = field(default_factory=dict)
    """Plans to become strong enough, by their foes; see :class:`~pkmn_pyboy.pilot.goals.plans.Plan`. A plan is kept
    until it is done or has failed.
    """
    poor_grounds: dict[str, int] = field(default_factory=dict)
    """Grounds and shops that did not pay, with the step from which they are tried again."""
    hunt: dict[str, str] = field(default_factory=dict)
    """Ground on which each set of species is hunted; kept until one is caught."""
    hunted: dict[str, int] = field(default_factory=dict)
    """Tries to meet them where the species of the grass are unknown, by "map/time of day"; ``hunted_for`` names them.
    """
    hunted_for: str = ""
    supplies: list[list[int]] = field(default_factory=list)
    """Items that should be in the bag before the next fights: item, count."""
    route: list[list[int]] = field(default_factory=list)
    """Legs of the current route: map, the leg's last column and row, press (-1 for none), next map."""
    route_key: list[int | str] = field(default_factory=list)
    """Purpose of the route, and the number of field moves when it was planned."""
    no_way: list[int | str] = field(default_factory=list)
    """Purpose without a route, the map, and the step until which no search is repeated there."""
    looked: dict[str, list[int]] = field(default_factory=dict)
    """Goals not found on their map when it was searched: milestones reached and kinds of items at that time."""
    avoid: list[list[int]] = field(default_factory=list)
    """Exits taken or tried in vain: map, column, row."""
    pushes: list[list[int]] = field(default_factory=list)
    """Pushes to come: column and row of the boulder, direction."""
    pushes_for: list[int] = field(default_factory=list)
    """Purpose of the pushes: map, column and row to push to, the boulder's number; or map, -1 and a checksum of the
    tiles to reach.
    """
    no_push: list[list[int]] = field(default_factory=list)
    """Purposes for which no pushes were found lately, each with a checksum of the situation."""
    using: bool = False
    """True if the latest press was to use a field move."""
    question: int = 0
    """Checksum of the latest question; ``answers`` counts the answers to each."""
    answers: dict[str, int] = field(default_factory=dict)
    refused: bool = False
    """True if the latest question has a word that is refused."""
    flights: int = 0
    """Tries to run from this battle."""
    battle_plan: list[Any] = field(default_factory=list)
    """Plan of this turn: kind, number, target, why."""
    page_steps: int = 0
    """Steps on the screens that the plan opened."""
    page_waits: int = 0
    """Steps for which a menu or screen has shown no cursor."""
    page_mark: int = 0
    """Checksum of what menus, screens and battles can change; ``page_same`` counts the steps without a change."""
    page_still: int = 0
    leaving: list[int] = field(default_factory=list)
    """Tries to leave a menu, and the menu's numbers."""
    confirmed: dict[str, list[int]] = field(default_factory=dict)
    """Choices confirmed on screens, by purpose: how often, and the state each time."""
    plan_mark: list[int] = field(default_factory=list)
    """PP, HP and items when a plan other than a move began; ``plan_tries`` counts the tries without a change."""
    plan_tries: int = 0
    battle_failed: list[str] = field(default_factory=list)
    """Kinds of plans, and moves as "move/number", that this battle does not allow."""
    refusals: int = 0
    """Members that the game refused to send out in this battle."""
    switches: int = 0
    """Switches made by choice in this battle."""
    moves_used: dict[str, int] = field(default_factory=dict)
    """Count of uses of each move in this battle, as species/move."""
    catch_wish: list[int] = field(default_factory=list)
    """Species to catch, 0 for any; empty for none."""
    forget: list[int] = field(default_factory=list)
    """Party slot and move slot that make room for a new move."""
    teach: list[int] = field(default_factory=list)
    """Party slot, move and machine of the move being taught; empty if none is."""
    task: list[Any] = field(default_factory=list)
    """Task in the START menu: kind, number, party slot, and the values that show its completion."""
    task_steps: int = 0
    task_marked: bool = False
    """True if the member to put first was picked up."""
    tuning: list[int] = field(default_factory=list)
    """Station to tune the radio to: the knob's value and the music's; empty for none."""
    tuning_steps: int = 0
    tuning_opened: int = 0
    """Count of openings of the radio's device for it."""
    tuning_mark: list[int] = field(default_factory=list)
    """Menu and device as shown at the latest step, and the number of steps without a change."""
    tuning_over: str = ""
    """Outcome of the tuning, after which the device is closed; empty until then."""
    shopping: list[list[int]] = field(default_factory=list)
    """Items to buy: item, and the count to have afterwards."""
    shop_steps: int = 0
    shopped: dict[str, int] = field(default_factory=dict)
    """Step from which a shop is considered again, by map."""
    shops_far: list[int] = field(default_factory=list)
    """Map without a shop in range, and the step until which none is looked for there."""
    wish: list[Any] = field(default_factory=list)
    """Skill that advice asks for: skill, map, column, row, confidence, species caught when it began."""
    wish_battle: bool = False
    """True if there was a battle since the wish began."""
    wish_failed: bool = False
    """True if nothing can be done for the wish."""
    reason: str = ""
    """Reason of the latest proposed action."""
    presses: list[list[str]] = field(default_factory=list)
    """Latest presses, a letter each, after the reason that they share."""
    pressed: int = 0
    """Number of those presses."""
    idle_steps: int = 0
    """Own steps without progress, less the steps that others pressed."""
    marks: list[int] = field(default_factory=list)
    """Maximum so far of each number that grows with progress."""
    stalls: int = 0
    """Number of stalls so far."""
    stalled: int = 0
    """Number of the current stall, 0 for none."""
    remedy: int = -1
    """Index of the remedy in progress, -1 for none yet."""
    remedy_due: int = 0
    """Idle steps at which the next remedy is tried."""
    put_off: list[str] = field(default_factory=list)
    """Errands postponed for now."""
    heal_anyway: bool = False
    """True if the pilot goes to heal though no member is weak."""
    reports: list[dict[str, Any]] = field(default_factory=list)
    """Stall reports."""
    untold: list[int] = field(default_factory=list)
    """Numbers of the reports that are new or changed since they were last taken."""
    aim: list[Any] = field(default_factory=list)
    """Aim on the open screen: one of :data:`ENTRY` to :data:`WAIT`, and its rows below and columns right of the cursor;
    empty if there is no aim, or no screen is open.
    """
    advice_key: str = ""
    advice_done: int = 0
    """Presses of the advice made so far."""
    advice_pending: bool = False
    """True if the latest proposed action was a press of the advice."""

    def draw(self, below: int) -> int:
        """Return a random number from 0 to ``below`` - 1 (SplitMix64)."""
        self.random = (self.random + 0x9E3779B97F4A7C15) & _WORD
        value = self.random
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        value = (value ^ value >> 27) * 0x94D049BB133111EB & _WORD
        return (value ^ value >> 31) % below

    def point(self, kind: str, down: int = 0, right: int = 0) -> None:
        """Note the aim on the open screen, for the observation of the goal.

        Args:
            kind: one of ENTRY to WAIT.
            down: rows from the cursor to it, negative above it.
            right: columns from the cursor to it, negative left of it.
        """
        self.aim = [kind, down, right]

    def count(self, table: dict[str, int], key: str) -> None:
        """Add one to an entry of a table."""
        table[key] = table.get(key, 0) + 1

    def leave_battle(self) -> None:
        """Forget the state of one battle."""
        self.flights = self.page_steps = self.plan_tries = self.switches = self.refusals = 0
        if self.battle_plan or self.moves_used or self.battle_failed:
            self.confirmed.clear()
            self.battle_plan, self.plan_mark, self.battle_failed, self.moves_used = [], [], [], {}

    def try_again(self) -> None:
        """Forget failed tries and missing routes, since something new may have opened them."""
        self.tries.clear()
        self.avoid, self.no_way = [], []

    def drop_goal(self, *, tried: bool) -> None:
        """Drop the goal, done or given up; ``tried`` counts a try."""
        if self.goal is not None and tried:
            self.count(self.tries, self.goal.key)
        self.goal = None
        self.path = []
        self.waited = self.bumps = self.legs = 0

    def to_json(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> PilotMemory:
        """Return the memory that :meth:`to_json` stored; missing fields get their defaults."""
        known = {place.name: state[place.name] for place in fields(cls) if place.name in state}
        goal = known.pop("goal", None)
        copied = {name: _copy(value) for name, value in known.items()}
        return cls(**copied, goal=Goal(**goal) if goal is not None else None)


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return {name: _copy(item) for name, item in value.items()} if isinstance(value, Mapping) else value
