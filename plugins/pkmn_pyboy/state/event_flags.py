"""Event flags of the story, by number or by the name that the profile gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pkmncli.errors import did_you_mean

TEMPORARY_FLAGS = 8
"""Number of flags at the start that are cleared with every map and so have no lasting meaning."""


@dataclass(frozen=True, slots=True)
class EventFlags:
    """All flags at one moment. ``names`` are the profile's, by number; the others have no known meaning."""

    data: bytes
    names: Mapping[int, str]

    def is_set(self, flag: int | str) -> bool:
        """Return True if a flag is set.

        Args:
            flag: its number, or its name in any case.

        Raises:
            ValueError: there is no such flag, or every map clears it.
        """
        number = flag if isinstance(flag, int) else self._number(flag)
        if not TEMPORARY_FLAGS <= number < len(self.data) * 8:
            last = len(self.data) * 8 - 1
            raise ValueError(f"flag {number} is not kept; use {TEMPORARY_FLAGS} to {last}")
        return bool(self.data[number >> 3] >> (number & 7) & 1)

    def named(self) -> dict[str, bool]:
        """Return every named flag with its value."""
        return {name: self.is_set(number) for number, name in self.names.items()}

    def _number(self, name: str) -> int:
        wanted = name.upper()
        for number, known in self.names.items():
            if known.upper() == wanted:
                return number
        hint = did_you_mean(wanted, self.names.values(), lead="; ", shown="{}")
        raise ValueError(f"there is no flag {name!r}{hint}")
