"""The state of a game after a step, typed and frozen: what rewards, masks, pilots and observations work from.

What is made anew at every step is a named tuple, which is built four times faster than a frozen dataclass.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from pkmn_pyboy.state.status import Ailment, ailment_of, sleep_turns

PARTY_PLACES = 6
SPECIES_COUNT = 251
MONEY_MOST = 999_999
TRAINER_BATTLE = 2
"""Kind of a battle that is not wild."""


class Phase(IntEnum):
    """What kind of situation the game is in, and so what a press would do."""

    FREE = 0
    """The player stands and can walk."""
    MOVING = 1
    """A step is under way."""
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
"""The kind of situation of each phase, coarser than it."""

BATTLE_PHASES = frozenset({Phase.BATTLE, Phase.BATTLE_MENU, Phase.BATTLE_MOVES})


class Facing(IntEnum):
    """Directions, in the game's own order."""

    DOWN = 0
    UP = 1
    LEFT = 2
    RIGHT = 3


class Movement(IntEnum):
    """Ways of getting about, by the game's own numbers."""

    FOOT = 0
    BICYCLE = 1
    SKATES = 2
    SURFING = 4
    SURFING_PIKACHU = 8


_MOVEMENTS = frozenset(Movement)


@dataclass(frozen=True, slots=True)
class PartyMember:
    """A Pokemon in the party. ``pp`` are the points left for each move; ``status`` the game's own bits, 0 healthy.

    ``stats`` are attack, defence, speed, special attack and special defence; ``pp_ups`` says for each move how often
    its most points were raised; ``happiness`` of an egg are the rounds left until it hatches;
    ``dvs``, 0 to 15, are what attack, defence, speed and special were born with.
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
    def ailment(self) -> Ailment:
        """What lasting harm it has."""
        return ailment_of(self.status)

    @property
    def sleep_turns(self) -> int:
        """Turns that it will still sleep."""
        return sleep_turns(self.status)


@dataclass(frozen=True, slots=True)
class Party:
    """The player's Pokemon, in order. Eggs are listed, and left out of the sums."""

    members: tuple[PartyMember, ...] = ()
    level_sum: int = 0
    hp_share: float = 0.0
    """Hit points of all over their most (0..1), 0 without a party."""

    @property
    def count(self) -> int:
        """How many, eggs too."""
        return len(self.members)

    @property
    def lead(self) -> PartyMember | None:
        """The first that is no egg."""
        for member in self.members:
            if not member.egg:
                return member
        return None


@dataclass(frozen=True, slots=True)
class Battler:
    """A Pokemon that is out in a battle. ``stats`` are those of its party record as stages and status changed them.

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
    def ailment(self) -> Ailment:
        """What lasting harm it has."""
        return ailment_of(self.status)


@dataclass(frozen=True, slots=True)
class Battle:
    """A battle under way. ``kind`` is 1 for wild, 2 for a trainer; who isn't out yet is None."""

    kind: int
    type: int
    trainer_class: int
    opponent: Battler | None
    own: Battler | None
    best_effectiveness: float
    """Of the own moves that do damage and have points left: the best factor on the opponent's types, 0..4."""
    trainer_number: int = 0
    """Which trainer of the class, from 1; 0 in the wild, and where the profile doesn't know."""
    weather: int = 0
    """0 none, 1 rain, 2 sun, 3 sandstorm; 4 to 6 while each ends."""
    own_screens: int = 0
    """Bits of what protects the own side, as :func:`pkmn_pyboy.state.status.screens_of` names them."""
    opponent_screens: int = 0


class Menu(NamedTuple):
    """Bytes of the menu that is open, as the game keeps them; they keep their last values when none is.

    ``cursor_shown`` says whether the solid cursor stands where the menu has it, so whether it waits for a choice.
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
    """All that was read after a step.

    ``map_group``, ``map_number``, ``x`` and ``y`` are the last consistent ones while a map is being changed. Badges
    are bit sets. ``milestones`` counts those reached in this episode.
    """

    map_group: int
    map_number: int
    x: int
    y: int
    facing: Facing
    movement: int
    phase: Phase
    party: Party
    battle: Battle | None
    menu: Menu
    johto_badges: int
    kanto_badges: int
    money: int
    caught: int
    seen: int
    balls: int
    message_box: bool
    printing: bool
    milestones: int
    loaded: bool = True
    """Whether a game runs, rather than the title screen, its menus, or the page between CONTINUE and the map."""

    @property
    def page_opens(self) -> bool:
        """Whether a menu or a full-screen page shows no cursor: it is being drawn, or it has none."""
        return self.phase is Phase.MENU and not self.menu.cursor_shown

    @property
    def map_id(self) -> int:
        """Group * 256 + number."""
        return self.map_group * 256 + self.map_number

    @property
    def way_of_moving(self) -> Movement:
        """How the player gets about; on foot where the number means nothing."""
        return Movement(self.movement) if self.movement in _MOVEMENTS else Movement.FOOT

    @property
    def badges(self) -> int:
        """How many badges of both regions."""
        return self.johto_badges.bit_count() + self.kanto_badges.bit_count()

    @property
    def position(self) -> tuple[int, int, int]:
        """Map id, column and row."""
        return (self.map_group * 256 + self.map_number, self.x, self.y)
