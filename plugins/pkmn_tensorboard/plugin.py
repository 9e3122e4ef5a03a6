"""Registration of the tracker that writes TensorBoard's event files."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_trackers(register: Register) -> None:
    """Register ``tensorboard``."""
    register(
        "tensorboard",
        "pkmn_tensorboard.tracker:TensorBoardTracker",
        help="TensorBoard event files, in tensorboard/ of the run folder",
    )
