"""Words of a game, as its environment and its pilot declare them: names of actions, roles of phases, skills."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pkmncli.api.decisions import Action

DEFAULT_FRAMES_PER_SECOND = 59.7275
"""Frames per second of an environment, or a run of an earlier version, that declares none: those of a Game Boy."""


@dataclass(frozen=True, slots=True)
class ActionNames:
    """Names of an environment's actions, for prompts, replies and logs: lower-case letters, digits and underscores.

    Attributes:
        names: the name of each action, in the order of the action mask.
        synonyms: other names in plain words, such as ``{"north": "up"}``.
        verbs: verbs that name an action by themselves, such as ``{"wait": "none"}``.
        idle: the action that does nothing; empty if there is none.
    """

    names: tuple[str, ...]
    synonyms: Mapping[str, str] = field(default_factory=dict)
    verbs: Mapping[str, str] = field(default_factory=dict)
    idle: str = ""

    def in_words(self, actions: Iterable[int]) -> str:
        """Return the names of actions, separated by commas."""
        return ", ".join(self.names[action] for action in actions)

    @property
    def idle_action(self) -> int:
        """Number of the action that does nothing; the last action if none is declared."""
        return self.names.index(self.idle) if self.idle else len(self.names) - 1


def default_action_names(count: int = len(Action)) -> ActionNames:
    """Return the names of actions for an environment that declares none: those of Action if it has as many."""
    if count == len(Action):
        return ActionNames(tuple(action.name.lower() for action in Action), idle=Action.NONE.name.lower())
    return ActionNames(tuple(f"action_{number}" for number in range(count)))


class PhaseRole(StrEnum):
    """Role of a phase: what the game does in it. An environment that declares no roles has free phases only."""

    FREE = "free"
    """The player acts freely."""
    BETWEEN = "between"
    """The game is between two states; no advice is asked for."""
    READING = "reading"
    """The game shows a text, and the rules read on."""
    ANSWERING = "answering"
    """A question waits for an answer: a reason to ask for advice."""
    MENU = "menu"
    """A menu or a page is open."""
    WATCHING = "watching"
    """The game acts by itself."""
    FIGHTING = "fighting"
    """A battle."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Argument of a skill: a text on one line, or a whole number if ``bounds`` are given.

    Attributes:
        name: field of the reply, such as ``"map"``; lower-case letters, digits and underscores.
        bounds: smallest and largest number.
        max_length: characters of a text.
    """

    name: str
    bounds: tuple[int, int] | None = None
    max_length: int = 60


@dataclass(frozen=True, slots=True)
class Skill:
    """Ability of a pilot that advice can ask for by name. Arguments of the same name are the same in all skills.

    Attributes:
        name: in replies and tables, such as ``"go_to"``; lower-case letters, digits and underscores.
        help: one line for the prompt: what the skill does with its arguments.
        arguments: arguments that it takes.
        needs: groups of arguments, one of which must be complete; empty if none is needed.
        words: words that ask for it in plain language, such as ``("flee", "run away")``.
        action: name of the action that stands for the skill if only one action can be taken; empty if none does.
        by_rules: True if in a battle the pilot does the same as without advice, so that advice costs nothing there.
    """

    name: str
    help: str
    arguments: tuple[Argument, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()
    words: tuple[str, ...] = ()
    action: str = ""
    by_rules: bool = False
