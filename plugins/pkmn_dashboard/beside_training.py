"""Server of a training's page: a separate process, which ends with the training, in whatever way that ends.

The trainer's process gives it the listening socket and a pipe. Nothing is ever written to the pipe: when the trainer
closes it, or ends, the server reads end of file.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
from typing import TYPE_CHECKING

from pkmn_dashboard.ports import LOOPBACK, address, listen
from pkmn_dashboard.server_process import TOKEN_VARIABLE
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from pkmncli.api import RunInfo

SECONDS_TO_END = 5.0

_servers: list[subprocess.Popen[bytes]] = []
"""Server of this process's training; at most one."""


def begin(run: RunInfo) -> None:
    """Start the server of a run's page, and print its address."""
    end()
    if sys.platform == "win32":
        raise ConfigurationError(
            "on Windows a training cannot show its page yet: use 'pkmn dashboard' in a second window"
        )
    settings = run.settings[""]
    debug = os.environ.get("PKMN_DEBUG", "0") not in {"", "0"}
    with contextlib.closing(listen(LOOPBACK, settings["web_port"])) as listening:
        descriptor = listening.fileno()
        names, folder = settings["web_host_name"], settings["web_root_path"]
        token = secrets.token_urlsafe(24) if names else ""
        module = ["-P", "-m", "pkmn_dashboard.server_process"]
        command = [sys.executable, *module, str(run.folder), str(descriptor), folder, *names]
        _servers.append(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=None if debug else subprocess.DEVNULL,
                pass_fds=[descriptor],
                env={**os.environ, TOKEN_VARIABLE: token},  # all users of the machine can read the arguments
                start_new_session=True,  # Ctrl-C is for the trainer
            )
        )
        port = listening.getsockname()[1]
        taken = f" (port {settings['web_port']} is taken)" if port != settings["web_port"] else ""
        if not settings["quiet"]:
            print(f"Live page: {address(listening, folder)}{f'?token={token}' if token else ''}{taken}", flush=True)


def end() -> None:
    """End the server, if there is one, and wait for its end, at most :data:`SECONDS_TO_END`."""
    while _servers:
        server = _servers.pop()
        assert server.stdin is not None
        with contextlib.suppress(OSError):
            server.stdin.close()
        try:
            server.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
