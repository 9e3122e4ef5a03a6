"""Status conditions of a Pokemon from its status byte, and the volatile conditions of a battler."""

from __future__ import annotations

from enum import IntEnum

_SLEEP_TURNS = 0b111


class StatusCondition(IntEnum):
    """Non-volatile status condition, at most one at a time.

    The value is its bit in the status byte, for sleep the lowest of three.
    """

    HEALTHY = -1
    ASLEEP = 0
    POISONED = 3
    BURNED = 4
    FROZEN = 5
    PARALYSED = 6


def status_condition(status: int) -> StatusCondition:
    """Return the status condition of a status byte."""
    if status & _SLEEP_TURNS:
        return StatusCondition.ASLEEP
    for ailment in (
        StatusCondition.POISONED,
        StatusCondition.BURNED,
        StatusCondition.FROZEN,
        StatusCondition.PARALYSED,
    ):
        if status >> ailment & 1:
            return ailment
    return StatusCondition.HEALTHY


def sleep_turns(status: int) -> int:
    """Return the turns left to sleep in a status byte, 0 if awake."""
    return status & _SLEEP_TURNS


STAGE_NAMES = ("attack", "defence", "speed", "special attack", "special defence", "accuracy", "evasion")
"""Stats that the stages of a battler change, in the order of memory."""

_NEUTRAL_STAGE, _LAST_STAGE = 7, 13


def stages_of(data: bytes) -> tuple[int, ...]:
    """Return the seven stages as -6 to 6, 0 unchanged. Invalid bytes, as in a game without stages, are unchanged."""
    return tuple(value - _NEUTRAL_STAGE if 1 <= value <= _LAST_STAGE else 0 for value in data)


_CONDITIONS: tuple[tuple[str, ...], ...] = (
    ("nightmare", "cursed", "protected", "identified", "perish song", "enduring", "rolling", "in love"),
    ("curled up", "", "", "", "", "", "", ""),
    ("biding", "rampaging", "in a loop", "flinching", "charging", "underground", "in the air", "confused"),
    ("aims better", "misted", "focused", "", "behind a substitute", "recharging", "raging", "seeded"),
    ("badly poisoned", "", "", "transformed", "encored", "locked on", "destiny bond", "trapped"),
)


def conditions_of(data: bytes) -> tuple[str, ...]:
    """Return the volatile conditions of five bytes of bits, in words."""
    return tuple(
        name
        for byte, names in zip(data, _CONDITIONS, strict=False)
        for bit, name in enumerate(names)
        if name and byte >> bit & 1
    )


_SCREENS = {0: "spikes", 2: "safeguard", 3: "light screen", 4: "reflect"}
_WEATHER = {1: "rain", 2: "sun", 3: "sandstorm"}


def screens_of(value: int) -> tuple[str, ...]:
    """Return the screens and hazards on one side of a battle."""
    return tuple(name for bit, name in _SCREENS.items() if value >> bit & 1)


def weather_of(value: int) -> str:
    """Return the weather of a battle; empty for none, and while one is ending."""
    return _WEATHER.get(value, "")
