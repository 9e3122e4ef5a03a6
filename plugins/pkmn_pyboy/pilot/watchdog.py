"""Watchdog of the pilot's progress: reports stalls and tries remedies until there is progress again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot.advice import ADVICE_PREFIX
from pkmn_pyboy.pilot.goals.planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import CATCH, RIVAL, TRAIN
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.stall_report import stall_report
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmncli.api import Action

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

REPLAN, REORDER, HEAL = "replan", "reorder", "heal"
"""Remedies: forget the route and all failures, postpone the current errand, heal and come back."""

_LEVELS = 2
"""Index of the levels among the marks."""
_PRESSES = 200
_LOOK_STEPS = 16
"""Steps between checks for progress, as reading the bag takes time."""
_MOST_REPORTS = 8
"""Maximum reports of one episode."""
_MOST_TRIED = 12
_OTHERS = "pressed by others"
_ADVISED = "advice"

_LETTERS = {Action.UP: "U", Action.DOWN: "D", Action.LEFT: "L", Action.RIGHT: "R", Action.START: "S"}
_LETTERS |= {Action.A: "A", Action.B: "B", Action.NONE: "."}


class Watchdog:
    """Watchdog of one pilot. All its state is in the pilot's memory.

    Progress is anything new: a milestone, a map, a badge, a kind of item in the bag, a story flag; also a level
    while the party is to become stronger. Steps that others press count against the pilot's own, so that it is not
    blamed for a learner's actions.

    Args:
        game: the running game; only read, no button is pressed.
        settings: steps until a report, and until the next remedy.
        planner: the goals.
    """

    def __init__(self, game: Game, settings: PilotSettings, planner: GoalOrientedPlanner) -> None:
        self._game = game
        self._settings = settings
        self._planner = planner
        self._remedies: dict[str, Callable[[PilotMemory], bool]] = {
            REPLAN: self._replan,
            REORDER: self._reorder,
            HEAL: self._heal,
        }

    def begin(self, memory: PilotMemory) -> None:
        """Start an episode, or continue one from a saved state."""
        self._planner.put_off = frozenset(memory.put_off)

    def look(self, state: GameState, memory: PilotMemory) -> None:
        """Note the step just made; called before the next decision."""
        if not self._game.steps:
            return
        own = self._game.pressed == memory.proposed
        self._keep_press(memory, self._game.pressed, own=own)
        memory.idle_steps = memory.idle_steps + 1 if own else max(memory.idle_steps - 1, 0)
        after = self._settings.report_after_steps
        got_on = bool(memory.stalled) and self._game.milestones.count > memory.marks[0]
        if self._game.steps % _LOOK_STEPS == 0 or memory.idle_steps == after or got_on:
            self._look_for_progress(state, memory)
        if not after or memory.idle_steps < after:
            return
        if not memory.stalled:
            self._report(state, memory)
            self._try_next(memory)
        elif memory.idle_steps >= memory.remedy_due:
            self._try_next(memory)

    def take_reports(self, memory: PilotMemory) -> list[dict[str, Any]]:
        """Return the reports that are new or changed since the last call.

        The call changes nothing that decisions depend on. An episode may end with the very step that helped, after
        which nothing is decided: then this notes it in the report, as :meth:`look` would at the same step.
        """
        if memory.stalled and self._game.milestones.count > memory.marks[0]:
            self._say_what_helped(memory)
        reports = [report for report in memory.reports if report["number"] in memory.untold]
        memory.untold = []
        return reports

    # Progress ---------------------------------------------------------------------------------------------------

    def _look_for_progress(self, state: GameState, memory: PilotMemory) -> None:
        now = self._marks(state, memory)
        best = memory.marks or now
        if memory.marks and now[_LEVELS] > best[_LEVELS]:
            # The planner can't be asked in a battle: it would plan again for a half-finished fight.
            if state.phase is not Phase.FREE:
                now[_LEVELS] = best[_LEVELS]
            elif not self._trains(state, memory):
                best = [*best]
                best[_LEVELS] = now[_LEVELS]
        grown = not memory.marks or any(one > most for one, most in zip(now, best, strict=True))
        memory.marks = [max(pair) for pair in zip(now, best, strict=True)]
        if not grown:
            return
        memory.idle_steps = 0
        if memory.stalled:
            self._progressed(memory)

    def _trains(self, state: GameState, memory: PilotMemory) -> bool:
        """Return whether levels are wanted now. Those from chance fights on a blocked route are not progress."""
        lead = state.party.lead
        if lead is not None and lead.level <= memory.train_to:
            return True
        goal = self._planner.current()
        return goal is not None and goal.kind in (TRAIN, CATCH, RIVAL)

    def _marks(self, state: GameState, memory: PilotMemory) -> list[int]:
        """Return numbers of which at least one grows with any progress."""
        game = self._game
        places = game.profile.memory
        bag = Bag.read(game.emulator, places)
        flags = places.fields.get("wEventFlags")
        held = game.emulator.read(flags.bank, flags.address, flags.size) if flags is not None else b""
        return [
            game.milestones.count,
            len(memory.visits),
            state.party.level_sum,
            state.johto_badges.bit_count() + state.kanto_badges.bit_count(),
            len(bag.items) + len(bag.balls) + len(bag.key_items) + len(bag.machines),
            int.from_bytes(held, "little").bit_count(),
        ]

    def _progressed(self, memory: PilotMemory) -> None:
        """Record that the last remedy helped, and end it."""
        self._say_what_helped(memory)
        memory.stalled = 0
        memory.remedy = -1
        self._stop_trying(memory)

    def _say_what_helped(self, memory: PilotMemory) -> None:
        report = memory.reports[-1]
        if report["number"] != memory.stalled:
            return
        tried = report["tried"]
        helped = {"helped": tried[-1]["remedy"] if tried else "", "helped_at_step": self._game.steps}
        if any(report[name] != value for name, value in helped.items()):
            memory.reports[-1] = report | helped
            self._tell(memory)

    # Report -----------------------------------------------------------------------------------------------------

    def _keep_press(self, memory: PilotMemory, pressed: int, *, own: bool) -> None:
        reason = memory.reason if own else _OTHERS
        if reason.startswith(ADVICE_PREFIX):
            reason = _ADVISED  # a language model may have quoted the game
        letter = _LETTERS.get(Action(pressed), "?") if pressed >= 0 else "."
        presses = memory.presses
        if presses and presses[-1][0] == reason:
            presses[-1][1] += letter
        else:
            presses.append([reason, letter])
        memory.pressed += 1
        while memory.pressed > _PRESSES:
            presses[0][1] = presses[0][1][1:]
            memory.pressed -= 1
            if not presses[0][1]:
                del presses[0]

    def _report(self, state: GameState, memory: PilotMemory) -> None:
        memory.stalls += 1
        memory.stalled = memory.stalls
        memory.remedy = -1
        if len(memory.reports) >= _MOST_REPORTS:
            return
        report = stall_report(self._game, self._planner, state, memory)
        memory.reports.append({"number": memory.stalled, **report, "tried": [], "helped": "", "helped_at_step": -1})
        self._tell(memory)

    @staticmethod
    def _tell(memory: PilotMemory) -> None:
        number = memory.reports[-1]["number"]
        if number not in memory.untold:
            memory.untold.append(number)

    # Remedies ---------------------------------------------------------------------------------------------------

    def _try_next(self, memory: PilotMemory) -> None:
        """Start the next remedy that applies, beginning again after the last one."""
        self._stop_trying(memory)
        names = list(self._remedies)
        for _ in names:
            memory.remedy = (memory.remedy + 1) % len(names)
            name = names[memory.remedy]
            if self._remedies[name](memory):
                break
        memory.remedy_due = memory.idle_steps + self._settings.remedy_steps
        report = memory.reports[-1]
        if report["number"] == memory.stalled and len(report["tried"]) < _MOST_TRIED:
            tried = [*report["tried"], {"remedy": name, "step": self._game.steps}]
            memory.reports[-1] = report | {"tried": tried}
            self._tell(memory)

    def _stop_trying(self, memory: PilotMemory) -> None:
        memory.put_off, memory.heal_anyway = [], False
        self._planner.put_off = frozenset()

    @staticmethod
    def _replan(memory: PilotMemory) -> bool:
        memory.drop_goal(tried=False)
        memory.route, memory.route_key, memory.avoid, memory.no_way = [], [], [], []
        memory.pushes, memory.pushes_for, memory.no_push = [], [], []
        memory.blocks, memory.shops_far = [], []
        memory.tries.clear()
        return True

    def _reorder(self, memory: PilotMemory) -> bool:
        key = self._planner.can_wait()
        if not key:
            return False
        self._replan(memory)
        memory.put_off = [key]
        self._planner.put_off = frozenset(memory.put_off)
        return True

    def _heal(self, memory: PilotMemory) -> bool:
        self._replan(memory)
        memory.heal_anyway = True
        return True
