"""Parts of the pilot's memory: each is written by one part of the pilot, and holds only what converts to JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from pkmn_pyboy.world.records import Place


class Interruption(StrEnum):
    """Interruption since the player last had control."""

    NONE = ""
    TEXT = "words"
    BATTLE = "battle"
    OTHERS = "others"
    """A text that another's action opened."""


class PathStep(NamedTuple):
    """Action on a path, due when the player is on its tile."""

    x: int
    y: int
    press: int


class Block(NamedTuple):
    """Tile found blocked, until a step of the episode."""

    map_id: int
    x: int
    y: int
    until: int


class Healer(NamedTuple):
    """Place where the party was healed."""

    map_id: int
    x: int
    y: int
    facing: int


@dataclass(slots=True)
class Progress:
    """Milestones reached, maps visited, and the step at which either last grew."""

    milestones: int
    maps: int
    step: int


@dataclass(slots=True)
class WalkNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.travel`."""

    place: tuple[int, int] = (-1, -1)
    """Tile on which the player last had control."""
    faced: int = -1
    """Direction that the player faced when last in control."""
    still: int = 0
    """Steps with control since the player last changed tiles."""
    walked: int = 0
    """Tiles walked since the latest question."""
    interrupted: Interruption = Interruption.NONE
    wander: int = 0
    """Random steps left to walk."""
    waited: int = 0
    """Steps spent waiting for someone to move out of the way."""
    bumps: int = 0
    """Actions towards a tile that did not reach it."""
    paths: int = 0
    """Paths walked on the ground for the goal."""
    blocks: list[Block] = field(default_factory=list)
    using: bool = False
    """True if the latest action was to use a field move."""
    progress: Progress | None = None
    kinds: int = -1
    """Kinds of items in the bag when last read, -1 before that."""


class RouteLeg(NamedTuple):
    """Leg of a route: its first and last tile, the action there (-1 for none), and the next map."""

    map_id: int
    from_x: int
    from_y: int
    x: int
    y: int
    press: int
    onward: int

    def starts_at(self, x: int, y: int) -> bool:
        """Return whether a tile is its first one."""
        return (self.from_x, self.from_y) == (x, y)


class NoRoute(NamedTuple):
    """Purpose without a route, with the map at its end, and the step until which no search is repeated there."""

    purpose: list[int | str]
    until: int


@dataclass(slots=True)
class RouteNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.walking.routes` and :mod:`pkmn_pyboy.pilot.walking.legs`."""

    legs: list[RouteLeg] = field(default_factory=list)
    """Current route."""
    key: list[int | str] = field(default_factory=list)
    """Purpose of the route, and the number of field moves when it was planned."""
    missing: NoRoute | None = None
    avoid: list[Place] = field(default_factory=list)
    """Exits taken or tried in vain."""
    looked: dict[str, list[int]] = field(default_factory=dict)
    """Goals not found on their map when it was searched: milestones reached and kinds of items at that time."""

    def drop(self) -> None:
        """Forget the route."""
        self.legs, self.key = [], []


class DuePush(NamedTuple):
    """Push of a boulder: its tile, and the direction."""

    x: int
    y: int
    direction: int


@dataclass(slots=True)
class PushNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.walking.pushing`."""

    due: list[DuePush] = field(default_factory=list)
    """Pushes to come."""
    purpose: list[int] = field(default_factory=list)
    """Purpose of the pushes: map, column and row to push to, the boulder's number; or map, -1 and a checksum of the
    tiles to reach.
    """
    failed: list[list[int]] = field(default_factory=list)
    """Purposes for which no pushes were found lately, each with a checksum of the situation."""


@dataclass(slots=True)
class StrengthNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.goals.training`."""

    train_to: int = 0
    """Level that the lead should reach before continuing, raised by every lost battle."""
    nemesis: tuple[int, int] | None = None
    """Class and number of the trainer who won the latest battle."""
    lost: bool = False
    """True if the whole party fainted in the latest battle."""
    losses: int = 0
    """Battles lost since the latest milestone: foes are taken to be that much stronger than forecast."""
    plans: dict[str, Any] = field(default_factory=dict)
    """Plans to become strong enough, by their foes; see :class:`~pkmn_pyboy.pilot.goals.plans.Plan`. A plan is kept
    until it is done or has failed.
    """
    poor_grounds: dict[str, int] = field(default_factory=dict)
    """Grounds and shops that did not pay, with the step from which they are tried again."""


@dataclass(slots=True)
class HuntNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.goals.hunting`."""

    wanted: list[int] = field(default_factory=list)
    """Species to catch, 0 for any; empty for none."""
    grounds: dict[str, str] = field(default_factory=dict)
    """Ground on which each set of species is hunted; kept until one is caught."""
    tries: dict[str, int] = field(default_factory=dict)
    """Tries to meet the species ``tried_for`` where those of the grass are unknown, by "map/time of day"."""
    tried_for: str = ""


class Purchase(NamedTuple):
    """Item to buy, and the amount to have afterwards."""

    item: int
    amount: int


class NoShop(NamedTuple):
    """Map without a shop in range, and the step until which none is looked for there."""

    map_id: int
    until: int


@dataclass(slots=True)
class ShopNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.goals.shopping`."""

    supplies: dict[int, int] = field(default_factory=dict)
    """Counts of items that should be in the bag before the next fights."""
    purchases: list[Purchase] = field(default_factory=list)
    """Purchases to make at the counter."""
    steps: int = 0
    again: dict[str, int] = field(default_factory=dict)
    """Step from which a shop is considered again, by map."""
    none_near: NoShop | None = None


class BattlePlan(NamedTuple):
    """Plan of a turn: ``number`` is a move slot, a party slot or an item, ``target`` a party slot."""

    kind: str
    number: int = 0
    target: int = -1
    why: str = ""


@dataclass(slots=True)
class BattleNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.battle.fighter` for one battle."""

    plan: BattlePlan | None = None
    mark: list[int] = field(default_factory=list)
    """PP, HP and items when a plan other than a move began; ``tries`` counts the tries without a change."""
    tries: int = 0
    page_steps: int = 0
    """Steps on the screens that the plan opened."""
    failed: list[str] = field(default_factory=list)
    """Kinds of plans, and moves as "move/number", that this battle does not allow."""
    flights: int = 0
    """Tries to run."""
    refusals: int = 0
    """Members that the game refused to send out."""
    switches: int = 0
    """Switches made by choice."""
    moves_used: dict[str, int] = field(default_factory=dict)
    """Count of uses of each move, as species/move."""


class Confirmed(NamedTuple):
    """Number of times that a choice was confirmed, and the state each time."""

    times: int
    mark: list[int]


@dataclass(slots=True)
class PageNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.screens.pages`."""

    waits: int = 0
    """Steps for which a menu or screen has shown no cursor."""
    mark: int = 0
    """Checksum of what menus, screens and battles can change; ``still`` counts the steps without a change."""
    still: int = 0
    confirmed: dict[str, Confirmed] = field(default_factory=dict)
    """Choices confirmed on screens, by purpose."""


@dataclass(slots=True)
class TextNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.screens.dialogue`."""

    question: int = 0
    """Checksum of the latest question; ``answers`` counts the answers to each."""
    answers: dict[str, int] = field(default_factory=dict)
    refused: bool = False
    """True if the latest question has a word that is refused."""
    menu: list[int] = field(default_factory=list)
    """Numbers of the menu to leave; ``tries`` counts the tries."""
    tries: int = 0


class MoveToForget(NamedTuple):
    """Move that makes room for a new one, by party slot and move slot."""

    member: int
    move: int


@dataclass(slots=True)
class MenuTask:
    """Task in the START menu."""

    kind: str
    number: int
    """Item or machine."""
    slot: int
    """Party slot."""
    mark: int
    """Value that shows the task's completion."""
    move: int = 0
    """Move being taught, 0 for none."""
    marked: bool = False
    """True if the member to put first was picked up."""


@dataclass(slots=True)
class Tuning:
    """Station to tune the radio to, by the values of the knob and the music."""

    knob: int
    music: int
    steps: int = 0
    opened: int = 0
    """Count of openings of the radio's device."""
    shown: list[int] = field(default_factory=list)
    """Menu and device as shown at the latest step; ``same`` counts the steps without a change."""
    same: int = 0
    outcome: str = ""
    """Outcome, after which the device is closed; empty until then."""


@dataclass(slots=True)
class Wish:
    """Skill that advice asks for, with its place: map, column and row, -1 for each that is missing."""

    skill: str
    map_id: int
    x: int
    y: int
    confidence: float
    caught: int
    """Species caught when it began."""
    battle: bool = False
    """True if there was a battle since it began."""
    failed: bool = False
    """True if nothing can be done for it."""


@dataclass(slots=True)
class AdviceNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.advice`."""

    key: str = ""
    done: int = 0
    """Actions of the advice taken so far."""
    pending: bool = False
    """True if the latest proposed action was one of the advice."""
    wish: Wish | None = None


class Marks(NamedTuple):
    """Numbers of which at least one grows with any progress."""

    milestones: int
    maps: int
    levels: int
    badges: int
    items: int
    flags: int


class PressRun(NamedTuple):
    """Latest actions that share a reason, a letter each."""

    reason: str
    letters: str


@dataclass(slots=True)
class StallNotes:
    """Notes of :mod:`pkmn_pyboy.pilot.watchdog`."""

    presses: list[PressRun] = field(default_factory=list)
    pressed: int = 0
    """Number of actions in ``presses``."""
    idle_steps: int = 0
    """Own steps without progress, less the steps of others."""
    marks: Marks | None = None
    """Maximum so far of each number that grows with progress."""
    count: int = 0
    """Number of stalls so far."""
    number: int = 0
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
    untold: list[int] = field(default_factory=list)
    """Numbers of the reports that are new or changed since they were last taken."""
