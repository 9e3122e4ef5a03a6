"""Reader of a battle: both battlers, decoded only when a byte changed."""

from __future__ import annotations

from collections.abc import Mapping

from pkmn_pyboy.profile.memory_map import Memory, MemoryField, ReadPlan
from pkmn_pyboy.rules_gen2.damage import DamageRules
from pkmn_pyboy.rules_gen2.structs import BATTLER, STAGES
from pkmn_pyboy.state.game_state import TRAINER_BATTLE, Battle, Battler
from pkmn_pyboy.state.pokemon_decoding import parse_battler

BATTLE_FIELDS: Mapping[str, int] = {
    "wBattleType": 1, "wEnemyMon": BATTLER.size, "wBattleMon": BATTLER.size, "wCurOTMon": 1,
    "wPlayerStatLevels": STAGES, "wEnemyStatLevels": STAGES,
    "wOtherTrainerID": 1, "wBattleWeather": 1, "wPlayerScreens": 1, "wEnemyScreens": 1,
}  # fmt: skip
"""Fields that are read in a battle, with their sizes for profiles that lack them (they then read as zero)."""

_NOT_OUT_YET = 0xFF


class BattleReader:
    """Reader of one game's battles.

    Args:
        fields: the profile's memory.
        rules: moves and types, for the effectiveness of the player's moves.
    """

    def __init__(self, fields: Mapping[str, MemoryField], rules: DamageRules) -> None:
        known = [fields[name] for name in BATTLE_FIELDS if name in fields]
        absent = {name: size for name, size in BATTLE_FIELDS.items() if name not in fields}
        self._plan = ReadPlan(known, absent)
        self.offset: Mapping[str, int] = self._plan.offset
        """Position of each field in :attr:`data`."""
        self.data = b""
        """Bytes of the latest battle, for hashes."""
        self._rules = rules
        self._key: tuple[bytes, int, int] = (b"", 0, 0)
        self._battle = Battle(0, 0, 0, None, None, 0.0)

    def read(self, memory: Memory, kind: int, trainer_class: int) -> Battle:
        """Return the current battle."""
        data = self.data = self._plan.read(memory)
        key = (data, kind, trainer_class)
        if key != self._key:
            self._key = key
            self._battle = self._parse(data, kind, trainer_class)
        return self._battle

    def _parse(self, data: bytes, kind: int, trainer_class: int) -> Battle:
        own, opponent = self._own(data), self._opponent(data, kind)
        best = 0.0
        if opponent is not None and own is not None:
            best = self._rules.best_factor(own.moves, own.pp, opponent.types)
        at = self.offset
        return Battle(
            kind,
            data[at["wBattleType"]],
            trainer_class,
            opponent,
            own,
            best,
            data[at["wOtherTrainerID"]] if kind == TRAINER_BATTLE else 0,
            data[at["wBattleWeather"]],
            data[at["wPlayerScreens"]],
            data[at["wEnemyScreens"]],
        )

    def _own(self, data: bytes) -> Battler | None:
        start, stages = self.offset["wBattleMon"], self.offset["wPlayerStatLevels"]
        if not data[start]:
            return None
        return parse_battler(data[start : start + BATTLER.size], data[stages : stages + STAGES])

    def _opponent(self, data: bytes, kind: int) -> Battler | None:
        at = self.offset
        start, stages = at["wEnemyMon"], at["wEnemyStatLevels"]
        # In a trainer battle the record still holds the last opponent until one is sent out.
        if not data[start] or (kind == TRAINER_BATTLE and data[at["wCurOTMon"]] == _NOT_OUT_YET):
            return None
        opponent = parse_battler(data[start : start + BATTLER.size], data[stages : stages + STAGES])
        # Nobody has fainted before the player's Pokemon is out: the record is still being written, hit points last.
        return None if opponent.hp == 0 and not data[at["wBattleMon"]] else opponent
