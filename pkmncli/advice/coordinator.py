"""Coordinator of advice: when the language model is asked, what becomes of an answer, and the journal of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from pkmncli.advice.ensemble import EnsembleChoice
from pkmncli.advice.journal import AdviceToRepeat, JournalEntry, advice_of, members_of, repeated_answers
from pkmncli.advice.latency import AnswerLatency
from pkmncli.advice.live_advice import AdvisedEnvironment, LiveAdvice, OpenQuestion
from pkmncli.advice.notes import Notes
from pkmncli.advice.old_checkpoints import upgraded
from pkmncli.advice.policy import AdvicePolicy, Objection, is_overtaken
from pkmncli.advice.questions import AdviceOptions, Environments, Questions
from pkmncli.advice.triggers import Event, EventWatcher
from pkmncli.advice.worth import Situation, action_key
from pkmncli.api import ActionNames, Advice, PhaseRole, Source
from pkmncli.llm.prompts import PromptTemplate
from pkmncli.llm.replies import NOTES
from pkmncli.llm.requests import AdviceRequests, Delivery
from pkmncli.plurals import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS = frozenset({PhaseRole.READING, PhaseRole.ANSWERING, PhaseRole.MENU, PhaseRole.WATCHING})
"""Roles of phases in which the rules read on."""


class AdviceCoordinator:
    """Coordinator of advice: questions for every environment, answers to the pilots, and records of both.

    Args:
        environments: of the training.
        requests: the requests in progress.
        template: of the prompts.
        options: of the questions.
        policy: decides whether an answer is followed.
        record: takes a row of the table ``advice``.
        report: shows a line to people.
        choice: among the answers of an ensemble; None for one model.
    """

    def __init__(
        self,
        environments: Environments,
        requests: AdviceRequests,
        template: PromptTemplate,
        options: AdviceOptions,
        policy: AdvicePolicy,
        *,
        record: Callable[[Mapping[str, Any]], None],
        report: Callable[[str], None] = lambda text: None,
        choice: EnsembleChoice | None = None,
    ) -> None:
        self._environments = environments
        self._requests = requests
        self._notes = Notes(options.most_notes)
        self._questions = Questions(environments, template, options, policy.worth, self._notes)
        self._options = options
        self._policy = policy
        self._record = record
        self._report = report
        self._choice = choice
        phases, milestones = environments.phase_roles, environments.milestone_names
        maps = {int(number): str(name) for number, name in environments.names.get("maps", {}).items()}
        self._advised = [
            AdvisedEnvironment(EventWatcher(phases, milestones, maps)) for _ in range(environments.num_envs)
        ]
        self._by_rules = frozenset(skill.name for skill in environments.skills if skill.by_rules)
        self._to_repeat = AdviceToRepeat()
        self._latency = AnswerLatency()
        self._advised_side_steps = 0
        self.latest_advice = ""
        """The first environment's latest advice in words, for people."""

    def followed_in(self, index: int) -> str:
        """Return the goal of the advice that an environment follows; empty without."""
        live = self._advised[index].live
        return "" if live is None else live.goal

    def set_share(self, share: float) -> None:
        """Set the language model's share of the steps with advice, 0..1."""
        self._policy.share.share = share

    # The training's loop -----------------------------------------------------------------------------------------

    def before_step(self, step: int, interrupted: Callable[[], bool] = lambda: False) -> bool:
        """Give the answers that have come to the pilots, and ask what is due.

        Args:
            step: steps taken, over all environments.
            interrupted: True if the training is to end; called while waiting for an answer.

        Returns:
            True if the step can be taken. Otherwise the questions stay open, and no answer was given.
        """
        if self._to_repeat.covers(step):
            for index in self._to_repeat.asked(step):
                self._environments.context(index)  # the next question has the changes since this one
                self._note_asked(index, step)
            for row in self._to_repeat.take(step):
                self._repeat(row, step)
            return True
        for index, environment in enumerate(self._advised):
            if self._requests.is_open(index) or not self._requests.has_room:
                continue
            if environment.question is not None and not environment.question.sent:
                self._send(index, environment.question)
            elif self._is_due(environment, step) and not environment.between:
                self._ask(index, step)
        if self._requests.waits and not self._requests.wait(interrupted):
            return False
        for delivery in self._requests.poll():
            self._deliver(delivery, step)
        return True

    def after_step(self, records: NDArray[Any]) -> tuple[list[str], list[float]]:
        """Take in the records of a step of every environment.

        Returns:
            For each the model whose advice was carried out, and the seconds that its answer took; empty and 0 for none.
        """
        models, latencies = [], []
        for index, record in enumerate(records):
            environment = self._advised[index]
            source = int(record["source"])
            carried_out = environment.carried_out if source == Source.LLM else None
            models.append("" if carried_out is None else carried_out.model)
            latencies.append(0.0 if carried_out is None else carried_out.latency_s)
            if source in (Source.LLM, Source.RULE) or not self._options.rules:
                self._count(environment, record)
            environment.history.add(record)
            environment.situation = Situation.of(record)
            environment.between = self._environments.phase_roles[int(record["next_phase"])] is PhaseRole.BETWEEN
            environment.charge.pass_step()
            environment.set_aside_steps = max(environment.set_aside_steps - 1, 0)
            self._look_at_live(index, record)
            event = environment.watcher.look(record)
            if event is not None:
                self._take_event(index, event)
        return models, latencies

    def _count(self, environment: AdvisedEnvironment, record: Any) -> None:
        """Count a step for advice, or for whoever plays without it."""
        live, by_llm = environment.live, int(record["source"]) == Source.LLM
        # The action of the step at which advice comes may have been proposed before it.
        advised = by_llm or (live is not None and not live.fresh and self._options.rules)
        self._advised_side_steps += 1
        if advised or environment.set_aside_steps:
            self._policy.share.count(llm=by_llm)
        skill = environment.carried_out.skill if environment.carried_out is not None else ""
        fights = bool(record["battle"]) and (not by_llm or skill in self._by_rules)
        reads = not by_llm and self._environments.phase_roles[int(record["phase"])] in _WORDS
        earned = self._policy.worth.count(
            environment.charge,
            float(record["reward"]),
            advised=advised,
            live=live is not None,
            costs=not fights and not reads,
        )
        if live is not None:
            live.steps += by_llm
            live.reward += earned

    def _look_at_live(self, index: int, record: Any) -> None:
        """End live advice that is completed, or costs too much."""
        live = self._advised[index].live
        if live is None:
            return
        fresh, live.fresh = live.fresh, False
        if not record["advice_steps_left"]:
            self._end_live(index, finished=not (record["terminated"] or record["truncated"]))
        elif not fresh and not self._policy.may_continue():
            self._environments.advise(index, None)
            self._end_live(index)

    def _take_event(self, index: int, event: Event) -> None:
        environment = self._advised[index]
        environment.note_event(event)
        if event is Event.EPISODE:
            environment.begin_episode()
        elif environment.live is not None and is_overtaken({event}, for_moment=not environment.live.skill):
            self._environments.advise(index, None)
            self._end_live(index, finished=event is Event.STUCK, overtaken=True)

    def _end_live(self, index: int, *, finished: bool = False, overtaken: bool = False) -> None:
        """End live advice. It has failed only if it was ``finished``: completed, or without effect.

        For the record of an ensemble it has also failed if events have ``overtaken`` it. Otherwise a model whose advice
        leads through the same door again and again would never be found wrong.
        """
        environment = self._advised[index]
        live = environment.live
        if live is None:
            return
        environment.withdraw()
        environment.charge.end()
        self._policy.share.followed(live.steps)
        if live.steps and live.given_in is not None and (finished or live.reward > 0):
            self._policy.worth.add_result(live.given_in, live.key, live.reward)
        if self._choice is not None and live.steps and (finished or overtaken or live.reward > 0):
            self._choice.add_result(live.given_in, live.backers, right=live.reward > 0)
        if live.steps and live.reward <= 0 and finished:
            environment.failures.append(f"{live.goal or live.key}: brought nothing in {counted(live.steps, 'step')}")

    # Questions -----------------------------------------------------------------------------------------------------

    def _is_due(self, environment: AdvisedEnvironment, step: int) -> bool:
        alone = self._options.alone and environment.live is None
        return environment.event is not None or step >= environment.next_ask or alone

    def _ask(self, index: int, step: int) -> None:
        environment = self._advised[index]
        lag_steps = 0 if self._requests.waits else self._latency.rounded_lag
        environment.question = self._questions.new(index, environment, step, lag_steps)
        self._note_asked(index, step)
        self._send(index, environment.question)

    def _send(self, index: int, question: OpenQuestion) -> None:
        request = self._questions.request(index, question)
        question.sent = True
        self._requests.ask(index, request, asked_at=question.asked_at, event=question.event)

    def _note_asked(self, index: int, step: int) -> None:
        self._advised[index].note_asked(step, self._options.interval * self._environments.num_envs)

    # Answers -------------------------------------------------------------------------------------------------------

    def _deliver(self, delivery: Delivery, step: int) -> None:
        environment = self._advised[delivery.environment]
        if self._choice is not None:
            delivery = replace(delivery, answer=self._choice.choose(delivery.answer, environment.situation))
        answer = delivery.answer
        if answer.replies:
            self._latency.add((step - delivery.asked_at) / self._environments.num_envs)
        happened = environment.question.happened if environment.question is not None else frozenset()
        environment.question = None
        advice, objection = answer.advice, None
        if advice is not None:
            objection = Objection.NOTE if advice.skill == NOTES else self._policy.objection(advice, happened)
            if objection is not Objection.OUTDATED:  # the journal has no such advice, from which a resume takes notes
                self._notes.add(advice.note)
        entry = JournalEntry(delivery, step, objection)
        self._latency.outdated += objection is Objection.OUTDATED
        if advice is not None and (objection is None or objection is Objection.RULES_TURN):
            new = self._live(environment, advice, entry.model, answer.latency_s, answer.backers)
            self._give(delivery.environment, advice, new, follows=objection is None)
        complaint = "" if self._requests.waits else self._latency.complaint()
        if complaint:
            self._report(complaint)
        self._record(entry.row())

    def _live(
        self, environment: AdvisedEnvironment, advice: Advice, model: str, latency_s: float, backers: Sequence[str]
    ) -> LiveAdvice:
        key, situation = self._key(advice), environment.situation
        return LiveAdvice(advice.goal, advice.skill, key, model, latency_s, situation, backers=tuple(backers))

    def _give(self, index: int, advice: Advice, new: LiveAdvice, *, follows: bool) -> None:
        """Give advice to the pilot, or set it aside for the rules."""
        environment = self._advised[index]
        if index == 0:
            self.latest_advice = _in_words(advice, self._environments.action_names, follows=follows)
        if self._choice is not None:
            self._choice.give(new.backers)
        live = environment.live
        if live is not None and not (follows and live.key == new.key):
            self._end_live(index)
            self._environments.advise(index, None)
        if follows:
            environment.give(new)
            self._environments.advise(index, advice)
        else:
            environment.set_aside_steps = self._policy.share.stretch

    def _key(self, advice: Advice) -> str:
        names = self._environments.action_names
        return action_key(advice, names) if self._options.form.skills else names.in_words(advice.presses)

    def _repeat(self, row: Mapping[str, Any], step: int) -> None:
        """Do what a row of the journal says was done, in the order of :meth:`_deliver`."""
        index, advice = int(row["environment"]), advice_of(row)
        environment = self._advised[index]
        if row["model"]:
            self._latency.add((step - int(row["asked_at"])) / self._environments.num_envs)
        self._latency.outdated += row["problem"] == Objection.OUTDATED
        environment.question = None
        if advice is not None:
            self._notes.add(advice.note)
            if row["problem"]:
                self._policy.held_back += row["problem"] != Objection.NOTE
            else:
                backers = [one["name"] for one in members_of(row) if one["agreed"]]
                new = self._live(environment, advice, row["model"], float(row["latency_s"]), backers)
                self._give(index, advice, new, follows=bool(row["followed"]))
        if not self._requests.waits:
            self._latency.complaint()  # people saw it before the run was interrupted
        for answer in repeated_answers(row):
            self._requests.count_again(answer)
        self._record(row)

    # Results and state -----------------------------------------------------------------------------------------------

    def outcomes(self, index: int) -> Mapping[str, Any]:
        """Return what advice and rules earned in the episode that an environment has just ended."""
        return self._advised[index].outcomes

    def metrics(self) -> dict[str, float]:
        """Return the language model's use so far: tokens, and dollars if its price is known."""
        return self._requests.metrics()

    def summary(self) -> dict[str, Any]:
        """Return the figures of the advice, for the run's summary."""
        share, asked = self._policy.share, self._requests.summary()
        if self._choice is not None:
            for name, counts in self._choice.summary().items():
                asked["models"][name].update(counts)
        return {
            **asked,
            **({"notes": self._notes.lines} if self._options.most_notes else {}),
            "outdated": self._latency.outdated,
            "held_back": self._policy.held_back,
            "steps_per_answer": self._latency.lag_steps,
            "coverage": share.covered_steps / self._advised_side_steps if self._advised_side_steps else 0.0,
            "llm_steps": share.llm_steps,
            "share_of_covered": share.llm_steps / share.covered_steps if share.covered_steps else 0.0,
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values. A resumed run asks open questions again, unless the journal has answers."""
        return {
            "environments": [environment.state_dict() for environment in self._advised],
            "policy": self._policy.state_dict(),
            "requests": self._requests.state_dict(),
            "latency": asdict(self._latency),
            "advised_side_steps": self._advised_side_steps,
            **({} if self._choice is None else {"ensemble": self._choice.state_dict()}),
            **({"notes": self._notes.state_dict()} if self._options.most_notes else {}),
        }

    def load_state_dict(self, state: Mapping[str, Any], journal: Sequence[Mapping[str, Any]]) -> None:
        """Resume from a saved state.

        Args:
            state: from :meth:`state_dict`, of this or an earlier version.
            journal: rows of the answers that took effect after it. They take effect again at their steps, and nothing
                is asked until the last of them has.
        """
        state = upgraded(state)
        self._to_repeat = AdviceToRepeat(journal)
        for environment, values in zip(self._advised, state["environments"], strict=True):
            environment.load_state_dict(values)
        self._policy.load_state_dict(state["policy"])
        self._requests.load_state_dict(state["requests"])
        self._latency = AnswerLatency(**state["latency"])
        self._advised_side_steps = int(state["advised_side_steps"])
        self._notes.load_state_dict(state.get("notes", ()))
        if self._choice is not None:
            self._choice.load_state_dict(state["ensemble"])

    def close(self) -> None:
        """Close the requests, without waiting for those in progress."""
        self._requests.close()


def _in_words(advice: Advice, names: ActionNames, *, follows: bool) -> str:
    doing = advice.skill or names.in_words(advice.presses)
    what = f"{advice.goal} ({doing})" if advice.goal else doing
    reason = f": {advice.reason}" if advice.reason else ""
    return f"{what}{reason}" + ("" if follows else "; set aside for the rules' share")
