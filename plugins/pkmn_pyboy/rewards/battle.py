"""Reward for battles. The pay during a battle is taken back unless it is won."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import TRAINER_BATTLE, Battle, Battler, GameState


class BattleSettings(BaseModel):
    """Settings of the reward for battles."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    damage: float = Field(default=2.0, description="For all of an opponent's HP, in shares as it loses them.")
    fainted: float = Field(default=2.0, description="For each opponent that faints.")
    won_wild: float = Field(default=1.0, description="For a wild battle won.")
    won_trainer: float = Field(default=20.0, description="For a trainer's battle won.")
    lost: float = Field(default=-5.0, description="For a battle lost.")
    white_out: float = Field(default=-10.0, description="For a party without HP, in a battle or outside.")
    wild_half_life: int = Field(
        default=50, ge=0, description="Wild battles won in an episode after which one pays half; 0 for no decay."
    )


class _Opponent(NamedTuple):
    """Key of an opponent within one battle."""

    species: int
    level: int
    max_hp: int


class BattleReward:
    """Reward for damage, for opponents that faint, and for won battles.

    Only damage below an opponent's lowest HP so far counts: HP that it heals are not paid again. Fleeing, losing and
    catching take back the pay for damage and fainting, so battles that are not won gain nothing. A trainer already
    beaten in the episode pays nothing when fought again.
    """

    PARTS = ("damage", "fainted", "won", "lost", "white_out")

    def __init__(self, settings: BattleSettings | None = None) -> None:
        self.settings = settings or BattleSettings()
        self._wild_won = 0
        self._beaten: set[tuple[int, int, int]] = set()
        self._paid = {"damage": 0.0, "fainted": 0.0}
        self._lowest: dict[_Opponent, float] = {}
        self._in_battle = False
        self._won = False
        self._whited_out = False

    def reset(self, state: GameState) -> None:
        """Start an episode. A battle in progress pays for what happens from here on."""
        self._wild_won = 0
        self._beaten = set()
        self._forget_battle()
        self._in_battle = state.battle is not None
        self._whited_out = _without_hit_points(state)
        if state.battle is not None and state.battle.opponent is not None:
            opponent = state.battle.opponent
            self._lowest[_key(opponent)] = _share(opponent)

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """Return the parts that this step earned."""
        battle = state.battle
        if battle is None and not self._in_battle and state.party is previous.party:
            return {}
        parts: dict[str, float] = {}
        if battle is not None:
            self._in_battle = True
            if battle.opponent is not None:
                self._hit(battle, battle.opponent, parts)
        elif self._in_battle:
            self._end(previous, state, parts)
        if state.party is not previous.party:
            whited_out = _without_hit_points(state)
            if whited_out and not self._whited_out:
                parts["white_out"] = self.settings.white_out
            self._whited_out = whited_out
        return parts

    def save_state(self) -> dict[str, Any]:
        """Return what was paid in the current battle, and how many were won."""
        return {
            "wild_won": self._wild_won,
            "beaten": sorted(map(list, self._beaten)),
            "paid": dict(self._paid),
            "lowest": [[*opponent, share] for opponent, share in self._lowest.items()],
            "in_battle": self._in_battle,
            "won": self._won,
            "whited_out": self._whited_out,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self._wild_won = int(state["wild_won"])
        self._beaten = {(int(kind), int(number), int(opponent)) for kind, number, opponent in state["beaten"]}
        self._paid = {part: float(state["paid"][part]) for part in self._paid}
        self._lowest = {
            _Opponent(int(species), int(level), int(max_hp)): float(share)
            for species, level, max_hp, share in state["lowest"]
        }
        self._in_battle = bool(state["in_battle"])
        self._won = bool(state["won"])
        self._whited_out = bool(state["whited_out"])

    def _hit(self, battle: Battle, opponent: Battler, parts: dict[str, float]) -> None:
        key, share = _key(opponent), _share(opponent)
        lowest = self._lowest.get(key)
        if lowest is None or (lowest == 0.0 and share > 0.0):
            # Newly out; also one that equals another that fainted before it.
            if share > 0.0:
                self._lowest[key] = share
                self._won = False
            return
        if share >= lowest:
            return
        factor = self._factor(battle, key)
        self._pay("damage", factor * self.settings.damage * (lowest - share), parts)
        self._lowest[key] = share
        if share == 0.0:
            self._won = True
            self._pay("fainted", factor * self.settings.fainted, parts)

    def _end(self, previous: GameState, state: GameState, parts: dict[str, float]) -> None:
        settings = self.settings
        battle = previous.battle
        if self._won and battle is not None and state.party.hp_share > 0.0:
            if battle.kind == TRAINER_BATTLE:
                trainers = {_trainer(battle, opponent) for opponent in self._lowest}
                if not trainers <= self._beaten:
                    parts["won"] = settings.won_trainer
                self._beaten |= trainers
            else:
                parts["won"] = self._wild_factor() * settings.won_wild
                self._wild_won += 1
        else:
            for part, paid in self._paid.items():
                if paid:
                    parts[part] = -paid
            if battle is not None and battle.own is not None and battle.own.hp == 0:
                parts["lost"] = settings.lost
        self._forget_battle()

    def _pay(self, part: str, value: float, parts: dict[str, float]) -> None:
        self._paid[part] += value
        parts[part] = value

    def _factor(self, battle: Battle, opponent: _Opponent) -> float:
        """Return the factor on the pay: lower the more wild battles were won, 0 for a trainer already beaten."""
        if battle.kind == TRAINER_BATTLE:
            return float(_trainer(battle, opponent) not in self._beaten)
        return self._wild_factor()

    def _wild_factor(self) -> float:
        half_life = self.settings.wild_half_life
        return float(0.5 ** (self._wild_won / half_life)) if half_life else 1.0

    def _forget_battle(self) -> None:
        self._paid = dict.fromkeys(self._paid, 0.0)
        self._lowest = {}
        self._in_battle = self._won = False


def _trainer(battle: Battle, opponent: _Opponent) -> tuple[int, int, int]:
    """Return a trainer's key: class and number, or the opponent sent out if the number is unknown."""
    number = battle.trainer_number
    return battle.trainer_class, number, 0 if number else opponent.species << 8 | opponent.level


def _key(opponent: Battler) -> _Opponent:
    return _Opponent(opponent.species, opponent.level, opponent.max_hp)


def _share(battler: Battler) -> float:
    return battler.hp / battler.max_hp if battler.max_hp else 0.0


def _without_hit_points(state: GameState) -> bool:
    return bool(state.party.level_sum) and state.party.hp_share == 0.0
