"""Reading what a model answered: by schema, then from prose as well as it goes, then no advice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pkmncli.api import Action, Advice, LLMReply

MOST_PRESSES = 8
SKILLS: tuple[str, ...] = ("press", "go_to", "talk_to", "fight", "flee", "heal", "catch")
"""What advice can ask of a pilot. A pilot leaves out what it doesn't know."""

BUTTONS: tuple[str, ...] = tuple(action.name.lower() for action in Action)
_BY_NAME = {name: int(action) for name, action in zip(BUTTONS, Action, strict=True)}

ADVICE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "goal": {"type": "string", "maxLength": 200},
        "skill": {"type": "string", "enum": list(SKILLS)},
        "presses": {"type": "array", "items": {"type": "string", "enum": list(BUTTONS)}, "maxItems": MOST_PRESSES},
        "map": {"type": ["string", "null"], "maxLength": 60},
        "x": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
        "y": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "reason": {"type": "string", "maxLength": 300},
    },
    "required": ["goal", "skill", "presses", "map", "x", "y", "confidence", "reason"],
    "additionalProperties": False,
}
"""What a reply should look like."""

_LONGEST_READ = 20_000
"""Characters in which something is looked for: braces without an end take the square of their number."""

_SURE_OF_PROSE = 0.3
_COMPASS = {"north": Action.UP, "south": Action.DOWN, "west": Action.LEFT, "east": Action.RIGHT}
_WORDS: Mapping[str, Action] = {
    **{name: Action(number) for name, number in _BY_NAME.items() if len(name) > 1 and name != "none"},
    **_COMPASS,
    "wait": Action.NONE,
    "confirm": Action.A,
    "interact": Action.A,
    "talk": Action.A,
    "cancel": Action.B,
    "back": Action.B,
}
_SKILL_WORDS = {"attack": "fight", "fight": "fight", "heal": "heal", "catch": "catch"}
_FLEE = frozenset({"flee", "run", "escape"})
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_SINGLE_BUTTON = re.compile(r"(?:\b(?:press|button|hit|push)\s+(?:the\s+)?)([ab])\b", re.IGNORECASE)


class Reading(StrEnum):
    """How a reply was read."""

    SCHEMA = "schema"
    """As asked for."""
    PROSE = "prose"
    """By the words in it."""
    NOTHING = "nothing"
    """It advises nothing that can be done."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply and what it advises; ``problem`` says in one line what is wrong with it."""

    reading: Reading
    advice: Advice | None
    problem: str = ""


def read_reply(reply: LLMReply, *, expires_after: int) -> ReadReply:
    """Reads a reply that should follow :data:`ADVICE_SCHEMA`. Never raises.

    Args:
        reply: the model's.
        expires_after: steps that the advice holds.
    """
    value = reply.parsed
    if value is None:
        value = find_object(reply.text)
    if value is None:
        return ReadReply(Reading.NOTHING, None, "it holds no JSON object")
    return read_value(value, expires_after=expires_after)


def read_value(value: Any, *, expires_after: int) -> ReadReply:
    """Reads the JSON value of a reply. What is out of range or of a wrong type is a problem, not guessed at."""
    if not isinstance(value, Mapping):
        return ReadReply(Reading.NOTHING, None, "it is no JSON object")
    problem = _problem(value)
    if problem:
        return ReadReply(Reading.NOTHING, None, problem)
    skill = value.get("skill", "press")
    presses = tuple(_BY_NAME[name] for name in value.get("presses") or ())
    arguments = {name: value[name] for name in ("map", "x", "y") if value.get(name) is not None}
    if "map" in arguments:
        arguments["map"] = _plain(arguments["map"], 60)
    advice = Advice(
        goal=_plain(value.get("goal", ""), 200),
        presses=presses,
        skill="" if skill == "press" else skill,
        arguments=arguments,
        confidence=float(value["confidence"]),
        reason=_plain(value.get("reason", ""), 300),
        expires_after=expires_after,
    )
    return ReadReply(Reading.SCHEMA, advice)


def _plain(text: str, length: int) -> str:
    """One line that any file and terminal takes: half characters and control codes in JSON are a model's, too."""
    whole = text[: 4 * length].encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(one if one.isprintable() else " " for one in whole).split())[:length]


def _problem(value: Mapping[str, Any]) -> str:
    skill, presses = value.get("skill", "press"), value.get("presses") or ()
    if skill not in SKILLS:
        return f"skill must be one of {', '.join(SKILLS)}"
    if not isinstance(presses, Sequence) or isinstance(presses, str) or len(presses) > MOST_PRESSES:
        return f"presses must be a list of {MOST_PRESSES} buttons at most"
    if any(not isinstance(name, str) or name not in _BY_NAME for name in presses):
        return f"presses must name buttons: {', '.join(BUTTONS)}"
    if skill == "press" and not presses:
        return "the skill press needs presses"
    for name in ("x", "y"):
        number = value.get(name)
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 255):
            return f"{name} must be a whole number from 0 to 255"
    if value.get("map") is not None and not isinstance(value["map"], str):
        return "map must be a name"
    if skill == "go_to" and value.get("map") is None and (value.get("x") is None or value.get("y") is None):
        return "the skill go_to needs x and y, or a map"
    confidence = value.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return "confidence must be a number from 0 to 1"
    if not 0 <= confidence <= 1:  # false of what is no number, too
        return "confidence must be a number from 0 to 1"
    if any(not isinstance(value.get(name, ""), str) for name in ("goal", "reason")):
        return "goal and reason must be texts"
    return ""


def find_object(text: str) -> Any:
    """The last JSON object that stands whole in a text, thoughts and fences around it aside; None without one."""
    text = without_thoughts(text)[-_LONGEST_READ:]  # the last object counts
    decoder = json.JSONDecoder()
    found = None
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):  # also a number of thousands of digits
            place = text.find("{", place + 1)
            continue
        if isinstance(value, dict):
            found = value
        place = text.find("{", end)
    return found


def without_thoughts(text: str) -> str:
    """The text without the thinking that some models write first."""
    return _THOUGHT.sub("", text)


def read_prose(text: str, *, expires_after: int) -> ReadReply:
    """Reads advice from plain words: buttons, compass directions, attack, flee. The first that is meant counts."""
    words = without_thoughts(text)[:_LONGEST_READ]
    if not words.strip():
        return ReadReply(Reading.NOTHING, None, "it is empty")
    found: list[tuple[int, str, int]] = []
    for match in _SINGLE_BUTTON.finditer(words):
        found.append((match.start(), "", _BY_NAME[match.group(1).lower()]))
    for match in re.finditer(r"[a-z]+", words.lower()):
        word = match.group()
        if word in _WORDS:
            found.append((match.start(), "", int(_WORDS[word])))
        elif word in _SKILL_WORDS:
            found.append((match.start(), _SKILL_WORDS[word], -1))
        elif word in _FLEE:
            found.append((match.start(), "flee", -1))
    if not found:
        return ReadReply(Reading.NOTHING, None, "it names nothing that can be done")
    _, skill, press = min(found)
    advice = Advice(
        goal=skill or Action(press).name.lower(),
        presses=() if press < 0 else (press,),
        skill=skill,
        confidence=_SURE_OF_PROSE,
        reason=_plain(words, 100),
        expires_after=expires_after,
    )
    return ReadReply(Reading.PROSE, advice)
