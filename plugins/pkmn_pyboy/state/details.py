"""Details of a game that are read on request, not at every step: bag, Pokedex, flags, clock and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from pkmn_pyboy.state.event_flags import EventFlags
from pkmn_pyboy.state.game_state import Movement, Party
from pkmn_pyboy.state.named_bag import NamedBag

WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


class TimeOfDay(IntEnum):
    """Time of day as the game treats it; a dark cave is darkness at any hour."""

    MORNING = 0
    DAY = 1
    NIGHT = 2
    DARKNESS = 3


@dataclass(frozen=True, slots=True)
class Clock:
    """Time of the game's clock."""

    weekday: str
    hour: int
    minute: int
    time_of_day: TimeOfDay


@dataclass(frozen=True, slots=True)
class PlayTime:
    """Time played, as the game counts it."""

    hours: int
    minutes: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.hours}:{self.minutes:02}:{self.seconds:02}"


@dataclass(frozen=True, slots=True)
class Pokedex:
    """Species by number."""

    caught: frozenset[int]
    seen: frozenset[int]


@dataclass(frozen=True, slots=True)
class BattleDetails:
    """More about a battle: volatile conditions and screens of both sides, weather, and the trainer's party."""

    own_conditions: tuple[str, ...]
    opponent_conditions: tuple[str, ...]
    own_screens: tuple[str, ...]
    opponent_screens: tuple[str, ...]
    weather: str
    trainer: str
    """Class of the trainer, empty in the wild."""
    own_place: int
    """Slot in the party of the Pokemon that fights, from 0."""
    opponents: Party
    """Pokemon of the trainer; empty in the wild."""


@dataclass(frozen=True, slots=True)
class Details:
    """All details at one moment."""

    name: str
    rival_name: str
    trainer_id: int
    girl: bool
    movement: Movement
    coins: int
    savings: int
    badges: tuple[str, ...]
    visited_towns: tuple[str, ...]
    repel_steps: int
    nicknames: tuple[str, ...]
    bag: NamedBag
    pokedex: Pokedex
    flags: EventFlags
    clock: Clock
    play_time: PlayTime
    battle: BattleDetails | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    """Names of the map: ``landmark``, its larger place, and ``kind``, such as town, route, indoors or cave."""
