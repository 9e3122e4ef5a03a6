"""Parts of a training whose process is killed when it first starts, as on a node that was lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from pkmn_multimodel.games.catalog import game_maker


def die_at_first(folder: str, deaths: int, spared: int) -> None:
    """Kill this process, unless as many have died.

    Args:
        folder: where each death leaves a file.
        deaths: number of processes that die.
        spared: a process that does not: the trainer's.
    """
    died = len(list(Path(folder).iterdir()))
    if died < deaths and os.getpid() != spared:
        (Path(folder) / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def wrapped(environment: Any, **arguments: Any) -> Any:
    """Return the environment as it is, if this process lives on."""
    die_at_first(**arguments)
    return environment


def game(**arguments: Any) -> Any:
    """Return a game for two models, if this process lives on."""
    die_at_first(**arguments)
    return game_maker("coop-compete", 2, {})()
