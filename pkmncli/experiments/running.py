"""An experiment from its file to its comparison, for the command and for scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pkmncli.atomic_files import write_atomic, write_errors_explained
from pkmncli.comparison.compared_runs import find_runs
from pkmncli.comparison.comparing import Comparison, Question, compare
from pkmncli.experiments.plan import TRAIN, Plan, read_plan
from pkmncli.experiments.side_by_side import STOPPING, Ended, run_side_by_side
from pkmncli.experiments.standing import ExperimentRun, State, prepare
from pkmncli.experiments.training_bars import TrainingBars
from pkmncli.plugins import Registry
from pkmncli.training.display.progress import ProgressWriter
from pkmncli.training.interrupts import InterruptFlag

KEPT_FILE = "experiment.toml"
"""Latest copy of the experiment's file."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment: its plan, its runs and their states before any of them is trained."""

    plan: Plan
    runs: Sequence[ExperimentRun]
    states: Mapping[str, State]
    file: Path

    @classmethod
    def read(cls, file: Path, save_dir: Path, registry: Registry) -> Experiment:
        """Read the file of an experiment and check all its runs.

        Raises:
            ConfigurationError: something in the file is wrong, or an existing run has other settings.
        """
        plan = read_plan(file)
        runs = prepare(plan, save_dir, registry)
        return cls(plan, runs, {one.name: one.state for one in runs}, file)

    @property
    def folder(self) -> Path:
        """Folder of its runs."""
        return self.runs[0].run.folder.parent

    def train(
        self,
        processes: int | None,
        tell: Callable[[str, str], None] = lambda name, text: None,
        progress: ProgressWriter | None = None,
    ) -> tuple[list[str], InterruptFlag]:
        """Train all unfinished runs. Ctrl-C saves them.

        Args:
            processes: number of parallel trainings; the file's if None.
            tell: takes the name of each run that has ended, and what became of it.
            progress: shows the trainings; without one nothing does.

        Returns:
            The names of those that failed, and the signal that ended it early, if any.
        """
        failed: list[str] = []

        waiting = [one for one in self.runs if self.states[one.name] is not State.FINISHED]
        shares = {one.name: one.share_done for one in self.runs}
        bars = None if progress is None else TrainingBars(progress, "all runs", len(shares), shares)

        def on_end(end: Ended) -> None:
            if not end.exit_code:
                tell(end.one.name, reached(end.one))
            elif interrupted:
                tell(end.one.name, f"stopped, {reached(end.one)}")
            else:
                failed.append(end.one.name)
                tell(end.one.name, f"failed with exit code {end.exit_code}: {end.said}")

        with write_errors_explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomic(self.folder / KEPT_FILE, self.file.read_bytes())
        with InterruptFlag(STOPPING) as interrupted:
            for one in self.runs:
                if self.states[one.name] is State.FINISHED:
                    tell(one.name, f"finished before, {reached(one)}")
            run_side_by_side(
                waiting,
                processes or self.plan.processes,
                interrupted=lambda: bool(interrupted),
                on_end=on_end,
                on_look=bars.look if bars is not None else lambda running: None,
            )
        return failed, interrupted

    def compare(self, registry: Registry) -> Comparison | None:
        """Return the comparison of the finished runs; None if there are fewer than two.

        Raises:
            PkmnError: they cannot be compared.
        """
        finished = [str(one.run.folder) for one in self.runs if one.state is State.FINISHED]
        if len(finished) < 2:
            return None
        by = self.plan.varying or (("rl",) if self.runs[0].planned.command == TRAIN else ())
        return compare(find_runs(finished, None), registry, Question(by=by))


def reached(one: ExperimentRun) -> str:
    """Return what a run has reached, in words."""
    summary = one.run.read_summary()
    reward = summary.get("final_avg_reward")
    told = "" if reward is None else f", reward in training {reward:.1f} over the last episodes"
    return f"{summary.get('total_steps', 0):,} steps{told}. {summary.get('verdict', '')}".rstrip()
