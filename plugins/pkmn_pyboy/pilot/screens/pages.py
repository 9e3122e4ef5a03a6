"""Screens and menus: waits while one is drawn, gives up choices that repeatedly change nothing."""

from __future__ import annotations

from collections.abc import Sequence

from pkmn_pyboy.pilot.memory import LEAVE, LIKELY, MENU, SURE, TALK, WAIT, PilotMemory
from pkmn_pyboy.pilot.notes import Confirmed
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import BATTLE_PHASES, GameState, Phase
from pkmncli.api import Action, Decision

_PAGES = BATTLE_PHASES | {Phase.MENU, Phase.CHOICE}
_OPEN_A_PAGE = frozenset({"switch", "item", "ball"})
"""Kinds of plans that open a screen in a battle."""
_BACK_STEPS = 8
_LEAVING_STEPS = 32
_ANY = (Action.A, Action.B, Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT, Action.START)


def note(state: GameState, memory: PilotMemory) -> None:
    """Count the steps in which a screen shows no cursor, and in which nothing changes on screens."""
    memory.page.waits = memory.page.waits + 1 if _opens(state, memory) else 0
    if state.phase in _PAGES:
        mark = mark_of(state)
        memory.page.still = memory.page.still + 1 if mark == memory.page.mark else 0
        memory.page.mark = mark
    elif state.phase is Phase.FREE:
        memory.page.still = 0
        memory.page.confirmed.clear()


def wait(memory: PilotMemory, settings: PilotSettings) -> Decision | None:
    """Wait while a screen without a cursor may still be drawn; None after that time."""
    if 0 < memory.page.waits <= settings.page_wait_steps:
        memory.point(WAIT)
        return Decision(Action.NONE, "wait for the screen", SURE)
    return None


def in_vain(memory: PilotMemory, settings: PilotSettings, purpose: str, mark: Sequence[int]) -> bool:
    """Note that a choice is about to be confirmed; return whether it was confirmed often enough without a change.

    Args:
        memory: where the choices are kept.
        settings: how often is enough.
        purpose: purpose of the choice.
        mark: numbers that change when the choice succeeds.
    """
    before = memory.page.confirmed.get(purpose)
    count = before.times + 1 if before is not None and before.mark == list(mark) else 1
    memory.page.confirmed[purpose] = Confirmed(count, list(mark))
    if count > settings.confirm_tries:
        del memory.page.confirmed[purpose]
        return True
    return False


def overdue(state: GameState, memory: PilotMemory, settings: PilotSettings) -> bool:
    """Return whether screens, menus or a battle have lasted too long without a change."""
    return state.phase in _PAGES and memory.page.still >= settings.page_steps


def leave(memory: PilotMemory, settings: PilotSettings) -> Decision:
    """Leave a screen that lasts too long: give up its purpose, then press B, then any button."""
    turn = memory.page.still - settings.page_steps
    if turn == 0:
        give_up(memory, settings)
    if turn >= _LEAVING_STEPS:
        memory.page.still = 0
    if turn < _BACK_STEPS:
        memory.point(LEAVE)
    action = Action.B if turn < _BACK_STEPS else _ANY[memory.draw(len(_ANY))]
    return Decision(action, "nothing changes: leave the screen", LIKELY)


def give_up(memory: PilotMemory, settings: PilotSettings) -> None:
    """Give up the open screen's purpose for a while; in a battle, for the whole battle."""
    goal = memory.goal
    pursued = bool(memory.task or memory.shop.purchases)
    if pursued and goal is not None and goal.kind in (MENU, TALK):
        memory.tries[goal.key] = max(memory.tries.get(goal.key, 0), settings.goal_tries)
    plan = memory.battle.plan
    if plan is not None and plan.kind in _OPEN_A_PAGE:
        memory.battle.failed.append(plan.kind)
    memory.task = memory.forget = memory.battle.plan = None
    memory.shop.purchases = []
    memory.page.confirmed.clear()


def mark_of(state: GameState) -> int:
    """Return a checksum of all that an action on a screen would change: party, money, balls, both battle sides."""
    battle = state.battle
    # Only numbers, because their hash is the same in every process; that of None is not.
    sides = (battle.own or 0, battle.opponent or 0) if battle is not None else ()
    return hash((state.position, state.party.members, state.money, state.balls, state.caught, state.milestones, sides))


def _opens(state: GameState, memory: PilotMemory) -> bool:
    if state.phase is Phase.BATTLE:
        # A battle always shows the message box, except on such screens.
        plan = memory.battle.plan
        opens = plan is not None and plan.kind in _OPEN_A_PAGE
        return opens and not state.message_box and not state.menu.cursor_shown
    return state.page_opens
