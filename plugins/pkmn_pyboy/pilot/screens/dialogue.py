"""Texts, questions and menus: reads on, answers by policy, leaves menus that have no use."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import AGAIN, LEAVE, LIKELY, NAME, NO, SURE, YES, PilotMemory
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.rules_gen2.screen import (
    BLANK,
    COLUMNS,
    FIRST_CAPITAL,
    HOLLOW_CURSOR,
    LAST_SMALL,
    MESSAGE_ROW,
    NEXT_ARROW,
    ROWS,
    SOLID_CURSOR,
)
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmncli.api import Action, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_MESSAGE = slice(MESSAGE_ROW * COLUMNS, ROWS * COLUMNS)
_CURSORS = bytes((HOLLOW_CURSOR, SOLID_CURSOR, NEXT_ARROW))
_FORGET_AFTER_TILES = 12
_AFTER_ACCEPTING = (Action.B, Action.B, Action.DOWN, Action.A)
_KEYBOARD_LETTERS = 20
_HANGS_STEPS = 80
_LEAVE_TURN = 8


def read_on(memory: PilotMemory) -> Decision:
    """Read on with A; B at times, for screens that only B closes."""
    if memory.phase_steps % 5 == 4:
        return Decision(Action.B, "read on with B", SURE)
    return Decision(Action.A, "read on", SURE)


def read_on_in_battle(memory: PilotMemory) -> Decision:
    """Read on with A in a battle. B would stop an evolution, so it is only for messages that hang."""
    if memory.phase_steps > _HANGS_STEPS:
        return read_on(memory)
    return Decision(Action.A, "read on", SURE)


def wait_for_scene(memory: PilotMemory) -> Decision:
    """Wait while the game acts by itself; A at times, in case it waits for a button."""
    if memory.phase_steps % 4 == 3:
        return Decision(Action.A, "press A in case the scene waits", LIKELY)
    return Decision(Action.NONE, "wait for the scene", LIKELY)


def answer(
    game: Game,
    memory: PilotMemory,
    settings: PilotSettings,
    refuse_words: Callable[[], Sequence[str]] = tuple,
) -> Decision:
    """Answer a question: yes, unless it is to be refused; a question that repeats gets other answers too.

    ``refuse_words`` returns the words of questions to refuse now, besides those of the settings.
    """
    tiles = game.reader.screen_tiles()
    # The cursor and a blinking arrow are not part of the question.
    question = zlib.crc32(tiles[_MESSAGE].translate(None, _CURSORS))
    if question != memory.text.question:
        memory.text.question = question
        words = " ".join(game.screen_words().lower().split())
        refused = (*settings.refuse_words, *refuse_words())
        if game.state.battle is not None:
            refused += settings.refuse_words_in_battle
        memory.text.refused = any(word in words for word in refused)
    if memory.walk.walked > _FORGET_AFTER_TILES:
        memory.text.answers.clear()
    memory.walk.walked = 0
    key = str(question)
    before = memory.text.answers.get(key, 0)
    memory.text.answers[key] = before + 1
    first, other = (Action.B, Action.A) if memory.text.refused else (Action.A, Action.B)
    memory.point(NO if memory.text.refused else YES)
    if before < settings.accept_choices:
        return Decision(first, "answer: no" if memory.text.refused else "answer: yes", SURE)
    action = _AFTER_ACCEPTING[(before - settings.accept_choices) % len(_AFTER_ACCEPTING)]
    if memory.text.refused and action in (Action.A, Action.B):
        action = other if action is Action.B else first
    if action is not first:
        # Tell this turn of answers from the next one.
        memory.point(AGAIN, int(action is Action.DOWN), int(action is other))
    return Decision(action, f"asked {before + 1} times: another answer", LIKELY)


def leave_menu(game: Game, state: GameState, memory: PilotMemory) -> Decision:
    """Leave a menu or a full screen by B; end a name keyboard by START, then A."""
    if is_naming(game, state):
        memory.point(NAME)
        return Decision((Action.START, Action.A)[memory.phase_steps % 2], "end the naming", SURE)
    # A is for a menu that B does not close, not for the menu below it, where A would open the screen again.
    menu = [int(number) for number in state.menu]
    text = memory.text
    text.tries = text.tries + 1 if text.menu == menu and memory.phase_steps else 0
    text.menu = menu
    insists = text.tries % _LEAVE_TURN == _LEAVE_TURN - 1
    memory.point(AGAIN if insists else LEAVE)
    action = Action.A if insists else Action.B
    return Decision(action, "leave the menu", SURE if action is Action.B else LIKELY)


def begin_game(game: Game, state: GameState, memory: PilotMemory) -> Decision:
    """Pass the title screen and the menus before the map with A, which chooses CONTINUE if there is a saved game."""
    if is_naming(game, state):
        return leave_menu(game, state, memory)
    # In a list START may begin a new game; it is for screens that accept nothing else.
    steps, last = memory.phase_steps, (Action.A if state.menu.cursor_shown else Action.START)
    turn = (Action.A, Action.A, Action.A, last)
    if steps >= _HANGS_STEPS:
        turn = (Action.B, Action.A, Action.DOWN, last)
    return Decision(turn[steps // 2 % len(turn)] if steps % 2 else Action.A, "begin the game", LIKELY)


def is_naming(game: Game, state: GameState) -> bool:
    """Return whether a screen of letters to choose from is open."""
    return state.menu.full_screen and _is_keyboard(game.reader.screen_tiles())


def _is_keyboard(tiles: bytes) -> bool:
    """Return whether the screen is full of single letters."""
    alone = 0
    for place in range(1, len(tiles) - 1):
        if FIRST_CAPITAL <= tiles[place] <= LAST_SMALL and tiles[place - 1] == tiles[place + 1] == BLANK:
            alone += 1
    return alone >= _KEYBOARD_LETTERS


def asks_in_battle(state: GameState) -> bool:
    """Return whether a battle shows a list with a cursor other than its own two menus."""
    return state.phase is Phase.BATTLE and state.menu.cursor_shown
