"""What the pilot remembers of an episode: plain values only, so that it goes through JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

_WORD = (1 << 64) - 1

TILE, EXIT, TALK, PACE, MENU, LOOK, PUSH = "tile", "exit", "talk", "pace", "menu", "look", "push"
"""Kinds of goals: stand on a tile, leave by an exit, speak to someone or read something, walk about in the grass, open
the menu for a job, see what lies beyond a tile, push a boulder to a tile."""

GRASS, FLOOR, WATER = "grass", "floor", "water"
"""What PACE walks about on: grass, any floor (of a cave), water."""

ENTRY, YES, NO, AGAIN, LEAVE, SEARCH, TURN, NAME, WAIT = (
    "entry", "yes", "no", "again", "leave", "search", "turn", "name", "wait"
)  # fmt: skip
"""Aims on an open page: an entry of its list, an answer, another answer than before, to be left, an entry
that the list does not show yet, another pocket or card, the end of a naming, some time."""


@dataclass(slots=True)
class Goal:
    """What the pilot walks for. ``key`` names it among the tries; ``exit`` is an exit's key on the map."""

    kind: str
    key: str
    map_id: int
    why: str
    confidence: float
    x: int = -1
    y: int = -1
    facing: int = -1
    """Direction to face and press A in on the tile, -1 for none; that in which someone is addressed, -1 for any."""
    person: int = 0
    exit: str = ""
    on: str = GRASS
    """Of PACE: where to walk about."""


@dataclass(slots=True)
class PilotMemory:
    """All that lasts from one step to the next."""

    random: int = 0
    """State of the generator behind :meth:`draw`."""
    proposed: int = -1
    """The latest action that it wanted pressed."""
    phase: int = -1
    """The phase of the latest step."""
    phase_steps: int = 0
    """Steps since the phase began."""
    map_id: int = -1
    """The map on which the player last had control."""
    place: list[int] = field(default_factory=lambda: [-1, -1])
    """The tile on which the player last had control."""
    faced: int = -1
    """The direction in which the player looked when he last had control."""
    still: int = 0
    """Steps with control since the player last changed tiles."""
    walked: int = 0
    """Tiles walked since the latest question."""
    interrupted: str = ""
    """What took control away since the player last had it: "words", "battle", "others" (whose press it was), or not."""
    wander: int = 0
    """Steps of walking at random that are left."""
    waited: int = 0
    """Steps spent waiting for someone to get out of the way."""
    bumps: int = 0
    """Presses towards a tile that did not get there."""
    legs: int = 0
    """Ways walked in the grass for the goal."""
    goal: Goal | None = None
    path: list[list[int]] = field(default_factory=list)
    """Presses to come: column, row, action. The first is due when the player stands there."""
    blocks: list[list[int]] = field(default_factory=list)
    """Tiles that turned out to be blocked: map, column, row, the step at which that is forgotten."""
    tries: dict[str, int] = field(default_factory=dict)
    """How often goals were tried since the latest progress, by their keys."""
    taken: dict[str, int] = field(default_factory=dict)
    """How often exits were taken, from either side, by "map/exit"."""
    visits: dict[str, int] = field(default_factory=dict)
    """How often maps were entered, by id."""
    healers: list[list[int]] = field(default_factory=list)
    """Where someone healed the party: map, column, row, facing."""
    progress: list[int] = field(default_factory=list)
    """Milestones reached, maps visited, and the step at which either last grew."""
    kinds: int = -1
    """Kinds of things in the bag when last looked, -1 before that."""
    health: float = 0.0
    """The party's share of hit points at the latest step."""
    lost: bool = False
    """Whether all of the party fainted in the latest battle."""
    train_to: int = 0
    """Level that the lead should reach before it goes on, raised by every battle lost."""
    nemesis: list[int] = field(default_factory=list)
    """Class and number of the trainer who won the latest battle."""
    losses: int = 0
    """Battles lost since the latest milestone: the foes are taken to be that much stronger than they look."""
    training: dict[str, Any] = field(default_factory=dict)
    """How the party is to become strong enough, by the trainers that it is for; see
    :class:`~pkmn_pyboy.pilot.plans.Plan`. A plan stands until it is done, or did not work."""
    poor_grounds: dict[str, int] = field(default_factory=dict)
    """Grounds, and shops, that did not bring what was hoped for, with the step from which on they are tried again."""
    hunt: dict[str, str] = field(default_factory=dict)
    """The ground on which some species are hunted, which stays the same until one is caught."""
    hunted: dict[str, int] = field(default_factory=dict)
    """How often grass was tried for them where nobody knows who lives there, by "map/time of day"; and for whom."""
    hunted_for: str = ""
    supplies: list[list[int]] = field(default_factory=list)
    """Things that should be in the bag before the next fights: item, and how many."""
    route: list[list[int]] = field(default_factory=list)
    """Legs of the way to where it wants to go: map, the leg's last column and row, press (-1 for none), next map."""
    route_key: list[int | str] = field(default_factory=list)
    """What the route is for, and how many field moves there were."""
    no_way: list[int | str] = field(default_factory=list)
    """What no way was found for, the map, and the step until which none is looked for again there."""
    looked: dict[str, list[int]] = field(default_factory=dict)
    """Goals that were not found on their map though it was looked at: milestones reached, and kinds of things, then."""
    avoid: list[list[int]] = field(default_factory=list)
    """Exits that were taken or tried in vain: map, column, row."""
    pushes: list[list[int]] = field(default_factory=list)
    """Pushes to come: column and row of the boulder, direction."""
    pushes_for: list[int] = field(default_factory=list)
    """What they are for: map, column and row to push to, the boulder's number; or map, -1 and a checksum of the tiles
    of which one is to be reached."""
    no_push: list[list[int]] = field(default_factory=list)
    """The same of what no pushes were found for lately, each with a checksum of how things stood."""
    using: bool = False
    """Whether the latest press asked for a field move to be used."""
    question: int = 0
    """Checksum of the latest question, and how often it was answered."""
    answers: dict[str, int] = field(default_factory=dict)
    refused: bool = False
    """Whether the latest question has a word that is refused."""
    flights: int = 0
    """Tries to run from this battle."""
    battle_plan: list[Any] = field(default_factory=list)
    """What is to be done in this turn: kind, number, target, why."""
    page_steps: int = 0
    """Steps on the pages that the plan opened."""
    page_waits: int = 0
    """Steps for which a menu or page has shown no cursor."""
    page_mark: int = 0
    """Checksum of what menus, pages and battles can change, and the steps for which it has stayed as it is."""
    page_still: int = 0
    leaving: list[int] = field(default_factory=list)
    """How often it was tried to leave a menu, and the menu's numbers."""
    confirmed: dict[str, list[int]] = field(default_factory=dict)
    """What was confirmed on pages: how often, and how things stood each time, by what it was for."""
    plan_mark: list[int] = field(default_factory=list)
    """Points, hit points and things when a plan other than a move was begun, and how often since nothing changed."""
    plan_tries: int = 0
    battle_failed: list[str] = field(default_factory=list)
    """Kinds of plans, and moves as "move/number", that this battle does not allow."""
    refusals: int = 0
    """Members whom the game has refused when someone was to be sent out in this battle."""
    switches: int = 0
    """Switches made by choice in this battle."""
    moves_used: dict[str, int] = field(default_factory=dict)
    """How often each move was used in this battle, as species/move."""
    catch_wish: list[int] = field(default_factory=list)
    """The species that would do for a catch, 0 for any; empty for none."""
    forget: list[int] = field(default_factory=list)
    """Party place and move's place that make room for a new move."""
    teach: list[int] = field(default_factory=list)
    """Party place, move and machine that are being taught; empty while nobody is taught."""
    task: list[Any] = field(default_factory=list)
    """The job in the START menu: kind, number, party place, and what is compared to see that it is done."""
    task_steps: int = 0
    task_marked: bool = False
    """Whether the member that is to be first was picked up."""
    tuning: list[int] = field(default_factory=list)
    """What is tuned in on the radio: the knob's value and the music's; empty while nothing is."""
    tuning_steps: int = 0
    tuning_opened: int = 0
    """How often the radio's device was opened for it."""
    tuning_mark: list[int] = field(default_factory=list)
    """What menu and device showed at the latest step, and for how many steps they had shown it."""
    tuning_over: str = ""
    """How it ended: all that is left is to close the device; empty until then."""
    shopping: list[list[int]] = field(default_factory=list)
    """What is to be bought: item, and how many there should be then."""
    shop_steps: int = 0
    shopped: dict[str, int] = field(default_factory=dict)
    """The step from which on a shop is of interest again, by map."""
    shops_far: list[int] = field(default_factory=list)
    """The map on which no shop was near enough, and the step until which none is looked for there."""
    wish: list[Any] = field(default_factory=list)
    """The skill that advice asks for: skill, map, column, row, confidence, species caught when it began."""
    wish_battle: bool = False
    """Whether there was a battle since."""
    wish_failed: bool = False
    """Whether nothing can be done for it."""
    reason: str = ""
    """Why the latest action was proposed."""
    presses: list[list[str]] = field(default_factory=list)
    """The latest presses, a letter each, behind the reason that they have in common."""
    pressed: int = 0
    """How many presses those are."""
    idle_steps: int = 0
    """Steps without progress that it pressed itself, less those that others pressed."""
    marks: list[int] = field(default_factory=list)
    """The most yet of each number that grows with progress."""
    stalls: int = 0
    """How often it got nowhere for long."""
    stalled: int = 0
    """Number of the stall that lasts, 0 for none."""
    remedy: int = -1
    """Place of what is tried against it now, -1 for nothing yet."""
    remedy_due: int = 0
    """Idle steps at which the next thing is tried."""
    put_off: list[str] = field(default_factory=list)
    """Errands that others come before for now."""
    heal_anyway: bool = False
    """Whether it goes to heal though nobody is weak."""
    reports: list[dict[str, Any]] = field(default_factory=list)
    """Where it stood when it got nowhere."""
    untold: list[int] = field(default_factory=list)
    """Numbers of the reports that are new or have changed since they were taken."""
    aim: list[Any] = field(default_factory=list)
    """Aim on the page that is open now: one of :data:`ENTRY` to :data:`WAIT`, and how many rows below and
    columns right of the cursor it stands; empty where nothing is, or no page is open."""
    advice_key: str = ""
    advice_done: int = 0
    """Presses of the advice that were made."""
    advice_pending: bool = False
    """Whether the latest proposal was a press of the advice."""

    def draw(self, below: int) -> int:
        """A number from 0 to ``below`` - 1 (SplitMix64)."""
        self.random = (self.random + 0x9E3779B97F4A7C15) & _WORD
        value = self.random
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        value = (value ^ value >> 27) * 0x94D049BB133111EB & _WORD
        return (value ^ value >> 31) % below

    def point(self, kind: str, down: int = 0, right: int = 0) -> None:
        """Notes what is wanted of the open page, for who observes the goal.

        Args:
            kind: one of ENTRY to WAIT.
            down: rows from the cursor to it, negative above it.
            right: columns from the cursor to it, negative left of it.
        """
        self.aim = [kind, down, right]

    def count(self, table: dict[str, int], key: str) -> None:
        """Adds one to a table's entry."""
        table[key] = table.get(key, 0) + 1

    def leave_battle(self) -> None:
        """Forgets what belongs to one battle."""
        self.flights = self.page_steps = self.plan_tries = self.switches = self.refusals = 0
        if self.battle_plan or self.moves_used or self.battle_failed:
            self.confirmed.clear()
            self.battle_plan, self.plan_mark, self.battle_failed, self.moves_used = [], [], [], {}

    def try_again(self) -> None:
        """Forgets what failed, and which ways were found to lead nowhere: something new may have opened them."""
        self.tries.clear()
        self.avoid, self.no_way = [], []

    def drop_goal(self, *, tried: bool) -> None:
        """Gives the goal up, or is done with it; ``tried`` counts it."""
        if self.goal is not None and tried:
            self.count(self.tries, self.goal.key)
        self.goal = None
        self.path = []
        self.waited = self.bumps = self.legs = 0

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> PilotMemory:
        """The memory that :meth:`to_json` gave; what is missing starts fresh."""
        known = {place.name: state[place.name] for place in fields(cls) if place.name in state}
        goal = known.pop("goal", None)
        copied = {name: _copy(value) for name, value in known.items()}
        return cls(**copied, goal=Goal(**goal) if goal is not None else None)


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return {name: _copy(item) for name, item in value.items()} if isinstance(value, Mapping) else value
