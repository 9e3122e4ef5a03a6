"""Lists on the screen, read as a player reads them: the cursor's position, and the rows of names.

Names are compared as the game encodes them, so no language and no menu layout is built in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import ENTRY, LIKELY, SEARCH, SURE, TURN, PilotMemory
from pkmn_pyboy.rules_gen2.screen import (
    COLUMNS,
    HOLLOW_CURSOR,
    NAME_END,
    NICKNAME_BYTES,
    PARTY_FIRST_ROWS,
    PARTY_NAME_COLUMNS,
    PARTY_ROW_STEP,
    SOLID_CURSOR,
    SUBMENU_COLUMN,
    is_letter,
)
from pkmn_pyboy.rules_gen2.slots import POCKETS
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_NAME_GAP = 2
_SCROLL_TURN = 14


def nicknames(game: Game) -> list[bytes]:
    """Return the nicknames of the party members, as the game encodes them."""
    place = game.profile.memory.fields.get("wPartyMonNicknames")
    count = game.state.party.count
    if place is None:
        return []
    data = game.emulator.read(place.bank, place.address, count * NICKNAME_BYTES)
    return [
        data[start : start + NICKNAME_BYTES].split(bytes([NAME_END]), 1)[0]
        for start in range(0, len(data), NICKNAME_BYTES)
    ]


@dataclass(frozen=True, slots=True)
class ScreenList:
    """Screen with a list. ``row`` and ``column`` are those of the solid cursor, -1 without one.

    The aimed row is noted in ``memory``.
    """

    tiles: bytes
    row: int
    column: int
    memory: PilotMemory = field(default_factory=PilotMemory, compare=False)

    @classmethod
    def read(cls, game: Game, memory: PilotMemory | None = None) -> ScreenList:
        """Read the current screen; it has no tiles if no window is open."""
        tiles = game.reader.screen_tiles()
        places, place = game.profile.memory, -1
        if tiles and "wCursorCurrentTile" in places and "wTilemap" in places:
            place = places.read(game.emulator, "wCursorCurrentTile") - places["wTilemap"].address
        if not 0 <= place < len(tiles) or tiles[place] != SOLID_CURSOR:
            place = tiles.find(SOLID_CURSOR)
        row, column = divmod(place, COLUMNS) if place >= 0 else (-1, -1)
        return cls(tiles, row, column, memory or PilotMemory())

    @property
    def asks(self) -> bool:
        """True if the cursor is outside a full screen's list, in a small window at the right."""
        return self.column >= COLUMNS // 2

    def rows_of(self, name: bytes) -> list[tuple[int, int]]:
        """Return (row, column) of each place where a name appears as a whole word."""
        found, start = [], self.tiles.find(name) if name else -1
        while start >= 0:
            after = self.tiles[start + len(name) : start + len(name) + 1]
            if not after or not is_letter(after[0]) or (start + len(name)) % COLUMNS == 0:
                found.append((start // COLUMNS, start % COLUMNS))
            start = self.tiles.find(name, start + 1)
        return found

    def press_for(self, name: bytes, gap: int = _NAME_GAP) -> Action | None:
        """Return the press that moves the cursor towards a name, A if it is there; None if the name is not listed."""
        places = self.rows_of(name)
        if not places or self.row < 0:
            return None
        listed = [row for row, column in places if 0 < column - self.column <= gap]
        if not listed:
            return None
        return self.press_to_row(min(listed, key=lambda row: abs(row - self.row)))

    def press_to_row(self, row: int) -> Action:
        """Return the press that moves the cursor towards a row, A if it is there."""
        self.memory.point(ENTRY, row - self.row)
        return Action.A if row == self.row else Action.DOWN if row > self.row else Action.UP

    def left_behind(self, name: bytes, gap: int = _NAME_GAP) -> bool:
        """Return whether a hollow cursor is at a name: a newer window asks what to do with it."""
        for row, column in self.rows_of(name):
            start = row * COLUMNS + column
            if HOLLOW_CURSOR in self.tiles[max(start - gap, row * COLUMNS) : start]:
                return True
        return False

    def has_hollow(self) -> bool:
        """Return whether a list below a newer window has a hollow cursor."""
        return HOLLOW_CURSOR in self.tiles

    def party_row(self, names: Sequence[bytes]) -> int | None:
        """Return the row of the first member if the screen is the party list; otherwise None."""
        if not names:
            return None
        for first in PARTY_FIRST_ROWS:
            rows = ((first + PARTY_ROW_STEP * slot) * COLUMNS for slot in range(len(names)))
            if all(self._begins(name, row) for name, row in zip(names, rows, strict=True)):
                return first
        return None

    def _begins(self, name: bytes, row: int) -> bool:
        """Return True if a name begins in the first columns of a row; ``row`` is the place of its first tile."""
        return any(self.tiles[row + column :].startswith(name) for column in range(PARTY_NAME_COLUMNS))

    def press_for_member(self, names: Sequence[bytes], place: int) -> Action | None:
        """Return the press towards a member in the party list, A on it and in the submenu after it; otherwise None."""
        first = self.party_row(names)
        if first is None or self.row < 0:
            return None
        if self.column >= SUBMENU_COLUMN:
            self.memory.point(ENTRY)
            return Action.A
        return self.press_to_row(first + PARTY_ROW_STEP * place)


def turn_to_pocket(game: Game, memory: PilotMemory, pocket: int, steps: int) -> Decision | None:
    """Return the action that turns the bag to a pocket, every other step; None if it is shown, as far as is known."""
    places = game.profile.memory
    shown = places.read(game.emulator, "wCurPocket") if "wCurPocket" in places else pocket
    if shown == pocket:
        return None
    right = (pocket - shown) % POCKETS <= POCKETS // 2  # the shorter way round
    memory.point(TURN, right=1 if right else -1)
    turn = Action.RIGHT if right else Action.LEFT
    return Decision(turn if steps % 2 else Action.NONE, "change the pocket", SURE)


def search(memory: PilotMemory, steps: int, why: str, turn: int = _SCROLL_TURN) -> Decision:
    """Return the action that scrolls a list for an entry not in view: down and up, ``turn`` steps each."""
    down = steps // turn % 2 == 0
    memory.point(SEARCH, 1 if down else -1)
    return Decision(Action.DOWN if down else Action.UP, why, LIKELY)
