"""A run that a plugin's command makes: it records what the command does, as a training records itself.

Plugins get it from :func:`pkmncli.api.runs.start` and :func:`pkmncli.api.runs.resume`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmncli.api import EpisodeSummary, Facts, RunInfo, Source, Store
from pkmncli.diagnostics import warn
from pkmncli.errors import ConfigurationError, RunError
from pkmncli.training.checkpoints.files import Checkpoint
from pkmncli.training.checkpoints.state import TrainerState, check_state
from pkmncli.training.command_progress import CommandProgress
from pkmncli.training.command_scene import CommandScene
from pkmncli.training.display.callbacks import Callback, Callbacks
from pkmncli.training.display.live_board import LiveBoardServer
from pkmncli.training.display.meters import metrics_of
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.episodes import RunningEpisode, outcome_of
from pkmncli.training.recording.recorder import BATCH_ROWS, Recorder
from pkmncli.training.recording.single_decisions import SingleDecisions

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pkmncli.training.interrupts import InterruptFlag
    from pkmncli.training.run_keeper import RunKeeper

logger = logging.getLogger(__name__)

FACTS_OF_NOTHING = Facts()


class CommandRun:
    """Run of a plugin's command, while it is written. Records are in the order of their steps.

    A step is whatever the command counts, from 0. Everything is on disk a few seconds after it was recorded. A run that
    resumes goes back to its latest checkpoint, and what was recorded after that is set aside.

    Args:
        keeper: writes the folder.
        store: the tables.
        settings: of the command.
        seed: of the run.
        followers: trackers and plugins that follow the run.
        interrupted: true once the run should end.
        scene: shown to viewers.
        resumed: the checkpoint that the run resumes from; None for a new run.
    """

    def __init__(
        self,
        keeper: RunKeeper,
        store: Store,
        settings: BaseModel | Mapping[str, Any],
        seed: int,
        followers: Sequence[Callback],
        interrupted: InterruptFlag,
        scene: CommandScene,
        resumed: Checkpoint | None,
    ) -> None:
        self.settings: Any = settings
        """The command's settings: an instance of its registered model, or plain values."""
        self.seed = seed
        """Seed of everything random."""
        self.state: Mapping[str, Any] | None = None if resumed is None else resumed.learner
        """State in the checkpoint that the run resumes from; None for a new run."""
        self.step = 0 if resumed is None else resumed.step
        """Latest step that something was recorded or saved at."""
        self.finished = False
        """True after :meth:`finish`."""
        self._keeper = keeper
        self._interrupted = interrupted
        self._scene = scene
        self._statistics = TrainingStatistics() if resumed is None else resumed.trainer.statistics
        self._board = LiveBoardServer(keeper.run.folder, scene)
        self._notify = Callbacks([*followers, self._board])
        self._progress = CommandProgress(
            keeper.info, self._statistics, lambda: self.stop_requested, self._flush, self._notify
        )
        self._decisions = SingleDecisions(BATCH_ROWS)
        self._recorder = Recorder(
            store,
            self._decisions,
            on_batch=lambda rows: self._notify(Callback.on_rows, self._progress, rows),
        )
        self._decided_at = self.step
        self._saved_at = -1
        keeper.on_new_folder = lambda: self._notify(Callback.on_new_folder)
        if resumed is not None:
            self._saved_at = resumed.step
            self._recorder.load_state_dict(resumed.trainer.recorder)
            logger.info(
                "going on from step %d; %d later rows set aside", self.step, self._recorder.supersede(self.step)
            )

    # What it is ------------------------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """Folder of the run."""
        return self._keeper.run.folder

    @property
    def info(self) -> RunInfo:
        """The run as hooks and trackers see it."""
        return self._keeper.info

    @property
    def stop_requested(self) -> bool:
        """True once the run should end: after Ctrl-C or SIGTERM, or when a viewer stopped it.

        Save a checkpoint then, and finish.
        """
        return bool(self._interrupted) or self._board.want_stop

    @property
    def checkpoint_requested(self) -> bool:
        """True if a viewer asked for a checkpoint, or the folder was deleted and is made again with nothing in it."""
        return self._progress.checkpoint_requested

    @property
    def exit_code(self) -> int:
        """Exit code for the command: 0, or that of the signal that ended the run."""
        return self._interrupted.exit_code if self.stop_requested else 0

    # Recording -------------------------------------------------------------------------------------------------------

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Record metrics by name, measured after ``step`` steps: for charts, trackers and ``pkmn compare --metric``.

        Raises:
            RunError: a step before this one was recorded or saved already, or the disk is full.
        """
        self._go_to(step)
        self._keep({name: float(value) for name, value in values.items()})
        self._after()

    def episode(
        self,
        step: int,
        *,
        reward: float,
        steps: int,
        environment: int = 0,
        success: bool | None = None,
        truncated: bool = False,
        seed: int = 0,
        milestones: Mapping[str, int] | None = None,
        metrics: Mapping[str, float] | None = None,
        llm_share: float = 0.0,
    ) -> None:
        """Record an episode, or whatever the command's work is divided into, that ended after ``step`` steps.

        Args:
            step: steps of the run.
            reward: the episode's total.
            steps: its length.
            environment: number of the environment or agent, from 0.
            success: true if it reached its goal, false if not; None if there is no such goal.
            truncated: true if a limit ended it.
            seed: of its start.
            milestones: goals reached in it, each with the step of the episode that reached it.
            metrics: its figures by name, which are recorded as ``environment/NAME``.
            llm_share: share of its steps that a language model decided, 0..1.

        Raises:
            RunError: a step before this one was recorded or saved already, there is no such environment, or the disk
                is full.
        """
        self._check_environment(environment)
        self._go_to(step)
        step, steps = int(step), int(steps)  # numpy's own are no plain values
        success = None if success is None else bool(success)
        summary = EpisodeSummary(
            environment=environment,
            episode=self._decisions.end_episode(environment),
            seed=int(seed),
            steps=steps,
            total_reward=float(reward),
            terminated=not truncated,
            outcome=outcome_of(success, terminated=not truncated),
            llm_share=float(llm_share),
            milestone_steps={name: int(reached) for name, reached in (milestones or {}).items()},
            first_step=max(step - steps, 0),
            success=success,
            metrics={name: float(value) for name, value in (metrics or {}).items()},
        )
        self._recorder.add_episode(RunningEpisode(), summary, last_step=step, frames=0)
        self._statistics.add_episode(summary, 1)
        self._keep({**metrics_of(summary, {}), "episode/average_reward": self._statistics.average_reward or 0.0})
        self._notify(Callback.on_episode, self._progress, summary)
        self._after()

    def decision(
        self,
        step: int,
        action: int,
        *,
        reward: float = 0.0,
        environment: int = 0,
        source: Source = Source.RL,
        confidence: float = 1.0,
        terminated: bool = False,
        truncated: bool = False,
        reason: str = "",
        model: str = "",
        latency_s: float = 0.0,
        facts: Facts = FACTS_OF_NOTHING,
    ) -> None:
        """Record a decision, for ``pkmn analyze-patterns`` and the live page. No two decisions have the same step.

        Args:
            step: steps of the run with this one, above that of the decision before.
            action: number of the action taken.
            reward: what the step earned.
            environment: number of the environment or agent, from 0.
            source: deciding side.
            confidence: how sure that side was, 0..1.
            terminated: true if it ended an episode by the rules.
            truncated: true if a limit ended an episode.
            reason: the reason in a few words.
            model: language model whose advice was followed.
            latency_s: seconds that its answer took.
            facts: the situation in which it was taken.

        Raises:
            RunError: a step before this one was recorded or saved already, or the disk is full.
        """
        self._check_environment(environment)
        if step <= self._decided_at:
            raise RunError(f"run {self.folder}: the decision of step {step} follows that of step {self._decided_at}")
        self._go_to(step)
        self._decided_at = self.step
        values = {
            **facts._asdict(),
            "global_step": self.step,
            "action": int(action),
            "source": int(source),
            "confidence": float(confidence),
            "reward": float(reward),
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "reason": reason,
            "model": model,
            "latency_s": float(latency_s),
        }
        self._scene.show(environment, self._decisions.add(environment, values))
        self._statistics.steps_by_source[int(source)] += 1
        if self._decisions.full:
            self._keeper.write(self._recorder.hand_over)
        self._after()

    def live(
        self, *, fraction_done: float | None = None, progress: Mapping[str, float] | None = None, environment: int = 0
    ) -> None:
        """Show viewers the progress, and carry out their requests. Cheap enough to be called at every step.

        This returns after a pause if a viewer asked for one.

        Args:
            fraction_done: used share of the budget, 0..1.
            progress: a few named numbers of the running episode.
            environment: the environment that they are of.
        """
        if fraction_done is not None:
            self._progress.fraction_done = min(max(float(fraction_done), 0.0), 1.0)
        if progress is not None:
            self._check_environment(environment)
            self._scene.progress[environment] = dict(progress)
        self._after()

    def tell(self, text: str) -> None:
        """Write a line to standard error, and into ``log.txt``."""
        warn(text)

    # Saving ----------------------------------------------------------------------------------------------------------

    def keep_checkpoints(self, count: int) -> None:
        """Keep so many of the newest checkpoints, in place of the setting ``keep_checkpoints``."""
        self._keeper.keep_checkpoints(count)

    def checkpoint(self, step: int, state: Mapping[str, Any], *, best: bool = False) -> Path:
        """Write a checkpoint, whole or not at all. What was recorded before is on disk or in the checkpoint then.

        Args:
            step: steps of the run. What is recorded later has a step above it.
            state: all that the command needs to resume: arrays, and plain values (JSON), by name.
            best: true to mark it as the best.

        Returns:
            Its folder.

        Raises:
            ConfigurationError: the state holds something else.
            RunError: the disk is full, or the run exceeds ``disk_limit_gb``.
        """
        check_state(state)
        step = int(step)
        if step != self._saved_at:
            self._go_to(step)
        self._keeper.look()
        self._flush()
        self._notify(Callback.before_checkpoint)
        checkpoint = Checkpoint(
            step=step,
            learner=dict(state),
            trainer=TrainerState(statistics=self._progress.statistics, recorder=self._recorder.state_dict()),
            workers=(),
            best=best,
        )
        path = self._keeper.save(checkpoint, lambda: ())
        self._saved_at, self._progress.checkpoint_requested = step, False
        self._notify(Callback.on_checkpoint, self._progress, path)
        return path

    def finish(self, summary: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """End the run, also one that was asked to stop: write its summary. Nothing can be recorded afterwards.

        Args:
            summary: results as plain values, beside those that every run has.

        Returns:
            The whole summary.

        Raises:
            ConfigurationError: a result has the name of one that every run has.
            RunError: the run is no longer in its folder, or the disk is full.
        """
        if self.finished:
            raise RunError(f"run {self.folder} is finished already")
        own = self._progress.statistics.summary()
        taken = sorted(set(own) & set(summary or ()))
        if taken:
            raise ConfigurationError(f"result '{taken[0]}' is in the summary of every run: choose another name")
        whole = {**own, "finished": not self.stop_requested, **(summary or {})}
        self._keeper.write(self._recorder.finish)
        self._notify(Callback.on_finish, self._progress, whole)
        self._keeper.finish(whole)
        self.finished = True
        return whole

    @contextmanager
    def writing(self) -> Iterator[CommandRun]:
        """Record while entered, and finish at the end if nothing failed."""
        with ExitStack() as ending:  # the last one first, each whatever became of the others
            ending.callback(self._notify.end, self._progress)
            ending.callback(self._recorder.close)
            ending.enter_context(self._board)
            self._notify(Callback.on_start, self._progress)
            yield self
            if not self.finished:
                self.finish()

    # Parts -----------------------------------------------------------------------------------------------------------

    def _go_to(self, step: int) -> None:
        if self.finished:
            raise RunError(f"run {self.folder} is finished: nothing more can be recorded")
        if step < self.step or step <= self._saved_at:
            saved = " was saved" if step <= self._saved_at else ""
            raise RunError(
                f"run {self.folder}: step {step} is recorded after step {max(self.step, self._saved_at)}{saved}; steps "
                "only rise, and a checkpoint comes last of its step"
            )
        self.step = self._statistics.steps = int(step)

    def _check_environment(self, environment: int) -> None:
        if not 0 <= environment < self._scene.num_envs:
            raise RunError(
                f"run {self.folder} has no environment {environment}: it was started with {self._scene.num_envs}, "
                "counted from 0"
            )

    def _keep(self, metrics: Mapping[str, float]) -> None:
        if metrics:
            self._recorder.add_metrics(self.step, metrics)
            self._notify(Callback.on_metrics, self._progress, metrics)

    def _flush(self) -> None:
        self._keeper.write(self._recorder.flush)

    def _after(self) -> None:
        """Flush, look after the folder and serve viewers, each where that is due."""
        if self._keeper.look_if_due():
            self._progress.checkpoint_requested = True
        if self._recorder.flush_is_due:
            self._keeper.write(self._recorder.begin_flush)
        self._notify(Callback.before_step, self._progress)
