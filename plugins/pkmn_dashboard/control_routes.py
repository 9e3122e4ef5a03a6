"""Routes that control the training: pause, resume, save, stop."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from pkmn_dashboard.answers import Asked, Refusal
from pkmn_dashboard.watched_run import WatchedRun
from pkmncli.api.live import LiveTraining

REFUSALS: dict[int | str, dict[str, Any]] = {
    403: {"model": Refusal, "description": "this page only shows the run, or the request is not the page's own"},
    409: {"model": Refusal, "description": "no training is running in the run"},
}


def control_routes(run: WatchedRun) -> APIRouter:
    """Return the routes of one run. Each needs the header that :mod:`pkmn_dashboard.gate` requires."""
    router = APIRouter(tags=["control"], responses=REFUSALS)

    def training() -> LiveTraining:
        if not run.may_control:
            raise HTTPException(403, "this page only shows the run")
        found = run.training()
        if found is None:
            raise HTTPException(409, "no training is running in this run")
        return found

    @router.post("/pause", status_code=202)
    def pause() -> Asked:
        """Pause the training after its current step."""
        training().pause(True)
        return Asked(asked="pause")

    @router.post("/resume", status_code=202)
    def resume() -> Asked:
        """Resume the training."""
        training().pause(False)
        return Asked(asked="resume")

    @router.post("/save-checkpoint", status_code=202)
    def save_checkpoint() -> Asked:
        """Write a checkpoint."""
        training().save_checkpoint()
        return Asked(asked="checkpoint")

    @router.post("/save-start", status_code=202)
    def save_start(environment: Annotated[int, Query(ge=0, le=65535, description="from 0")] = 0) -> Asked:
        """Keep the state of an environment as a start state."""
        found = training()
        if environment >= found.num_envs:
            raise HTTPException(409, f"there is no environment {environment}: the last one is {found.num_envs - 1}")
        found.save_start(environment)
        return Asked(asked="start")

    @router.post("/stop", status_code=202)
    def stop() -> Asked:
        """Save and end the training."""
        training().stop()
        return Asked(asked="stop")

    return router
