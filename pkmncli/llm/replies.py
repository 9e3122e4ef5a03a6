"""Replies of a model: one pydantic model, made from the skills and actions that can be advised, and its reading.

A reply is read by its JSON object, else, if that is allowed, as one command in plain words, else it is no advice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model, model_validator

from pkmncli.api import ActionNames, Advice, Argument, LLMReply, Skill, default_action_names
from pkmncli.errors import PluginError
from pkmncli.llm.contents import NO_ANSWER
from pkmncli.llm.json_objects import find_objects, whole_value
from pkmncli.llm.prose import CommandFinder, is_form
from pkmncli.llm.thoughts import take_apart

MOST_PRESSES = 8
PRESS = "press"
"""Skill of a reply that names actions itself."""
NOTES = "notes"
"""Skill of a reply that only writes a note."""
NOTE = "note"
"""Field of a reply with a note."""
MOST_NOTE_CHARACTERS = 200
MOST_LISTED = 60
"""Maximum number of actions that a schema lists. Of more, a reply names one in free text."""

_TELLING = frozenset({"skill", "presses", "actions", "confidence"})
"""Fields that make an object an answer."""
_OTHERS = frozenset({"goal", "reason"})
_MOST_WRAPPINGS = 4
_SURE_OF_PROSE = 0.3
_CUT_FIELD = re.compile(rf"([\"'])(?:{'|'.join(sorted(_TELLING))})\1\s*:", re.IGNORECASE)
"""Telling field of an object that is not whole."""
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,20})?|\.\d{1,20}|\d{1,3},\d{1,2}|0,\d{1,20})\s*(%?)", re.ASCII)
_WHOLE = re.compile(r"-?\d{1,9}", re.ASCII)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_NO_VALUE = frozenset({"", "null", "none"})

CUT_OFF = "it was cut off at its longest length (llm_reply_tokens)"
"""Beginning of the problem of a reply that was cut off; the problem of the rest follows."""
EMPTY = "it is empty"


class Reading(StrEnum):
    """Way in which a reply was read."""

    SCHEMA = "schema"
    """By its object."""
    PROSE = "prose"
    """By its words."""
    NOTHING = "nothing"
    """It advises nothing that can be done."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """Advice in a reply; ``problem`` says in one line why there is none."""

    reading: Reading
    advice: Advice | None
    problem: str = ""


class ReplyForm:
    """Form of the replies about one kind of environment: the model that describes, checks and reads them.

    Args:
        skills: skills of the pilot.
        actions: names of the environment's actions; by default those of an environment that declares nothing.
        notes: True if the model may write notes for itself.

    Raises:
        PluginError: a skill is declared wrongly.
    """

    def __init__(
        self, skills: Sequence[Skill] = (), actions: ActionNames | None = None, *, notes: bool = False
    ) -> None:
        self.skills = tuple(skills)
        self.actions = actions or default_action_names()
        self.listed = "presses" if self.skills else "actions"
        """Field with the actions. A reply without skills has no field for the skill."""
        self.arguments = _arguments_of(self.skills, self.actions)
        """Arguments of all skills, by name."""
        self.notes = notes
        if notes and (NOTE in self.arguments or any(skill.name == NOTES for skill in self.skills)):
            raise PluginError(f"llm_notes needs the names {NOTE!r} and {NOTES!r}, which the pilot's skills have")
        self.model = _advice_reply(self.skills, self.actions, self.arguments, self.listed, notes=notes)
        """Pydantic model ``AdviceReply``."""
        self.schema: Mapping[str, Any] = self.model.model_json_schema(mode="serialization")
        """JSON schema of a reply, for prompts and structured outputs."""
        self._commands = CommandFinder(self.actions, self.skills)

    @property
    def skill_names(self) -> tuple[str, ...]:
        """Names that a reply can give as its skill."""
        return (PRESS, *(skill.name for skill in self.skills), *([NOTES] if self.notes and self.skills else []))

    def read(self, reply: LLMReply, *, expires_after: int, words_too: bool = False) -> ReadReply:
        """Read a reply. Never raises.

        Args:
            reply: the model's reply.
            expires_after: steps after which the advice is out of date.
            words_too: True to read a reply without an object as plain words.
        """
        read = self._read(reply, expires_after, words_too)
        if read.advice is None and reply.cut:
            return ReadReply(read.reading, None, f"{CUT_OFF}: {read.problem}")
        return read

    def _read(self, reply: LLMReply, expires_after: int, words_too: bool) -> ReadReply:
        if reply.problem:
            return _refused(reply.problem)
        if reply.parsed is not None:
            return self._read_objects(reply.parsed, expires_after)
        value, answer = whole_value(reply.text), ""
        if value is None:
            answer, thoughts = take_apart(reply.text)
            if not answer.strip():
                value = whole_value(thoughts)  # thoughts that are only an object are an answer in the wrong place
                if value is None:
                    return _refused(NO_ANSWER if thoughts.strip() else EMPTY)
        if value is not None:
            return self._read_objects(value, expires_after)
        objects, around = find_objects(answer)
        if _CUT_FIELD.search(around):
            return _refused("it holds an object that is no JSON")
        if objects:
            return self._read_objects(objects, expires_after)
        if is_form(answer):
            return _refused("it holds no JSON object that is whole")
        if words_too and not reply.cut:
            return self._read_words(answer, expires_after)
        return _refused("it holds no JSON object")

    def _read_objects(self, value: Any, expires_after: int) -> ReadReply:
        """Read the only answer in a JSON value."""
        answers: list[Mapping[str, Any]] = []
        for found in _answers(value, _MOST_WRAPPINGS):
            if found not in answers:
                answers.append(found)
        if not answers:
            named = f"skill, {self.listed}" if self.skills else self.listed
            return _refused(f"it holds no JSON object with {named} and confidence")
        if len(answers) > 1:
            return _refused("it holds several answers that differ")
        return self._read_answer(answers[0], expires_after)

    def _read_answer(self, answer: Mapping[str, Any], expires_after: int) -> ReadReply:
        fields: dict[str, Any] = {}
        for given, value in answer.items():
            name = _folded(given)
            name = self.listed if name == "presses" else name
            if name not in self.model.model_fields or value is None:
                continue
            if name in fields:
                return _refused(f"it gives {name} twice")
            fields[name] = value
        try:
            read: Any = self.model.model_validate(fields)
        except ValidationError as error:
            return _refused(_problem(self.model, error))
        arguments = {name: given for name in self.arguments if (given := getattr(read, name)) is not None}
        advice = Advice(
            goal=read.goal,
            presses=tuple(self.actions.names.index(name) for name in getattr(read, self.listed)),
            skill=read.skill if self.skills and read.skill != PRESS else "",
            arguments=arguments,
            confidence=read.confidence,
            reason=read.reason,
            expires_after=expires_after,
            note=(read.note or "") if self.notes else "",
        )
        return ReadReply(Reading.SCHEMA, advice)

    def _read_words(self, words: str, expires_after: int) -> ReadReply:
        command = self._commands.find(words)
        if isinstance(command, str):
            return _refused(command)
        advice = Advice(
            goal=command.skill if command.action is None else self.actions.names[command.action],
            presses=() if command.action is None else (command.action,),
            skill=command.skill,
            confidence=_SURE_OF_PROSE,
            reason=_plain(words, 100),
            expires_after=expires_after,
        )
        return ReadReply(Reading.PROSE, advice)


def _refused(problem: str) -> ReadReply:
    return ReadReply(Reading.NOTHING, None, problem)


def _problem(model: type[BaseModel], error: ValidationError) -> str:
    """Return the first problem of an answer in one line."""
    first = error.errors(include_url=False, include_input=False)[0]
    if not first["loc"]:
        return str(first["ctx"]["error"])
    name = str(first["loc"][0])
    return f"{name} must be {model.model_fields[name].description}"


def _answers(value: Any, wrappings: int) -> list[Mapping[str, Any]]:
    """Return the objects with a telling field: the value, or those in the lists, objects and texts that wrap them."""
    if isinstance(value, str):
        value = whole_value(value)
    if isinstance(value, Mapping):
        if any(_folded(name) in _TELLING for name in value):
            return [value]
        value = list(value.values())
    if not isinstance(value, list) or not wrappings:
        return []
    return [answer for wrapped in value for answer in _answers(wrapped, wrappings - 1)]


def _folded(name: Any) -> str:
    return name.strip().lower() if isinstance(name, str) else ""


# The model of a reply ----------------------------------------------------------------------------------------------


def _arguments_of(skills: Sequence[Skill], actions: ActionNames) -> dict[str, Argument]:
    """Return the arguments of all skills by name. Raise PluginError for a wrong declaration."""
    found: dict[str, Argument] = {}
    names = [PRESS, *(skill.name for skill in skills)]
    for skill in skills:
        wrong = [name for name in (skill.name, *(one.name for one in skill.arguments)) if not _NAME.fullmatch(name)]
        if wrong:
            raise PluginError(f"skill {skill.name!r}: {wrong[0]!r} is not lower-case letters, digits and underscores")
        if names.count(skill.name) > 1:
            raise PluginError(f"skill {skill.name!r} is declared twice")
        if skill.action and skill.action not in actions.names:
            raise PluginError(f"skill {skill.name!r}: there is no action {skill.action!r}")
        for argument in skill.arguments:
            if argument.name in _TELLING | _OTHERS:
                raise PluginError(f"skill {skill.name!r}: {argument.name!r} is a field of every reply")
            if found.setdefault(argument.name, argument) != argument:
                raise PluginError(f"skill {skill.name!r}: {argument.name!r} differs from that of another skill")
        missing = {name for group in skill.needs for name in group} - {one.name for one in skill.arguments}
        if missing:
            raise PluginError(f"skill {skill.name!r} needs {min(missing)!r}, which is not among its arguments")
    return found


def _advice_reply(
    skills: Sequence[Skill], actions: ActionNames, arguments: Mapping[str, Argument], listed: str, *, notes: bool
) -> type[BaseModel]:
    """Return the model of a reply. A value of a near type is read if it can mean only one thing.

    A confidence may be text, with a decimal comma or per cent. A number over 10 and up to 100 is per cent, too. A
    number over 1 and up to 10 could be of ten, and is refused. Presses may be JSON in a text, or names with commas or
    blanks between them. Numbers may be text. Capitals do not matter; null is the same as no field.
    """
    literal: Any = Literal
    names = (PRESS, *(skill.name for skill in skills), *([NOTES] if notes and skills else []))
    press: Any
    if len(actions.names) > MOST_LISTED:
        known = frozenset(actions.names)
        press, shown = Annotated[str, BeforeValidator(lambda value: _one_of(known, _folded(value)))], "allowed actions"
    else:
        press, shown = Annotated[literal[actions.names], BeforeValidator(_folded)], ", ".join(actions.names)
    needs: Mapping[str, tuple[tuple[str, ...], ...]] = {skill.name: skill.needs for skill in skills if skill.needs}

    def check(self: Any) -> Any:
        if not skills:
            if not self.actions:
                raise ValueError("actions must name one at least")
            return self
        if self.skill == PRESS and not self.presses:
            raise ValueError("the skill press needs presses")
        if self.skill == NOTES and notes and not self.note:
            raise ValueError("the skill notes needs a note")
        groups = needs.get(self.skill, ())
        if groups and not any(all(getattr(self, name) is not None for name in group) for group in groups):
            raise ValueError(f"the skill {self.skill} needs {', or '.join(' and '.join(group) for group in groups)}")
        return self

    skill = Annotated[literal[names], BeforeValidator(_skill)], Field(PRESS, description=f"one of {', '.join(names)}")
    note = Annotated[Annotated[str, *_line(MOST_NOTE_CHARACTERS)] | None, BeforeValidator(_named)]
    fields: dict[str, Any] = {
        "goal": (Annotated[str, *_line(200)], Field("", description="a text")),
        **({"skill": skill} if skills else {}),
        listed: (
            Annotated[tuple[press, ...], BeforeValidator(_presses)],
            Field((), max_length=MOST_PRESSES, description=f"a list of {MOST_PRESSES} at most, of {shown}"),
        ),
        **{name: _field_of(argument) for name, argument in arguments.items()},
        "confidence": (
            Annotated[float, BeforeValidator(_share)],
            Field(ge=0, le=1, allow_inf_nan=False, description="a number from 0 to 1"),
        ),
        "reason": (Annotated[str, *_line(300)], Field("", description="a text")),
        **({NOTE: (note, Field(None, description="a text"))} if notes else {}),
    }
    validators: dict[str, Any] = {"check": model_validator(mode="after")(check)}
    model: type[BaseModel] = create_model(
        "AdviceReply",
        __config__=ConfigDict(
            frozen=True,
            extra="forbid",
            json_schema_serialization_defaults_required=True,
            json_schema_extra=_without_titles,
        ),
        __validators__=validators,
        **fields,
    )
    return model


def _field_of(argument: Argument) -> Any:
    if argument.bounds is None:
        text = Annotated[str, *_line(argument.max_length)]
        return Annotated[text | None, BeforeValidator(_named)], Field(None, description="a name")
    low, high = argument.bounds
    number = Annotated[int, Field(ge=low, le=high), BeforeValidator(_whole_number)]
    words = f"a whole number from {low} to {high}"
    return Annotated[number | None, BeforeValidator(_named)], Field(None, description=words)


def _without_titles(schema: dict[str, Any]) -> None:
    """Leave out what tells a model nothing: titles and defaults."""
    schema.pop("title", None)
    for part in schema["properties"].values():
        part.pop("title", None)
        part.pop("default", None)


def _skill(value: Any) -> str:
    return re.sub(r"[\s-]+", "_", _folded(value))


def _one_of(names: Collection[str], name: str) -> str:
    if name not in names:
        raise ValueError
    return name


def _presses(value: Any) -> Any:
    if isinstance(value, str):
        listed = whole_value(value)
        value = listed if listed is not None else re.split(r"[\s,]+", value.strip()) if value.strip() else []
    if not isinstance(value, list | tuple):
        raise ValueError
    return value


def _named(value: Any) -> Any:
    return None if _folded(value) in _NO_VALUE and isinstance(value, str) else value


def _whole_number(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, str) and not _WHOLE.fullmatch(value.strip())):
        raise ValueError
    return value


def _line(length: int) -> tuple[Any, ...]:
    """Return the validation of a text: it becomes one line that any file and terminal takes."""
    return (
        BeforeValidator(lambda value: _plain(value, length) if isinstance(value, str) else value),
        Field(max_length=length),
    )


def _plain(text: str, length: int) -> str:
    """Return a text on one line, without halves of characters and control codes."""
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
