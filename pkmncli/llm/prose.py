"""Commands in plain words: one action or skill, asked for without a doubt, or none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pkmncli.api import ActionNames, Skill

LONGEST = 20_000
"""Characters beyond which words are no command."""

_COMMAND = r"""
      \b (?: press | push | hit | tap | hold | go | walk | move | head | step | turn | face | run
           | (?: action | answer | button | direction ) (?= \s* : ) )
      [\s:"'*_`(]+ (?: (?: the | to | towards? | straight | one | a (?=\s+(?:step|tile)) | step | tile | back | button )
      [\s"'*_`]+ ){{0,4}}
      (?P<name> {name} ) \b
    | (?: ^ | [,;:"'*]
        | \b (?: should | would | must | will | now | then | and | to | please | let['’]?s | let\ us | i['’]d ) \b )
      \s* (?P<verb> {verb} ) \b
    """
_ARTICLE = re.compile(
    r"(?<!\bthe\s)\ba\s+(?!(?:to|and|then|now|until|till|once|twice|again|for|at|on|in|here|when|while|repeatedly"
    r"|(?:\d+|two|three|four|five|several|many|a\ few)\s+times)\b)[a-z]"
)
"""A small *a* before a noun, as in "press a key", which is no button."""
_DOUBT = re.compile(
    r"\b(?:not|never|no|nor|neither|avoid|wrong|without|cannot|dont|instead|rather|unless|if|stop|or)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]?")
_THINKING_ALOUD = re.compile(
    r"^[\s*#>_-]{0,6}(?:thoughts?|thinking|reasoning|analysis|observation|plan)[*_ ]{0,3}:.*?"
    r"(?=^[\s*#>_-]{0,6}(?:final\s+)?(?:answer|response|action|button)[*_ ]{0,3}:|\Z)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_FORM = re.compile(
    r"[{}]|^\s*(?:```\w*\s*)?\[|\b(?:goal|skill|presses|actions|confidence)[\"'”’`*_]{0,4}\s*[:=>]", re.IGNORECASE
)


class Command(NamedTuple):
    """Action, or skill."""

    action: int | None
    skill: str = ""


def is_form(text: str) -> bool:
    """Return True if a text was meant as an object: it has a brace, begins as a list, or names a field of an answer."""
    return _FORM.search(text) is not None


class CommandFinder:
    """Finder of commands in plain words.

    Args:
        actions: names of the actions, and other words for them.
        skills: skills that can be asked for by their words.
    """

    def __init__(self, actions: ActionNames, skills: Sequence[Skill]) -> None:
        numbers = {name: number for number, name in enumerate(actions.names)}
        self._names = {name: number for name, number in numbers.items() if name != actions.idle}
        self._names |= {word: numbers[name] for word, name in actions.synonyms.items()}
        self._verbs: dict[str, int | str] = {word: numbers[name] for word, name in actions.verbs.items()}
        self._verbs |= {word: skill.name for skill in skills for word in skill.words}
        name, verb = _one_of(self._names), _one_of(self._verbs)
        self._command = re.compile(_COMMAND.format(name=name, verb=verb), re.VERBOSE | re.IGNORECASE)
        self._next = re.compile(rf"[\s,/+>&-]*(?:(?:and|then)\s+){{0,2}}(?P<name>{name})\b", re.IGNORECASE)
        """Pattern of what follows a command in a list of several."""
        self._name_alone = re.compile(rf"\W*(?:the\s+)?(?P<name>{name})(?:\W+button)?\W*", re.IGNORECASE)

    def find(self, text: str) -> Command | str:
        """Return the command in a text without thoughts, or a line that says why there is none.

        A command is a verb with the name of an action ("press A", "go north"), a verb of an action or a skill
        ("wait", "attack"), or a name alone. Sentences that deny, ask or weigh are left out. All the others must say
        the same.
        """
        if is_form(text):
            return "it was meant as an object, so that its words are no command"
        if len(text) > LONGEST:
            return "it is too long for a command"
        text = _THINKING_ALOUD.sub("", text)
        alone = self._name_alone.fullmatch(text)
        if alone is not None:
            return Command(self._names[alone["name"].lower()])
        found: set[Command] = set()
        for sentence in _SENTENCE.findall(text):
            if _DOUBT.search(sentence):
                continue
            for match in self._command.finditer(sentence.strip()):
                if match["name"] == "a" and _ARTICLE.match(match.string, match.start("name")):
                    continue
                named = self._names[match["name"].lower()] if match["name"] else self._verbs[match["verb"].lower()]
                found.add(Command(None, named) if isinstance(named, str) else Command(named))
                after = self._next.match(match.string, match.end())
                while after is not None:
                    found.add(Command(self._names[after["name"].lower()]))
                    after = self._next.match(match.string, after.end())
        if len(found) == 1:
            return found.pop()
        return "it names several things to do" if found else "it names nothing that can be done"


def _one_of(words: Iterable[str]) -> str:
    """Return a pattern for one of the words; it never matches where there are none."""
    return "|".join(map(re.escape, words)) or "(?!)"
