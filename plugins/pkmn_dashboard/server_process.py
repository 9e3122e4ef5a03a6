"""Process that serves a training's page: `python -m pkmn_dashboard.server_process FOLDER DESCRIPTOR ROOT [NAME ...]`.

ROOT is the folder under which a proxy shows it, or empty. The names are those under which proxies show it; with them,
the environment holds its token.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from pkmn_dashboard.urgency import give_way

if TYPE_CHECKING:
    from pkmn_dashboard.serving import PageServer


TOKEN_VARIABLE = "PKMN_DASHBOARD_TOKEN"


def main() -> None:
    """Serve until the pipe at standard input ends, which it does with the trainer's process."""
    folder, descriptor, root_path, proxies = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    give_way()
    from pkmn_dashboard.gate import Gate  # noqa: PLC0415 - a second of work, which is not urgent either
    from pkmn_dashboard.serving import PageServer  # noqa: PLC0415

    listening = socket.socket(fileno=descriptor)
    token, port = os.environ.get(TOKEN_VARIABLE) or None, listening.getsockname()[1]
    gate = Gate(token, port=port, proxies=proxies, root_path=root_path)
    server = PageServer(folder, listening, gate, only_this_run=token is not None)
    threading.Thread(target=_wait_for_the_end, args=(server,), daemon=True).start()
    server.run()
    os._exit(0)  # the thread still reads


def _wait_for_the_end(server: PageServer) -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    server.end()


if __name__ == "__main__":
    main()
