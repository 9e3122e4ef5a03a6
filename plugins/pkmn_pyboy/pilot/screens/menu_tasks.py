"""Tasks in the START menu: use an item on a member, teach a move, put another member first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import LEAVE, SURE, PilotMemory
from pkmn_pyboy.pilot.notes import MenuTask
from pkmn_pyboy.pilot.screens import pages, screen_lists
from pkmn_pyboy.pilot.screens.screen_lists import ScreenList
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.rules_gen2.slots import ITEM_POCKET, MACHINE_POCKET
from pkmn_pyboy.state.game_state import GameState, PartyMember
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

USE, TEACH, LEAD = "use", "teach", "lead"
"""Kinds of tasks: (USE, item, slot), (TEACH, machine, slot), (LEAD, 0, slot)."""

_MOST_STEPS = 90
_ITEM_GAP, _MACHINE_GAP = 2, 4
"""Columns from the cursor to the name of an item, and of a machine, which has its number in between."""


class MenuTasks:
    """Performer of one task at a time, kept in the memory until it is done or takes too long.

    Args:
        game: the running game.
        settings: how often a choice is confirmed before it is given up.
    """

    def __init__(self, game: Game, settings: PilotSettings | None = None) -> None:
        profile = game.profile
        self._game = game
        self._settings = settings or PilotSettings()
        self.names = game.encoded_names
        self._words = {key: profile.charmap.encode(word) for key, word in profile.menu_words.items()}
        self._field_moves = {move.machine: move for move in profile.field_moves.values()}

    @property
    def possible(self) -> bool:
        """True if the profile gives the labels of the menus."""
        return bool(self._words)

    def begin(self, kind: str, number: int, slot: int, state: GameState, memory: PilotMemory) -> None:
        """Set the task. Work on it starts once START has been pressed."""
        members = state.party.members
        mark = 0
        if kind == LEAD and slot < len(members):
            mark = _identity(members[slot])
        elif kind == USE:
            mark = self._game.bag().count(number)
        move = self._field_moves.get(number) if kind == TEACH else None
        memory.task = MenuTask(kind, number, slot, mark, move.move if move is not None else 0)
        memory.task_steps = 0

    def act(self, state: GameState, memory: PilotMemory) -> Decision | None:
        """Act on the task; None if there is none, or another part must answer the screen."""
        task = memory.task
        if task is None:
            return None
        memory.task_steps += 1
        if self._done(task, state):
            memory.task = None
            return None
        if memory.task_steps > _MOST_STEPS:
            pages.give_up(memory, self._settings)
            return None
        if not state.menu.cursor_shown and state.message_box:
            return None
        screen = ScreenList.read(self._game, memory)
        names = screen_lists.nicknames(self._game)
        if screen.party_row(names) is not None:
            return self._confirmed(self._member(screen, names, task), task, screen, state, memory)
        press = screen.press_for(self._words["party" if task.kind == LEAD else "pack"])
        if press is not None:
            return Decision(press, "open the bag" if task.kind != LEAD else "open the party", SURE)
        return None if task.kind == LEAD else self._entry(screen, task, memory)

    def _confirmed(
        self, decision: Decision | None, task: MenuTask, screen: ScreenList, state: GameState, memory: PilotMemory
    ) -> Decision | None:
        """Return the press on the party list, unless it repeats a choice that the game has refused."""
        if decision is None or decision.action != Action.A or screen.asks:
            return decision
        mark = [pages.mark_of(state), int(task.marked)]
        if not pages.in_vain(memory, self._settings, f"{task.kind}/{task.number}/{task.slot}", mark):
            return decision
        pages.give_up(memory, self._settings)
        memory.point(LEAVE)
        return Decision(Action.B, "the game refuses it", SURE)

    def _done(self, task: MenuTask, state: GameState) -> bool:
        members = state.party.members
        if task.slot >= len(members):
            return True
        if task.kind == LEAD:
            return _identity(members[0]) == task.mark
        if task.kind == USE:
            return self._game.bag().count(task.number) != task.mark
        return not task.move or task.move in members[task.slot].moves

    def _member(self, screen: ScreenList, names: list[bytes], task: MenuTask) -> Decision | None:
        if task.kind != LEAD:
            press = screen.press_for_member(names, task.slot)
            return Decision(press, f"party slot {task.slot + 1}", SURE) if press is not None else None
        move = screen.press_for(self._words["move"])
        if move is not None:
            task.marked = task.marked or move is Action.A
            return Decision(move, "put it first", SURE)
        press = screen.press_for_member(names, 0 if task.marked else task.slot)
        return Decision(press, "put it first", SURE) if press is not None else None

    def _entry(self, screen: ScreenList, task: MenuTask, memory: PilotMemory) -> Decision | None:
        move = self._field_moves.get(task.number) if task.kind == TEACH else None
        labels = [self.names.items.get(move.item if move is not None else task.number, b"")]
        if move is not None:
            labels.append(self.names.moves.get(move.move, b""))
        gap = _MACHINE_GAP if task.kind == TEACH else _ITEM_GAP
        use = screen.press_for(self._words.get("use", b""))
        if use is not None and screen.has_hollow() and not any(screen.left_behind(label, gap) for label in labels):
            memory.point(LEAVE)
            return Decision(Action.B, "another item is selected", SURE)
        if use is not None:
            return Decision(use, "use it", SURE)
        for label in labels:
            press = screen.press_for(label, gap)
            if press is not None:
                return Decision(press, "select it", SURE)
        pocket = MACHINE_POCKET if task.kind == TEACH else ITEM_POCKET
        turn = screen_lists.turn_to_pocket(self._game, memory, pocket, memory.task_steps)
        if turn is not None or screen.asks:
            return turn
        return screen_lists.search(memory, memory.task_steps, "look for it")


def _identity(member: PartyMember) -> int:
    """Return a number that identifies a member."""
    return member.experience << 8 | member.species
