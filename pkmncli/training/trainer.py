"""The trainer: the loop in which environments step, the arbiter chooses, the learner learns and everything is kept."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.advice.worth import side_outcomes
from pkmncli.api import PILOT_ACTS, Algorithm, RunInfo, Segment, Source, Store, Transitions
from pkmncli.errors import ConfigurationError, RunError
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.hand_over import HandOver
from pkmncli.seeds import Purpose, derive_seed, episode_number
from pkmncli.training.action_values import ActionValues
from pkmncli.training.beginnings.pretraining import Pretraining
from pkmncli.training.checkpoints.files import Checkpoint
from pkmncli.training.checkpoints.state import TrainerState
from pkmncli.training.display.callbacks import Callback, Callbacks
from pkmncli.training.display.estimate import duration
from pkmncli.training.display.scene import scene_of
from pkmncli.training.display.status import Status, TrainerOptions
from pkmncli.training.intervals import crossings
from pkmncli.training.learner_thread import updates_of
from pkmncli.training.memory import peak_memory_bytes
from pkmncli.training.progression import Progression
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.episodes import RunningEpisode
from pkmncli.training.recording.journeys import Journeys
from pkmncli.training.recording.meters import Meters, metrics_of
from pkmncli.training.recording.recorder import Recorder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.advice.coordinator import AdviceCoordinator
    from pkmncli.training.beginnings.episode_starts import EpisodeStarts
    from pkmncli.training.run_keeper import RunKeeper
    from pkmncli.training.workers.pool import StepResult, WorkerPool

logger = logging.getLogger(__name__)

METRICS_INTERVAL = 1000
"""Environment steps between two rows of averaged metrics."""


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
        examine: evaluates the learner; called at every ``eval_interval`` and at the end.
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
        examine: Callable[[Algorithm], Mapping[str, Any]] | None = None,
    ) -> None:
        self._pool = pool
        self._learner = learner
        self._action_values = ActionValues(learner, pool.num_envs, int(pool.action_space.n))
        self._store = store
        self._options = options
        self._keeper = keeper
        self._notify = callbacks
        keeper.on_new_folder = lambda: callbacks(Callback.on_new_folder)
        self._starts = starts
        self._progression = progression or Progression()
        self._examine = examine
        self._pretraining = Pretraining(learner, options.pretrain_steps)
        self._thread = updates_of(learner)
        self._arbiter = Arbiter(options.mode, pool.num_envs, derive_seed(options.seed, Purpose.ARBITER))
        self._hand_over = HandOver(pool.situations, pool.num_envs, options.hand_over)
        self._recorder = Recorder(
            store, pool.num_envs, on_batch=self._on_rows, start=options.start, reward_names=pool.reward_names
        )
        self._desk = advice(self._recorder.add_advice) if advice is not None else None
        self.statistics = TrainingStatistics(milestone_order=list(pool.milestone_names))
        self._episodes: list[RunningEpisode] = []
        self._journeys = Journeys(pool)
        self._meters = Meters(options)
        self._metrics_of_next_step: dict[str, float] = {}
        self._latest: np.void | None = None
        """Record of the first environment's latest step."""
        self._saved_at = -1
        self._save_wanted = self._save_as_best = False
        self._lost_before = 0
        self._paused_s = 0.0
        self._reported_reward = False
        self.interrupted: Callable[[], bool] = lambda: False

    @property
    def run(self) -> RunInfo:
        """The run as callbacks see it."""
        return self._keeper.info

    # Begin ---------------------------------------------------------------------------------------------------------

    def begin(self, shown_steps: int = 0, started_from: str = "") -> None:
        """Starts from the beginning.

        Args:
            shown_steps: steps of earlier runs that the learner was shown before.
            started_from: whose weights it has, in words; empty for its own.
        """
        self.statistics.demonstration_steps, self.statistics.started_from = shown_steps, started_from
        self._pool.reset()
        self._progression.begin()
        self._give_say()
        self._episodes = [self._new_episode(index, 0) for index in range(self._pool.num_envs)]

    def resume(self, checkpoint: Checkpoint, segments: Iterable[Segment]) -> None:
        """Resume exactly from a checkpoint. Advice that took effect after it does so again."""
        self._learner.load_state_dict(checkpoint.learner)
        self._learner.load_segments(segments)
        state = checkpoint.trainer
        self.statistics = state.statistics
        self.statistics.milestone_order = list(self._pool.milestone_names)
        self._arbiter.load_state_dict(dict(state.arbiter))
        self._recorder.load_state_dict(state.recorder)
        self._thread.load_state_dict(dict(state.learner_thread))
        self._progression.load_state_dict(state.progression)
        self._meters.load_state_dict(state.meters)
        self._journeys.load_state_dict(state.journeys)
        self._metrics_of_next_step = dict(state.metrics_of_next_step)
        if state.hand_over is not None:
            self._hand_over.load_state_dict(state.hand_over)
        if state.pretraining is not None:
            self._pretraining.load_state_dict(state.pretraining)
        self._episodes = [RunningEpisode() for _ in state.episodes]
        for episode, own in zip(self._episodes, state.episodes, strict=True):
            episode.load_state_dict(own)
        self._pool.load(checkpoint.workers, state.press_logs)
        if self._starts is not None and state.starts is not None:
            self._starts.load_state_dict(state.starts)
            self._starts.resume([episode.start for episode in self._episodes])
        if self._desk is not None and state.advice is not None:
            try:
                journal = self._store.read("advice", "global_step > ?", [checkpoint.step])
            except RunError as error:  # what was answered already is asked again
                logger.warning("%s", error)
                journal = []
            self._desk.load_state_dict(state.advice, journal)
        self._give_say()
        self._saved_at = checkpoint.step
        self._lost_before = self.statistics.workers_lost
        self._meters.begin(self.statistics.steps)

    def supersede(self, step: int) -> int:
        """Sets aside what was recorded after the checkpoint at ``step``, from which it goes on. Returns how many rows.

        Decisions that the checkpoint holds back may have been recorded after it, without what comes of them now.
        """
        # Held ones first, so that a file which has rows of both kinds is parted once.
        first_held = self._recorder.first_held
        held = 0 if first_held is None else self._store.supersede(first_held - 1, ("decisions",))
        return held + self._store.supersede(step)

    # The loop ------------------------------------------------------------------------------------------------------

    def train(self, interrupted: Callable[[], bool]) -> dict[str, Any]:
        """Trains until the budget is used or ``interrupted`` says so, saves, and returns the summary."""
        self.interrupted = interrupted
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
            while self._options.fraction_used(self.statistics) < 1 and not interrupted():
                self._pretrain()
                self._measure()
                if self._keeper.look_if_due():
                    self.save_checkpoint()  # until then there is nothing to resume from
                self._before_step()
                if not interrupted():
                    self._one_step()
            if self._options.eval_interval.ever and not interrupted():
                self._evaluate()
            if self._saved_at != self.statistics.steps:
                self.save_checkpoint()
            self._recorder.finish()
        finally:
            with contextlib.ExitStack() as ending:  # the last one first, each whatever became of the others
                if self._desk is not None:
                    ending.callback(self._desk.close)
                ending.callback(self._thread.close)
                ending.callback(self._recorder.close)
        summary = self.statistics.summary()
        if self._desk is not None:
            summary["llm"] = self._desk.summary()
        summary |= self._progression.summary()
        self._notify(Callback.on_finish, self, summary)
        return summary

    def _one_step(self) -> None:
        clock = time.perf_counter
        began = clock()
        before = self.statistics.progress
        steps_before = before.steps
        if self._desk is not None and not self._desk.before_step(steps_before, self.interrupted):
            return
        asked = clock()
        phases, advised = self._pool.phases(), self._pool.pilot_actions()
        actions, confidences, exploring = self._learner.act(self._pool.observations(), explore=True)
        values = self._action_values.latest()
        decides = not self._pretraining.pending
        self._hand_over.note_choices(phases, actions, ~exploring & decides, advised)
        confidences = self._hand_over.confidences(phases, confidences, advised)
        actions, sources = self._arbiter.choose(actions, confidences, exploring, self._pool.pilot_confidences())
        if not decides:
            actions = np.full_like(actions, PILOT_ACTS)
        acted = clock()
        result = self._checked(self._pool.step(actions, sources, confidences, self._thread.meanwhile))
        stepped = clock()
        self._learner.observe(_transitions(result, advised))
        models, latencies = self._desk.after_step(result.records) if self._desk is not None else (None, None)
        self._recorder.add_steps(steps_before, result.records, models, latencies, values)
        self.statistics.steps = steps_before + self._pool.num_envs
        self.statistics.workers_lost = self._lost_before + self._pool.losses
        for index, record in enumerate(result.records):
            self._episodes[index].add(record)
            self.statistics.steps_by_source[int(record["source"])] += 1
        changes = self._hand_over.note_steps(result.records, phases)
        if self._options.mode is AgentMode.ADAPTIVE:  # else nobody takes over from anyone
            for change in changes:
                self._notify(Callback.on_message, change)
        if self._starts is not None:
            self._starts.after_step(result.records)
        self._journeys.after_step(result.records, self.statistics.elapsed_s, self.statistics.steps)
        pretrained = self._pretraining.take_metrics() or {}
        self._keep_metrics(
            self._metrics_of_next_step | {f"pretraining/{name}": value for name, value in pretrained.items()}
        )
        self._metrics_of_next_step = {}
        recorded = clock()
        for _window in range(crossings(steps_before, self.statistics.steps, self._learner.update_interval)):
            if decides:
                self._take_metrics(self._thread.next_window())
        learned = clock()
        self._meters.spend(
            advice=asked - began,
            acting=acted - asked,
            environment=stepped - acted,
            recording=recorded - stepped,
            waiting_for_the_learner=learned - recorded,
        )
        for index in np.flatnonzero(result.ended).tolist():
            self._end_episode(index, result.records[index])
        self._latest = result.records[0]
        self._notify(Callback.on_step, self)
        if crossings(steps_before, self.statistics.steps, METRICS_INTERVAL):
            self._log_metrics()
        self._keeper.write(self._recorder.flush_if_due)
        self.statistics.elapsed_s += clock() - began
        if self._options.eval_interval.passed(before, self.statistics.progress):
            self._evaluate()
        if self._save_wanted or self._options.save_interval.passed(before, self.statistics.progress):
            self.save_checkpoint()

    def _checked(self, result: StepResult) -> StepResult:
        """Report once that a reward is not finite; a learner refuses it, but nothing else would notice."""
        records = result.records
        if not self._reported_reward and not np.isfinite(records["reward"]).all():
            self._reported_reward = True
            environment = int(np.flatnonzero(~np.isfinite(records["reward"]))[0])
            record = records[environment]
            parts = zip(self._pool.reward_names, record["reward_parts"], strict=False)
            wrong = [name for name, part in parts if not np.isfinite(part)]
            of = f", by its part {wrong[0]!r}" if wrong else ""
            text = (
                f"The reward of environment {environment} is {record['reward']} at step {record['step']} of episode "
                f"{record['episode']}{of}: it is recorded so, and sums and averages with it say nothing."
            )
            logger.warning(text)
            self._notify(Callback.on_message, text)
        return result

    def _evaluate(self) -> None:
        """Evaluate the learner, once at a step. The best result so far is worth a checkpoint."""
        if self._examine is None or self.statistics.evaluated_at == self.statistics.steps:
            return
        self._notify(Callback.on_activity, "evaluating the learner alone")
        found = self._examine(self._learner)
        self._save_wanted = self.statistics.add_evaluation(found) or self._save_wanted
        values = {name: found[name] for name in ("avg_reward", "std_reward", "avg_length", "goal_share")}
        self._keep_metrics({f"evaluation/{name}": one for name, one in values.items()})
        self._notify(Callback.on_evaluation, self, found)

    def _pretrain(self) -> None:
        """Make the updates before the learner's first decision, once there is enough to learn from."""
        if not self._pretraining.pending:
            return
        began, before = time.perf_counter(), self._pretraining.done
        self._pretraining.learn(self.interrupted, lambda doing: self._notify(Callback.on_activity, doing))
        made = self._pretraining.done - before
        if not made:
            if self._options.mode is AgentMode.RL_ONLY and not self.interrupted():
                raise ConfigurationError(
                    "pretrain_steps: the learner was shown too few steps to learn from, and decides alone: show it "
                    "more, lower what it waits for (such as dqn.learning_starts), or use --mode adaptive"
                )
            return
        spent = time.perf_counter() - began
        self._meters.leave_out(spent)
        self.statistics.elapsed_s += spent
        self.statistics.updates += made
        self.statistics.pretrain_updates += made
        if not self._pretraining.pending:
            self._notify(
                Callback.on_message,
                f"Pretrained with {self.statistics.pretrain_updates:,} updates in {duration(spent)}: from now on the "
                "learner decides, too.",
            )

    def _measure(self) -> None:
        """Play the episodes of the learner alone that the curriculum measures, if any are due."""
        began = time.perf_counter()
        if self._progression.due:
            self._notify(Callback.on_activity, "playing episodes of the learner alone, which the curriculum measures")
        measured = self._progression.measure(self._learner, self.interrupted)
        if measured:
            found = self.statistics.add_alone(*zip(*measured, strict=True))
            # Recorded at a checkpoint's own step, it would be there twice once a killed training has measured it again.
            self._metrics_of_next_step = {f"alone/{name}": value for name, value in found.items()}
            spent = time.perf_counter() - began
            self._meters.spend(measuring=spent)
            self.statistics.elapsed_s += spent

    def _give_say(self) -> None:
        """Arbiter and advice do what strategy and curriculum say."""
        if self._progression.trust is not None:
            self._arbiter.trust = self._progression.trust
        if self._progression.share is not None and self._desk is not None:
            self._desk.set_share(self._progression.share)

    def ask_to_save(self, *, best: bool = False) -> None:
        """Has a checkpoint written when the step that is under way has ended, as the best where that is said."""
        self._save_wanted = True
        self._save_as_best = self._save_as_best or best

    def _take_metrics(self, metrics: Mapping[str, float]) -> None:
        if metrics:
            self.statistics.updates += 1
        self._meters.add(metrics)

    def _keep_metrics(self, metrics: Mapping[str, float]) -> None:
        if metrics:
            self._recorder.add_metrics(self.statistics.steps, metrics)
            self._notify(Callback.on_metrics, self, metrics)

    def _log_metrics(self) -> None:
        metrics = self._meters.take(self.statistics)
        journey = self._journeys.leading(self._episodes)
        metrics |= {"journey/milestones": len(journey.milestones), "journey/play_s": journey.play_s}
        metrics |= {f"journey/{name}": value for name, value in journey.progress.items()}
        kept: dict[str, float] = {"store/bytes": self._store.size_bytes(), "memory/peak_bytes": peak_memory_bytes()}
        kept |= self._hand_over_metrics()
        if self._desk is not None:
            kept |= self._desk.metrics()
        self._keep_metrics(metrics | kept)

    def _hand_over_metrics(self) -> dict[str, float]:
        """The evidence of the learner by situation, where it could take over from anyone."""
        return self._hand_over.metrics() if self._options.mode is AgentMode.ADAPTIVE else {}

    # Callbacks -------------------------------------------------------------------------------------------------------

    @property
    def fraction_done(self) -> float:
        """Used share of the budget, 0..1."""
        return min(self._options.fraction_used(self.statistics), 1.0)

    @property
    def steps_per_second(self) -> float:
        """Recent speed; 0 if not known yet."""
        return self._meters.steps_per_second(self.statistics)

    def status(self) -> Status:
        """Return the status after the latest step. The training does not depend on whether it is read."""
        assert self._latest is not None
        scene = scene_of(
            self._pool.status(0), self._pool.goal, self._latest, self._pool.action_names, self._desk, self._progression
        )
        journey, taken = self._journeys.leading(self._episodes), self._hand_over_metrics()
        return self._meters.look(self.statistics, scene, journey, taken)

    def _before_step(self) -> None:
        """Let callbacks save or pause between two steps."""
        began, paused_before = time.perf_counter(), self._paused_s
        self._notify(Callback.before_step, self)
        spent = time.perf_counter() - began - (self._paused_s - paused_before)
        self._meters.spend(viewers=spent)
        self.statistics.elapsed_s += spent

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While entered, the time counts for no speed. All recorded rows are on disk, so that they can be read."""
        self._recorder.flush()
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

    def _end_episode(self, index: int, record: np.void) -> None:
        episode = self._episodes[index]
        summary = episode.summarize(
            index, record, self._pool.milestones_of_ended(index), self._pool.milestone_frames_of_ended(index)
        )
        own = episode.steps_by_source[Source.RL] + episode.steps_by_source[Source.EXPLORE]
        self.statistics.add_episode(summary, self._pool.num_envs, learner_steps=own, began_further=bool(episode.start))
        self._journeys.end(index, episode, self.statistics.elapsed_s, self.statistics.steps)
        self._recorder.add_episode(episode, summary, last_step=self.statistics.steps, frames=int(record["frames"]))
        self._keep_metrics(metrics_of(summary, self._pool.rewards_of_ended(index)))
        self._episodes[index] = self._new_episode(index, episode.number + 1)
        logger.info(
            "environment %d, episode %d: %d steps, reward %.2f, %s, reached %s",
            index,
            summary.episode,
            summary.steps,
            summary.total_reward,
            summary.outcome,
            ", ".join(summary.milestone_steps) or "nothing",
        )
        performance = self.statistics.performance(summary)
        self._notify(Callback.on_episode, self, summary)
        self._change_say(performance | {"success": summary.terminated} | side_outcomes(*episode.decided()))

    def _change_say(self, performance: Mapping[str, Any]) -> None:
        """Let strategy and curriculum take in an episode. A new stage is worth a checkpoint."""
        for change in self._progression.end_episode(performance, self.statistics):
            self._save_wanted = self._save_wanted or change.event == "stage_advanced"
            logger.info("%s", change.reason)
            self._notify(Callback.on_message, change.reason)
            if change.event is not None:
                self._notify(Callback.on_progression, self, change.event, change.metrics)
        self._give_say()
        self._keep_metrics(self._progression.take_metrics())

    def _on_rows(self, rows: Mapping[str, Any]) -> None:
        self._notify(Callback.on_rows, self, rows)

    # Checkpoints -----------------------------------------------------------------------------------------------------

    def save_checkpoint(self) -> None:
        """Writes a checkpoint of this very moment. What was recorded before it is on disk before it, or held in it."""
        for metrics in self._thread.wait():
            self._take_metrics(metrics)
        self._keeper.look()
        self._keeper.write(self._recorder.flush)
        self.statistics.journey = self._journeys.furthest(self._episodes).as_dict()
        state = TrainerState(
            statistics=self.statistics,
            schedule_steps=self._options.schedule_steps,
            arbiter=self._arbiter.state_dict(),
            hand_over=self._hand_over.state_dict(),
            recorder=self._recorder.state_dict(),
            learner_thread=self._thread.state_dict(),
            progression=self._progression.state_dict(),
            starts=None if self._starts is None else self._starts.state_dict(),
            advice=None if self._desk is None else self._desk.state_dict(),
            meters=self._meters.state_dict(),
            pretraining=self._pretraining.state_dict(),
            metrics_of_next_step=dict(self._metrics_of_next_step),
            journeys=self._journeys.state_dict(),
            episodes=[episode.state_dict() for episode in self._episodes],
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
        self._saved_at = self.statistics.steps
        self._save_wanted = self._save_as_best = False
        self._notify(Callback.on_checkpoint, self, path)


def _transitions(result: StepResult, advised: NDArray[np.int64]) -> Transitions:
    records: NDArray[Any] = result.records
    return Transitions(
        observations=result.observations,
        actions=records["action"].astype(np.int64),
        rewards=records["reward"].astype(np.float32),
        terminated=records["terminated"].copy(),
        truncated=records["truncated"].copy(),
        next_observations=result.next_observations,
        sources=records["source"].copy(),
        advised=advised if (advised >= 0).any() else None,
    )
