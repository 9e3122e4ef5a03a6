"""Server of one run's page at a listening socket."""

from __future__ import annotations

import socket
from pathlib import Path

import uvicorn

from pkmn_dashboard.app import make_app
from pkmn_dashboard.gate import Gate
from pkmn_dashboard.live_events import LiveEvents
from pkmn_dashboard.patient_protocol import PatientProtocol
from pkmn_dashboard.runs_beside import RunsBeside
from pkmn_dashboard.tables import Tables
from pkmn_dashboard.watched_run import WatchedRun

SECONDS_FOR_OPEN_ANSWERS = 2


class PageServer:
    """Server of one run's page.

    Args:
        folder: the run's folder.
        listening: the listening socket.
        gate: check of its requests.
        may_control: true if viewers may pause the training, stop it and so on.
        only_this_run: true if viewers may not see the other runs in its folder.
    """

    def __init__(
        self,
        folder: Path,
        listening: socket.socket,
        gate: Gate,
        *,
        may_control: bool = True,
        only_this_run: bool = False,
    ) -> None:
        self._listening = listening
        run = WatchedRun(folder, may_control=may_control)
        self._events = LiveEvents(run, ended=lambda: self._server.should_exit)
        self._tables = Tables(run.tables_folder)
        self._beside = None if only_this_run else RunsBeside(folder)
        config = uvicorn.Config(
            make_app(run, self._events, gate, self._tables, self._beside),
            loop="asyncio",
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SECONDS_FOR_OPEN_ANSWERS,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until :meth:`end`, Ctrl-C or SIGTERM."""
        try:
            self._server.run(sockets=[self._listening])
        finally:
            self._tables.close()
            if self._beside is not None:
                self._beside.close()

    def end(self) -> None:
        """Request the server's end. May be called from another thread, or by a signal."""
        self._server.should_exit = True
