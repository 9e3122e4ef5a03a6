"""Registration of the tracker for Weights & Biases."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_trackers(register: Register) -> None:
    """Register ``wandb``."""
    register(
        "wandb",
        "pkmn_wandb.tracker:WandbTracker",
        config="pkmn_wandb.settings:WandbSettings",
        help="Weights & Biases (wandb login, or WANDB_MODE=offline)",
        extra="wandb",
    )
