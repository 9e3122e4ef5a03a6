"""Reader of the party: only the records in use, decoded only when a byte changed."""

from __future__ import annotations

from collections.abc import Callable

from pkmn_pyboy.profile.memory_map import Memory, MemoryField
from pkmn_pyboy.rules_gen2.slots import PARTY_SLOTS
from pkmn_pyboy.rules_gen2.structs import PARTY_MEMBER
from pkmn_pyboy.state.game_state import Party
from pkmn_pyboy.state.pokemon_decoding import parse_party

_EMPTY_PARTY = Party()


class PartyReader:
    """Reader of one game's party.

    Args:
        first: field of the first member's record, if the profile knows it; the others follow it.
    """

    def __init__(self, first: MemoryField | None) -> None:
        self._first = first
        self.data = b""
        """Species and records of the latest party, for hashes."""
        self._party = _EMPTY_PARTY
        self._memory: Memory | None = None
        self._readers: dict[int, Callable[[], bytes]] = {}

    def read(self, memory: Memory, count: int, species: bytes) -> Party:
        """Return the party, from its number of members and the list of their species, six bytes.

        A number above the number of slots occurs before a game is loaded: then the party is empty.
        """
        if not 0 < count <= PARTY_SLOTS or self._first is None:
            self.data, self._party = b"", _EMPTY_PARTY
            return _EMPTY_PARTY
        if memory is not self._memory:
            self._memory = memory
            self._readers.clear()
        read = self._readers.get(count)
        if read is None:
            span = (self._first.bank, self._first.address, count * PARTY_MEMBER.size)
            read = self._readers[count] = memory.bind([span])
        data = species[:count] + read()
        if data != self.data:
            self.data = data
            self._party = parse_party(data[:count], data[count:])
        return self._party
