"""Byte patterns that tell what a map script is for: healing, selling, a battle, something to take.

A pattern is hexadecimal, ``..`` stands for any byte, ``*`` for up to 96 of them, ``{name}`` for a byte and
``{name.2}`` for a word that is kept under a name: ``class``, ``trainer``, ``flag``, ``item``, ``quantity``, ``shop``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pkmn_pyboy.world.story_blocks import StoryBlocks

KEPT = ("class", "trainer", "flag", "item", "quantity", "shop")
_TOKEN = re.compile(
    r"(?P<byte>[0-9A-Fa-f]{2})|(?P<any>\.\.)|(?P<gap>\*)|\{(?P<name>[a-z]+)(?P<word>\.2)?\}|(?P<space>\s+)"
)
_MOST_GAP = 96


def compile_pattern(text: str) -> re.Pattern[bytes]:
    """A pattern as a regular expression. Raises ValueError that says which part is wrong."""
    parts, place = [], 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise ValueError(f"{text[place:]!r} is no part of a script pattern")
        if token["name"] and token["name"] not in KEPT:
            raise ValueError(f"a script pattern keeps {', '.join(KEPT)}; not {token['name']!r}")
        if token["byte"]:
            parts.append(re.escape(bytes((int(token["byte"], 16),))))
        elif token["any"]:
            parts.append(b".")
        elif token["gap"]:
            parts.append(b".{0,%d}?" % _MOST_GAP)
        elif token["name"]:
            size = b".." if token["word"] else b"."
            parts.append(b"(?P<" + token["name"].encode() + b">" + size + b")")
        place = token.end()
    if not any(parts):
        raise ValueError("a script pattern needs a byte")
    return re.compile(b"".join(parts), re.DOTALL)


@dataclass(frozen=True, slots=True)
class ScriptMark:
    """What a script that begins with a pattern is for. ``kind`` limits it to people of that kind, -1 does not."""

    role: str
    pattern: re.Pattern[bytes]
    kind: int = -1

    def read(self, script: bytes) -> dict[str, int] | None:
        """What the pattern keeps, None where it does not fit."""
        found = self.pattern.match(script)
        if found is None:
            return None
        return {name: int.from_bytes(value, "little") for name, value in found.groupdict().items()}


@dataclass(frozen=True, slots=True)
class WorldRules:
    """What a profile says about maps beside their image: how people are read there, and which blocks the story sets."""

    walks: frozenset[int] = frozenset()
    """Movements of those who leave their tile."""
    facing: Mapping[int, int] = field(default_factory=dict)
    """Direction in which a movement looks."""
    roles: Mapping[int, str] = field(default_factory=dict)
    """Roles told by the movement: boulders, rocks."""
    marks: tuple[ScriptMark, ...] = ()
    hidden_item_kind: int = -1
    """Kind of the signs that hide something: a flag (word) and an item stand at their script."""
    changed: Mapping[int, StoryBlocks] = field(default_factory=dict)
    """Blocks that the story changes, by map id."""
