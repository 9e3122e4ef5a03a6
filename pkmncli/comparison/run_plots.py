"""The data for plots of runs: curves of metrics, milestone splits and visited tiles, by group of similar runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pkmncli.comparison.compared_runs import LEAST_POINTS, ComparedRun, Curve, read_curve, with_defaults
from pkmncli.comparison.grouping import group_runs
from pkmncli.errors import ConfigurationError, PkmnError, RunError, did_you_mean
from pkmncli.plugins import Registry
from pkmncli.training.assembly import open_store
from pkmncli.training.display.verdict import PLAYERS
from pkmncli.training.recording.journey import Journey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TITLES = {
    "alone/goal_share": "Learner alone: share of starts to the goal",
    "alone/reward": "Learner alone: reward",
    "episode/reward": "Reward in training, all sides",
    "episode/success": "Share of successes in training",
    "evaluation/avg_reward": "Reward in evaluations",
    "episode/milestones": "Milestones of an episode",
    "episode/length": "Length of an episode, in steps",
    "share/rl": "Share decided by the learner",
    "episode/llm_share": "Share decided by the LLM",
    "learner/loss": "Loss of the learner",
    "curriculum/trust": "Trust in the rules",
    "time/steps_per_second": "Steps per second",
}
"""Titles of the most important metrics."""

LEVELS = {"alone/goal_share": "goal_share", "alone/reward": "avg_reward"}
"""Curves of the learner alone, with the result of pilot and random play that is drawn beside each as a level."""

SHARES = frozenset(
    {
        "alone/goal_share",
        "share/rl",
        "episode/llm_share",
        "episode/success",
        "evaluation/goal_share",
        "curriculum/trust",
    }
)
"""Curves from 0 to 1, drawn as percentages."""

DEFAULT_METRICS = tuple(TITLES)
"""Curves drawn by default, except those that are constant."""

Tiles = Mapping[int, Mapping[tuple[int, int], int]]
"""Visits by map and tile (x, y)."""


@dataclass(frozen=True, slots=True)
class PlottedGroup:
    """Runs that differ only in the seed."""

    label: str
    runs: tuple[str, ...]
    curves: Mapping[str, Sequence[Curve]]
    """Curves by metric, one for each run that has it, also those of a single value."""
    splits: Mapping[str, Sequence[int]]
    """By milestone, the step of the soonest episode of each run that reached it."""
    tiles: Tiles
    journeys: Sequence[Journey] = ()
    """For each run, the milestones of the episode that got furthest, ended or not, if any."""


@dataclass(frozen=True, slots=True)
class Plotted:
    """All data of the charts."""

    groups: tuple[PlottedGroup, ...]
    metrics: tuple[str, ...]
    milestones: tuple[str, ...]
    """Milestones in the order in which the soonest run reached them; in the game's order for equal steps."""
    map_names: Mapping[int, str]
    levels: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By metric of :data:`LEVELS`, the results of pilot and random play from held-out start states, by their names."""
    map_pictures: Mapping[int, NDArray[np.uint8]] = field(default_factory=dict)
    """The game's maps from the image in hand, (height, width, 3) by id: one pixel for each tile. Never stored."""
    journey_milestones: tuple[str, ...] = ()
    """Milestones of the journeys, by the step at which the soonest of them reached each."""


def read_plotted(runs: Sequence[ComparedRun], registry: Registry, metrics: Sequence[str], by: Sequence[str]) -> Plotted:
    """Read the data for plots of runs, also while they train.

    Args:
        runs: one or more.
        registry: where the stores of their tables are looked up.
        metrics: names of metrics; by default the most important ones.
        by: settings that distinguish groups; by default all that differ.

    Raises:
        ConfigurationError: no run has such a metric or setting.
        RunError: there is nothing to draw yet, or a table cannot be read.
    """
    runs = with_defaults(runs, registry)
    names = [_names(run) for run in runs]
    own = [f"environment/{name}" for run in runs for name in run.summary.get("metrics", ())]
    wanted = tuple(dict.fromkeys(metrics or (*DEFAULT_METRICS, *own)))
    groups = []
    for group in group_runs(runs, by):
        curves = {name: _curves(group.runs, registry, name) for name in wanted}
        groups.append(
            PlottedGroup(
                group.label,
                tuple(run.run.name for run in group.runs),
                {name: found for name, found in curves.items() if found},
                _splits(group.runs),
                _tiles(group.runs, registry),
                _journeys(group.runs),
            )
        )
    drawn = tuple(name for name in wanted if _is_drawn(name, groups, constant=bool(metrics)))
    for name in metrics:
        if name not in drawn:
            raise ConfigurationError(_no_metric(name, runs, registry))
    if not drawn and not any(group.tiles or group.journeys for group in groups):
        raise RunError("there is nothing to draw yet: none of the runs has reached anything")
    order = dict.fromkeys(name for one in names for name in one.get("milestones", ()))
    reached: dict[str, int] = {}
    for one in groups:
        for name, steps in one.splits.items():
            reached[name] = min(*steps, reached.get(name, steps[0]))
    known = [name for name in (*order, *sorted(reached.keys() - order.keys())) if name in reached]
    return Plotted(
        tuple(groups),
        drawn,
        tuple(sorted(known, key=reached.__getitem__)),
        {int(number): str(name) for one in names for number, name in one.get("maps", {}).items()},
        {name: _levels(runs, result) for name, result in LEVELS.items()},
        _pictures(runs, registry, {map_id for group in groups for map_id in group.tiles}),
        _soonest_first([journey for one in groups for journey in one.journeys]),
    )


def _curves(runs: Sequence[ComparedRun], registry: Registry, metric: str) -> list[Curve]:
    curves = [read_curve(run, registry, metric) for run in runs]
    return [curve for curve in curves if len(curve[0])]


def _is_drawn(name: str, groups: Sequence[PlottedGroup], *, constant: bool) -> bool:
    """Return True if a metric has a curve of some group. Then all groups are drawn, also one with a single value.

    Args:
        name: of the metric.
        groups: with their curves.
        constant: draw it also where no curve of it ever changes.
    """
    curves = [curve for group in groups for curve in group.curves.get(name, ()) if len(curve[0]) >= LEAST_POINTS]
    return bool(curves) and (constant or name in LEVELS or any(values.max() > values.min() for _, values in curves))


def _levels(runs: Sequence[ComparedRun], result: str) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for key in ("pilot", "random"):
            if run.summary.get(key) and run.summary[key][result] is not None:
                found[PLAYERS[key]].append(float(run.summary[key][result]))
    return {name: fmean(values) for name, values in found.items()}


def _splits(runs: Sequence[ComparedRun]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        for name, reached in run.summary.get("milestones", {}).items():
            if reached.get("best_step") is not None:
                found[name].append(int(reached["best_step"]))
    return dict(found)


def _journeys(runs: Sequence[ComparedRun]) -> list[Journey]:
    found = [run.summary.get("journey") for run in runs]
    journeys = [Journey.from_dict(journey) for journey in found if journey]
    return [journey for journey in journeys if len(journey.milestones) > 1]


def _soonest_first(journeys: Sequence[Journey]) -> tuple[str, ...]:
    steps: dict[str, int] = {}
    for one in (reached for journey in journeys for reached in journey.milestones):
        steps[one.name] = min(one.step, steps.get(one.name, one.step))
    return tuple(sorted(steps, key=steps.__getitem__))


def _tiles(runs: Sequence[ComparedRun], registry: Registry) -> Tiles:
    found: dict[int, dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    for run in runs:
        store: Any = open_store(registry, run.tables)
        try:
            rows = store.count("decisions", ("map_id", "x", "y")) if hasattr(store, "count") else ()
        finally:
            store.close()
        for map_id, x, y, visits in rows:
            found[map_id][x, y] += visits
    return {map_id: dict(tiles) for map_id, tiles in found.items() if map_id}


def _pictures(
    runs: Sequence[ComparedRun], registry: Registry, maps: Collection[int]
) -> Mapping[int, NDArray[np.uint8]]:
    """Return the game's maps if all runs are of one game whose image is here; otherwise nothing."""
    of_game = ("env", "game", "game_folder", "rom_path")
    if not maps or len({tuple(str(run.settings.get(name)) for name in of_game) for run in runs}) != 1:
        return {}
    try:
        draw = getattr(registry.get("environments", str(runs[0].settings.get("env"))).load(), "map_pictures", None)
        return {} if draw is None else dict(draw(runs[0].settings, maps))
    except PkmnError:
        return {}  # visits are shown without them


def _names(run: ComparedRun) -> dict[str, Any]:
    try:
        return run.run.read_names()
    except RunError:
        return {}  # numbers are shown instead


def _no_metric(metric: str, runs: Sequence[ComparedRun], registry: Registry) -> str:
    names = set()
    for run in runs:
        store = open_store(registry, run.tables)
        try:
            names |= {row["name"] for row in store.read("metrics")}
        finally:
            store.close()
    hint = did_you_mean(metric, sorted(names), f"there are {', '.join(sorted(names)) or 'none'}")
    return f"no run has two values of the metric '{metric}': {hint}"
