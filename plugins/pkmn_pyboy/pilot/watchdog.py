"""Watchdog of the pilot's progress: reports stalls and tries remedies until there is progress again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot.advice import ADVICE_PREFIX
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import CATCH, RIVAL, TRAIN
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.notes import Marks, PressRun, PushNotes
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.stall_report import stall_report
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmncli.api import Action

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

REPLAN, REORDER, HEAL = "replan", "reorder", "heal"
"""Remedies: forget the route and all failures, postpone the current errand, heal and come back."""

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
        self._planner.put_off = frozenset(memory.stall.put_off)

    def look(self, state: GameState, memory: PilotMemory) -> None:
        """Note the step just made; called before the next decision."""
        if not self._game.steps:
            return
        own = self._game.pressed == memory.proposed
        self._keep_press(memory, self._game.pressed, own=own)
        memory.stall.idle_steps = memory.stall.idle_steps + 1 if own else max(memory.stall.idle_steps - 1, 0)
        after = self._settings.report_after_steps
        got_on = self._reached_more(memory)
        if self._game.steps % _LOOK_STEPS == 0 or memory.stall.idle_steps == after or got_on:
            self._look_for_progress(state, memory)
        if not after or memory.stall.idle_steps < after:
            return
        if not memory.stall.number:
            self._report(state, memory)
            self._try_next(memory)
        elif memory.stall.idle_steps >= memory.stall.remedy_due:
            self._try_next(memory)

    def take_reports(self, memory: PilotMemory) -> list[dict[str, Any]]:
        """Return the reports that are new or changed since the last call.

        The call changes nothing that decisions depend on. An episode may end with the very step that helped, after
        which nothing is decided: then this notes it in the report, as :meth:`look` would at the same step.
        """
        if self._reached_more(memory):
            self._say_what_helped(memory)
        reports = [report for report in memory.stall.reports if report["number"] in memory.stall.untold]
        memory.stall.untold = []
        return reports

    # Progress ---------------------------------------------------------------------------------------------------

    def _look_for_progress(self, state: GameState, memory: PilotMemory) -> None:
        now = self._marks(state, memory)
        best = memory.stall.marks or now
        if now.levels > best.levels:
            # The planner can't be asked in a battle: it would plan again for a half-finished fight.
            if state.phase is not Phase.FREE:
                now = now._replace(levels=best.levels)
            elif not self._trains(state, memory):
                best = best._replace(levels=now.levels)
        grown = memory.stall.marks is None or any(one > most for one, most in zip(now, best, strict=True))
        memory.stall.marks = Marks(*map(max, now, best))
        if not grown:
            return
        memory.stall.idle_steps = 0
        if memory.stall.number:
            self._progressed(memory)

    def _reached_more(self, memory: PilotMemory) -> bool:
        """Return whether a milestone was reached since the current stall began."""
        marks = memory.stall.marks if memory.stall.number else None
        return marks is not None and self._game.milestones.count > marks.milestones

    def _trains(self, state: GameState, memory: PilotMemory) -> bool:
        """Return whether levels are wanted now. Those from chance fights on a blocked route are not progress."""
        lead = state.party.lead
        if lead is not None and lead.level <= memory.strength.train_to:
            return True
        goal = self._planner.current()
        return goal is not None and goal.kind in (TRAIN, CATCH, RIVAL)

    def _marks(self, state: GameState, memory: PilotMemory) -> Marks:
        game = self._game
        return Marks(
            game.milestones.count,
            len(memory.visits),
            state.party.level_sum,
            state.johto_badges.bit_count() + state.kanto_badges.bit_count(),
            game.bag().kinds,
            int.from_bytes(game.event_flags(), "little").bit_count(),
        )

    def _progressed(self, memory: PilotMemory) -> None:
        """Record that the last remedy helped, and end it."""
        self._say_what_helped(memory)
        memory.stall.number = 0
        memory.stall.remedy = -1
        self._stop_trying(memory)

    def _say_what_helped(self, memory: PilotMemory) -> None:
        report = memory.stall.reports[-1]
        if report["number"] != memory.stall.number:
            return
        tried = report["tried"]
        helped = {"helped": tried[-1]["remedy"] if tried else "", "helped_at_step": self._game.steps}
        if any(report[name] != value for name, value in helped.items()):
            memory.stall.reports[-1] = report | helped
            self._tell(memory)

    # Report -----------------------------------------------------------------------------------------------------

    def _keep_press(self, memory: PilotMemory, pressed: int, *, own: bool) -> None:
        reason = memory.reason if own else _OTHERS
        if reason.startswith(ADVICE_PREFIX):
            reason = _ADVISED  # a language model may have quoted the game
        letter = _LETTERS.get(Action(pressed), "?") if pressed >= 0 else "."
        presses = memory.stall.presses
        if presses and presses[-1].reason == reason:
            presses[-1] = PressRun(reason, presses[-1].letters + letter)
        else:
            presses.append(PressRun(reason, letter))
        memory.stall.pressed += 1
        while memory.stall.pressed > _PRESSES:
            presses[0] = PressRun(presses[0].reason, presses[0].letters[1:])
            memory.stall.pressed -= 1
            if not presses[0].letters:
                del presses[0]

    def _report(self, state: GameState, memory: PilotMemory) -> None:
        memory.stall.count += 1
        memory.stall.number = memory.stall.count
        memory.stall.remedy = -1
        if len(memory.stall.reports) >= _MOST_REPORTS:
            return
        report = stall_report(self._game, self._planner, state, memory)
        memory.stall.reports.append(
            {"number": memory.stall.number, **report, "tried": [], "helped": "", "helped_at_step": -1}
        )
        self._tell(memory)

    @staticmethod
    def _tell(memory: PilotMemory) -> None:
        number = memory.stall.reports[-1]["number"]
        if number not in memory.stall.untold:
            memory.stall.untold.append(number)

    # Remedies ---------------------------------------------------------------------------------------------------

    def _try_next(self, memory: PilotMemory) -> None:
        """Start the next remedy that applies, beginning again after the last one."""
        self._stop_trying(memory)
        names = list(self._remedies)
        for _ in names:
            memory.stall.remedy = (memory.stall.remedy + 1) % len(names)
            name = names[memory.stall.remedy]
            if self._remedies[name](memory):
                break
        memory.stall.remedy_due = memory.stall.idle_steps + self._settings.remedy_steps
        report = memory.stall.reports[-1]
        if report["number"] == memory.stall.number and len(report["tried"]) < _MOST_TRIED:
            tried = [*report["tried"], {"remedy": name, "step": self._game.steps}]
            memory.stall.reports[-1] = report | {"tried": tried}
            self._tell(memory)

    def _stop_trying(self, memory: PilotMemory) -> None:
        memory.stall.put_off, memory.stall.heal_anyway = [], False
        self._planner.put_off = frozenset()

    @staticmethod
    def _replan(memory: PilotMemory) -> bool:
        memory.drop_goal(tried=False)
        memory.route.drop()
        memory.pushing = PushNotes()
        memory.walk.blocks, memory.shop.none_near = [], None
        memory.try_again()
        return True

    def _reorder(self, memory: PilotMemory) -> bool:
        key = self._planner.can_wait()
        if not key:
            return False
        self._replan(memory)
        memory.stall.put_off = [key]
        self._planner.put_off = frozenset(memory.stall.put_off)
        return True

    def _heal(self, memory: PilotMemory) -> bool:
        self._replan(memory)
        memory.stall.heal_anyway = True
        return True
