"""The desk between the training and the advisor: when to ask, what becomes of an answer, and the journal of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pkmncli.advice.advised_environment import AdvisedEnvironment, OpenQuestion
from pkmncli.advice.allowance import Allowance, Trail
from pkmncli.advice.earlier_lessons import EarlierLessons
from pkmncli.advice.journal import AdviceToRepeat, JournalEntry, advice_of, count_again
from pkmncli.advice.latency import Timeliness
from pkmncli.advice.lessons import Lessons, Situation, deed_of
from pkmncli.advice.sides import SideShare
from pkmncli.advice.triggers import Event, EventWatcher
from pkmncli.api import Action, Advice, Context, LLMRequest, Source
from pkmncli.llm.advisor import Advisor, Delivery
from pkmncli.llm.prompts import PromptTemplate, Question
from pkmncli.llm.replies import ADVICE_SCHEMA

if TYPE_CHECKING:
    from numpy.typing import NDArray

OUTDATED = "it came too late"
HELD_BACK = "it has always failed here"
EARNS_LESS = "advice has earned less than the rules"

_HELD_BACK = frozenset({HELD_BACK, EARNS_LESS})
_WORDS = frozenset({"dialogue", "choice", "menu", "cutscene"})
"""Phases in which the rules read on, by the environment's own names."""
_BETWEEN = frozenset({"moving", "transition"})
"""Phases in which nothing is asked, since the state that is told would be over at once."""
_OVERTAKES_ALL = frozenset({Event.EPISODE, Event.GOAL, Event.STUCK})
_OVERTAKES_PRESSES = frozenset(Event) - {Event.INTERVAL}
"""A skill goes on over maps and battles; presses were meant for the very situation."""


class Environments(Protocol):
    """Environments of a training, as far as advice needs them."""

    @property
    def num_envs(self) -> int:
        """Number of environments."""

    @property
    def phase_names(self) -> Sequence[str]:
        """Names of the phases, by number."""

    @property
    def milestone_names(self) -> Sequence[str]:
        """Names of the milestones, in the game's order."""

    @property
    def names(self) -> Mapping[str, Any]:
        """Names of numbers by kind; ``maps`` has those of maps by id."""

    def context(self, index: int) -> Context:
        """Return the state of an environment in words."""

    def picture(self, index: int) -> bytes:
        """Return the screen of an environment as a PNG file."""

    def advise(self, index: int, advice: Advice | None) -> None:
        """Give advice to the pilot of an environment; None withdraws it."""


@dataclass(frozen=True, slots=True)
class AdviceOptions:
    """How advice is asked for."""

    interval: int
    """Steps of an environment between two questions where nothing happens."""
    prompt_tokens: int
    timeout_s: float
    vision: bool
    seed: int
    temperature: float = 0.0
    reply_tokens: int = 300
    lessons: bool = True
    """Whether what came of advice before is told, and what always failed is held back."""
    earlier: EarlierLessons = field(default_factory=EarlierLessons)
    """What is told of earlier runs."""
    allowance: float = 1.0
    """What advice may cost, as a share of what the rules would have earned alone."""


class AdviceDesk:
    """Asks for every environment, hands answers to the pilots, and writes down both.

    Args:
        pool: the environments.
        advisor: keeps the open questions.
        template: of the prompts.
        options: when and how to ask.
        sides: whether an answer is followed or set aside.
        record: takes a row of the table ``advice``.
        report: tells people a line.
    """

    def __init__(
        self,
        pool: Environments,
        advisor: Advisor,
        template: PromptTemplate,
        options: AdviceOptions,
        sides: SideShare,
        *,
        record: Callable[[Mapping[str, Any]], None],
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._pool = pool
        self._advisor = advisor
        self._template = template
        self._options = options
        self.sides = sides
        self._record = record
        self._report = report
        maps = {int(number): str(name) for number, name in pool.names.get("maps", {}).items()}
        self._desks = [
            AdvisedEnvironment(EventWatcher(pool.phase_names, pool.milestone_names, maps)) for _ in range(pool.num_envs)
        ]
        self._to_repeat = AdviceToRepeat()
        self._timeliness = Timeliness()
        self._unsent: set[int] = set()
        """Environments whose open questions a run that goes on has still to send again."""
        self._lessons = Lessons()
        self._allowance = Allowance(options.allowance)
        self.held_back = 0
        """Pieces of advice that were set aside: the like of them had always failed there, or advice had earned less."""
        self.latest_advice = ""
        """The first environment's latest advice in words, for people."""
        self.covered_steps = 0
        """Steps of the advised side for which there was advice."""
        self.advised_side_steps = 0

    # The training's loop -----------------------------------------------------------------------------------------

    def before_step(self, step: int, interrupted: Callable[[], bool] = lambda: False) -> bool:
        """Hands over what has been answered, and asks what is due.

        Args:
            step: steps taken, over all environments.
            interrupted: whether the training is to end; looked at while an answer is waited for.

        Returns:
            Whether the step can be taken. If not, the questions stay open, and nothing has been handed over.
        """
        if self._to_repeat.covers(step):
            for index in self._to_repeat.asked(step):
                self._pool.context(index)  # the next question tells what has changed since this one
                self._note_asked(self._desks[index], step)
            for row in self._to_repeat.take(step):
                self._repeat(row, step)
            return True
        for index, desk in enumerate(self._desks):
            if self._advisor.is_open(index) or not self._advisor.has_room:
                continue
            if index in self._unsent and desk.asked is not None:
                self._send(index, desk.asked, desk.asked_at)
            elif (desk.event is not None or step >= desk.next_ask) and not desk.between:
                self._ask(index, step)
        if self._advisor.waits and not self._advisor.wait(interrupted):
            return False
        for delivery in self._advisor.poll():
            self._deliver(delivery, step)
        return True

    def after_step(self, records: NDArray[Any]) -> tuple[list[str], list[float]]:
        """Takes in the records of a step of every environment.

        Returns:
            For each the model whose advice it carried out, and how many seconds the answer took; empty and 0 for none.
        """
        models, latencies = [], []
        for index, record in enumerate(records):
            desk = self._desks[index]
            source = int(record["source"])
            models.append(desk.model if source == Source.LLM else "")
            latencies.append(desk.latency_s if source == Source.LLM else 0.0)
            if source in (Source.LLM, Source.RULE):
                self.advised_side_steps += 1
                # The press of the step at which advice comes may have been proposed before it.
                if source == Source.LLM or (desk.live and not desk.fresh) or desk.set_aside:
                    self.covered_steps += 1
                    self.sides.count(llm=source == Source.LLM)
                self._count_worth(desk, record)
            desk.situation = Situation.of(record)
            desk.between = self._pool.phase_names[int(record["next_phase"])] in _BETWEEN
            desk.trail.pass_step()
            fresh, desk.fresh = desk.fresh, False
            desk.set_aside = max(desk.set_aside - 1, 0)
            if desk.live:
                desk.steps += source == Source.LLM
                # What advice led to is often paid while the rules read on, or while the game changes the map.
                if source == Source.LLM or (source == Source.RULE and desk.steps):
                    desk.reward += float(record["reward"])
                if not record["advice_steps_left"]:
                    self._end_live(desk, finished=not (record["terminated"] or record["truncated"]))
                elif not fresh and not self._allowance.allows():
                    self._pool.advise(index, None)
                    self._end_live(desk)
            event = desk.watcher.look(record)
            if event is not None:
                self._take_event(index, desk, event)
        return models, latencies

    def _count_worth(self, desk: AdvisedEnvironment, record: Any) -> None:
        """A step is advice's, or the rules', who also clear up after it. What they read and fight costs it nothing."""
        by_llm = int(record["source"]) == Source.LLM
        fights = bool(record["battle"]) and (not by_llm or desk.skill == "fight")
        reads = not by_llm and self._pool.phase_names[int(record["phase"])] in _WORDS
        self._allowance.count(
            desk.trail,
            float(record["reward"]),
            advised=by_llm or (desk.live and not desk.fresh),
            live=desk.live,
            costs=not fights and not reads,
        )

    def _take_event(self, index: int, desk: AdvisedEnvironment, event: Event) -> None:
        desk.event = event
        if desk.asked is not None:
            desk.passed |= {event}
        if event is Event.EPISODE:
            desk.failures.clear()
            desk.live, desk.set_aside, desk.situation, desk.between = False, 0, None, False
            desk.trail = Trail()
        elif desk.live and event in (_OVERTAKES_ALL if desk.skill else _OVERTAKES_PRESSES):
            self._pool.advise(index, None)
            self._end_live(desk, finished=event is Event.STUCK)

    def _end_live(self, desk: AdvisedEnvironment, *, finished: bool = False) -> None:
        """Live advice is over. Only what ran to its end, or led nowhere, can be said to have brought nothing."""
        desk.live = False
        desk.trail.end()
        self.sides.followed(desk.steps)
        if desk.steps and desk.given_in is not None and (finished or desk.reward > 0):
            self._lessons.add(desk.given_in, desk.deed, desk.reward)
        if desk.steps and desk.reward <= 0 and finished:
            desk.failures.append(f"{desk.goal}: brought nothing in {desk.steps} steps")

    # Asking --------------------------------------------------------------------------------------------------------

    def _ask(self, index: int, step: int) -> None:
        desk = self._desks[index]
        event = desk.event or Event.INTERVAL
        question = Question(
            self._pool.context(index),
            tuple(desk.watcher.lines),
            tuple(desk.failures),
            self._told_lessons(desk),
            lag_steps=0 if self._advisor.waits else self._timeliness.rounded_lag,
        )
        prompt = self._template.fill(question, self._options.prompt_tokens)
        self._note_asked(desk, step)
        desk.asked, desk.passed = OpenQuestion(prompt.system, prompt.text, event), frozenset()
        self._send(index, desk.asked, step)

    def _send(self, index: int, asked: OpenQuestion, step: int) -> None:
        request = LLMRequest(
            system=asked.system,
            prompt=asked.prompt,
            schema=ADVICE_SCHEMA,
            images=(self._pool.picture(index),) if self._options.vision else (),
            max_tokens=self._options.reply_tokens,
            temperature=self._options.temperature,
            seed=self._options.seed,
            timeout_s=self._options.timeout_s,
        )
        self._unsent.discard(index)
        self._advisor.ask(index, request, asked_at=step, event=asked.event)

    def _note_asked(self, desk: AdvisedEnvironment, step: int) -> None:
        desk.event = None
        desk.asked_at = step
        desk.next_ask = step + self._options.interval * self._pool.num_envs

    def _told_lessons(self, desk: AdvisedEnvironment) -> tuple[str, ...]:
        if desk.situation is None:
            return ()
        own = self._lessons.lines(desk.situation) if self._options.lessons else ()
        return (*self._options.earlier.lines(desk.situation), *own)

    # Answers -------------------------------------------------------------------------------------------------------

    def _deliver(self, delivery: Delivery, step: int) -> None:
        answer, index = delivery.answer, delivery.environment
        advice, problem = answer.advice, answer.problem
        if answer.replies:
            self._timeliness.add((step - delivery.asked_at) / self._pool.num_envs)
        desk = self._desks[index]
        passed, desk.asked, desk.passed = desk.passed, None, frozenset()
        if advice is not None and passed & (_OVERTAKES_PRESSES if _is_for_the_moment(advice) else _OVERTAKES_ALL):
            self._timeliness.outdated += 1
            advice, problem = None, OUTDATED
        if advice is not None:
            problem = self._objection(desk, advice)
        held_back = problem in _HELD_BACK
        follows = advice is not None and not held_back and self.sides.follows()
        entry = JournalEntry(delivery, step, advice, problem, follows)
        if advice is not None and not held_back:
            self._hand_over(index, advice, entry.model, answer.latency_s, follows=follows)
        complaint = "" if self._advisor.waits else self._timeliness.complaint()
        if complaint:
            self._report(complaint)
        self._record(entry.row())

    def _objection(self, desk: AdvisedEnvironment, advice: Advice) -> str:
        """Why advice is held back; empty where it isn't."""
        objection = ""
        if not self._allowance.allows(self.sides.stretch):
            objection = EARNS_LESS
        elif self._options.lessons and desk.situation is not None:
            held_back = self._lessons.holds_back(desk.situation, deed_of(advice))
            objection = HELD_BACK if held_back else ""
        self.held_back += bool(objection)
        return objection

    def _hand_over(self, index: int, advice: Advice, model: str, latency_s: float, *, follows: bool) -> None:
        desk = self._desks[index]
        if index == 0:
            self.latest_advice = _in_words(advice, follows=follows)
        carried = desk.live and follows and desk.deed == deed_of(advice)
        if desk.live and not carried:
            self._end_live(desk)
            self._pool.advise(index, None)
        if not follows:
            desk.set_aside = self.sides.stretch
            return
        desk.live, desk.fresh, desk.set_aside = True, True, 0
        desk.goal, desk.skill, desk.model = advice.goal, advice.skill, model
        desk.latency_s = latency_s
        if not carried:  # the same again goes on with what has begun
            desk.deed, desk.given_in = deed_of(advice), desk.situation
            desk.steps, desk.reward = 0, 0.0
        self._pool.advise(index, advice)

    def _repeat(self, row: Mapping[str, Any], step: int) -> None:
        """Does what a row of the journal says was done, in the order of :meth:`_deliver`."""
        index, advice = int(row["environment"]), advice_of(row)
        if row["model"]:
            self._timeliness.add((step - int(row["asked_at"])) / self._pool.num_envs)
        self._timeliness.outdated += row["problem"] == OUTDATED
        desk = self._desks[index]
        desk.asked, desk.passed = None, frozenset()
        if advice is not None and not self._objection(desk, advice):
            latency_s = float(row["latency_s"])
            self._hand_over(index, advice, row["model"], latency_s, follows=bool(row["followed"]))
        if not self._advisor.waits:
            self._timeliness.complaint()  # people were told before the run was broken off
        count_again(row, self._advisor.counsel.usage)
        self._record(row)

    # Going on ------------------------------------------------------------------------------------------------------

    def metrics(self) -> dict[str, float]:
        """What the language model has used so far: tokens, and dollars where its price is known."""
        usage = self._advisor.counsel.usage
        cost = {} if usage.cost_usd is None else {"llm/cost_usd": usage.cost_usd}
        return {"llm/tokens": float(usage.tokens), **cost}

    def summary(self) -> dict[str, Any]:
        """The figures of the advice, for the run's summary."""
        return {
            **self._advisor.counsel.usage.summary(),
            "outdated": self._timeliness.outdated,
            "given_up": self._advisor.given_up,
            "held_back": self.held_back,
            "steps_per_answer": self._timeliness.lag_steps,
            "coverage": self.covered_steps / self.advised_side_steps if self.advised_side_steps else 0.0,
            "llm_steps": self.sides.llm_steps,
            "share_of_covered": self.sides.llm_steps / self.covered_steps if self.covered_steps else 0.0,
        }

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from. Questions that are open are asked again, unless the journal has their answers."""
        return {
            "desks": [desk.state_dict() for desk in self._desks],
            "sides": self.sides.state_dict(),
            "usage": self._advisor.counsel.usage.state_dict(),
            "told_spent": self._advisor.counsel.told_spent,
            "timeliness": asdict(self._timeliness),
            "lessons": self._lessons.state_dict(),
            "allowance": self._allowance.state_dict(),
            "held_back": self.held_back,
            "covered_steps": self.covered_steps,
            "advised_side_steps": self.advised_side_steps,
        }

    def load_state_dict(self, state: Mapping[str, Any], journal: Sequence[Mapping[str, Any]]) -> None:
        """Goes on from a saved state; ``journal`` are the rows of the answers that took effect after it.

        They take effect again at their steps, and nothing is asked until the last of them has.
        """
        self._to_repeat = AdviceToRepeat(journal)
        for desk, values in zip(self._desks, state["desks"], strict=True):
            desk.load_state_dict(values)
        self._unsent = {index for index, desk in enumerate(self._desks) if desk.asked is not None}
        self.sides.load_state_dict(state["sides"])
        self._advisor.counsel.usage.load_state_dict(state["usage"])
        # A budget may have been raised meanwhile.
        self._advisor.counsel.told_spent = state["told_spent"] and bool(self._advisor.counsel.usage.spent)
        self._timeliness = Timeliness(**state["timeliness"])
        self._lessons.load_state_dict(state["lessons"])
        self._allowance.load_state_dict(state["allowance"])
        self.held_back = int(state["held_back"])
        self.covered_steps = int(state["covered_steps"])
        self.advised_side_steps = int(state["advised_side_steps"])

    def close(self) -> None:
        """Ends the advisor."""
        self._advisor.close()


def _is_for_the_moment(advice: Advice) -> bool:
    """Whether advice means nothing once the situation has changed: presses, and tiles of the map that one was on."""
    return not advice.skill or ("x" in advice.arguments and "map" not in advice.arguments)


def _in_words(advice: Advice, *, follows: bool) -> str:
    doing = advice.skill or ", ".join(Action(press).name.lower() for press in advice.presses)
    reason = f": {advice.reason}" if advice.reason else ""
    return f"{advice.goal} ({doing}){reason}" + ("" if follows else "; set aside for the rules' share")
