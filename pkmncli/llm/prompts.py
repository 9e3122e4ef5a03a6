"""Prompts about a situation, from a template that a user can replace, kept under a length."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pkmncli.api import Context
from pkmncli.api.data_text import parse_toml, read_given_text
from pkmncli.errors import ConfigurationError, first_fault
from pkmncli.llm.replies import MOST_LISTED, MOST_PRESSES, NOTE, NOTES, ReplyForm

CHARACTERS_PER_TOKEN = 3
"""Low for English, so that counts are rather too high than too low."""

_LISTS = ("events", "changes", "failures", "history", "notes", "earlier", "milestones")
_TEXTS = (
    *("game", "goal", "state", "danger", "map", "suggestions", "lag", "skills", "buttons", "actions"),
    *("about_skills", "most_presses", "form"),
)


@dataclass(frozen=True, slots=True)
class Question:
    """Situation to ask about. The lists are lines, oldest first."""

    context: Context
    events: Sequence[str] = ()
    failures: Sequence[str] = ()
    history: Sequence[str] = ()
    notes: Sequence[str] = ()
    """Notes that the model has written."""
    earlier: Sequence[str] = ()
    """Summary of what happened long ago."""
    lag_steps: int = 0
    """Steps of the game while the model answers."""
    form: ReplyForm = field(default_factory=ReplyForm)
    """Skills and actions to choose from, and the form of a reply."""
    game: str = ""
    allowed: Sequence[int] = ()
    """Actions that are allowed now; empty for all."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Prompt as it is sent. ``dropped`` names the parts that were left out for its length."""

    system: str
    text: str
    dropped: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Estimated number of tokens, rather too many than too few."""
        return estimated_tokens(self.system) + estimated_tokens(self.text)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    text: str
    drop: int = Field(default=0, ge=0)

    @field_validator("text")
    @classmethod
    def _known_names(cls, text: str) -> str:
        template = Template(text)
        if not template.is_valid():
            raise ValueError("a lone $ must be written as $$")
        unknown = sorted(set(template.get_identifiers()) - {*_LISTS, *_TEXTS})
        if unknown:
            raise ValueError(f"${unknown[0]} is unknown; there are {', '.join('$' + n for n in (*_TEXTS, *_LISTS))}")
        return text

    @property
    def placeholders(self) -> list[str]:
        return Template(self.text).get_identifiers()


class _TemplateFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    system: str
    part: list[_Part] = Field(min_length=1)


class PromptTemplate:
    """Parts of a prompt. Made by :meth:`load`."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        file = _TemplateFile.model_validate(content)
        self._system = file.system.strip()
        self._parts = file.part

    @classmethod
    def load(
        cls, path: Path | None = None, max_tokens: int | None = None, form: ReplyForm | None = None
    ) -> PromptTemplate:
        """Read a template file; by default the built-in one for advice with skills, or for actions alone.

        Args:
            path: the file.
            max_tokens: maximum length of prompts, to refuse a template that is longer at once.
            form: skills and actions of the prompts; None for a template for advice with skills.

        Raises:
            ConfigurationError: the file is missing or not TOML, has unknown names, or is too long.
        """
        built_in = "advice.toml" if form is None or form.skills else "actions.toml"
        where: Any = path or resources.files("pkmncli.llm.templates") / built_in
        template = cls._read(where)
        shortest = template.fill(Question(Context("", ""), form=form or ReplyForm()), 0).tokens
        if max_tokens is not None and shortest > max_tokens:
            raise ConfigurationError(
                f"The prompt template {where}: what it always says takes about {shortest} tokens, and "
                f"max_context_length is {max_tokens}; raise that, or give more parts a drop"
            )
        return template

    @classmethod
    def _read(cls, where: Any) -> PromptTemplate:
        try:
            text = read_given_text(where) if isinstance(where, Path) else where.read_text(encoding="utf-8")
            return cls(parse_toml(text))
        except OSError as error:
            raise ConfigurationError(f"The prompt template {where} can't be read: {error.strerror}") from error
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigurationError(f"The prompt template {where} is no TOML file: {error}") from error
        except ValidationError as error:
            raise ConfigurationError(f"The prompt template {where}: {first_fault(error)}") from error

    def fill(self, question: Question, max_tokens: int, *, with_form: bool = True) -> Prompt:
        """Return the prompt for a question, of about ``max_tokens`` at most.

        Whole parts are left out, and of lists whole lines, in the template's order; needed parts stay even if that is
        longer.

        Args:
            question: the situation.
            max_tokens: maximum length.
            with_form: False to leave out the form of a reply, for a conversation.
        """
        names = question.form.actions.names
        texts = {
            "goal": question.context.current_goal,
            "state": question.context.context_summary,
            "map": question.context.text_map,
            "suggestions": "; ".join(question.context.action_suggestions),
            "danger": "" if question.context.danger == "none" else question.context.danger,
            "lag": str(question.lag_steps or ""),
            "game": question.game,
            "skills": ", ".join(question.form.skill_names),
            "about_skills": "\n".join(_skills_in_words(question.form)),
            "buttons": ", ".join(names) if len(names) <= MOST_LISTED else _actions_in_words(names, question.allowed),
            "actions": _actions_in_words(names, question.allowed),
            "most_presses": str(MOST_PRESSES),
            "form": _form_in_words(question.form),
        }
        lists = {
            "events": list(question.events),
            "changes": list(question.context.changes),
            "failures": list(question.failures),
            "history": list(question.history),
            "notes": list(question.notes),
            "earlier": list(question.earlier),
            "milestones": [split.name.replace("_", " ") for split in question.context.milestones],
        }
        parts = [part for part in self._parts if _has_content(part, texts, lists)]
        parts = [part for part in parts if with_form or "form" not in part.placeholders]
        dropped: list[str] = []
        while True:
            text = "\n\n".join(_render(part, texts, lists) for part in parts)
            prompt = Prompt(self._system, text, tuple(dropped))
            if prompt.tokens <= max_tokens:
                return prompt
            least = max(parts, key=lambda part: part.drop, default=None)
            if least is None or least.drop == 0:
                return prompt
            longest = max((lists[name] for name in least.placeholders if name in lists), key=len, default=[])
            if len(longest) > 1:
                del longest[0]
                continue
            parts.remove(least)
            dropped.append(least.name)


def game_in_words(names: Mapping[str, Any]) -> str:
    """Return a game's title and kind, from the names of its environment."""
    return ", ".join(str(names[name]) for name in ("game", "about") if names.get(name))


def _actions_in_words(names: Sequence[str], allowed: Sequence[int]) -> str:
    """Return the names of the allowed actions. Of many, numbered names become ranges, and some may be left out."""
    chosen = [names[action] for action in allowed] or list(names)
    if len(chosen) <= MOST_LISTED:
        return ", ".join(chosen)
    runs: list[list[str]] = []
    for name in chosen:
        stem = name.rstrip("0123456789")
        before = runs[-1][-1] if runs else ""
        follows = name != stem and before[: len(stem)] == stem and before[len(stem) :].isdecimal()
        if follows and int(name[len(stem) :]) == int(before[len(stem) :]) + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    words = [run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    hidden = sum(map(len, runs[MOST_LISTED:]))
    more = [f"and {hidden} more, the last of which is {chosen[-1]}"] if hidden else []
    return ", ".join(words[:MOST_LISTED] + more)


def _form_in_words(form: ReplyForm) -> str:
    """Return an example of a reply."""
    choices = '"skill": "...", "presses": []' if form.skills else '"actions": ["..."]'
    arguments = "".join(f', "{name}": null' for name in form.arguments)
    note = f', "{NOTE}": null' if form.notes else ""
    hint = f'\n"{NOTE}" is a text that you want to read again in later questions, or null.' if form.notes else ""
    return (
        f'{{"goal": "what this serves, in a few words", {choices}{arguments}, "confidence": 0.0 to 1.0, '
        f'"reason": "why, in one sentence"{note}}}{hint}'
    )


def _skills_in_words(form: ReplyForm) -> list[str]:
    notes = [f'`{NOTES}` writes the text in "{NOTE}", and does nothing else.'] if form.notes and form.skills else []
    return [*(f"`{skill.name}` {skill.help}." for skill in form.skills), *notes]


def estimated_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text, rather too many than too few."""
    return -(-len(text.encode()) // CHARACTERS_PER_TOKEN)


def _has_content(part: _Part, texts: Mapping[str, str], lists: Mapping[str, Sequence[str]]) -> bool:
    names = part.placeholders
    return not names or any(texts.get(name) or lists.get(name) for name in names)


def _render(part: _Part, texts: Mapping[str, str], lists: Mapping[str, Sequence[str]]) -> str:
    lines = {name: "\n".join(f"- {line}" for line in some) for name, some in lists.items()}
    return Template(part.text).substitute(texts, **lines).strip()
