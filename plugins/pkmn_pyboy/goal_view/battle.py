"""Battle and party in numbers: HP, expected damage of each move, the party's members, the plan of the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.goal_view.numbers import GoalNumber, hot_rows, one_hot, share, within
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.battle.tactics import BALL, ITEM, MOVE, RUN, SWITCH, Tactician
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.rules_gen2.combatant import Combatant
from pkmn_pyboy.rules_gen2.slots import PARTY_SLOTS
from pkmn_pyboy.rules_gen2.types import BEST_FACTOR
from pkmn_pyboy.state.game_state import TRAINER_BATTLE, Battle, Battler, GameState, Party

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game
    from pkmn_pyboy.world.cartridge import Cartridge

_MOVES = 4
_LEVELS, _LEVEL_GAP, _POINTS, _FLIGHTS = 100, 20, 40, 4
_PLANS = (MOVE, SWITCH, ITEM, BALL, RUN)

_OF_SIDES: tuple[GoalNumber, ...] = (
    GoalNumber("wild", "the battle is wild"),
    GoalNumber("trainer", "the battle is against a trainer"),
    GoalNumber("own_out", "an own Pokemon is out"),
    GoalNumber("own_hp", "its HP over its maximum"),
    GoalNumber("own_level", f"its level over {_LEVELS}"),
    GoalNumber("own_ailing", "it has a status condition"),
    GoalNumber("enemy_out", "an opponent is out"),
    GoalNumber("enemy_hp", "its HP over its maximum"),
    GoalNumber("enemy_level", f"its level over {_LEVELS}"),
    GoalNumber("enemy_ailing", "it has a status condition"),
    GoalNumber("level_gap", f"own level minus the opponent's over {_LEVEL_GAP}"),
    GoalNumber("faster", "the own one strikes first"),
    GoalNumber("threat", "expected damage of the opponent's best move over the own HP, at most 1"),
)
_OF_MOVES: tuple[GoalNumber, ...] = tuple(
    number
    for place in range(1, _MOVES + 1)
    for number in (
        GoalNumber(f"move_{place}_usable", f"move {place} exists and has PP left"),
        GoalNumber(f"move_{place}_points", f"PP left over {_POINTS}"),
        GoalNumber(f"move_{place}_damage", "its expected damage over the opponent's HP, at most 1"),
        GoalNumber(f"move_{place}_factor", f"effectiveness of its type against the opponent over {BEST_FACTOR:g}"),
        GoalNumber(f"move_{place}_rank", "1 for the move expected to win soonest, less for the next ones"),
    )
)
_OF_PLAN: tuple[GoalNumber, ...] = (
    *one_hot("plan", _PLANS, "planned for this turn is a"),
    GoalNumber("plan_place", "slot of the planned move or member, from 1, over 6"),
    GoalNumber("flights", f"tries to run over {_FLIGHTS}"),
    GoalNumber("switches", "switches by choice over 2"),
)
_OF_PARTY: tuple[GoalNumber, ...] = tuple(
    number
    for place in range(1, PARTY_SLOTS + 1)
    for number in (
        GoalNumber(f"member_{place}_hp", f"HP of the member in party slot {place} over its maximum"),
        GoalNumber(f"member_{place}_level", f"its level over {_LEVELS}"),
        GoalNumber(f"member_{place}_out", "it is out in the battle"),
    )
)
NUMBERS: tuple[GoalNumber, ...] = (*_OF_SIDES, *_OF_MOVES, *_OF_PLAN, *_OF_PARTY)

_PLAN_ROWS = hot_rows(len(_PLANS))
_PLAN_PLACES = {kind: place for place, kind in enumerate(_PLANS)}
_PEACE = (0.0,) * (len(_OF_SIDES) + len(_OF_MOVES))
_NO_PLAN = (0.0,) * len(_OF_PLAN)
_NO_MOVE = (0.0,) * 5
_NOBODY = (0.0, 0.0)


class _RememberedDamage(BattleTables):
    """Battle tables that compute the damage of each move once for a pair of combatants."""

    def __init__(self, cartridge: Cartridge) -> None:
        super().__init__(cartridge)
        self._known: dict[tuple[int, int], float] = {}
        self._pair: tuple[Combatant, Combatant] | None = None

    def sides(self, battle: Battle) -> tuple[Combatant, Combatant] | None:
        """Return the own side and the opponent's; None unless both are out. Damage is cached for this pair."""
        self._pair = super().sides(battle)
        self._known.clear()
        return self._pair

    def damage(self, attacker: Combatant, number: int, defender: Combatant) -> float:
        """Return a move's expected damage a turn."""
        key = (id(attacker), number)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = super().damage(attacker, number, defender)
        return found


class BattleNumbers:
    """Writer of the numbers, which recomputes only what changed since the previous step.

    Args:
        game: the running game.
    """

    def __init__(self, game: Game) -> None:
        self._emulator = game.emulator
        self._places = game.profile.memory
        self._tables = _RememberedDamage(game.cartridge)
        self._tactician = Tactician(self._tables, PilotSettings(), game.profile.item_uses)
        self._battle: Battle | None = None
        self._of_battle: tuple[float, ...] = _PEACE
        self._party: Party | None = None
        self._of_party: tuple[tuple[float, float], ...] = (_NOBODY,) * PARTY_SLOTS

    def write(self, out: list[float], state: GameState, memory: PilotMemory | None) -> None:
        """Append the numbers; those of the plan are 0 if ``memory`` is None."""
        battle = state.battle
        if battle is None:
            out += _PEACE
        else:
            # The reader returns the same object until a byte of the battle changes.
            if battle is not self._battle:
                self._battle, self._of_battle = battle, tuple(self._fight(battle))
            out += self._of_battle
        if memory is None or battle is None:
            out += _NO_PLAN
        else:
            self._write_plan(out, memory)
        if state.party is not self._party:
            self._party, self._of_party = state.party, _members(state.party)
        place = self._place() if battle is not None and battle.own is not None else -1
        for number, member in enumerate(self._of_party):
            out += member
            out.append(float(number == place))

    @staticmethod
    def _write_plan(out: list[float], memory: PilotMemory) -> None:
        plan, number = memory.battle.plan, 0
        if plan is not None:
            number = plan.number + 1 if plan.kind in (MOVE, SWITCH) else plan.target + 1
        out += _PLAN_ROWS[_PLAN_PLACES[plan.kind] if plan is not None else -1]
        out += (
            within(number / PARTY_SLOTS),
            min(memory.battle.flights / _FLIGHTS, 1.0),
            min(memory.battle.switches / 2, 1.0),
        )

    def _place(self) -> int:
        return int(self._places.read(self._emulator, "wCurBattleMon")) if "wCurBattleMon" in self._places else 0

    def _fight(self, battle: Battle) -> list[float]:
        own, foe = battle.own, battle.opponent
        sides = self._tables.sides(battle)
        numbers = [float(battle.kind != TRAINER_BATTLE), float(battle.kind == TRAINER_BATTLE)]
        numbers += _side(own)
        numbers += _side(foe)
        if sides is None or own is None or foe is None:
            numbers += (0.0, 0.0, 0.0)
        else:
            threat = self._tables.threat(sides[1], sides[0])
            numbers += (
                within((own.level - foe.level) / _LEVEL_GAP),
                float(sides[0].stats[2] >= sides[1].stats[2]),
                min(threat / max(own.hp, 1), 1.0),
            )
        ranks = {place: rank for rank, place in enumerate(self._tactician.ranked(*sides))} if sides is not None else {}
        for place in range(_MOVES):
            numbers += self._move(own, sides, place, ranks)
        return numbers

    def _move(
        self, own: Battler | None, sides: tuple[Combatant, Combatant] | None, place: int, ranks: dict[int, int]
    ) -> tuple[float, ...]:
        if own is None or place >= len(own.moves) or not own.moves[place]:
            return _NO_MOVE
        number, points = own.moves[place], own.pp[place]
        damage = factor = 0.0
        if sides is not None:
            damage = min(self._tables.damage(sides[0], number, sides[1]) / max(sides[1].hp, 1), 1.0)
            move = self._tables.moves.get(number)
            factor = self._tables.factor(move.type, sides[1].types) / BEST_FACTOR if move is not None else 0.0
        rank = 1.0 - ranks[place] / _MOVES if place in ranks else 0.0
        return (float(points > 0), min(points / _POINTS, 1.0), damage, factor, rank)


def _side(battler: Battler | None) -> tuple[float, float, float, float]:
    if battler is None:
        return (0.0, 0.0, 0.0, 0.0)
    level = min(battler.level / _LEVELS, 1.0)
    return (1.0, min(share(battler.hp, battler.max_hp), 1.0), level, float(battler.status != 0))


def _members(party: Party) -> tuple[tuple[float, float], ...]:
    numbers = [
        (min(share(one.hp, one.max_hp), 1.0), min(one.level / _LEVELS, 1.0)) if not one.egg else _NOBODY
        for one in party.members[:PARTY_SLOTS]
    ]
    return (*numbers, *(_NOBODY,) * (PARTY_SLOTS - len(numbers)))
