"""What a status byte says of a Pokemon, and the passing conditions of one that fights."""

from __future__ import annotations

from enum import IntEnum

_SLEEP_TURNS = 0b111


class Ailment(IntEnum):
    """A lasting harm. At most one at a time; the number is its bit in the status byte, sleep's the lowest of three."""

    HEALTHY = -1
    ASLEEP = 0
    POISONED = 3
    BURNED = 4
    FROZEN = 5
    PARALYSED = 6


def ailment_of(status: int) -> Ailment:
    """The ailment that a status byte tells."""
    if status & _SLEEP_TURNS:
        return Ailment.ASLEEP
    for ailment in (Ailment.POISONED, Ailment.BURNED, Ailment.FROZEN, Ailment.PARALYSED):
        if status >> ailment & 1:
            return ailment
    return Ailment.HEALTHY


def sleep_turns(status: int) -> int:
    """Turns that a status byte says are still slept, 0 awake."""
    return status & _SLEEP_TURNS


STAGE_NAMES = ("attack", "defence", "speed", "special attack", "special defence", "accuracy", "evasion")
"""What the stages of a battler change, in the order in which memory has them."""

_NEUTRAL_STAGE, _LAST_STAGE = 7, 13


def stages_of(data: bytes) -> tuple[int, ...]:
    """The seven stages as -6 to 6, 0 unchanged. Bytes that are no stage, as in a game without them, are unchanged."""
    return tuple(value - _NEUTRAL_STAGE if 1 <= value <= _LAST_STAGE else 0 for value in data)


_CONDITIONS: tuple[tuple[str, ...], ...] = (
    ("nightmare", "cursed", "protected", "identified", "perish song", "enduring", "rolling", "in love"),
    ("curled up", "", "", "", "", "", "", ""),
    ("biding", "rampaging", "in a loop", "flinching", "charging", "underground", "in the air", "confused"),
    ("aims better", "misted", "focused", "", "behind a substitute", "recharging", "raging", "seeded"),
    ("badly poisoned", "", "", "transformed", "encored", "locked on", "destiny bond", "trapped"),
)


def conditions_of(data: bytes) -> tuple[str, ...]:
    """The passing conditions that five bytes of bits tell, in words."""
    return tuple(
        name
        for byte, names in zip(data, _CONDITIONS, strict=False)
        for bit, name in enumerate(names)
        if name and byte >> bit & 1
    )


_SCREENS = {0: "spikes", 2: "safeguard", 3: "light screen", 4: "reflect"}
_WEATHER = {1: "rain", 2: "sun", 3: "sandstorm"}


def screens_of(value: int) -> tuple[str, ...]:
    """What stands on one side of a battle."""
    return tuple(name for bit, name in _SCREENS.items() if value >> bit & 1)


def weather_of(value: int) -> str:
    """The weather of a battle; empty for none, and while one is ending."""
    return _WEATHER.get(value, "")
