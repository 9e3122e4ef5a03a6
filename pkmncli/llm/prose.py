"""A command in plain words: one thing that is to be done, said without a doubt, or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from pkmncli.api import Action

LONGEST = 20_000
"""Characters beyond which words are no command."""

_NAMES: Mapping[str, Action] = {
    **{action.name.lower(): action for action in Action if action is not Action.NONE},
    **{"north": Action.UP, "south": Action.DOWN, "west": Action.LEFT, "east": Action.RIGHT},
}
_DEEDS: Mapping[str, Action | str] = {
    **{"wait": Action.NONE, "confirm": Action.A, "interact": Action.A, "talk": Action.A, "cancel": Action.B},
    **{"attack": "fight", "fight": "fight", "heal": "heal", "catch": "catch"},
    **{"flee": "flee", "escape": "flee", "run away": "flee"},
}
_NAME = "|".join(_NAMES)
_COMMAND = re.compile(
    rf"""
      \b (?: press | push | hit | tap | hold | go | walk | move | head | step | turn | face | run
           | (?: action | answer | button | direction ) (?= \s* : ) )
      [\s:"'*_`(]+ (?: (?: the | to | towards? | straight | one | a (?=\s+(?:step|tile)) | step | tile | back | button )
      [\s"'*_`]+ ){{0,4}}
      (?P<name> {_NAME} ) \b
    | (?: ^ | [,;:"'*]
        | \b (?: should | would | must | will | now | then | and | to | please | let['’]?s | let\ us | i['’]d ) \b )
      \s* (?P<deed> {"|".join(_DEEDS).replace(" ", chr(92) + " ")} ) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NEXT = re.compile(rf"[\s,/+>&-]*(?:(?:and|then)\s+){{0,2}}(?P<name>{_NAME})\b", re.IGNORECASE)
"""What follows a command in a list of several."""
_NAME_ALONE = re.compile(rf"\W*(?:the\s+)?(?P<name>{_NAME})(?:\W+button)?\W*", re.IGNORECASE)
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
    r"[{}]|^\s*(?:```\w*\s*)?\[|\b(?:goal|skill|presses|confidence)[\"'”’`*_]{0,4}\s*[:=>]", re.IGNORECASE
)


class Command(NamedTuple):
    """One press, or one skill."""

    press: Action | None
    skill: str = ""


def is_form(text: str) -> bool:
    """Return whether a text was meant as an object: it has a brace, begins as a list, or names an answer's field."""
    return _FORM.search(text) is not None


def find_command(text: str) -> Command | str:
    """The command in a text without thoughts, or in one line why there is none.

    It takes a verb with a button or direction ("press A", "go north"), a deed ("attack", "flee"), or a name alone.
    Sentences that deny, ask or weigh are left out; of what is left all must say the same.
    """
    if is_form(text):
        return "it was meant as an object, so that its words are no command"
    if len(text) > LONGEST:
        return "it is too long for a command"
    text = _THINKING_ALOUD.sub("", text)
    alone = _NAME_ALONE.fullmatch(text)
    if alone is not None:
        return Command(_NAMES[alone["name"].lower()])
    found: set[Command] = set()
    for sentence in _SENTENCE.findall(text):
        if _DOUBT.search(sentence):
            continue
        for match in _COMMAND.finditer(sentence.strip()):
            deed = _NAMES[match["name"].lower()] if match["name"] else _DEEDS[match["deed"].lower()]
            found.add(Command(None, deed) if isinstance(deed, str) else Command(deed))
            after = _NEXT.match(match.string, match.end())
            while after is not None:
                found.add(Command(_NAMES[after["name"].lower()]))
                after = _NEXT.match(match.string, after.end())
    if len(found) == 1:
        return found.pop()
    return "it names several things to do" if found else "it names nothing that can be done"
