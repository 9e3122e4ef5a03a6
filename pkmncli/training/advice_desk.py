"""The desk between the training and the advisor: when to ask, what becomes of an answer, and the journal of both."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pkmncli.api import Advice, LLMRequest, Source
from pkmncli.hybrid.events import Event, EventWatcher
from pkmncli.hybrid.sides import SideShare
from pkmncli.llm.advisor import Advisor, Delivery
from pkmncli.llm.prompts import PromptTemplate, Question
from pkmncli.llm.replies import ADVICE_SCHEMA
from pkmncli.training.advice_journal import AdviceToRepeat, JournalEntry, advice_of, count_again
from pkmncli.training.timeliness import Timeliness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.training.workers import WorkerPool

KEPT_FAILURES = 5
OUTDATED = "it came too late"

_OVERTAKES_ALL = frozenset({Event.EPISODE, Event.GOAL, Event.STUCK})
_OVERTAKES_PRESSES = frozenset(Event) - {Event.INTERVAL}
"""A skill goes on over maps and battles; presses were meant for the very situation."""


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


@dataclass(slots=True)
class _Desk:
    """One environment's place: what is due and what is live."""

    watcher: EventWatcher
    next_ask: int = 0
    asked_at: int = -1
    """Step of the latest question, over all environments."""
    event: Event | None = Event.EPISODE
    live: bool = False
    """Whether its pilot has advice."""
    fresh: bool = False
    """Whether it has had it for no step yet."""
    set_aside: int = 0
    """Steps for which advice that was set aside still counts as there."""
    goal: str = ""
    skill: str = ""
    """Of the live advice; empty for presses."""
    model: str = ""
    steps: int = 0
    """Steps for which the live advice has been followed."""
    reward: float = 0.0
    failures: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_FAILURES))


class AdviceDesk:
    """Asks for every environment, hands answers to the pilots, and writes down both.

    Args:
        pool: the environments.
        advisor: keeps the open questions.
        template: of the prompts.
        options: when and how to ask.
        sides: whether an answer is followed or set aside.
        record: takes a row of the table ``advice``.
        history: lines that the decision history has to say.
        report: tells people a line.
    """

    def __init__(
        self,
        pool: WorkerPool,
        advisor: Advisor,
        template: PromptTemplate,
        options: AdviceOptions,
        sides: SideShare,
        *,
        record: Callable[[Mapping[str, Any]], None],
        history: Sequence[str] = (),
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._pool = pool
        self._advisor = advisor
        self._template = template
        self._options = options
        self.sides = sides
        self._record = record
        self._history = history
        self._report = report
        maps = {int(number): str(name) for number, name in pool.names.get("maps", {}).items()}
        self._desks = [_Desk(EventWatcher(pool.phase_names, pool.milestone_names, maps)) for _ in range(pool.num_envs)]
        self._to_repeat = AdviceToRepeat()
        self._timeliness = Timeliness()
        self._passed: dict[int, frozenset[Event]] = {}
        """What has happened in each environment since it asked."""
        self.covered_steps = 0
        """Steps of the advised side for which there was advice."""
        self.advised_side_steps = 0

    # The training's loop -----------------------------------------------------------------------------------------

    def before_step(self, step: int) -> None:
        """Hands over what has been answered, and asks what is due. ``step`` counts over all environments."""
        if self._to_repeat.covers(step):
            for index in self._to_repeat.asked(step):
                self._asked(self._desks[index], step)
            for row in self._to_repeat.take(step):
                self._repeat(row, step)
            return
        for index, desk in enumerate(self._desks):
            due = desk.event is not None or step >= desk.next_ask
            if due and not self._advisor.is_open(index) and self._advisor.has_room:
                self._ask(index, step)
        for delivery in self._advisor.poll():
            self._deliver(delivery, step)

    def after_step(self, records: NDArray[Any]) -> list[str]:
        """Takes in the records of a step of every environment. Returns the model whose advice each carried out."""
        models = []
        for index, record in enumerate(records):
            desk = self._desks[index]
            source = int(record["source"])
            models.append(desk.model if source == Source.LLM else "")
            if source in (Source.LLM, Source.RULE):
                self.advised_side_steps += 1
                # The press of the step at which advice comes was proposed before it.
                if source == Source.LLM or (desk.live and not desk.fresh) or desk.set_aside:
                    self.covered_steps += 1
                    self.sides.count(llm=source == Source.LLM)
            desk.fresh = False
            desk.set_aside = max(desk.set_aside - 1, 0)
            if desk.live:
                desk.steps += source == Source.LLM
                desk.reward += float(record["reward"])
                if not record["advice_steps_left"]:
                    self._end_live(desk)
            event = desk.watcher.look(record)
            if event is not None:
                self._take_event(index, desk, event)
        return models

    def _take_event(self, index: int, desk: _Desk, event: Event) -> None:
        desk.event = event
        if self._advisor.is_open(index):
            self._passed[index] = self._passed.get(index, frozenset()) | {event}
        if event is Event.EPISODE:
            desk.failures.clear()
            desk.live, desk.set_aside = False, 0
        elif desk.live and event in (_OVERTAKES_ALL if desk.skill else _OVERTAKES_PRESSES):
            self._pool.advise(index, None)
            self._end_live(desk)

    def _end_live(self, desk: _Desk) -> None:
        desk.live = False
        self.sides.followed(desk.steps)
        if desk.steps and desk.reward <= 0:
            desk.failures.append(f"{desk.goal}: brought nothing in {desk.steps} steps")

    # Asking --------------------------------------------------------------------------------------------------------

    def _ask(self, index: int, step: int) -> None:
        desk = self._desks[index]
        event = desk.event or Event.INTERVAL
        question = Question(
            self._pool.context(index),
            tuple(desk.watcher.lines),
            tuple(desk.failures),
            tuple(self._history),
            lag_steps=0 if self._advisor.wait else self._timeliness.rounded_lag,
        )
        prompt = self._template.fill(question, self._options.prompt_tokens)
        request = LLMRequest(
            system=prompt.system,
            prompt=prompt.text,
            schema=ADVICE_SCHEMA,
            images=(self._pool.picture(index),) if self._options.vision else (),
            max_tokens=self._options.reply_tokens,
            temperature=self._options.temperature,
            seed=self._options.seed,
            timeout_s=self._options.timeout_s,
        )
        self._asked(desk, step)
        self._passed.pop(index, None)
        self._advisor.ask(index, request, asked_at=step, event=event)

    def _asked(self, desk: _Desk, step: int) -> None:
        desk.event = None
        desk.asked_at = step
        desk.next_ask = step + self._options.interval * self._pool.num_envs

    # Answers -------------------------------------------------------------------------------------------------------

    def _deliver(self, delivery: Delivery, step: int) -> None:
        answer, index = delivery.answer, delivery.environment
        advice, problem = answer.advice, answer.problem
        if answer.replies:
            self._timeliness.add((step - delivery.asked_at) / self._pool.num_envs)
        passed = self._passed.pop(index, frozenset())
        if advice is not None and passed & (_OVERTAKES_PRESSES if _is_for_the_moment(advice) else _OVERTAKES_ALL):
            self._timeliness.outdated += 1
            advice, problem = None, OUTDATED
        follows = advice is not None and self.sides.follows()
        entry = JournalEntry(delivery, step, advice, problem, follows)
        if advice is not None:
            self._hand_over(index, advice, entry.model, follows=follows)
        complaint = "" if self._advisor.wait else self._timeliness.complaint()
        if complaint:
            self._report(complaint)
        self._record(entry.row())

    def _hand_over(self, index: int, advice: Advice, model: str, *, follows: bool) -> None:
        desk = self._desks[index]
        if desk.live:
            self._end_live(desk)
            self._pool.advise(index, None)
        if not follows:
            desk.set_aside = self.sides.stretch
            return
        desk.live, desk.fresh, desk.set_aside = True, True, 0
        desk.goal, desk.skill, desk.model = advice.goal, advice.skill, model
        desk.steps, desk.reward = 0, 0.0
        self._pool.advise(index, advice)

    def _repeat(self, row: Mapping[str, Any], step: int) -> None:
        """Does what a row of the journal says was done, in the order of :meth:`_deliver`."""
        index, advice = int(row["environment"]), advice_of(row)
        if row["model"]:
            self._timeliness.add((step - int(row["asked_at"])) / self._pool.num_envs)
        self._timeliness.outdated += row["problem"] == OUTDATED
        if advice is not None:
            self._hand_over(index, advice, row["model"], follows=bool(row["followed"]))
        if not self._advisor.wait:
            self._timeliness.complaint()  # people were told before the run was broken off
        count_again(row, self._advisor.counsel.usage)
        self._record(row)

    # Going on ------------------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """The figures of the advice, for the run's summary."""
        return {
            **self._advisor.counsel.usage.summary(),
            "outdated": self._timeliness.outdated,
            "given_up": self._advisor.given_up,
            "steps_per_answer": self._timeliness.lag_steps,
            "coverage": self.covered_steps / self.advised_side_steps if self.advised_side_steps else 0.0,
            "llm_steps": self.sides.llm_steps,
            "share_of_covered": self.sides.llm_steps / self.covered_steps if self.covered_steps else 0.0,
        }

    def _is_open(self, index: int) -> bool:
        """Whether a question is under way, or its answer still to be repeated."""
        return self._advisor.is_open(index) or self._to_repeat.awaits(index, self._desks[index].asked_at)

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from. Questions that are open are asked anew, unless the journal has their answers."""
        desks = []
        for index, desk in enumerate(self._desks):
            desks.append(
                {
                    "watcher": desk.watcher.state_dict(),
                    "next_ask": desk.next_ask,
                    "asked_at": desk.asked_at,
                    "open": self._is_open(index),
                    "event": None if desk.event is None else str(desk.event),
                    "live": desk.live,
                    "fresh": desk.fresh,
                    "set_aside": desk.set_aside,
                    "texts": [desk.goal, desk.skill, desk.model],
                    "steps": desk.steps,
                    "reward": desk.reward,
                    "failures": list(desk.failures),
                }
            )
        return {
            "desks": desks,
            "sides": self.sides.state_dict(),
            "usage": self._advisor.counsel.usage.state_dict(),
            "told_spent": self._advisor.counsel.told_spent,
            "timeliness": asdict(self._timeliness),
            "covered_steps": self.covered_steps,
            "advised_side_steps": self.advised_side_steps,
        }

    def load_state_dict(self, state: Mapping[str, Any], journal: Sequence[Mapping[str, Any]]) -> None:
        """Goes on from a saved state; ``journal`` are the rows of the answers that took effect after it.

        They take effect again at their steps, and nothing is asked until the last of them has.
        """
        self._to_repeat = AdviceToRepeat(journal)
        for index, (desk, values) in enumerate(zip(self._desks, state["desks"], strict=True)):
            desk.watcher.load_state_dict(values["watcher"])
            desk.next_ask, desk.asked_at = int(values["next_ask"]), int(values["asked_at"])
            desk.event = None if values["event"] is None else Event(values["event"])
            if values["open"] and not self._to_repeat.awaits(index, desk.asked_at):
                desk.event = desk.event or Event.INTERVAL
            desk.live, desk.fresh = bool(values["live"]), bool(values["fresh"])
            desk.set_aside = int(values["set_aside"])
            desk.goal, desk.skill, desk.model = values["texts"]
            desk.steps, desk.reward = int(values["steps"]), float(values["reward"])
            desk.failures = deque(values["failures"], maxlen=KEPT_FAILURES)
        self.sides.load_state_dict(state["sides"])
        self._advisor.counsel.usage.load_state_dict(state["usage"])
        # A budget may have been raised meanwhile.
        self._advisor.counsel.told_spent = state["told_spent"] and bool(self._advisor.counsel.usage.spent)
        self._timeliness = Timeliness(**state["timeliness"])
        self.covered_steps = int(state["covered_steps"])
        self.advised_side_steps = int(state["advised_side_steps"])

    def close(self) -> None:
        """Ends the advisor."""
        self._advisor.close()


def _is_for_the_moment(advice: Advice) -> bool:
    """Whether advice means nothing once the situation has changed: presses, and tiles of the map that one was on."""
    return not advice.skill or ("x" in advice.arguments and "map" not in advice.arguments)
