"""Battles: carries out, button by button, the chosen tactics: move, switch, item or escape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.advice import CATCH, FIGHT, FLEE
from pkmn_pyboy.pilot.battle import tactics
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.battle.tactics import BALL, ITEM, MOVE, RUN, SWITCH, Situation, Tactician
from pkmn_pyboy.pilot.memory import ENTRY, LEAVE, LIKELY, PACE, SURE, WAIT, PilotMemory
from pkmn_pyboy.pilot.notes import BattlePlan
from pkmn_pyboy.pilot.screens import pages, screen_lists
from pkmn_pyboy.pilot.screens.screen_lists import ScreenList
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.rules_gen2.screen import FIGHT_CELL, PACK_CELL, PARTY_CELL, RUN_CELL
from pkmn_pyboy.rules_gen2.slots import BALL_POCKET, ITEM_POCKET, MOVE_SLOTS, PARTY_SLOTS
from pkmn_pyboy.state.game_state import Battle, GameState
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_MOST_FLIGHTS = 4
_CELLS = {MOVE: FIGHT_CELL, SWITCH: PARTY_CELL, ITEM: PACK_CELL, BALL: PACK_CELL, RUN: RUN_CELL}
"""Row and column of each kind of plan in the battle menu (fight, Pokemon, pack, run)."""
_MOST_PAGE_STEPS = 48
_SAME_TRIES = 3
_YES_NO_ROWS = 2
_BACK_TURN = 8
"""Steps of pressing B to leave a screen without a plan, before A; the game may insist on a choice."""


class Fighter:
    """Chooser of actions in battles.

    Args:
        game: the running game.
        settings: when to run, which items to use.
        tables: moves, types and species; read from the image if None.
    """

    def __init__(self, game: Game, settings: PilotSettings, tables: BattleTables | None = None) -> None:
        self._game = game
        self._settings = settings
        self._tables = tables or BattleTables(game.cartridge)
        self._names = game.encoded_names
        self._tactician = Tactician(self._tables, settings, game.profile.item_uses)

    # The menu of four, and the list of moves ------------------------------------------------------------------

    def choose_action(self, state: GameState, memory: PilotMemory) -> Decision:
        """Choose in the battle menu (fight, Pokemon, pack, run)."""
        plan = self._plan(state, memory)
        row, column = _CELLS[plan.kind]
        menu = state.menu
        memory.point(ENTRY, row - menu.cursor_row, column - menu.cursor_column)
        if menu.cursor_row != row:
            return Decision(Action.DOWN if row == 2 else Action.UP, plan.why, SURE)
        if menu.cursor_column != column:
            return Decision(Action.RIGHT if column == 2 else Action.LEFT, plan.why, SURE)
        if plan.kind == RUN:
            memory.battle.flights += 1
        memory.battle.page_steps = 0
        # The menu returns at the end of the turn: a move that only failed was not refused by the game.
        for key in [key for key in memory.page.confirmed if key.startswith(MOVE)]:
            del memory.page.confirmed[key]
        self._count_tries(plan, state, memory)
        return Decision(Action.A, plan.why, SURE)

    def choose_move(self, state: GameState, memory: PilotMemory) -> Decision:
        """Choose in the list of moves: the planned move, or another if the game refuses it."""
        battle = state.battle
        order = self.ranked_moves(battle) if battle is not None else []
        if not order:
            memory.point(ENTRY)
            return Decision(Action.A, "the first move", LIKELY)
        plan = memory.battle.plan
        if plan is not None and plan.kind == MOVE and plan.number in order:
            order.remove(plan.number)
            order.insert(0, plan.number)
        moves = battle.own.moves if battle is not None and battle.own is not None else ()
        order = [slot for slot in order if _move_key(moves, slot) not in memory.battle.failed] or order
        wanted = order[0] + 1
        row = state.menu.cursor_row
        memory.point(ENTRY, wanted - row)
        if row != wanted:
            return Decision(Action.DOWN if row < wanted else Action.UP, f"move {wanted}", SURE)
        key = _move_key(moves, order[0])
        if pages.in_vain(memory, self._settings, key, self._mark(battle)):
            memory.battle.failed.append(key)
            memory.battle.plan = None
            memory.point(WAIT if len(order) > 1 else LEAVE)
            if len(order) > 1:
                return Decision(Action.NONE, "the game refuses this move", SURE)
            # All moves are refused: try anything rather than the same choice forever.
            memory.battle.failed = [one for one in memory.battle.failed if not one.startswith(MOVE)]
            return Decision(Action.B, "the game refuses these moves", LIKELY)
        self._count_use(battle, order[0], memory)
        memory.battle.plan = None
        return Decision(Action.A, f"move {wanted}", SURE)

    def ranked_moves(self, battle: Battle | None) -> list[int]:
        """Return the slots (from 0) of the own moves with PP left, by expected damage, highest first."""
        own = battle.own if battle is not None else None
        if battle is None or own is None:
            return []
        if battle.opponent is None:
            return [slot for slot, move in enumerate(own.moves) if move and own.pp[slot]]
        sides = self._tables.sides(battle)
        return self._tactician.ranked(*sides) if sides is not None else []

    # Screens inside a battle ----------------------------------------------------------------------------------

    def use_page(self, state: GameState, memory: PilotMemory) -> Decision | None:
        """Act on the party list or the bag inside a battle; None if the screen is neither."""
        if not state.menu.cursor_shown and (state.message_box or not memory.battle.plan):
            return None
        screen = ScreenList.read(self._game, memory)
        plan = memory.battle.plan
        names = screen_lists.nicknames(self._game)
        if screen.party_row(names) is not None:
            memory.battle.page_steps += 1
            return self._member(screen, names, plan, state, memory)
        if plan is None or plan.kind not in (ITEM, BALL) or not self._is_bag(screen, state):
            return None
        memory.battle.page_steps += 1
        if memory.battle.page_steps > _MOST_PAGE_STEPS:
            self._give_up(plan, memory)
            memory.point(LEAVE)
            return Decision(Action.B, "leave the bag", LIKELY)
        return self._from_bag(screen, plan, state, memory)

    def _member(
        self, screen: ScreenList, names: Sequence[bytes], plan: BattlePlan | None, state: GameState, memory: PilotMemory
    ) -> Decision | None:
        battle = state.battle
        fallen = battle is not None and battle.own is not None and battle.own.hp == 0
        planned = plan if plan is not None and plan.kind in (ITEM, SWITCH) and not fallen else None
        refused = bool(memory.battle.failed or memory.battle.refusals)
        if planned is None and not fallen and refused and memory.battle.page_steps // _BACK_TURN % 2 == 0:
            memory.point(LEAVE)
            return Decision(Action.B, "leave the party", SURE)
        if planned is None:
            order = self._successors(state)
            if not order:
                return None
            # After each refused member, try the next one.
            slot = order[memory.battle.refusals % len(order)]
        else:
            slot = planned.target if planned.kind == ITEM else planned.number
        press = screen.press_for_member(names, slot)
        if press is not Action.A or screen.asks:
            return Decision(press, f"party slot {slot + 1}", SURE) if press is not None else None
        purpose = f"{planned.kind} on the party" if planned is not None else "send out"
        late = memory.battle.page_steps > _MOST_PAGE_STEPS and planned is not None
        if pages.in_vain(memory, self._settings, purpose, self._page_mark(state)) or late:
            if planned is None:
                memory.battle.refusals += 1
                memory.point(WAIT)
                return Decision(Action.NONE, "the game refuses this member", SURE)
            self._give_up(planned, memory)
            memory.point(LEAVE)
            return Decision(Action.B, "the game refuses it: leave the party", SURE)
        if planned is not None and planned.kind == SWITCH:
            memory.battle.switches += 1
        return Decision(press, f"party slot {slot + 1}", SURE)

    def _successors(self, state: GameState) -> list[int]:
        """Return the slots of the members that can be sent out, the best against the opponent first."""
        battle = state.battle
        foe = battle.opponent if battle is not None else None
        against = self._tables.battler(foe) if foe is not None and foe.hp else None
        best = self._tactician.best_member(state.party, against, self._own_slot(state))
        if best is None:
            return []
        left_out = {best, self._own_slot(state)}
        members = enumerate(state.party.members)
        return [best, *(slot for slot, one in members if one.hp and not one.egg and slot not in left_out)]

    def _is_bag(self, screen: ScreenList, state: GameState) -> bool:
        """Return whether a list of items is open, rather than a question."""
        if not state.message_box or state.menu.rows != _YES_NO_ROWS or (screen.column >= 0 and not screen.asks):
            return True
        bag = self._game.bag()
        return any(screen.rows_of(self._names.items.get(item, b"")) for item in (*bag.items, *bag.balls))

    def _from_bag(self, screen: ScreenList, plan: BattlePlan, state: GameState, memory: PilotMemory) -> Decision:
        name = self._names.items.get(plan.number, b"")
        if screen.left_behind(name):
            if pages.in_vain(memory, self._settings, f"{plan.kind}/{plan.number}", self._page_mark(state)):
                self._give_up(plan, memory)
                memory.point(LEAVE)
                return Decision(Action.B, "the game refuses it: leave the bag", SURE)
            memory.point(ENTRY)
            return Decision(Action.A, plan.why, SURE)
        pocket = BALL_POCKET if plan.kind == BALL else ITEM_POCKET
        press = screen.press_for(name)
        if press is not None:
            return Decision(press, plan.why, SURE)
        steps = memory.battle.page_steps
        turn = screen_lists.turn_to_pocket(self._game, memory, pocket, steps)
        return turn or screen_lists.search(memory, steps, f"{plan.why}: look for it")

    # Plans ---------------------------------------------------------------------------------------------------

    def _plan(self, state: GameState, memory: PilotMemory) -> BattlePlan:
        battle = state.battle
        if memory.battle.plan and memory.phase_steps > 0:
            return memory.battle.plan
        if battle is None:
            return BattlePlan(MOVE, why="fight")
        goal = memory.goal
        training = goal is not None and goal.kind == PACE
        situation = Situation(
            battle,
            state.party,
            self._own_slot(state),
            self._game.bag(),
            memory.battle.switches,
            self._used_on(battle, memory),
            memory.battle.failed,
            self._opponent_conditions(),
            wanted=self.wants(battle, state, memory),
            may_run=memory.battle.flights < _MOST_FLIGHTS and not (training and not memory.healers),
            training=training,
        )
        plan = self._tactician.plan(situation)
        wish = memory.advice.wish.skill if memory.advice.wish is not None else ""
        if wish == FLEE and battle.kind == tactics.WILD and situation.may_run:
            plan = BattlePlan(RUN, why="run")
        elif wish == FIGHT and plan.kind == RUN:
            order = self.ranked_moves(battle)
            plan = BattlePlan(MOVE, order[0] if order else 0, why="fight")
        memory.battle.plan = plan
        return plan

    def _opponent_conditions(self) -> tuple[str, ...]:
        details = self._game.details().battle
        return details.opponent_conditions if details is not None else ()

    def wants(self, battle: Battle, state: GameState, memory: PilotMemory) -> bool:
        """Return whether to catch the opponent: it was asked for, or it is new and the settings want new ones."""
        foe = battle.opponent
        if foe is None or battle.kind != tactics.WILD or state.party.count >= PARTY_SLOTS:
            return False
        if memory.advice.wish is not None and memory.advice.wish.skill == CATCH:
            return True
        if 0 in memory.hunt.wanted or foe.species in memory.hunt.wanted:
            return True
        if state.party.count >= PARTY_SLOTS - self._game.milestones.party_room:
            return False
        if self._settings.catch == "none" or any(one.species == foe.species for one in state.party.members):
            return False
        return self._settings.catch == "new" and state.party.count < self._settings.party_wanted

    def _own_slot(self, state: GameState) -> int:
        places = self._game.profile.memory
        if "wCurBattleMon" in places:
            slot = int(places.read(self._game.emulator, "wCurBattleMon"))
            if slot < state.party.count:
                return slot
        return 0

    def _count_tries(self, plan: BattlePlan, state: GameState, memory: PilotMemory) -> None:
        """Give up a plan that returns to the menu several times with nothing changed."""
        if plan.kind == MOVE:
            return
        mark = self._page_mark(state)
        same = mark == memory.battle.mark
        memory.battle.tries = memory.battle.tries + 1 if same else 0
        memory.battle.mark = mark
        if memory.battle.tries >= _SAME_TRIES and plan.kind != RUN:
            self._give_up(plan, memory)

    def _page_mark(self, state: GameState) -> list[int]:
        """Return numbers that change when a member is switched or an item is used."""
        bag = self._game.bag()
        return [*self._mark(state.battle), self._own_slot(state), sum(bag.items.values()), sum(bag.balls.values())]

    @staticmethod
    def _give_up(plan: BattlePlan, memory: PilotMemory) -> None:
        memory.battle.failed.append(plan.kind)
        memory.battle.plan = None
        memory.battle.tries = memory.battle.page_steps = 0

    @staticmethod
    def _count_use(battle: Battle | None, slot: int, memory: PilotMemory) -> None:
        own = battle.own if battle is not None else None
        if own is not None and slot < MOVE_SLOTS:
            memory.count(memory.battle.moves_used, f"{_opponent_of(battle)}/{own.moves[slot]}")

    @staticmethod
    def _used_on(battle: Battle, memory: PilotMemory) -> dict[int, int]:
        """Return how often each move was used on the current opponent, by move number."""
        wanted = f"{_opponent_of(battle)}/"
        return {
            int(key.removeprefix(wanted)): count
            for key, count in memory.battle.moves_used.items()
            if key.startswith(wanted)
        }

    @staticmethod
    def _mark(battle: Battle | None) -> list[int]:
        if battle is None or battle.own is None:
            return []
        return [*battle.own.pp, battle.own.hp, battle.opponent.hp if battle.opponent is not None else 0]


def _move_key(moves: Sequence[int], slot: int) -> str:
    return f"{MOVE}/{moves[slot] if slot < len(moves) else 0}"


def _opponent_of(battle: Battle | None) -> int:
    """Return the opponent's species, 0 if none is out."""
    return battle.opponent.species if battle is not None and battle.opponent is not None else 0
