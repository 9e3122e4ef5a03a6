"""Tasks in the START menu: use an item on a member, teach a move, put another member first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import LEAVE, SEARCH, TURN, PilotMemory
from pkmn_pyboy.pilot.screens import pages, screen_lists
from pkmn_pyboy.pilot.screens.screen_lists import EncodedNames, ScreenList
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.rules_gen2.screen import COLUMNS
from pkmn_pyboy.rules_gen2.slots import ITEM_POCKET, MACHINE_POCKET
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import GameState, PartyMember
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

USE, TEACH, LEAD = "use", "teach", "lead"
"""Kinds of tasks: (USE, item, slot), (TEACH, machine, slot), (LEAD, 0, slot)."""

SURE, LIKELY = 0.9, 0.7
_MOST_STEPS = 90
_SCROLL_TURN = 14
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
        self._names = EncodedNames(game.rom.data, profile.memory.rom_tables)
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
            mark = self._bag().count(number)
        memory.task = [kind, number, slot, mark]
        memory.task_steps = 0
        memory.task_marked = False
        move = self._field_moves.get(number)
        memory.teach = [slot, move.move] if kind == TEACH and move is not None else []

    def act(self, state: GameState, memory: PilotMemory) -> Decision | None:
        """Act on the task; None if there is none, or another part must answer the screen."""
        if not memory.task:
            return None
        memory.task_steps += 1
        if self._done(state, memory):
            memory.task, memory.teach = [], []
            return None
        if memory.task_steps > _MOST_STEPS:
            pages.give_up(memory, self._settings)
            return None
        if not state.menu.cursor_shown and state.message_box:
            return None
        kind, number, slot, _ = memory.task
        screen = ScreenList.read(self._game, memory)
        names = screen_lists.nicknames(self._game)
        if screen.party_row(names) is not None:
            return self._confirmed(self._member(screen, names, kind, slot, memory), screen, state, memory)
        press = screen.press_for(self._words["party" if kind == LEAD else "pack"])
        if press is not None:
            return Decision(press, "open the bag" if kind != LEAD else "open the party", SURE)
        return None if kind == LEAD else self._entry(screen, kind, number, memory)

    def _confirmed(
        self, decision: Decision | None, screen: ScreenList, state: GameState, memory: PilotMemory
    ) -> Decision | None:
        """Return the press on the party list, unless it repeats a choice that the game has refused."""
        if decision is None or decision.action != Action.A or state_is_question(screen):
            return decision
        kind, number, slot, _ = memory.task
        mark = [pages.mark_of(state), int(memory.task_marked)]
        if not pages.in_vain(memory, self._settings, f"{kind}/{number}/{slot}", mark):
            return decision
        pages.give_up(memory, self._settings)
        memory.point(LEAVE)
        return Decision(Action.B, "the game refuses it", SURE)

    def _done(self, state: GameState, memory: PilotMemory) -> bool:
        kind, number, slot, mark = memory.task
        members = state.party.members
        if slot >= len(members):
            return True
        if kind == LEAD:
            return bool(_identity(members[0]) == mark)
        if kind == USE:
            return bool(self._bag().count(number) != mark)
        move = self._field_moves.get(number)
        return move is None or move.move in members[slot].moves

    def _member(
        self, screen: ScreenList, names: list[bytes], kind: str, slot: int, memory: PilotMemory
    ) -> Decision | None:
        if kind != LEAD:
            press = screen.press_for_member(names, slot)
            return Decision(press, f"party slot {slot + 1}", SURE) if press is not None else None
        move = screen.press_for(self._words["move"])
        if move is not None:
            memory.task_marked = memory.task_marked or move is Action.A
            return Decision(move, "put it first", SURE)
        press = screen.press_for_member(names, 0 if memory.task_marked else slot)
        return Decision(press, "put it first", SURE) if press is not None else None

    def _entry(self, screen: ScreenList, kind: str, number: int, memory: PilotMemory) -> Decision | None:
        move = self._field_moves.get(number) if kind == TEACH else None
        labels = [self._names.items.get(move.item if move is not None else number, b"")]
        if move is not None:
            labels.append(self._names.moves.get(move.move, b""))
        gap = _MACHINE_GAP if kind == TEACH else _ITEM_GAP
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
        pocket = MACHINE_POCKET if kind == TEACH else ITEM_POCKET
        places = self._game.profile.memory
        shown = places.read(self._game.emulator, "wCurPocket") if "wCurPocket" in places else pocket
        if shown != pocket:
            turn = screen_lists.press_to_pocket(shown, pocket)
            memory.point(TURN, right=1 if turn is Action.RIGHT else -1)
            return Decision(turn if memory.task_steps % 2 else Action.NONE, "change the pocket", SURE)
        if state_is_question(screen):
            return None
        down = memory.task_steps // _SCROLL_TURN % 2 == 0
        memory.point(SEARCH, 1 if down else -1)
        return Decision(Action.DOWN if down else Action.UP, "look for it", LIKELY)

    def _bag(self) -> Bag:
        return Bag.read(self._game.emulator, self._game.profile.memory)


def state_is_question(screen: ScreenList) -> bool:
    """Return whether the cursor is outside a full screen's list, in a small window at the right."""
    return screen.column >= COLUMNS // 2


def _identity(member: PartyMember) -> int:
    """Return a number that identifies a member."""
    return member.experience << 8 | member.species
