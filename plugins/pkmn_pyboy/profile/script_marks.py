"""Byte patterns that show the purpose of a map script: healing, selling, a battle, an item to take.

A pattern is hexadecimal: ``..`` matches any byte, ``*`` up to 96 of them, ``{name}`` keeps a byte and ``{name.2}`` a
word under a name: ``class``, ``trainer``, ``flag``, ``item``, ``quantity``, ``shop``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pkmn_pyboy.profile.story_blocks import StoryBlocks

KEPT = ("class", "trainer", "flag", "item", "quantity", "shop")
_TOKEN = re.compile(
    r"(?P<byte>[0-9A-Fa-f]{2})|(?P<any>\.\.)|(?P<gap>\*)|\{(?P<name>[a-z]+)(?P<word>\.2)?\}|(?P<space>\s+)"
)
_MOST_GAP = 96


def compile_pattern(text: str) -> re.Pattern[bytes]:
    """Compile a pattern into a regular expression. Raises ValueError that names the wrong part."""
    parts, place = [], 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise ValueError(f"{text[place:]!r} is not valid in a script pattern")
        if token["name"] and token["name"] not in KEPT:
            raise ValueError(f"a script pattern can keep {', '.join(KEPT)}; not {token['name']!r}")
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
        raise ValueError("a script pattern needs at least one byte")
    return re.compile(b"".join(parts), re.DOTALL)


@dataclass(frozen=True, slots=True)
class ScriptMark:
    """Role of a script that begins with a pattern. ``kind`` limits it to people of that kind; -1: any."""

    role: str
    pattern: re.Pattern[bytes]
    kind: int = -1

    def read(self, script: bytes) -> dict[str, int] | None:
        """Return the values that the pattern keeps, None if it does not match."""
        found = self.pattern.match(script)
        if found is None:
            return None
        return {name: int.from_bytes(value, "little") for name, value in found.groupdict().items()}


@dataclass(frozen=True, slots=True)
class WorldRules:
    """Rules of a profile for maps: how people are read from the image, and which blocks the story sets."""

    walks: frozenset[int] = frozenset()
    """Movements of people who leave their tile."""
    facing: Mapping[int, int] = field(default_factory=dict)
    """Direction in which a movement looks."""
    roles: Mapping[int, str] = field(default_factory=dict)
    """Roles that follow from the movement: boulders, rocks."""
    marks: tuple[ScriptMark, ...] = ()
    hidden_item_kind: int = -1
    """Kind of signs with a hidden item: a flag (word) and an item are at the address of their script."""
    changed: Mapping[int, StoryBlocks] = field(default_factory=dict)
    """Blocks that the story changes, by map id."""
