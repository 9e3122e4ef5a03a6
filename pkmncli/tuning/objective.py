"""The objective of a tuning: a figure of a run to maximise or minimise, from its metrics up to a step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import fmean
from typing import Any

from pkmncli.comparison.compared_runs import ComparedRun, no_such_metric
from pkmncli.errors import ConfigurationError, RunError
from pkmncli.experiments.plan import check_names
from pkmncli.experiments.standing import ExperimentRun
from pkmncli.plugins import Registry
from pkmncli.runs import Run
from pkmncli.training.assembly import open_store

EPISODES = "episode/reward"
"""Metric that every ended episode has."""

_CLOCK = (EPISODES, "time/steps_per_second")
"""Metrics that show how far a run's tables reach."""

EVALUATED = ("evaluation/avg_reward", "evaluation/std_reward", "evaluation/avg_length", "evaluation/goal_share")
_KNOWN = (
    *EVALUATED,
    *(EPISODES, "episode/length", "episode/milestones", "episode/llm_share", "episode/average_reward"),
    *("share/rl", "share/explore", "share/rule", "share/llm", "strategy/llm_share"),
    *("curriculum/stage", "curriculum/trust", "alone/reward"),
)
_OPEN = ("learner/", "milestone/", "reward/", "time/", "store/", "memory/")
"""Prefixes of metrics whose names depend on learner, game or reward."""

_SHARE = re.compile(r"milestone/(?P<name>.+)/share")
LAST_EPISODES = 10


@dataclass(frozen=True, slots=True)
class Objective:
    """A metric, the number of its latest values to average, and the better direction.

    Values of the same step count together, such as those of episodes that ended with it in several environments.
    ``milestone/NAME/share`` is the share of the latest episodes that reached a milestone.
    """

    metric: str
    last: int
    maximize: bool

    @property
    def milestone(self) -> str | None:
        """Milestone of a share metric; None for other metrics."""
        found = _SHARE.fullmatch(self.metric)
        return found["name"] if found else None

    def __str__(self) -> str:
        what = self.metric if self.last == 1 else f"{self.metric} over the last {self.last}"
        return f"{what}, {'higher' if self.maximize else 'lower'} is better"


def check_metric(metric: str) -> None:
    """Raise ConfigurationError for a name that no run could have a metric of."""
    if not metric.startswith(_OPEN):
        check_names([metric], _KNOWN, "metric")


@dataclass(frozen=True, slots=True)
class Measured:
    """A run's tables for an objective: the steps that they reach, and rows of step, name and value by step."""

    steps: int
    rows: tuple[tuple[int, str, float], ...]

    def value(self, objective: Objective, until: float) -> float | None:
        """Return the objective's figure from what the run had measured after ``until`` steps; None if nothing yet."""
        rows = [row for row in self.rows if row[0] <= until]
        if objective.milestone is None:
            values = _latest(rows, objective.metric, objective.last)
            return fmean(value for _, value in values) if values else None
        ends = _latest(rows, EPISODES, objective.last)
        if not ends:
            return None
        # an episode's milestones have the step at which it ended
        reached = sum(step >= ends[0][0] for step, name, _ in rows if name == _column(objective))
        return reached / len(ends)


def _latest(rows: Sequence[tuple[int, str, float]], metric: str, last: int) -> list[tuple[int, float]]:
    """Return step and value of the ``last`` latest rows of a metric, and of all rows of the same step as the first."""
    found = [(step, value) for step, name, value in rows if name == metric]
    return [(step, value) for step, value in found if step >= found[-last:][0][0]]


def measure(one: ExperimentRun, objective: Objective, registry: Registry) -> Measured:
    """Read the metrics of a run, also while it trains.

    Raises:
        ConfigurationError: its game has no such milestone.
    """
    if not one.run.versions_file.exists():
        return Measured(0, ())
    _check_milestone(one.run, objective)
    names = list(dict.fromkeys([_column(objective), *_CLOCK]))
    elsewhere = one.settings.train.decision_db_path
    store = open_store(registry, one.run.folder if elsewhere is None else elsewhere / one.run.name)
    try:
        rows: Sequence[Mapping[str, Any]] = store.read("metrics", f"name IN ({', '.join('?' * len(names))})", names)
    finally:
        store.close()
    found = [(int(row["global_step"]), str(row["name"]), float(row["value"])) for row in rows]
    # by step only: sorted by value too, the highest of a step would be the latest
    found.sort(key=itemgetter(0))
    return Measured(found[-1][0] if found else 0, tuple(found))


def no_figure(one: ExperimentRun, objective: Objective, registry: Registry) -> ConfigurationError | RunError:
    """Return the error that explains why an ended run has no figure."""
    if objective.milestone is not None or objective.metric == EPISODES:
        return RunError(
            f"run {one.run.folder} has nothing to measure: none of its episodes has ended; give it more steps"
        )
    return ConfigurationError(no_such_metric(ComparedRun(one.run, {}), registry, objective.metric))


def _column(objective: Objective) -> str:
    return objective.metric if objective.milestone is None else f"milestone/{objective.milestone}/step"


def _check_milestone(run: Run, objective: Objective) -> None:
    if objective.milestone is not None and run.names_file.exists():
        names = run.read_names().get("milestones", ())
        check_names([objective.milestone], [str(name) for name in names], "milestone of this game")
