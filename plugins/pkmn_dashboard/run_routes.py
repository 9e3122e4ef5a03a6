"""Routes that read the run: its description, its records, its state. None of them takes a path."""

from __future__ import annotations

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from pkmn_dashboard.answers import (
    AdviceAnswer,
    Episode,
    Evaluation,
    MapPicture,
    Metric,
    Milestone,
    Patterns,
    RecordedDecision,
    RunBeside,
    RunDescription,
    Series,
    State,
    Transcript,
    VisitedMap,
    VisitedTile,
)
from pkmn_dashboard.kept_evaluations import KeptEvaluations
from pkmn_dashboard.live_events import LiveEvents
from pkmn_dashboard.patterns import Patterns as PatternFinder
from pkmn_dashboard.pictures import png
from pkmn_dashboard.runs_beside import MOST_COMPARED, RunsBeside
from pkmn_dashboard.tables import Cursor, Tables
from pkmn_dashboard.watched_run import WatchedRun
from pkmncli.api import DECISION_HORIZON, Source
from pkmncli.api.live import LiveStanding

MOST_NAMES = 100
LARGEST_STEP = 2**62

Limit = Annotated[int, Query(ge=1, le=500, description="most rows")]
Before = Annotated[int | None, Query(ge=0, le=LARGEST_STEP, description="only what came before this step of the run")]
BeforeEnvironment = Annotated[
    int, Query(ge=0, le=65535, description="and of that step itself only environments before this one")
]


def run_routes(run: WatchedRun, events: LiveEvents, tables: Tables, beside: RunsBeside | None) -> APIRouter:
    """Return the routes of one run, and of the runs in its folder if they are given."""
    router = APIRouter(tags=["run"])
    kept = KeptEvaluations(run.folder)
    finder = PatternFinder(run.tables_folder)

    @router.get("/run")
    async def description() -> RunDescription:
        """Return the identity of the run, and the names of its numbers."""
        names, training = run.names(), run.training()
        shape = None if training is None else training.screen_shape
        return RunDescription(
            name=run.folder.name,
            folder=str(run.folder),
            state=(await events.state())["run"],
            steps=run.steps(),
            may_control=run.may_control and training is not None,
            game=str(names.get("game", "")),
            settings=run.settings().get("", {}),
            screen_shape=None if shape is None else list(shape),
            maps={str(number): str(name) for number, name in dict(names.get("maps", {})).items()},
            phases=[str(name) for name in names.get("phases", [])],
            actions=run.action_names(),
            frames_per_second=run.frames_per_second(),
            milestones=[str(name) for name in names.get("milestones", [])],
            goal=names.get("goal"),
        )

    @router.get("/state")
    async def state() -> State:
        """Return the present state of the training."""
        return State(**await events.state())

    @router.get("/summary")
    def summary() -> dict[str, object]:
        """Return the run's summary, as of its latest checkpoint or its end."""
        return dict(run.read_json("summary.json"))

    @router.get("/metric-names")
    def metric_names() -> list[Metric]:
        """Return the run's metrics, with their latest values."""
        return [Metric(**row) for row in tables.metric_names()]

    @router.get("/metrics")
    def metrics(
        name: Annotated[list[str], Query(min_length=1, max_length=MOST_NAMES, description="names of metrics")],
        points: Annotated[int, Query(ge=2, le=2000, description="most points of each")] = 400,
    ) -> dict[str, Series]:
        """Return metrics over the steps of the run."""
        found = tables.metrics(sorted(set(name)), points)
        return {one: Series.model_validate(series) for one, series in found.items()}

    @router.get("/runs")
    def runs() -> list[RunBeside]:
        """Return the runs in the folder of this one, newest first; none if only this run may be seen."""
        return [] if beside is None else [RunBeside(**row) for row in beside.listed()]

    @router.get("/runs/metric")
    def metric_of_runs(
        run: Annotated[list[str], Query(min_length=1, max_length=MOST_COMPARED, description="names of runs")],
        name: Annotated[str, Query(description="name of a metric")],
        points: Annotated[int, Query(ge=2, le=2000, description="most points of each")] = 400,
    ) -> dict[str, Series]:
        """Return a metric of several runs in the folder of this one; unknown names are left out."""
        found = {} if beside is None else beside.metric(run, name, points)
        return {one: Series.model_validate(series) for one, series in found.items()}

    @router.get("/milestones")
    def milestones() -> list[Milestone]:
        """Return the game's milestones, with splits."""
        order = [str(name) for name in run.names().get("milestones", [])]
        running, rows = _running_milestones(run), tables.milestones(order, run.frames_per_second())
        return [Milestone(**row, **running.get(row["name"], {})) for row in rows]

    @router.get("/episodes")
    def episodes(limit: Limit = 50) -> list[Episode]:
        """Return the latest episodes, newest first."""
        return [Episode(**row) for row in tables.episodes(limit)]

    @router.get("/evaluations")
    def evaluations() -> list[Evaluation]:
        """Return the latest evaluations that the run keeps, newest first."""
        return kept.listed()

    @router.get("/decisions")
    def decisions(
        source: Annotated[Source | None, Query(description="0 rl, 1 explore, 2 rule, 3 llm")] = None,
        before: Before = None,
        before_environment: BeforeEnvironment = 0,
        limit: Limit = 50,
    ) -> list[RecordedDecision]:
        """Return the latest decisions, newest first."""
        wanted = None if source is None else int(source)
        return [
            RecordedDecision(**row) for row in tables.decisions(wanted, limit, cursor_of(before, before_environment))
        ]

    @router.get("/maps")
    def maps() -> list[VisitedMap]:
        """Return the visited maps, the one with the most steps first."""
        return [VisitedMap(**row) for row in tables.maps()]

    @router.get("/maps/{map_id}/visits")
    def visits(map_id: Annotated[int, Path(ge=0, le=2**32 - 1)]) -> list[VisitedTile]:
        """Return the visited tiles of a map."""
        return [VisitedTile(**row) for row in tables.visits(map_id)]

    @router.get("/maps/{map_id}/picture")
    def picture(map_id: Annotated[int, Path(ge=0, le=2**32 - 1)]) -> MapPicture:
        """Return the picture of a map from the game's image, which is written nowhere."""
        pixels = run.map_picture(map_id)
        if pixels is None:
            return MapPicture(png=None, width=0, height=0)
        height, width = pixels.shape[:2]
        return MapPicture(png=base64.b64encode(png(pixels)).decode(), width=width, height=height)

    @router.get("/advice")
    def advice(
        before: Before = None,
        before_environment: BeforeEnvironment = 0,
        limit: Annotated[int, Query(ge=1, le=50)] = 10,
    ) -> Transcript:
        """Return the questions to the language model and its answers, newest first."""
        costs = tables.metrics(["llm/cost_usd"], 2000)["llm/cost_usd"]["values"]
        total = run.read_json("summary.json").get("llm", {}).get("cost_usd")
        return Transcript(
            **tables.advice_totals(),
            cost_usd=total if total is not None else max(costs, default=None),
            latest=[AdviceAnswer(**row) for row in tables.advice(limit, cursor_of(before, before_environment))],
        )

    @router.get("/patterns")
    def patterns(
        min_frequency: Annotated[int, Query(ge=1, le=10**9, description="least number of times")] = 20,
        limit: Limit = 25,
    ) -> Patterns:
        """Return the actions that paid off, by situation."""
        return Patterns(horizon=DECISION_HORIZON, patterns=finder.find(min_frequency, limit))

    return router


def _running_milestones(run: WatchedRun) -> dict[str, dict[str, Any]]:
    """Return the step and time at which the furthest running episode reached each milestone.

    After the training, that is the episode in which the run got furthest, if it was not played to its end.
    """
    training = run.training()
    standings = [_unfinished(run)] if training is None else training.standings()
    furthest = max(standings, key=lambda one: len(one.milestones), default=LiveStanding())
    return {
        name: {"running_step": step, "running_s": None if frame is None else frame / run.frames_per_second()}
        for name, step, frame in furthest.milestones
    }


def _unfinished(run: WatchedRun) -> LiveStanding:
    """Return the milestones of the episode in which the run got furthest; none if it ended, or they are damaged."""
    try:
        journey = run.read_json("summary.json")["journey"]
        reached = () if journey["ended"] else journey["milestones"]
        return LiveStanding(tuple((str(one["name"]), int(one["step"]), int(one["frame"])) for one in reached))
    except (KeyError, TypeError, ValueError, OverflowError):
        return LiveStanding()


def cursor_of(step: int | None, environment: int) -> Cursor | None:
    """Return the place before which rows are wanted, from a request's parameters; None for the newest rows."""
    return None if step is None else (step, environment)
