"""State of a game after a step, typed and frozen: the input of rewards, masks, pilots and observations.

Values that are new at every step are named tuples, which are built four times faster than frozen dataclasses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from pkmn_pyboy.rules_gen2.status import StatusCondition, sleep_turns, status_condition
from pkmncli.api import PhaseRole

TRAINER_BATTLE = 2
"""Kind of a trainer battle."""


class Phase(IntEnum):
    """Phase of the game, which decides what a press does."""

    FREE = 0
    """The player can walk."""
    MOVING = 1
    """A step is in progress."""
    DIALOGUE = 2
    """A message box waits or is being written."""
    CHOICE = 3
    """A message with a list to choose from."""
    MENU = 4
    """A menu or a full-screen page: bag, naming, Pokedex."""
    BATTLE = 5
    """A battle, between the player's choices."""
    BATTLE_MENU = 6
    """A battle asks for fight, Pokemon, pack or run."""
    BATTLE_MOVES = 7
    """A battle asks for a move."""
    TRANSITION = 8
    """A map is being left or set up."""
    CUTSCENE = 9
    """The game acts by itself."""


PHASE_NAMES: tuple[str, ...] = tuple(phase.name.lower() for phase in Phase)

SITUATIONS: tuple[str, ...] = (
    "walking", "walking", "words", "menu", "menu", "battle", "battle", "battle", "other", "other",
)  # fmt: skip
"""Kind of situation of each phase."""

PHASE_ROLES: tuple[PhaseRole, ...] = (
    PhaseRole.FREE, PhaseRole.BETWEEN, PhaseRole.READING, PhaseRole.ANSWERING, PhaseRole.MENU,
    PhaseRole.FIGHTING, PhaseRole.FIGHTING, PhaseRole.FIGHTING, PhaseRole.BETWEEN, PhaseRole.WATCHING,
)  # fmt: skip
"""Role of each phase."""

BATTLE_PHASES = frozenset({Phase.BATTLE, Phase.BATTLE_MENU, Phase.BATTLE_MOVES})


class Facing(IntEnum):
    """Directions, in the game's order."""

    DOWN = 0
    UP = 1
    LEFT = 2
    RIGHT = 3


class Movement(IntEnum):
    """Ways of moving, by the game's numbers."""

    FOOT = 0
    BICYCLE = 1
    SKATES = 2
    SURFING = 4
    SURFING_PIKACHU = 8


_MOVEMENTS = frozenset(Movement)


@dataclass(frozen=True, slots=True)
class PartyMember:
    """Pokemon in the party. ``pp`` are the PP left of each move; ``status`` the game's status bits, 0 healthy.

    ``stats`` are attack, defence, speed, special attack and special defence; ``pp_ups`` counts for each move how often
    its maximum PP was raised; ``happiness`` of an egg are the rounds left until it hatches; ``dvs``, 0 to 15, are the
    inborn values of attack, defence, speed and special.
    """

    species: int
    level: int
    hp: int
    max_hp: int
    status: int
    item: int
    experience: int
    moves: tuple[int, ...]
    pp: tuple[int, ...]
    egg: bool
    stats: tuple[int, ...] = ()
    pp_ups: tuple[int, ...] = ()
    happiness: int = 0
    dvs: tuple[int, ...] = (0, 0, 0, 0)

    @property
    def status_condition(self) -> StatusCondition:
        """Non-volatile status condition."""
        return status_condition(self.status)

    @property
    def sleep_turns(self) -> int:
        """Turns left to sleep."""
        return sleep_turns(self.status)


@dataclass(frozen=True, slots=True)
class Party:
    """Party of the player, in order. Eggs are listed, and excluded from the sums."""

    members: tuple[PartyMember, ...] = ()
    """Its members, in order."""
    level_sum: int = 0
    """Sum of the levels, without eggs."""
    hp_share: float = 0.0
    """Hit points of all members over their maximum (0..1), 0 without a party."""

    @property
    def count(self) -> int:
        """Number of members, including eggs."""
        return len(self.members)

    @property
    def lead(self) -> PartyMember | None:
        """First member that is not an egg."""
        for member in self.members:
            if not member.egg:
                return member
        return None


@dataclass(frozen=True, slots=True)
class Battler:
    """Pokemon that fights. ``stats`` are its party record's, as stages and status changed them.

    ``stages``, of attack, defence, speed, special attack, special defence, accuracy and evasion, go from -6 to 6.
    """

    species: int
    level: int
    hp: int
    max_hp: int
    status: int
    types: tuple[int, int]
    moves: tuple[int, ...]
    pp: tuple[int, ...]
    stats: tuple[int, ...] = ()
    item: int = 0
    stages: tuple[int, ...] = ()
    dvs: tuple[int, ...] = (0, 0, 0, 0)
    happiness: int = 0

    @property
    def status_condition(self) -> StatusCondition:
        """Non-volatile status condition."""
        return status_condition(self.status)


@dataclass(frozen=True, slots=True)
class Battle:
    """Battle in progress. ``kind`` is 1 for wild, 2 for a trainer; a battler that is not out yet is None."""

    kind: int
    type: int
    trainer_class: int
    opponent: Battler | None
    own: Battler | None
    best_effectiveness: float
    """Best factor on the opponent's types (0..4) among the player's damaging moves with PP left."""
    trainer_number: int = 0
    """Number of the trainer in the class, from 1; 0 in the wild, and if the profile does not know it."""
    weather: int = 0
    """Weather: 0 none, 1 rain, 2 sun, 3 sandstorm; 4 to 6 while each ends."""
    own_screens: int = 0
    """Bits of the protections of the player's side, as :func:`pkmn_pyboy.rules_gen2.status.screens_of` names them."""
    opponent_screens: int = 0


class Menu(NamedTuple):
    """Bytes of the open menu, as the game keeps them; they keep their last values when none is open.

    ``cursor_shown`` is true if the solid cursor is at the menu's position, so the menu waits for a choice.
    """

    windows: int
    rows: int
    columns: int
    first_row: int
    first_column: int
    cursor_row: int
    cursor_column: int
    cursor_shown: bool
    full_screen: bool


class GameState(NamedTuple):
    """Values that were read after a step."""

    map_group: int
    """Group of the map; the last consistent one while a map changes, as for ``map_number``, ``x`` and ``y``."""
    map_number: int
    """Number of the map in its group."""
    x: int
    """Column of the player on the map, in tiles."""
    y: int
    """Row of the player on the map, in tiles."""
    facing: Facing
    """Direction that the player looks in."""
    movement: int
    """Way of moving, by the game's number."""
    phase: Phase
    """Phase of the game, which decides what a press does."""
    party: Party
    """Party of the player."""
    battle: Battle | None
    """Battle in progress; None if there is none."""
    menu: Menu
    """Open menu, or the last one."""
    johto_badges: int
    """Badges of the first region, a bit each."""
    kanto_badges: int
    """Badges of the second region, a bit each."""
    money: int
    """Money of the player."""
    caught: int
    """Number of species caught."""
    seen: int
    """Number of species seen."""
    balls: int
    """Number of balls in the bag."""
    message_box: bool
    """True if a message box is open."""
    printing: bool
    """True while a text is being written."""
    milestones: int
    """Number of milestones reached in this episode."""
    loaded: bool = True
    """True if a game runs; false for the title screen, its menus, and the page between CONTINUE and the map."""

    @property
    def page_opens(self) -> bool:
        """True if a menu or a full-screen page shows no cursor: it is being drawn, or it has none."""
        return self.phase is Phase.MENU and not self.menu.cursor_shown

    @property
    def map_id(self) -> int:
        """Map id: group * 256 + number."""
        return self.map_group * 256 + self.map_number

    @property
    def way_of_moving(self) -> Movement:
        """Movement of the player; on foot if the number is unknown."""
        return Movement(self.movement) if self.movement in _MOVEMENTS else Movement.FOOT

    @property
    def badges(self) -> int:
        """Number of badges of both regions."""
        return self.johto_badges.bit_count() + self.kanto_badges.bit_count()

    @property
    def position(self) -> tuple[int, int, int]:
        """Map id, column and row."""
        return (self.map_group * 256 + self.map_number, self.x, self.y)
