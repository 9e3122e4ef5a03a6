"""Reads the party: of six records only those that are somebody's, decoded only where a byte changed."""

from __future__ import annotations

from collections.abc import Callable

from pkmn_pyboy.state.game_state import PARTY_PLACES, Party
from pkmn_pyboy.state.memory_map import Memory, MemoryField
from pkmn_pyboy.state.records import MEMBER_BYTES, parse_party

_NOBODY = Party()


class PartyReader:
    """Reads one game's party.

    Args:
        first: place of the first member's record, where the profile knows it; the others follow it.
    """

    def __init__(self, first: MemoryField | None) -> None:
        self._first = first
        self.data = b""
        """The species and records that the latest party was decoded from, for hashes."""
        self._party = _NOBODY
        self._memory: Memory | None = None
        self._readers: dict[int, Callable[[], bytes]] = {}

    def read(self, memory: Memory, count: int, species: bytes) -> Party:
        """The party, given its number of members and the list of their species, six bytes.

        More than there are places is what memory holds before a game is loaded: then there is nobody.
        """
        if not 0 < count <= PARTY_PLACES or self._first is None:
            self.data, self._party = b"", _NOBODY
            return _NOBODY
        if memory is not self._memory:
            self._memory = memory
            self._readers.clear()
        read = self._readers.get(count)
        if read is None:
            span = (self._first.bank, self._first.address, count * MEMBER_BYTES)
            read = self._readers[count] = memory.bind([span])
        data = species[:count] + read()
        if data != self.data:
            self.data = data
            self._party = parse_party(data[:count], data[count:])
        return self._party
