"""The training loop: environments step, the arbiter chooses, the learner learns, and everything is recorded."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.advice.worth import Charge
from pkmncli.api import Algorithm, RunInfo, Segment, Store, Strategy
from pkmncli.seeds import Purpose, derive_seed, episode_number
from pkmncli.training.between_steps import BetweenSteps
from pkmncli.training.checkpoints.files import Checkpoint
from pkmncli.training.checkpoints.state import Stateful, TrainerState
from pkmncli.training.deciding import Decider, transitions_of
from pkmncli.training.display.callbacks import Callback, Callbacks
from pkmncli.training.display.decision_log import DecisionLog
from pkmncli.training.display.meters import Meters, metrics_of, peak_memory_bytes
from pkmncli.training.display.status import Scene, Status
from pkmncli.training.finite_check import FiniteCheck
from pkmncli.training.learner_thread import updates_of
from pkmncli.training.loop_options import TrainerOptions, crossings
from pkmncli.training.no_learner import NoLearner
from pkmncli.training.progression import Progression
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.episodes import RunningEpisode
from pkmncli.training.recording.training_record import TrainingRecord

if TYPE_CHECKING:
    from gymnasium import spaces

    from pkmncli.advice.coordinator import AdviceCoordinator
    from pkmncli.training.beginnings.episode_starts import EpisodeStarts
    from pkmncli.training.run_keeper import RunKeeper
    from pkmncli.training.workers.pool import WorkerPool
    from pkmncli.training.workers.spec import EpisodeEnd
    from pkmncli.training.workers.step_result import StepResult

logger = logging.getLogger(__name__)

METRICS_INTERVAL = 1000
"""Environment steps between two rows of averaged metrics."""
PLAY_SECONDS = 0.2
"""Time after which pilots that play alone begin no further steps before a look at what people ask for."""


class Trainer:
    """Trains one learner on a pool of environments.

    Args:
        pool: the environments, started.
        learner: the learner.
        store: tables of decisions, episodes, metrics and advice.
        options: budgets, mode and intervals.
        keeper: saves checkpoints, and looks after the run's folder.
        callbacks: follow the training.
        starts: lets some episodes begin where others got; None if all begin at ``options.start``.
        advice: builds the coordinator of advice from a function that records its rows; None without a language model.
        progression: strategy and curriculum.
        evaluate: evaluates the learner; called at every ``eval_interval`` and at the end.
    """

    def __init__(
        self,
        pool: WorkerPool,
        learner: Algorithm,
        store: Store,
        options: TrainerOptions,
        keeper: RunKeeper,
        callbacks: Callbacks,
        *,
        starts: EpisodeStarts | None = None,
        advice: Callable[[Callable[[Mapping[str, Any]], None]], AdviceCoordinator] | None = None,
        progression: Progression | None = None,
        evaluate: Callable[[Algorithm], Mapping[str, Any]] | None = None,
    ) -> None:
        self._pool = pool
        self._learner = learner
        self._learns = not isinstance(learner, NoLearner)
        self._options = options
        self._keeper = keeper
        self._notify = callbacks
        keeper.on_new_folder = lambda: callbacks(Callback.on_new_folder)
        self._starts = starts
        self._progression = progression or Progression()
        self._thread = updates_of(learner)
        self._decider = Decider(pool, learner, options)
        self._record = TrainingRecord(pool, store, options.start, self._on_rows, self._on_metrics)
        self._advice = advice(self._record.recorder.add_advice) if advice is not None else None
        self._log = DecisionLog(pool) if self._advice is None else DecisionLog(pool, self._advice.followed_in)
        self._finite = FiniteCheck(pool.reward_names)
        self._meters = Meters(options)
        self._between = BetweenSteps(
            learner, options, self._progression, evaluate, self._record, self._meters, callbacks
        )
        self._latest: np.void | None = None
        """Record of the first environment's latest step."""
        self._saved_at = -1
        self._saved_time = time.perf_counter()
        self._save_wanted = self._save_as_best = self._stop_wanted = False
        self._paused_s = 0.0
        self.interrupted: Callable[[], bool] = lambda: False
        parts: dict[str, Stateful | None] = {
            "arbiter": self._decider.arbiter,
            "hand_over": self._decider.hand_over,
            "recorder": self._record.recorder,
            "learner_thread": self._thread,
            "progression": self._progression,
            "starts": starts,
            "meters": self._meters,
            "pretraining": self._between.pretraining,
            "journeys": self._record.journeys,
        }
        self._parts = {name: part for name, part in parts.items() if part is not None}
        """Parts by their names in :class:`TrainerState`."""

    @property
    def statistics(self) -> TrainingStatistics:
        """Counters of the training."""
        return self._record.statistics

    @property
    def run(self) -> RunInfo:
        """The run as callbacks see it."""
        return self._keeper.info

    @property
    def learner(self) -> Algorithm:
        """The learner."""
        return self._learner

    @property
    def spaces(self) -> tuple[spaces.Dict, spaces.Discrete | spaces.Box]:
        """Spaces of the learner's observations and actions, of one environment."""
        return self._pool.observation_space, self._pool.action_space

    @property
    def trust(self) -> float:
        """Weight of the advised side's confidence, 0..1."""
        return self._decider.arbiter.trust

    @property
    def strategy(self) -> Strategy | None:
        """The strategy; None where no advice is shared."""
        return self._progression.strategy

    # Begin ---------------------------------------------------------------------------------------------------------

    def begin(self, shown_steps: int = 0, started_from: str = "") -> None:
        """Start from the beginning.

        Args:
            shown_steps: steps of demonstrations that the learner has seen.
            started_from: origin of its weights in words; empty for random ones.
        """
        self.statistics.demonstration_steps, self.statistics.started_from = shown_steps, started_from
        self._pool.reset()
        self._progression.begin()
        self._apply_shares()
        self._record.episodes = [self._new_episode(index, 0) for index in range(self._pool.num_envs)]

    def resume(self, checkpoint: Checkpoint, segments: Iterable[Segment]) -> int:
        """Resume exactly from a checkpoint. Advice that took effect after it does so again.

        Returns:
            Rows recorded after the checkpoint, which are set aside.
        """
        self._learner.load_state_dict(checkpoint.learner)
        self._learner.load_segments(segments)
        state = checkpoint.trainer
        self._record.resume(state.statistics, state.episodes)
        for name, part in self._parts.items():
            own = getattr(state, name)
            if own is not None:
                part.load_state_dict(own)
        self._between.metrics_of_next_step = dict(state.metrics_of_next_step)
        self._pool.load(checkpoint.workers, state.press_logs)
        if self._starts is not None and state.starts is not None:
            self._starts.resume([episode.start for episode in self._record.episodes])
        if self._advice is not None and state.advice is not None:
            self._advice.load_state_dict(state.advice, self._record.advice_after(checkpoint.step))
        self._apply_shares()
        self._saved_at = checkpoint.step
        self._meters.begin(self.statistics.steps)
        return self._record.recorder.supersede(checkpoint.step)

    # The loop ------------------------------------------------------------------------------------------------------

    def train(self, interrupted: Callable[[], bool]) -> dict[str, Any]:
        """Train until the budget is used or ``interrupted`` returns true, save, and return the summary."""
        self.interrupted = lambda: self._stop_wanted or interrupted()
        try:
            return self._train()
        finally:
            self._notify.end(self)

    def _train(self) -> dict[str, Any]:
        interrupted = self.interrupted
        self._notify(Callback.on_start, self)
        try:
            if self._saved_at < 0:
                self.save_checkpoint()
            while self._options.fraction_used(self.statistics.progress) < 1 and not interrupted():
                self._between.pretrain(interrupted)
                self._between.measure(interrupted)
                if self._keeper.look_if_due():
                    self.save_checkpoint()  # until then there is nothing to resume from
                self._before_step()
                if not interrupted():
                    self._steps()
            if self._options.eval_interval.ever and not interrupted():
                self._evaluate()
            if self._saved_at != self.statistics.steps:
                self.save_checkpoint()
            self._record.recorder.finish()
        finally:
            with contextlib.ExitStack() as ending:  # the last one first, each whatever became of the others
                if self._advice is not None:
                    ending.callback(self._advice.close)
                ending.callback(self._thread.close)
                ending.callback(self._record.recorder.close)
                ending.callback(self._record.log_unlogged)
        summary = self.statistics.summary()
        if self._advice is not None:
            summary["llm"] = self._advice.summary()
        summary |= self._progression.summary()
        self._notify(Callback.on_finish, self, summary)
        return summary

    def _steps(self) -> None:
        """Take a step of every environment, or several where the pilots alone decide."""
        began, statistics = time.perf_counter(), self.statistics
        before, num_envs = statistics.progress, self._pool.num_envs
        if self._advice is not None and not self._advice.before_step(before.steps, self.interrupted):
            return
        asked = time.perf_counter()
        if self._decider.observes or before.steps % METRICS_INTERVAL < num_envs:
            self._warn(self._finite.of_observations(self._pool.observations(), before.steps))
        if self._plays_ahead:
            self._play()
        else:
            self._one_step(began, asked)
        self._notify(Callback.on_step, self)
        if crossings(before.steps, statistics.steps, METRICS_INTERVAL):
            self._log_metrics()
        if self._record.recorder.flush_is_due:
            self._keeper.write(self._record.recorder.begin_flush)
        statistics.elapsed_s += time.perf_counter() - began
        now = statistics.progress
        if self._options.eval_interval.passed(before, now):
            self._evaluate()
        late = time.perf_counter() - self._saved_time >= self._options.save_interval_s
        if late or self._save_wanted or self._options.save_interval.passed(before, now):
            self.save_checkpoint()

    def _one_step(self, began: float, asked: float) -> None:
        """Decide and take one step of every environment. The times are those for the meters."""
        clock, steps_before = time.perf_counter, self.statistics.steps
        decides = not self._between.pretraining.pending
        choice = self._decider.choose(learner_decides=decides)
        self._log.before_step(choice)
        acted = clock()
        sides = choice.sources, choice.confidences
        given = choice.actions, *sides, self._thread.meanwhile, choice.controls
        result = self._pool.step(*given, observed=self._decider.observes)
        stepped = clock()
        records = result.records
        if self._log.is_on:
            self._log.after_step(records, self.trust, "" if self.strategy is None else self.strategy.name)
        self._warn(self._finite.of_rewards(result))
        if self._learns:
            self._learner.observe(transitions_of(result, choice))
        models, latencies = self._advice.after_step(records) if self._advice is not None else (None, None)
        self._record.add_steps(result, models, latencies, choice.values)
        for change in self._decider.after_step(records, choice):
            self._notify(Callback.on_message, change)
        if self._starts is not None:
            self._starts.after_step(records)
        self._record.keep_metrics(self._between.take_metrics())
        recorded = clock()
        for _window in range(crossings(steps_before, self.statistics.steps, self._learner.update_interval)):
            if decides:
                self._take_metrics(self._thread.next_window())
        learned = clock()
        self._meters.add_step(began, asked, acted, stepped, recorded, learned)
        self._end_episodes(result)

    @property
    def _plays_ahead(self) -> bool:
        """True if nothing is decided, asked or shown between two steps."""
        decided = self._decider.observes or self._advice is not None or self._starts is not None
        return not (decided or self._notify.follows_each_step or logger.isEnabledFor(logging.DEBUG))

    def _play(self) -> None:
        """Let the pilots play until something needs the environments as they are, or somebody may wait."""
        clock, num_envs = time.perf_counter, self._pool.num_envs
        began = clock()
        until = began + PLAY_SECONDS
        count = self._options.steps_ahead(self.statistics.progress, num_envs, METRICS_INTERVAL)
        for result in self._pool.play(count, lambda: clock() >= until or self.interrupted()):
            stepped = clock()
            self._warn(self._finite.of_rewards(result))
            self._record.add_steps(result)
            self._end_episodes(result)
            recorded = clock()
            self._meters.add_step(began, began, began, stepped, recorded, recorded)
            began = recorded

    def _end_episodes(self, result: StepResult) -> None:
        """Take in the ends of episodes among some steps."""
        for index, record, end in self._record.ends(result):
            self._end_episode(index, record, end)
        self._latest = result.records[0]

    def _warn(self, problem: str) -> None:
        if problem:
            logger.warning(problem)
            self._notify(Callback.on_message, problem)

    def _evaluate(self) -> None:
        """Evaluate the learner. The best result so far is worth a checkpoint."""
        self._save_wanted = self._between.evaluate(self) or self._save_wanted

    def _apply_shares(self) -> None:
        """Apply the trust of the curriculum and the share of the strategy."""
        if self._progression.trust is not None:
            self._decider.arbiter.trust = self._progression.trust
        if self._progression.share is not None and self._advice is not None:
            self._advice.set_share(self._progression.share)

    def ask_to_save(self, *, best: bool = False) -> None:
        """Request a checkpoint after the current step; ``best`` marks it as the best."""
        self._save_wanted = True
        self._save_as_best = self._save_as_best or best

    def ask_to_stop(self) -> None:
        """End the training after the current step, as if its budget were used."""
        self._stop_wanted = True

    def _take_metrics(self, metrics: Mapping[str, float]) -> None:
        if metrics:
            self.statistics.updates += 1
        self._meters.add(metrics)

    def _log_metrics(self) -> None:
        metrics = self._meters.take(self.statistics)
        journey = self._record.leading()
        metrics |= {"journey/milestones": len(journey.milestones), "journey/play_s": journey.play_s}
        metrics |= {f"journey/{name}": value for name, value in journey.progress.items()}
        kept: dict[str, float] = {"store/bytes": self._record.size_bytes, "memory/peak_bytes": peak_memory_bytes()}
        kept |= self._decider.metrics()
        if self._advice is not None:
            kept |= self._advice.metrics()
        self._record.keep_metrics(metrics | kept)

    # Callbacks -------------------------------------------------------------------------------------------------------

    @property
    def fraction_done(self) -> float:
        """Used share of the budget, 0..1."""
        return min(self._options.fraction_used(self.statistics.progress), 1.0)

    @property
    def steps_per_second(self) -> float:
        """Recent speed; 0 if not known yet."""
        return self._meters.steps_per_second(self.statistics)

    def status(self) -> Status:
        """Return the status after the latest step. The training does not depend on whether it is read."""
        assert self._latest is not None
        progression = self._progression
        scene = Scene.of(
            self._latest,
            self._pool.action_names,
            game=self._pool.status(0),
            goal=self._pool.goal,
            advice="" if self._advice is None else self._advice.latest_advice,
            trust=progression.trust,
            strategy="" if progression.strategy is None else progression.strategy.name,
            share=progression.share or 0.0,
        )
        journey, taken = self._record.leading(), self._decider.metrics()
        return self._meters.look(self.statistics, scene, journey, taken)

    def _before_step(self) -> None:
        """Let callbacks save or pause between two steps."""
        began, paused_before = time.perf_counter(), self._paused_s
        self._notify(Callback.before_step, self)
        spent = time.perf_counter() - began - (self._paused_s - paused_before)
        self._meters.seconds["viewers"] += spent
        self.statistics.elapsed_s += spent

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While entered, the time counts for no speed. All recorded rows are on disk, so that they can be read."""
        self._record.recorder.flush()
        self._notify(Callback.on_pause)
        began = time.perf_counter()
        yield
        seconds = time.perf_counter() - began
        self._paused_s += seconds
        self._meters.leave_out(seconds)
        if not self.interrupted():
            self._notify(Callback.on_resume, seconds)

    # Episodes --------------------------------------------------------------------------------------------------------

    def _new_episode(self, index: int, number: int) -> RunningEpisode:
        seed = derive_seed(self._options.seed, Purpose.TRAINING, episode_number(index, number, self._pool.num_envs))
        self._notify(Callback.on_episode_start, self, index, number, seed)
        start = "" if self._starts is None else self._starts.begin(index, number)
        return RunningEpisode(number, seed, self.statistics.steps, start=start)

    def _end_episode(self, index: int, record: np.void, end: EpisodeEnd) -> None:
        summary = self._record.end_episode(index, record, end)
        self._record.keep_metrics(metrics_of(summary, end.reward_totals))
        self._record.episodes[index] = self._new_episode(index, summary.episode + 1)
        self._notify(Callback.on_episode, self, summary)
        if self._progression.follows:
            performance = self.statistics.performance(summary)
            sides = Charge().outcomes() if self._advice is None else self._advice.outcomes(index)
            self._update_progression({**performance, "success": summary.success, **sides})

    def _update_progression(self, performance: Mapping[str, Any]) -> None:
        """Let strategy and curriculum take in an episode. A new stage is worth a checkpoint."""
        for change in self._progression.end_episode(performance, self.statistics):
            self._save_wanted = self._save_wanted or change.event == "stage_advanced"
            logger.info("%s", change.reason)
            self._notify(Callback.on_message, change.reason)
            if change.event is not None:
                self._notify(Callback.on_progression, self, change.event, change.metrics)
        self._apply_shares()
        self._record.keep_metrics(self._progression.take_metrics())

    def _on_metrics(self, metrics: Mapping[str, float]) -> None:
        self._notify(Callback.on_metrics, self, metrics)

    def _on_rows(self, rows: Mapping[str, Any]) -> None:
        self._notify(Callback.on_rows, self, rows)

    # Checkpoints -----------------------------------------------------------------------------------------------------

    def save_checkpoint(self) -> None:
        """Write a checkpoint of this moment. Earlier rows are on disk before it, or held in it."""
        for metrics in self._thread.wait():
            self._take_metrics(metrics)
        self._keeper.look()
        self._keeper.write(self._record.recorder.flush)
        self._record.note_journey()
        state = TrainerState(
            **{name: part.state_dict() for name, part in self._parts.items()},
            statistics=self.statistics,
            schedule_steps=self._options.schedule_steps,
            advice=None if self._advice is None else self._advice.state_dict(),
            metrics_of_next_step=dict(self._between.metrics_of_next_step),
            episodes=[episode.state_dict() for episode in self._record.episodes],
            press_logs=[log.state_dict() for log in self._pool.logs()],
        )
        checkpoint = Checkpoint(
            step=self.statistics.steps,
            learner=self._learner.state_dict(),
            trainer=state,
            workers=tuple(self._pool.save()),
            milestone_names=tuple(self._pool.milestone_names),
            best=self._save_as_best,
        )
        self._notify(Callback.before_checkpoint)
        path = self._keeper.save(checkpoint, lambda: list(self._learner.segments()))
        self._saved_at, self._saved_time = self.statistics.steps, time.perf_counter()
        self._save_wanted = self._save_as_best = False
        self._notify(Callback.on_checkpoint, self, path)
