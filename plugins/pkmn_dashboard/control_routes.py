"""Routes that ask something of the training: to stand still, to go on, to save, to end."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from pkmn_dashboard.answers import Asked, Refusal
from pkmn_dashboard.watched_run import WatchedRun
from pkmncli.api.live import LiveTraining

REFUSALS: dict[int | str, dict[str, Any]] = {
    403: {"model": Refusal, "description": "this page only shows the run, or the request is not the page's own"},
    409: {"model": Refusal, "description": "no training goes on in the run"},
}


def control_routes(run: WatchedRun) -> APIRouter:
    """The routes of one run. Each needs the header that :mod:`pkmn_dashboard.gate` asks for."""
    router = APIRouter(tags=["control"], responses=REFUSALS)

    def training() -> LiveTraining:
        if not run.may_control:
            raise HTTPException(403, "this page only shows the run")
        found = run.training()
        if found is None:
            raise HTTPException(409, "no training goes on in this run")
        return found

    @router.post("/pause", status_code=202)
    def pause() -> Asked:
        """Has the training stand still after its current step."""
        training().pause(True)
        return Asked(asked="pause")

    @router.post("/resume", status_code=202)
    def resume() -> Asked:
        """Has the training go on."""
        training().pause(False)
        return Asked(asked="resume")

    @router.post("/save-checkpoint", status_code=202)
    def save_checkpoint() -> Asked:
        """Has a checkpoint written."""
        training().save_checkpoint()
        return Asked(asked="checkpoint")

    @router.post("/save-start", status_code=202)
    def save_start(environment: Annotated[int, Query(ge=0, le=65535, description="from 0")] = 0) -> Asked:
        """Has the state of an environment kept, for episodes to begin in."""
        found = training()
        if environment >= found.num_envs:
            raise HTTPException(409, f"there is no environment {environment}: the last one is {found.num_envs - 1}")
        found.save_start(environment)
        return Asked(asked="start")

    @router.post("/stop", status_code=202)
    def stop() -> Asked:
        """Has the training save and end."""
        training().stop()
        return Asked(asked="stop")

    return router
