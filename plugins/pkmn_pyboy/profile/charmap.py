"""Text of the game: its character codes, and the words in its grid of tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pkmn_pyboy.rules_gen2.screen import COLUMNS, ROWS

_FIRST_LETTER = 0x60
_WORD_HALVES = frozenset({0x70, 0x71})
"""Letters in stored strings; on the screen these codes draw bars."""


@dataclass(frozen=True, slots=True)
class Charmap:
    """Characters by code. ``end`` closes a stored string; on the screen it is a tile like any other."""

    characters: Mapping[int, str]
    end: int

    @classmethod
    def build(cls, runs: Sequence[tuple[int, str]], single: Mapping[int, str], end: int) -> Charmap:
        """Build from runs of consecutive characters, and single ones."""
        characters = {start + i: character for start, run in runs for i, character in enumerate(run)}
        characters.update(single)
        return cls(characters, end)

    def decode(self, data: bytes) -> str:
        """Return a stored string, such as a name, up to its end mark."""
        return "".join(self.characters.get(code, "?") for code in data.split(bytes((self.end,)), 1)[0]).strip()

    def encode(self, word: str) -> bytes:
        """Return the game's codes of a word; 0 for a letter without a code."""
        codes = {character: code for code, character in self.characters.items() if len(character) == 1}
        return bytes(codes.get(letter, 0) for letter in word)

    def screen_text(self, tiles: bytes) -> str:
        """Return the words on a screen of tiles, without frames, rows joined by line breaks."""
        frame = str.maketrans("┌─┐│└┘▼", "       ")
        rows = (
            self._row(tiles[start : start + COLUMNS]).translate(frame) for start in range(0, ROWS * COLUMNS, COLUMNS)
        )
        return "\n".join(" ".join(row.split()) for row in rows if row.strip())

    def _row(self, tiles: bytes) -> str:
        """Return the text of a row; tiles that stand for two letters give both, so columns shift."""
        return "".join(
            self.characters.get(code, " ") if code >= _FIRST_LETTER and code not in _WORD_HALVES else " "
            for code in tiles
        )
