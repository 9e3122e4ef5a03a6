"""Carrying out advice: presses in their order, and the skills `press` and `go_to`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot.memory import TILE, Goal, PilotMemory
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmncli.api import Action, Advice, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

_BY_NAME = {action.name.lower(): int(action) for action in Action}
_REASON_CHARACTERS = 50
ADVICE_PREFIX = "advice: "
"""How the reason of a step that carries out advice begins."""
_NOT_NOW = frozenset({Phase.TRANSITION, Phase.MOVING})


class AdviceFollower:
    """Follows one piece of advice at a time, and leaves the rest to the rules.

    Args:
        environment: the game.
    """

    def __init__(self, environment: PokemonEnvironment) -> None:
        self._environment = environment
        self._advice: Advice | None = None

    def reset(self) -> None:
        """Forgets which object the advice was, as when another process goes on."""
        self._advice = None

    def act(self, advice: Advice | None, state: GameState, memory: PilotMemory) -> Decision | None:
        """The press that the advice wants now; nothing where the rules are to decide."""
        self._take_in(advice, memory)
        if advice is None:
            return None
        presses = _presses(advice)
        while memory.advice_done < len(presses):
            action = presses[memory.advice_done]
            if self._environment.mask[action]:
                memory.advice_pending = True
                words = (advice.reason or advice.goal)[:_REASON_CHARACTERS]
                return Decision(action, f"{ADVICE_PREFIX}{words}", advice.confidence)
            if state.phase in _NOT_NOW:
                return None
            memory.advice_done += 1
        return None

    def _take_in(self, advice: Advice | None, memory: PilotMemory) -> None:
        if memory.advice_pending and self._environment.pressed == memory.proposed:
            memory.advice_done += 1
        memory.advice_pending = False
        if advice is None:
            memory.advice_key = ""
            memory.advice_done = 0
        elif advice is not self._advice:
            key = f"{advice.goal}|{advice.presses}|{advice.skill}|{sorted(advice.arguments.items())}"
            if self._advice is not None or key != memory.advice_key:
                memory.advice_done = 0
            memory.advice_key = key
        self._advice = advice

    def errand(self, advice: Advice | None, state: GameState, memory: PilotMemory) -> Goal | None:
        """The goal that the advice sets, once; nothing where it sets none."""
        if advice is None or advice.skill != "go_to" or memory.advice_done or state.phase is not Phase.FREE:
            return None
        x, y = advice.arguments.get("x"), advice.arguments.get("y")
        if not isinstance(x, int) or not isinstance(y, int):
            return None
        memory.advice_done = 1
        return Goal(TILE, "advice", state.map_id, f"{ADVICE_PREFIX}go to {x},{y}", advice.confidence, x, y)


def _presses(advice: Advice) -> list[int]:
    """The presses that the advice names, whichever way it names them; unknown ones are left out."""
    if advice.skill == "go_to":
        return []
    named: Any = advice.presses
    if not named and advice.skill == "press":
        arguments = advice.arguments
        named = arguments.get("presses") or arguments.get("buttons") or arguments.get("button") or ()
    if isinstance(named, str | int):
        named = [named]
    if not isinstance(named, Sequence):
        return []
    actions = [_BY_NAME.get(one.lower(), -1) if isinstance(one, str) else one for one in named]
    return [action for action in actions if isinstance(action, int) and 0 <= action < len(Action)]
