"""Reading what a model answered: its JSON object by one rule, else a command in plain words, else no advice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pkmncli.api import Action, Advice, LLMReply
from pkmncli.llm.contents import NO_ANSWER
from pkmncli.llm.json_objects import find_objects, whole_value
from pkmncli.llm.prose import find_command, is_form
from pkmncli.llm.thoughts import take_apart

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

_TELLING = frozenset({"skill", "presses", "confidence"})
"""Fields that make an object an answer."""
_MOST_WRAPPINGS = 4
_SURE_OF_PROSE = 0.3
_CUT_FIELD = re.compile(rf"([\"'])(?:{'|'.join(sorted(_TELLING))})\1\s*:", re.IGNORECASE)
"""A telling field of an object, where no whole object is."""
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,20})?|\.\d{1,20}|\d{1,3},\d{1,2}|0,\d{1,20})\s*(%?)", re.ASCII)
_WHOLE = re.compile(r"\d{1,3}", re.ASCII)
_NO_VALUE = frozenset({"", "null", "none"})
_MUST = {
    "skill": f"skill must be one of {', '.join(SKILLS)}",
    "presses": f"presses must be a list of {MOST_PRESSES} buttons at most, of {', '.join(BUTTONS)}",
    "x": "x must be a whole number from 0 to 255",
    "y": "y must be a whole number from 0 to 255",
    "map": "map must be a name",
    "confidence": "confidence must be a number from 0 to 1",
    "goal": "goal and reason must be texts",
    "reason": "goal and reason must be texts",
}


CUT_OFF = "it was cut off at its longest length (llm_reply_tokens)"
"""Beginning of the problem of a reply that was cut; what is wrong with what is left follows."""
EMPTY = "it is empty"


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


def read_reply(reply: LLMReply, *, expires_after: int, words_too: bool = False) -> ReadReply:
    """Read a reply that should follow :data:`ADVICE_SCHEMA`. Never raises.

    Args:
        reply: the model's.
        expires_after: steps that the advice holds.
        words_too: whether a reply without an object is read as plain words.
    """
    read = _read(reply, expires_after, words_too)
    if read.advice is None and reply.cut:
        return ReadReply(read.reading, None, f"{CUT_OFF}: {read.problem}")
    return read


def _read(reply: LLMReply, expires_after: int, words_too: bool) -> ReadReply:
    if reply.problem:
        return ReadReply(Reading.NOTHING, None, reply.problem)
    if reply.parsed is not None:
        return _read_objects(reply.parsed, expires_after)
    value, answer = whole_value(reply.text), ""
    if value is None:
        answer, thoughts = take_apart(reply.text)
        if not answer.strip():
            value = whole_value(thoughts)  # where it is nothing but an object, it was put into the wrong place
            if value is None:
                return ReadReply(Reading.NOTHING, None, NO_ANSWER if thoughts.strip() else EMPTY)
    if value is not None:
        return _read_objects(value, expires_after)
    objects, around = find_objects(answer)
    if _CUT_FIELD.search(around):
        return ReadReply(Reading.NOTHING, None, "it holds an object that is no JSON")
    if objects:
        return _read_objects(objects, expires_after)
    if is_form(answer):
        return ReadReply(Reading.NOTHING, None, "it holds no JSON object that is whole")
    if words_too and not reply.cut:
        return _read_words(answer, expires_after)
    return ReadReply(Reading.NOTHING, None, "it holds no JSON object")


def _read_objects(value: Any, expires_after: int) -> ReadReply:
    """Read the one answer in a JSON value."""
    answers: list[Mapping[str, Any]] = []
    for one in _answers(value, _MOST_WRAPPINGS):
        if one not in answers:
            answers.append(one)
    if not answers:
        return ReadReply(Reading.NOTHING, None, "it holds no JSON object with skill, presses and confidence")
    if len(answers) > 1:
        return ReadReply(Reading.NOTHING, None, "it holds several answers that differ")
    return _read_answer(answers[0], expires_after)


def _answers(value: Any, wrappings: int) -> list[Mapping[str, Any]]:
    """The objects with a telling field: the value, or within the lists, objects and JSON texts that wrap them."""
    if isinstance(value, str):
        value = whole_value(value)
    if isinstance(value, Mapping):
        if any(_folded(name) in _TELLING for name in value):
            return [value]
        value = list(value.values())
    if not isinstance(value, list) or not wrappings:
        return []
    return [answer for one in value for answer in _answers(one, wrappings - 1)]


def _folded(name: Any) -> str:
    return name.strip().lower() if isinstance(name, str) else ""


def _read_answer(answer: Mapping[str, Any], expires_after: int) -> ReadReply:
    """Read the object of a reply: near types by the rule of :class:`_Value`, anything else is a problem."""
    fields: dict[str, Any] = {}
    for given, one in answer.items():
        name = _folded(given)
        if name not in _MUST or one is None:
            continue
        if name in fields:
            return ReadReply(Reading.NOTHING, None, f"it gives {name} twice")
        fields[name] = one
    try:
        read = _Value.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        problem = _MUST[str(first["loc"][0])] if first["loc"] else str(first["ctx"]["error"])
        return ReadReply(Reading.NOTHING, None, problem)
    arguments = {name: one for name in ("map", "x", "y") if (one := getattr(read, name)) is not None}
    advice = Advice(
        goal=read.goal,
        presses=read.presses,
        skill="" if read.skill == "press" else read.skill,
        arguments=arguments,
        confidence=read.confidence,
        reason=read.reason,
        expires_after=expires_after,
    )
    return ReadReply(Reading.SCHEMA, advice)


# The one rule of what a field may be -------------------------------------------------------------------------------


def _skill(value: Any) -> Any:
    skill = re.sub(r"[\s-]+", "_", _folded(value))
    if skill not in SKILLS:
        raise ValueError
    return skill


def _presses(value: Any) -> Any:
    if isinstance(value, str):
        listed = whole_value(value)
        value = listed if listed is not None else re.split(r"[\s,]+", value.strip()) if value.strip() else []
    if not isinstance(value, list | tuple):
        raise ValueError
    return tuple(_BY_NAME.get(_folded(name), -1) for name in value)


def _named(value: Any) -> Any:
    return None if _folded(value) in _NO_VALUE and isinstance(value, str) else value


def _coordinate(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, str) and not _WHOLE.fullmatch(value.strip())):
        raise ValueError
    return value


def _line(length: int) -> BeforeValidator:
    """Texts as one line that any file and terminal takes; what is no text stays, to be refused."""
    return BeforeValidator(lambda value: _plain(value, length) if isinstance(value, str) else value)


def _plain(text: str, length: int) -> str:
    """The text on one line: half characters and control codes in JSON are a model's, too."""
    whole = text[: 4 * length].encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(one if one.isprintable() else " " for one in whole).split())[:length]


def _share(value: Any) -> Any:
    percent = False
    if isinstance(value, str):
        match = _SHARE.fullmatch(value.strip())
        if match is None:
            raise ValueError
        value, percent = float(match[1].replace(",", ".")), bool(match[2])
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return value / 100 if percent or 10 < value <= 100 else value


_Coordinate = Annotated[
    Annotated[int, Field(ge=0, le=255), BeforeValidator(_coordinate)] | None, BeforeValidator(_named)
]


class _Value(BaseModel):
    """An answer. A value of a near type is read where it can mean one thing only, and refused otherwise.

    A confidence may be text, with a decimal comma or per cent; a number over 10 and up to 100 is per cent too, one over
    1 and up to 10 could be of ten, and is refused. Presses may be JSON in a text, or names parted by commas or blanks.
    Coordinates may be text. Capitals don't matter; null is what isn't there.
    """

    model_config = ConfigDict(frozen=True)

    goal: Annotated[str, _line(200)] = ""
    skill: Annotated[str, BeforeValidator(_skill)] = "press"
    presses: Annotated[
        tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_presses), Field(max_length=MOST_PRESSES)
    ] = ()
    map: Annotated[str | None, _line(60), BeforeValidator(_named)] = None
    x: _Coordinate = None
    y: _Coordinate = None
    confidence: Annotated[float, BeforeValidator(_share), Field(ge=0, le=1, allow_inf_nan=False)]
    reason: Annotated[str, _line(300)] = ""

    @model_validator(mode="after")
    def _is_enough(self) -> Self:
        if self.skill == "press" and not self.presses:
            raise ValueError("the skill press needs presses")
        if self.skill == "go_to" and self.map is None and (self.x is None or self.y is None):
            raise ValueError("the skill go_to needs x and y, or a map")
        return self


def _read_words(words: str, expires_after: int) -> ReadReply:
    """Read a command in plain words."""
    command = find_command(words)
    if isinstance(command, str):
        return ReadReply(Reading.NOTHING, None, command)
    advice = Advice(
        goal=command.skill if command.press is None else command.press.name.lower(),
        presses=() if command.press is None else (int(command.press),),
        skill=command.skill,
        confidence=_SURE_OF_PROSE,
        reason=_plain(words, 100),
        expires_after=expires_after,
    )
    return ReadReply(Reading.PROSE, advice)
