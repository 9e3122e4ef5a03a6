"""Reader of a game's state once a step: all bytes at once, decoded only when they changed.

Values are used only while they are valid: the position not while a map is set up or its edge is crossed, the opponent
not outside its battle nor before it is out, the player's battler not before it is out, menus only while a cursor is
shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.profile.memory_map import Memory, MemoryField, ReadPlan
from pkmn_pyboy.rules_gen2.damage import DamageRules
from pkmn_pyboy.rules_gen2.screen import BOX_CORNERS, COLUMNS, MESSAGE_ROW, ROWS, SOLID_CURSOR, is_letter
from pkmn_pyboy.rules_gen2.slots import MONEY_MOST, PARTY_SLOTS, SPECIES_COUNT
from pkmn_pyboy.state.battle_reader import BATTLE_FIELDS, BattleReader
from pkmn_pyboy.state.game_state import Facing, GameState, Menu, Phase
from pkmn_pyboy.state.party_reader import PartyReader
from pkmn_pyboy.state.phase import MAP_RUNNING, Signals, is_loaded, is_page, phase_of

if TYPE_CHECKING:
    from pkmn_pyboy.profile.model import GameProfile

_SPECIES_MASK = (1 << SPECIES_COUNT) - 1
_TILEMAP_BYTES = ROWS * COLUMNS
_BOX_WORDS = slice((MESSAGE_ROW + 1) * COLUMNS, (ROWS - 1) * COLUMNS)
"""Positions of the message box's lines among the tiles of the screen."""
_PRINTING = 2
_UPPER, _LOWER = MESSAGE_ROW * COLUMNS, (ROWS - 1) * COLUMNS
_CORNERS = (_UPPER, _UPPER + COLUMNS - 1, _LOWER, _LOWER + COLUMNS - 1)
_BOX = {f"box_corner_{number}": place for number, place in enumerate(_CORNERS, 1)}
"""Positions of the message box's corners among the tiles of the screen."""
_FACINGS = tuple(Facing)
_WINDOW_PHASES = frozenset(
    {Phase.DIALOGUE, Phase.CHOICE, Phase.MENU, Phase.BATTLE, Phase.BATTLE_MENU, Phase.BATTLE_MOVES}
)

# Fields that are read every step, with their sizes for profiles that lack them (they then read as zero).
_FIELDS: Mapping[str, int] = {
    "wMapGroup": 1, "wMapNumber": 1, "wXCoord": 1, "wYCoord": 1, "wMapHeight": 1, "wMapWidth": 1,
    "wPlayerDirection": 1, "wPlayerState": 1,
    "wPlayerStepFlags": 1, "wMapStatus": 1, "wScriptRunning": 1, "wGameLogicPaused": 1, "wJoypadDisable": 1,
    "wInputType": 1, "wStateFlags": 1, "wSpriteUpdatesEnabled": 1, "wTextboxFlags": 1,
    "wWindowStackSize": 1, "w2DMenuNumRows": 1, "w2DMenuNumCols": 1, "w2DMenuCursorInitY": 1,
    "w2DMenuCursorInitX": 1, "wMenuCursorY": 1, "wMenuCursorX": 1, "wCursorCurrentTile": 2,
    "wPartyCount": 1, "wPartySpecies": 6, "wBattleMode": 1, "wOtherTrainerClass": 1,
    "wMoney": 3, "wJohtoBadges": 1, "wKantoBadges": 1, "wPokedexCaught": 32, "wPokedexSeen": 32,
    "wNumBalls": 1, "wBalls": 25,
}  # fmt: skip
_PARTY_RECORDS = tuple(f"wPartyMon{place}" for place in range(1, PARTY_SLOTS + 1))


class StateReader:
    """Reader of one game's state.

    Args:
        profile: the game.
        rules: moves and types, for the effectiveness of the player's moves; None if they are unknown.
    """

    def __init__(self, profile: GameProfile, rules: DamageRules | None = None) -> None:
        fields = profile.memory.fields
        self._tilemap = fields.get("wTilemap")
        corners: list[MemoryField] = []
        if self._tilemap is not None:
            bank, address = self._tilemap.bank, self._tilemap.address
            corners = [MemoryField(name, address + place, bank, 1) for name, place in _BOX.items()]
        self._plan = _plan(
            fields, _FIELDS, {"wMapStatus": MAP_RUNNING, "wSpriteUpdatesEnabled": 1}, corners, profile.coarse_fields
        )
        self._at = self._plan.offset
        self._party = PartyReader(fields.get("wPartyMon1"))
        self._battle = BattleReader(fields, rules or DamageRules({}, {}))
        # The fine hash uses bytes already read; records of party and battlers count only while they are in use.
        read = {*_FIELDS, *profile.coarse_fields}
        rest = [name for name in profile.fine_fields if name not in {*read, *BATTLE_FIELDS, *_PARTY_RECORDS}]
        self._fine_plan = ReadPlan([fields[name] for name in rest])
        self._coarse = _slices(profile.coarse_fields, fields, self._at)
        self._fine_read = _slices([name for name in profile.fine_fields if name in read], fields, self._at)
        self._fine_rest = _slices(rest, fields, self._fine_plan.offset)
        in_battle = [name for name in profile.fine_fields if name in BATTLE_FIELDS]
        self._fine_battle = _slices(in_battle, fields, self._battle.offset)
        self._place = (0, 0, 0, 0)
        self._memory: Memory | None = None
        self._raw = b""
        self._phase = Phase.FREE
        self._in_battle = False
        self._fine_hash: int | None = None
        self._dex_bytes = b""
        self._dex = (0, 0)
        self._bag_bytes = b""
        self._balls = 0

    def read(self, memory: Memory, milestones: int = 0) -> GameState:
        """Return the state now. ``milestones`` is the number reached, to store in the state."""
        raw = self._raw = self._plan.read(memory)
        self._memory = memory
        self._fine_hash = None
        at = self._at
        signals, menu = self._signals(raw, memory)
        phase = self._phase = phase_of(signals)
        if signals.map_status == MAP_RUNNING and signals.map_group:
            column, row = raw[at["wXCoord"]], raw[at["wYCoord"]]
            # A step over a map's edge ends beside the map, -1 as 255, just before the next map is loaded.
            if column < (raw[at["wMapWidth"]] * 2 or 256) and row < (raw[at["wMapHeight"]] * 2 or 256):
                self._place = (signals.map_group, raw[at["wMapNumber"]], column, row)
        group, number, x, y = self._place
        self._in_battle = bool(signals.battle_mode)
        species = at["wPartySpecies"]
        money = at["wMoney"]
        caught, seen = self._read_dex(raw)
        return GameState(
            group,
            number,
            x,
            y,
            _FACINGS[raw[at["wPlayerDirection"]] >> 2 & 3],
            raw[at["wPlayerState"]],
            phase,
            self._party.read(memory, raw[at["wPartyCount"]], raw[species : species + PARTY_SLOTS]),
            self._battle.read(memory, signals.battle_mode, signals.trainer_class) if self._in_battle else None,
            menu,
            raw[at["wJohtoBadges"]],
            raw[at["wKantoBadges"]],
            min(int.from_bytes(raw[money : money + 3], "big"), MONEY_MOST),
            caught,
            seen,
            self._read_balls(raw),
            signals.message_box,
            bool(raw[at["wTextboxFlags"]] & _PRINTING),
            milestones,
            is_loaded(signals),
        )

    def current_map(self) -> int:
        """Return the id of the last consistent map."""
        return self._place[0] * 256 + self._place[1]

    def _signals(self, raw: bytes, memory: Memory) -> tuple[Signals, Menu]:
        at = self._at
        corners = tuple([raw[at[name]] for name in _BOX])
        script_running = raw[at["wScriptRunning"]]
        battle_mode = raw[at["wBattleMode"]]
        map_group = raw[at["wMapGroup"]]
        map_status = raw[at["wMapStatus"]]
        cursor_shown, cursor_column = False, 0
        busy = script_running or battle_mode or map_group == 0 or map_status != MAP_RUNNING
        if busy and self._tilemap is not None:
            # The pointer keeps its last value, so the cursor tile itself is checked.
            cursor = raw[at["wCursorCurrentTile"]] | raw[at["wCursorCurrentTile"] + 1] << 8
            place = cursor - self._tilemap.address
            if 0 <= place < _TILEMAP_BYTES:
                cursor_shown = memory.read(self._tilemap.bank, cursor, 1)[0] == SOLID_CURSOR
                cursor_column = place % COLUMNS
        rows, columns = raw[at["w2DMenuNumRows"]], raw[at["w2DMenuNumCols"]]
        first_row, first_column = raw[at["w2DMenuCursorInitY"]], raw[at["w2DMenuCursorInitX"]]
        windows = raw[at["wWindowStackSize"]]
        sprite_updates = raw[at["wSpriteUpdatesEnabled"]]
        signals = Signals(
            map_group,
            map_status,
            script_running,
            battle_mode,
            raw[at["wGameLogicPaused"]],
            raw[at["wJoypadDisable"]],
            raw[at["wInputType"]],
            raw[at["wPlayerStepFlags"]],
            raw[at["wStateFlags"]],
            sprite_updates,
            windows,
            rows,
            columns,
            first_row,
            first_column,
            cursor_shown,
            corners == BOX_CORNERS,
            raw[at["wOtherTrainerClass"]],
            cursor_column,
        )
        if signals.message_box and not cursor_shown and busy and is_page(signals):
            printing = bool(raw[at["wTextboxFlags"]] & _PRINTING)
            signals = signals._replace(words=printing or self._box_has_words(memory))
        menu = Menu(
            windows,
            rows,
            columns,
            first_row,
            first_column,
            raw[at["wMenuCursorY"]],
            raw[at["wMenuCursorX"]],
            cursor_shown,
            sprite_updates == 0 and battle_mode == 0,
        )
        return signals, menu

    def _box_has_words(self, memory: Memory) -> bool:
        if self._tilemap is None:
            return True
        first, size = _BOX_WORDS.start, _BOX_WORDS.stop - _BOX_WORDS.start
        tiles = memory.read(self._tilemap.bank, self._tilemap.address + first, size)
        return any(map(is_letter, tiles))

    def _read_dex(self, raw: bytes) -> tuple[int, int]:
        caught, seen = self._at["wPokedexCaught"], self._at["wPokedexSeen"]
        data = raw[caught : caught + 32] + raw[seen : seen + 32]
        if data != self._dex_bytes:
            self._dex_bytes = data
            self._dex = (
                (int.from_bytes(data[:32], "little") & _SPECIES_MASK).bit_count(),
                (int.from_bytes(data[32:], "little") & _SPECIES_MASK).bit_count(),
            )
        return self._dex

    def _read_balls(self, raw: bytes) -> int:
        start = self._at["wBalls"]
        count = raw[self._at["wNumBalls"]]
        data = raw[start : start + min(count, 12) * 2]
        if data != self._bag_bytes:
            self._bag_bytes = data
            self._balls = sum(data[1::2])
        return self._balls

    def screen_tiles(self) -> bytes:
        """Return the 20 x 18 tiles of the screen at the latest :meth:`read`; empty unless a window was open."""
        if self._memory is None or self._tilemap is None or self._phase not in _WINDOW_PHASES:
            return b""
        return self._memory.read(self._tilemap.bank, self._tilemap.address, _TILEMAP_BYTES)

    def coarse_hash(self) -> int:
        """Return 64 bits over position and phase at the latest :meth:`read`."""
        raw = self._raw
        data = b"".join([raw[part] for part in self._coarse]) + bytes((self._phase,))
        return _hash(data)

    def fine_hash(self) -> int:
        """Return 64 bits over all that a decision could depend on at the latest :meth:`read`."""
        if self._fine_hash is None and self._memory is not None:
            raw, rest = self._raw, self._fine_plan.read(self._memory)
            parts = [raw[part] for part in self._fine_read]
            parts += [rest[part] for part in self._fine_rest]
            if self._in_battle:
                parts += [self._battle.data[part] for part in self._fine_battle]
            self._fine_hash = _hash(b"".join([*parts, self._party.data, self.screen_tiles()]))
        return self._fine_hash or 0

    def save_state(self) -> dict[str, Any]:
        """Return the values that persist from step to step, as plain values."""
        return {"place": list(self._place)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a saved state."""
        group, number, x, y = state["place"]
        self._place = (int(group), int(number), int(x), int(y))

    def reset(self) -> None:
        """Forget the last position."""
        self._place = (0, 0, 0, 0)


def _plan(
    fields: Mapping[str, MemoryField],
    sizes: Mapping[str, int],
    defaults: Mapping[str, int] | None = None,
    corners: Sequence[MemoryField] = (),
    more: Sequence[str] = (),
) -> ReadPlan:
    known = [fields[name] for name in (*sizes, *more) if name in fields]
    absent = {name: size for name, size in sizes.items() if name not in fields}
    if not corners:
        absent |= dict.fromkeys(_BOX, 1)
    return ReadPlan([*known, *corners], absent, defaults)


def _slices(names: Sequence[str], fields: Mapping[str, MemoryField], offset: Mapping[str, int]) -> tuple[slice, ...]:
    merged: list[list[int]] = []
    for start, stop in sorted({(offset[name], offset[name] + fields[name].size) for name in names}):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], stop)
        else:
            merged.append([start, stop])
    return tuple(slice(start, stop) for start, stop in merged)


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
