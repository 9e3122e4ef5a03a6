"""Following advice: button presses in order, and the skills go_to, talk_to, fight, heal, catch, flee and press."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot.memory import EXIT, PilotMemory
from pkmn_pyboy.pilot.notes import Wish
from pkmn_pyboy.state.game_state import BATTLE_PHASES, GameState, Phase
from pkmncli.api import Action, Advice, Argument, Decision, Skill

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

GO_TO, TALK_TO, FIGHT, HEAL, CATCH, FLEE = "go_to", "talk_to", "fight", "heal", "catch", "flee"
_MAP, _X, _Y = Argument("map"), Argument("x", bounds=(0, 255)), Argument("y", bounds=(0, 255))
SKILLS = (
    Skill(
        GO_TO,
        'walks to the tile "x", "y" of this map, or to another map by its name in "map"',
        (_MAP, _X, _Y),
        needs=(("x", "y"), ("map",)),
    ),
    Skill(TALK_TO, 'talks to the person at "x", "y", or to the nearest', (_MAP, _X, _Y), action="a"),
    Skill(
        FIGHT,
        "wins a battle, and looks for one if there is none",
        words=("attack", "fight"),
        action="a",
        by_rules=True,
    ),
    Skill(FLEE, "leaves a battle", words=("flee", "escape", "run away"), action="b"),
    Skill(HEAL, "goes to where the party is healed", words=("heal",)),
    Skill(CATCH, "catches a wild Pokemon, and looks for one if there is none", words=("catch",), action="a"),
)
"""Skills that advice can name, besides actions."""

_SKILL_NAMES = frozenset(skill.name for skill in SKILLS)

BATTLE_SKILLS = frozenset({FIGHT, CATCH, FLEE})
ADVICE_PREFIX = "advice: "
"""Prefix of the reason of a step that follows advice."""

_BY_NAME = {action.name.lower(): int(action) for action in Action}
_REASON_CHARACTERS = 50
_NOT_NOW = frozenset({Phase.TRANSITION, Phase.MOVING})
_HEALED = 0.99
_NOTHING_TO_DO = "it names no place or action that exists here"
_ENDS = {
    GO_TO: "the place is reached",
    TALK_TO: "the talk is over",
    HEAL: "the party is healed",
    FIGHT: "the battle is over",
    FLEE: "the battle is over",
}


class AdviceFollower:
    """Follower of one piece of advice at a time; returns None where the rules decide.

    A skill becomes a :class:`~pkmn_pyboy.pilot.notes.Wish` in the memory. Goals and battle plans are chosen by it; this
    class notices when it is finished.

    Args:
        game: the running game.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._advice: Advice | None = None
        self._skipped = 0
        """Presses of the advice that were not possible."""
        self.end = ""
        """End of the latest advice, as a clause for people; empty while it holds."""

    def reset(self) -> None:
        """Forget the identity of the advice object, for example after a restore in another process."""
        self._advice = None

    def begin(self, memory: PilotMemory) -> None:
        """Treat the next advice as new: the action proposed in this state was not taken."""
        self._advice = None
        memory.advice.key = ""
        memory.advice.pending = False

    def act(self, advice: Advice | None, state: GameState, memory: PilotMemory) -> Decision | None:
        """Return the action that the advice asks for now; None if the rules decide."""
        self._take_in(advice, state, memory)
        if advice is None:
            return None
        presses = _presses(advice)
        while memory.advice.done < len(presses):
            action = presses[memory.advice.done]
            if self._game.mask[action]:
                memory.advice.pending = True
                words = (advice.reason or advice.goal)[:_REASON_CHARACTERS]
                last = memory.advice.done == len(presses) - 1
                self.end = self._pressed(presses) if last else ""
                return Decision(action, f"{ADVICE_PREFIX}{words}", advice.confidence, advice_over=last)
            if state.phase in _NOT_NOW:
                return None
            memory.advice.done += 1
            self._skipped += 1
            self.end = self._pressed(presses)
        return None

    def is_over(self, advice: Advice | None, memory: PilotMemory) -> bool:
        """Return whether the advice is completed or cannot be followed."""
        if advice is None:
            return False
        return memory.advice.wish is None and memory.advice.done >= len(_presses(advice))

    def _take_in(self, advice: Advice | None, state: GameState, memory: PilotMemory) -> None:
        if memory.advice.pending and self._game.pressed == memory.proposed:
            memory.advice.done += 1
        memory.advice.pending = False
        if advice is None:
            if memory.advice.key:
                self._end_wish(memory)
            memory.advice.key = ""
            memory.advice.done = 0
        elif advice is not self._advice:
            key = f"{advice.goal}|{advice.presses}|{advice.skill}|{sorted(advice.arguments.items())}"
            if self._advice is not None or key != memory.advice.key:
                memory.advice.done = self._skipped = 0
                self._end_wish(memory)
                memory.advice.wish = self._wish(advice, state)
                self.end = "" if memory.advice.wish is not None or _presses(advice) else _NOTHING_TO_DO
                if memory.advice.wish is not None:
                    memory.drop_goal(tried=False)
            memory.advice.key = key
        self._advice = advice
        wish = memory.advice.wish
        if wish is not None:
            wish.battle = wish.battle or state.phase in BATTLE_PHASES
            if self._fulfilled(wish, state, memory):
                self.end = _how_it_ended(wish, state)
                self._end_wish(memory)

    def _pressed(self, presses: Sequence[int]) -> str:
        count = len(presses)
        return f"{self._skipped} of its {count} presses were not possible" if self._skipped else "all was pressed"

    @staticmethod
    def _end_wish(memory: PilotMemory) -> None:
        memory.advice.wish = None
        if memory.goal is not None and memory.goal.key.startswith(ADVICE_PREFIX):
            memory.drop_goal(tried=False)

    def _wish(self, advice: Advice, state: GameState) -> Wish | None:
        if advice.skill not in _SKILL_NAMES:
            return None
        map_id, x, y = self._place(advice.arguments)
        if advice.skill == GO_TO and map_id < 0 and (x < 0 or y < 0):
            return None
        if advice.skill in (GO_TO, TALK_TO) and map_id < 0:
            map_id = state.map_id
        return Wish(advice.skill, map_id, x, y, advice.confidence, state.caught + state.party.count)

    def _place(self, arguments: Mapping[str, Any]) -> tuple[int, int, int]:
        """Return the map id, column and row in the arguments, -1 for each that is missing."""
        numbers = [
            value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else -1
            for value in (arguments.get("x"), arguments.get("y"))
        ]
        return self._map_id(arguments.get("map")), numbers[0], numbers[1]

    def _map_id(self, named: Any) -> int:
        maps = self._game.profile.names.maps
        if isinstance(named, int) and not isinstance(named, bool):
            return named if named in maps else -1
        if not isinstance(named, str):
            return -1
        wanted = " ".join(named.lower().split())
        for map_id, name in maps.items():
            if wanted in (name.lower(), f"{map_id >> 8}.{map_id & 0xFF}"):
                return map_id
        return -1

    @staticmethod
    def _fulfilled(wish: Wish, state: GameState, memory: PilotMemory) -> bool:
        if wish.failed:
            return True
        if wish.skill == GO_TO:
            return _arrived(state, wish, memory)
        if wish.skill == TALK_TO:
            return any(key.startswith(f"{ADVICE_PREFIX}{TALK_TO}") for key in memory.tries)
        if wish.skill == HEAL:
            return state.party.hp_share >= _HEALED
        over = wish.battle and state.phase is Phase.FREE
        if wish.skill == CATCH:
            return over or state.caught + state.party.count > wish.caught
        return over or (wish.skill == FLEE and state.phase is Phase.FREE)


def _arrived(state: GameState, wish: Wish, memory: PilotMemory) -> bool:
    """Return whether the player is where the wish leads: on the map, on the tile, or past an exit tile."""
    if wish.x < 0:
        return state.map_id == wish.map_id
    goal = memory.goal
    if goal is None or goal.key != f"{ADVICE_PREFIX}{GO_TO}":
        return False  # not planned yet, or on another map: the planning code decides whether anything can be done
    if goal.kind == EXIT:
        return state.map_id != goal.map_id
    return (state.map_id, state.x, state.y) == (wish.map_id, wish.x, wish.y)


def _how_it_ended(wish: Wish, state: GameState) -> str:
    """Return how a wish ended, as a clause for people."""
    if wish.failed:
        return "the pilot found no way to do it"
    if wish.skill == CATCH:
        caught = state.caught + state.party.count > wish.caught
        return "a Pokemon is caught" if caught else "the battle ended without a catch"
    if wish.skill == FLEE and not wish.battle:
        return "there is no battle to leave"
    return _ENDS[wish.skill]


def _presses(advice: Advice) -> list[int]:
    """Return the presses in the advice, in any of its spellings, without unknown ones."""
    if advice.skill in _SKILL_NAMES:
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
