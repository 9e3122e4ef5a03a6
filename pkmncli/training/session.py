"""A training from settings to summary: create or open the run, build the parts, train, clean up."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pkmncli.advice.build import AdviceParts, build_coordinator, connect
from pkmncli.api import Algorithm, LLMRequest, RunInfo
from pkmncli.atomic_files import write_json
from pkmncli.checkpoint_index import LATEST
from pkmncli.config import NONE, ResolvedSettings, TrainSettings
from pkmncli.diagnostics import say, warn
from pkmncli.errors import PkmnError, RunError
from pkmncli.llm.client import LLMClient
from pkmncli.llm.ensemble import EnsembleClient
from pkmncli.llm.probe import measure
from pkmncli.plugins import Registry
from pkmncli.plurals import counted
from pkmncli.run_lock import RunLock
from pkmncli.runs import Run, check_run_name, create_run
from pkmncli.seeds import Purpose
from pkmncli.standard_streams import Installed
from pkmncli.training.assembly import (
    build_curriculum,
    build_learner,
    build_strategy,
    names_of,
    worker_spec,
)
from pkmncli.training.beginnings.demonstrations import find_demonstrations, show
from pkmncli.training.beginnings.episode_starts import EpisodeStarts
from pkmncli.training.beginnings.given_starts import check_kept_starts, read_given_starts, settle
from pkmncli.training.beginnings.pretraining import Pretraining
from pkmncli.training.beginnings.start_from import begin_from, find_starting_point, slug
from pkmncli.training.checkpoints.files import WholeCheckpoint
from pkmncli.training.checkpoints.retention import remove_leftovers
from pkmncli.training.checkpoints.selection import newest_checkpoint, set_aside_after
from pkmncli.training.display.callbacks import Callback, Callbacks
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.display.estimate import announcement, duration
from pkmncli.training.display.live_board import LiveBoardServer
from pkmncli.training.display.model_forecast import forecast
from pkmncli.training.display.plugin_hooks import PluginHooks
from pkmncli.training.display.run_log import log_to
from pkmncli.training.display.trackers import TrackedRun, chosen_trackers
from pkmncli.training.evaluation.final_evaluation import (
    FinalEvaluation,
    earlier_results,
    hold_final_evaluation,
    holds_final_evaluation,
    is_complete,
    told_by_episode,
)
from pkmncli.training.evaluation.while_training import CurriculumEvaluation, PeriodicEvaluation
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.loop_options import TrainerOptions, trainer_options
from pkmncli.training.progression import Progression
from pkmncli.training.run_keeper import STOPPING, RunKeeper, mend_names
from pkmncli.training.trainer import Trainer
from pkmncli.training.workers.capacity import check_capacity
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.process import WorkerLostError
from pkmncli.training.workers.reports import ReportKeeper
from pkmncli.training.workers.spec import WorkerSpec

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a training. ``exit_code`` is not 0 if a signal or a viewer ended it; it is saved in any case."""

    run: Run
    summary: dict[str, Any]
    exit_code: int = 0
    evaluation: Path | None = None
    """Folder of the final evaluation's episodes of the learner alone, where one was held."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """Start of a new run: steps of demonstrations that its learner has seen, and the origin of its weights."""

    shown_steps: int
    started_from: str
    request: LLMRequest | None
    """Request that measures the language model; None to measure nothing."""


class TrainingSession:
    """A training around the trainer's loop: a new run, or one that is resumed.

    Args:
        settings: of the training; of a resumed run its own, with what may change.
        registry: where plugins are looked up.
        arguments: command line, kept in the run.
        progress: shows the training.
        callbacks: also follow the training.
        on_trainer: called with the trainer before it trains.
    """

    def __init__(
        self,
        settings: ResolvedSettings,
        registry: Registry,
        arguments: Sequence[str],
        progress: ConsoleProgress,
        *,
        callbacks: Sequence[Callback] = (),
        on_trainer: Callable[[Trainer], None] = lambda trainer: None,
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._arguments = arguments
        self._progress = progress
        self._callbacks = callbacks
        self._on_trainer = on_trainer
        self._trackers: list[TrackedRun] = []
        self._client: LLMClient | EnsembleClient | None = None

    def start(self) -> Outcome:
        """Create a new run and train it. Nothing is written before the environments run."""
        train = self._settings.train
        check_run_name(train.save_dir, train.run_name)
        with self._interruptible(f"Starting {self._parts}.") as interrupted, self._workers() as pool:
            options = trainer_options(self._settings, pool.max_steps_per_episode)
            learner = self._learner(pool, options)
            started_from = self._begin_from_weights(pool, learner)
            pool.reset()  # a start state that does not fit is reported before there is a run
            shown = self._show_demonstrations(pool, learner, interrupted)
            advice = self._advice(pool)
            measures = train.llm_probe and not self._progress.quiet
            # Before the trainer, which resets the pool.
            request = advice.sample_request() if advice is not None and measures else None
            given = read_given_starts(self._settings)
            run = create_run(train.save_dir, slug(str(pool.names["game"])), train.rl, train.run_name)
            with run.locked() as lock, log_to(run, train.log_level):
                write_json(run.names_file, names_of(pool))
                self._settings = settle(self._settings, run, given)
                pool.spec = self._spec()  # a worker that has to be rebuilt finds the run's own copies
                begun = _Begun(shown, started_from, request)
                return self._train(run, lock, pool, learner, options, begun, advice, interrupted)

    def go_on(self, run: Run, at: str = LATEST) -> Outcome:
        """Resume a run from its newest checkpoint that is whole, or from an earlier one; later ones are set aside.

        Args:
            run: the run.
            at: checkpoint, as :meth:`pkmncli.checkpoint_index.Checkpoints.resolve` takes it.
        """
        with (
            self._interruptible(f"Resuming {run.name}: starting {self._parts}.") as interrupted,
            run.locked() as lock,
            log_to(run, self._settings.train.log_level),
        ):
            for remark in self._settings.remarks():
                warn(remark)
            check_kept_starts(self._settings, run)
            remove_leftovers(run)
            if at != LATEST:
                set_aside_after(run, run.checkpoints.resolve(at).name)
            checkpoint = newest_checkpoint(run)
            if not checkpoint.content.workers:  # a shared run comes without states of its environments
                raise RunError(f"{run.name} was imported, so it can't be resumed: use 'pkmn train --start-from'")
            with self._workers() as pool:
                mend_names(run, names_of(pool))
                schedule_steps = checkpoint.content.trainer.schedule_steps
                options = trainer_options(self._settings, pool.max_steps_per_episode, schedule_steps)
                learner = self._learner(pool, options)
                advice = self._advice(pool)
                return self._train(run, lock, pool, learner, options, checkpoint, advice, interrupted)

    @contextmanager
    def _interruptible(self, first_line: str) -> Iterator[InterruptFlag]:
        """Show the first line. From that line on, a first Ctrl-C saves and stops."""
        with Installed(), InterruptFlag(STOPPING) as interrupted:
            self._progress.message(first_line)
            yield interrupted

    @property
    def _parts(self) -> str:
        """Environments and learner in words, for a line about the processes that start before a training."""
        train = self._settings.train
        environments = counted(train.envs, "environment")
        return environments if train.rl == NONE else f"{environments} and {train.rl}"

    def _begin_from_weights(self, pool: WorkerPool, learner: Algorithm) -> str:
        """Give the learner its first weights. Returns their origin in words; empty for random ones."""
        point = find_starting_point(self._settings, self._registry, str(pool.names["game"]))
        if point is None:
            return ""
        begin_from(point, learner, self._settings, self._registry)
        self._tell(f"The learner begins with the weights of {point.title}.")
        return point.title

    def _show_demonstrations(self, pool: WorkerPool, learner: Algorithm, interrupted: InterruptFlag) -> int:
        """Show the learner the episodes of earlier runs. Returns the number of steps."""
        Pretraining(learner, self._settings.train.pretrain_steps)  # one that can't be pretrained is reported at once
        demonstrations = find_demonstrations(self._settings, self._registry, pool, learner)
        if not demonstrations:
            return 0
        recorded = sum(len(one.episode.actions) for one in demonstrations)
        runs = len({one.run.folder for one in demonstrations})
        self._tell(
            f"Playing {counted(len(demonstrations), 'episode')} of {counted(runs, 'earlier run')} again, "
            f"{counted(recorded, 'step')}, for the learner to see."
        )
        began = time.monotonic()
        try:
            with self._progress.counting("playing demonstrations", recorded) as done:
                shown = show(demonstrations, pool, learner, done, lambda: bool(interrupted))
        except KeyboardInterrupt:
            say("Stopped before there was a run: nothing was written.")
            raise
        differing = f" {shown.differing} went another way, and were left there." if shown.differing else ""
        self._tell(f"It saw {shown.steps:,} steps in {duration(time.monotonic() - began)}.{differing}")
        return shown.steps

    @contextmanager
    def _workers(self) -> Iterator[WorkerPool]:
        """Start the environments, after what else can fail: a file, then the model, then trackers, slow to import."""
        spec = self._spec()
        spec.environment.check()
        check_capacity(spec, say)
        with ExitStack() as closing:
            self._client = connect(self._settings, self._registry, tell=self._tell)
            if self._client is not None:
                closing.callback(self._client.close)
            self._trackers = chosen_trackers(self._settings, self._registry)
            yield closing.enter_context(WorkerPool(spec, on_loss=self._report_loss))

    def _advice(self, pool: WorkerPool) -> AdviceParts | None:
        return None if self._client is None else build_coordinator(self._settings, self._client, pool, tell=self._tell)

    def _spec(self) -> WorkerSpec:
        return worker_spec(self._settings, self._registry, Purpose.TRAINING, headless=self._settings.train.headless)

    def _learner(self, pool: WorkerPool, options: TrainerOptions) -> Algorithm:
        return build_learner(self._settings, self._registry, pool, total_steps=options.schedule_steps)

    def _train(
        self,
        run: Run,
        lock: RunLock,
        pool: WorkerPool,
        learner: Algorithm,
        options: TrainerOptions,
        begun: WholeCheckpoint | _Begun,
        advice: AdviceParts | None,
        interrupted: InterruptFlag,
    ) -> Outcome:
        settings, train = self._settings, self._settings.train
        info = RunInfo(run.folder, settings.values())
        keeper = RunKeeper(run, lock, info, settings.to_toml(run.folder), self._arguments)
        evaluation = PeriodicEvaluation.of(settings, self._registry)
        curriculum_evaluation = CurriculumEvaluation.of(settings, self._registry)
        progression = self._progression(options, pool, curriculum_evaluation)
        board = LiveBoardServer(run.folder, pool)
        how_to_read = f"pkmn doctor --run {shlex.quote(str(run.folder))}"  # whole, since the log keeps it
        pool.on_report = ReportKeeper(run.reports_folder, self._tell, how_to_read).keep
        following = [PluginHooks(self._registry), *self._trackers, self._progress, *self._callbacks, board]
        notify = Callbacks(following)
        resumes = isinstance(begun, WholeCheckpoint)
        with keeper.recording(self._registry, interrupted, resumes=resumes) as store:
            trainer = Trainer(
                pool,
                learner,
                store,
                replace(options, start=train.init_state.stem if train.init_state is not None else ""),
                keeper,
                notify,
                starts=EpisodeStarts.of(settings, pool, run.starts_folder),
                advice=advice.build if advice is not None else None,
                progression=progression,
                evaluate=evaluation.play,
            )
            if isinstance(begun, _Begun):
                trainer.begin(begun.shown_steps, begun.started_from)
            else:
                self._resume(trainer, begun)
            if options.fraction_used(trainer.statistics.progress) >= 1:
                say(f"Its budget is used up ({options.budget}): give a larger one to train on.")
            else:
                rate = self._announce(run, pool, learner, trainer, options)
                if advice is not None and isinstance(begun, _Begun) and begun.request is not None:
                    speeds = measure(
                        advice.client, begun.request, interrupted=lambda: bool(interrupted), tell=self._tell
                    )
                    for line in forecast(speeds, train, rate, pool.num_envs):
                        self._tell(line)
            self._on_trainer(trainer)
            began_at = trainer.statistics.steps

            def stop_wanted() -> bool:
                return bool(interrupted) or board.want_stop

            with self._progress, evaluation.environments, curriculum_evaluation.environments, board:
                summary = trainer.train(stop_wanted)
                # asked for after the last step, it stopped nothing
                stopped = board.want_stop and options.fraction_used(trainer.statistics.progress) < 1
                final = None
                earlier = earlier_results(run) if trainer.statistics.steps == began_at else {}
                summary |= earlier
                if not (is_complete(earlier) or interrupted or stopped):
                    run.write_summary(summary)
                    final = self._evaluate_at_end(run, pool, learner, trainer.statistics.steps, stop_wanted, notify)
                    summary |= final.found if final is not None else {}
        keeper.finish(summary)
        exit_code = interrupted.exit_code if interrupted or stopped else 0
        return Outcome(run, summary, exit_code, final.folder if final is not None else None)

    def _resume(self, trainer: Trainer, checkpoint: WholeCheckpoint) -> None:
        """Resume from a checkpoint."""
        step = checkpoint.content.step
        set_aside = trainer.resume(checkpoint.content, checkpoint.segments())
        logger.info("going on from step %d; %d later rows set aside", step, set_aside)
        self._progress.message(f"Going on from step {step:,}.")

    def _evaluate_at_end(
        self,
        run: Run,
        pool: WorkerPool,
        learner: Algorithm,
        steps: int,
        interrupted: Callable[[], bool],
        notify: Callbacks,
    ) -> FinalEvaluation | None:
        """Hold the final evaluation, if there is a learner and one is wanted. The run is saved already."""
        train = self._settings.train
        if not holds_final_evaluation(self._settings, steps, pool.max_steps_per_episode):
            return None
        others = "random play" if train.pilot == NONE else "pilot and random play"
        self._tell(
            f"Evaluating the learner alone from {counted(train.final_episodes, 'held-out start')}, then {others}."
        )
        try:
            return hold_final_evaluation(
                run,
                self._settings,
                self._registry,
                learner,
                on_step=told_by_episode(lambda doing: notify(Callback.on_activity, doing), train.final_episodes),
                interrupted=interrupted,
            )
        except KeyboardInterrupt:
            return None  # a second Ctrl-C: nothing is left to be saved
        except PkmnError as error:
            say(f"The learner alone could not be evaluated, and the run is saved: {error}")
            return None

    def _progression(self, options: TrainerOptions, pool: WorkerPool, measured: CurriculumEvaluation) -> Progression:
        measured_steps = self._settings.curriculum.measure_interval * pool.max_steps_per_episode
        return Progression(
            build_strategy(self._settings, self._registry),
            build_curriculum(self._settings),
            play=measured.play,
            early=options.schedule_steps >= measured_steps,  # a training that is shorter may never be measured
        )

    def _announce(
        self, run: Run, pool: WorkerPool, learner: Algorithm, trainer: Trainer, options: TrainerOptions
    ) -> float:
        """Show the plan of the training and remarks on it. Return the estimated steps per second."""
        found = announcement(run.folder, self._settings.train, pool, learner, trainer.statistics, options)
        self._progress.message(found.plan)
        for remark in found.remarks:
            self._tell(remark)
        return found.steps_per_second

    def _tell(self, text: str) -> None:
        logger.info("%s", text)
        self._progress.message(text)

    def _report_loss(self, loss: WorkerLostError) -> None:
        where = ""
        if logging.getLogger("pkmncli").handlers:  # none before there is a run: the details would go to the terminal
            logger.warning("%s\n%s", loss, loss.details)
            where = " (details in log.txt)"
        self._progress.message(f"{loss}; its episode is played again in a new one{where}")


def larger_budget(train: TrainSettings, summary: Mapping[str, Any]) -> str:
    """Return the options that give a run twice its budget: each one that it has, since the first used up ends it."""
    options = []
    if train.steps is not None or train.episodes is None:
        options.append(f"--steps {2 * int(summary.get('total_steps', 0))}")
    if train.episodes is not None:
        options.append(f"--episodes {2 * int(summary.get('total_episodes', 0))}")
    return " ".join(options)
