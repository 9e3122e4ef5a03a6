"""An answer of a model, its variants, and what is made of a reply in a few words."""

from __future__ import annotations

import json
from typing import Any

from pkmncli.api import Action
from pkmncli.llm.replies import ReadReply

ANSWER = {
    "goal": "Walk up to the stairs",
    "skill": "press",
    "presses": ["down"],
    "map": None,
    "x": None,
    "y": None,
    "confidence": 0.8,
    "reason": "press B? no, the door is left",
}
"""Its words name other buttons than its presses, so that it shows which were read."""
GOOD = json.dumps(ANSWER)
DOWN = "down @0.8"
HALF = GOOD[: GOOD.index('"down"') + 6]
"""The answer, cut off."""


def changed(**values: Any) -> str:
    return json.dumps(ANSWER | values)


def written(old: str, new: str) -> str:
    """The answer with a change that JSON doesn't have."""
    assert old in GOOD
    return GOOD.replace(old, new)


def in_short(read: ReadReply) -> str:
    """What is done, in a few words; or why nothing is."""
    advice = read.advice
    if advice is None:
        return f"refused: {read.problem}"
    presses = [Action(press).name.lower() for press in advice.presses]
    arguments = [f"{name}={value}" for name, value in advice.arguments.items()]
    words = " ".join([*([advice.skill] if advice.skill else []), *presses, *arguments])
    return f"{words} in words" if read.reading == "prose" else f"{words} @{advice.confidence:g}"


def assert_understood(read: ReadReply, expected: str) -> None:
    if expected.startswith("refused"):
        assert read.advice is None, in_short(read)
        assert expected.removeprefix("refused: ") in read.problem
        assert read.problem and "\n" not in read.problem
    else:
        assert in_short(read) == expected
