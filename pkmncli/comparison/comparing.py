"""Comparison of groups of runs: their scores with confidence intervals, and the probability of improvement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.comparison.compared_runs import (
    ComparedRun,
    Curve,
    Score,
    evaluated_reward,
    learner_alone,
    read_curves,
    score_runs,
    training_reward,
    with_defaults,
)
from pkmncli.comparison.grouping import Group, group_runs, task_of
from pkmncli.comparison.measures import (
    DRAWS,
    Scores,
    area_under_curve,
    bootstrap_interval,
    improvement_interval,
    interquartile_mean,
    mean,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
)
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import Registry
from pkmncli.plurals import counted
from pkmncli.training.evaluation.evaluation import wilson_interval

PROFILE_POINTS = 101
"""Number of thresholds of a profile, evenly spaced from the lowest score to the highest."""

_PROFILE_DRAWS = min(DRAWS, 2_000)
"""Bootstrap samples of a profile; rliable also takes fewer for a whole profile."""

_SCARCE = 3
"""Number of runs in a group below which an interval means little."""


@dataclass(frozen=True, slots=True)
class Question:
    """Definition of a comparison."""

    metric: str | None = None
    """A metric's name; None for the reward: of evaluations if two runs have one, else of the last training episodes."""
    last: int = 1
    """Number of the metric's latest values whose mean is a run's score."""
    lower_is_better: bool = False
    target: float | None = None
    """Target score of the optimality gap; None to leave the gap out."""
    by: tuple[str, ...] = ()
    """Settings that distinguish groups; by default all in which the runs differ."""
    tasks: tuple[str, ...] = ()
    """Settings whose values are tasks; runs are resampled within each task."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure of a group, with the ends of its 95% interval; None for a single run, which gives no interval."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class AloneResult:
    """Results of a group's learners alone from held-out start states, over all episodes of its runs.

    ``low`` and ``high`` are the ends of Wilson's 95% interval of ``share``; the others' shares are of the same starts.
    """

    runs: int
    goal: str | None
    reached: int | None
    """Episodes that are successes; None where nothing says which are."""
    episodes: int
    share: float | None
    low: float | None
    high: float | None
    reward: float
    pilot_share: float | None
    random_share: float | None


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Results of a group of runs."""

    label: str
    settings: Mapping[str, Any]
    runs: tuple[str, ...]
    seeds: tuple[Any, ...]
    steps: tuple[int, ...]
    scores: tuple[float, ...]
    interquartile_mean: Estimate
    mean: Estimate
    optimality_gap: Estimate | None
    area_under_curve: Estimate | None
    training_reward: float | None
    """Mean over the runs of the reward of their last training episodes, whichever side earned it."""
    learner_alone: AloneResult | None
    profile: tuple[float, ...]
    profile_low: tuple[float, ...]
    profile_high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Improvement:
    """Probability that a run of one group does better than a run of another."""

    group: str
    other: str
    probability: Estimate


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of a comparison. ``curves`` are the runs' learning curves by group."""

    score: str
    lower_is_better: bool
    curve: str | None
    curve_steps: tuple[float, float] | None
    thresholds: tuple[float, ...]
    groups: tuple[GroupResult, ...]
    improvements: tuple[Improvement, ...]
    notes: tuple[str, ...]
    not_evaluated: tuple[str, ...] = ()
    """Folders of the runs that are left out because they have no evaluation, unlike others."""
    curves: Mapping[str, Sequence[Curve]] = field(default_factory=dict)

    @property
    def has_profile(self) -> bool:
        """True if scores differ within groups of several runs, so that shares of runs say something."""
        return self.thresholds[0] < self.thresholds[-1] and any(len(group.runs) > 1 for group in self.groups)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, without the curves."""
        return {name: value for name, value in asdict(self).items() if name != "curves"}


def compare(runs: Sequence[ComparedRun], registry: Registry, question: Question) -> Comparison:
    """Put runs into groups and compare them.

    Raises:
        ConfigurationError: no run has a named setting, a run lacks the metric, or a group has no run of a task.
        RunError: a run has nothing to compare yet, or cannot be read.
    """
    runs = with_defaults(runs, registry)
    found, left_out = score_runs(runs, registry, question.metric, question.last)
    apart = [run for run in runs if run.run.folder not in found and run not in left_out]
    groups = group_runs([run for run in runs if run.run.folder in found], question.by, question.tasks)
    runs = [run for group in groups for run in group.runs]
    scores = {
        group.label: _by_task(group, groups, question, lambda run: found[run.run.folder].value) for group in groups
    }
    name, read = read_curves(runs, registry, question.metric)
    curves = {run.run.folder: curve for run, curve in zip(runs, read or (), strict=False)}
    span = _common_steps(curves.values())
    if span is None:
        name, curves = None, {}
    every = [one.value for one in found.values()]
    thresholds = np.linspace(min(every), max(every), PROFILE_POINTS)
    results = []
    for group in groups:
        areas = None
        if span is not None:
            areas = _by_task(group, groups, question, lambda run: area_under_curve(*curves[run.run.folder], *span))
        in_order = tuple(found[run.run.folder].value for run in group.runs)
        results.append(_result(group, in_order, scores[group.label], areas, thresholds, question))
    return Comparison(
        score=_score_name(found.values(), question),
        lower_is_better=question.lower_is_better,
        curve=name,
        curve_steps=span,
        thresholds=tuple(thresholds.tolist()),
        groups=tuple(results),
        improvements=tuple(
            _improvement(one.label, other.label, scores, question)
            for one, other in combinations(groups, 2)
            # The order of two single runs is no probability.
            if min(max(map(len, scores[label])) for label in (one.label, other.label)) > 1
        ),
        notes=tuple(_notes(groups, found.values(), left_out)),
        not_evaluated=tuple(str(run.run.folder) for run in apart),
        curves={group.label: [curves[run.run.folder] for run in group.runs] for group in groups if curves},
    )


def _by_task(
    group: Group, groups: Sequence[Group], question: Question, value: Callable[[ComparedRun], float]
) -> Scores:
    """Return a value of each run: an array for each task, in the order of tasks that all groups share."""
    tasks = sorted({task_of(run, question.tasks) for other in groups for run in other.runs})
    values: list[NDArray[np.float64]] = []
    for task in tasks:
        of_task = [value(run) for run in group.runs if task_of(run, question.tasks) == task]
        if not of_task:
            named = ", ".join(f"{name}={text}" for name, text in zip(question.tasks, task, strict=True))
            raise ConfigurationError(
                f"the group {group.label} has no run with {named}: every group needs runs of each task"
            )
        values.append(np.array(of_task, np.float64))
    return values


def _result(
    group: Group,
    in_order: tuple[float, ...],
    scores: Scores,
    areas: Scores | None,
    thresholds: NDArray[np.float64],
    question: Question,
) -> GroupResult:
    def profile(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return performance_profile(values, thresholds)

    low, high = bootstrap_interval(scores, profile, draws=_PROFILE_DRAWS)
    target = question.target
    return GroupResult(
        label=group.label,
        settings=group.settings,
        runs=tuple(run.run.name for run in group.runs),
        seeds=tuple(run.settings.get("seed") for run in group.runs),
        steps=tuple(int(run.summary.get("total_steps", 0)) for run in group.runs),
        scores=in_order,
        interquartile_mean=_estimate(scores, interquartile_mean),
        mean=_estimate(scores, mean),
        optimality_gap=None if target is None else _estimate(scores, lambda values: optimality_gap(values, target)),
        area_under_curve=None if areas is None else _estimate(areas, interquartile_mean),
        training_reward=_mean([training_reward(run) for run in group.runs]),
        learner_alone=_alone(group),
        profile=tuple(profile(np.concatenate(scores)).tolist()),
        profile_low=tuple(low.tolist()),
        profile_high=tuple(high.tolist()),
    )


def _alone(group: Group) -> AloneResult | None:
    found = [one for run in group.runs if (one := learner_alone(run)) is not None]
    if not found:
        return None
    known = [one for one in found if one.reached is not None]
    reached, episodes = sum(one.reached or 0 for one in known), sum(one.episodes for one in known or found)
    goals = dict.fromkeys(one.goal for one in found)
    low, high = wilson_interval(reached, episodes)
    return AloneResult(
        runs=len(found),
        goal=", ".join(str(goal) for goal in goals) if None not in goals else None,
        reached=reached if known else None,
        episodes=episodes,
        share=reached / episodes if known else None,
        low=low if known else None,
        high=high if known else None,
        reward=float(np.mean([one.reward for one in found])),
        pilot_share=_mean([one.pilot_share for one in found]),
        random_share=_mean([one.random_share for one in found]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _estimate(scores: Scores, measure: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Estimate:
    value = float(measure(np.concatenate(scores)))
    if max(map(len, scores)) < 2:
        return Estimate(value, None, None)
    low, high = bootstrap_interval(scores, measure)
    return Estimate(value, float(low), float(high))


def _improvement(label: str, other: str, scores: Mapping[str, Scores], question: Question) -> Improvement:
    one, two = scores[label], scores[other]
    if question.lower_is_better:
        one, two = [-values for values in one], [-values for values in two]
    probability = probability_of_improvement(one, two)
    return Improvement(label, other, Estimate(probability, *improvement_interval(one, two)))


def _common_steps(curves: Iterable[Curve]) -> tuple[float, float] | None:
    """Return the first and last step that all curves cover; None if they have no range in common."""
    curves = list(curves)
    if not curves:
        return None
    start, end = max(steps[0] for steps, _ in curves), min(steps[-1] for steps, _ in curves)
    return (float(start), float(end)) if start < end else None


def _score_name(found: Iterable[Score], question: Question) -> str:
    if question.metric is not None:
        return question.metric if question.last == 1 else f"{question.metric}, mean of the last {question.last}"
    if any(one.kind == "evaluation" for one in found):
        return "mean reward of the latest evaluation"
    return "mean reward of the last training episodes"


def _notes(groups: Sequence[Group], found: Iterable[Score], left_out: Sequence[ComparedRun]) -> list[str]:
    """Return notes that a reader needs to judge the figures."""
    notes = []
    if left_out:
        names = ", ".join(run.run.name for run in left_out)
        have = "has nothing to compare, and is" if len(left_out) == 1 else "have nothing to compare, and are"
        notes.append(f"{counted(len(left_out), 'run')} of the folder {have} left out: {names}")
    every = [run for group in groups for run in group.runs]
    evaluated = sum(evaluated_reward(run) is not None for run in every)
    if any(one.kind == "training" for one in found) and evaluated:  # one: of two or more, the evaluations count
        notes.append(
            f"only {evaluated} of {counted(len(every), 'run')} is evaluated, so the reward in training is compared, "
            "whichever side earned it; evaluate two or more with pkmn eval to compare evaluations"
        )
    scarce = [group.label for group in groups if len(group.runs) < _SCARCE]
    if scarce:
        few = "one group has" if len(scarce) == 1 else f"{len(scarce)} groups have"
        notes.append(f"{few} fewer than {_SCARCE} runs: too few to estimate chance; train more seeds")
    for group in groups:
        steps = sorted(int(run.summary.get("total_steps", 0)) for run in group.runs)
        if steps[0] < steps[-1]:
            notes.append(
                f"the runs of {group.label} are not equally long, {steps[0]:,} to {steps[-1]:,} steps: "
                "some are still running, or were interrupted"
            )
    return notes
