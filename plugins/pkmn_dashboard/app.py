"""Application of the page: the page itself, the live events, and the routes of the other modules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import duckdb
from fastapi import FastAPI, HTTPException, Query
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles

from pkmn_dashboard.answers import Refusal
from pkmn_dashboard.control_routes import control_routes
from pkmn_dashboard.gate import EVENTS, Gate, GateMiddleware
from pkmn_dashboard.live_events import HIGHEST_RATE, MOST_VIEWERS, LiveEvents
from pkmn_dashboard.run_routes import run_routes
from pkmn_dashboard.runs_beside import RunsBeside
from pkmn_dashboard.tables import Tables
from pkmn_dashboard.watched_run import WatchedRun
from pkmncli.errors import PkmnError

PAGE = Path(__file__).parent / "page"


def make_app(
    run: WatchedRun, events: LiveEvents, gate: Gate, tables: Tables | None = None, beside: RunsBeside | None = None
) -> FastAPI:
    """Return the application of one run's page.

    Args:
        run: the run.
        events: its live events.
        gate: check of the requests.
        tables: its tables; by default those in its folder.
        beside: the runs in its folder; None shows none but the run.
    """
    app = FastAPI(
        title="pkmn dashboard",
        version="1",
        description="One run of pkmn train: its records, its state, and its controls.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # that page would load from the network
        redoc_url=None,
    )

    @app.get("/api/events", tags=["live"], responses={503: {"model": Refusal}}, response_class=StreamingResponse)
    async def live_events(
        rate: Annotated[float, Query(ge=0, le=HIGHEST_RATE, description="pictures a second, at most")] = 5,
        screens: Annotated[bool, Query(description="whether pictures are sent at all")] = True,
    ) -> StreamingResponse:
        """Send events `live` with the state and the changed screens, and `end` when the server ends."""
        if events.viewers >= MOST_VIEWERS:
            raise HTTPException(503, f"{MOST_VIEWERS} viewers are watching already")
        return StreamingResponse(events.events(rate, pictures=screens), media_type="text/event-stream")

    @app.head(EVENTS, include_in_schema=False)
    async def of_live_events() -> Response:
        return Response(media_type="text/event-stream")

    @app.exception_handler(PkmnError)
    @app.exception_handler(duckdb.Error)
    async def told(_request: Any, error: Exception) -> JSONResponse:
        """Report an error, such as a file of the run that cannot be read."""
        return JSONResponse({"detail": str(error).strip().split("\n", 1)[0]}, 503)

    app.include_router(run_routes(run, events, tables or Tables(run.tables_folder), beside), prefix="/api")
    app.include_router(control_routes(run), prefix="/api")

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", media_type="text/html; charset=utf-8")

    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    app.add_middleware(GateMiddleware, gate=gate)
    return app
