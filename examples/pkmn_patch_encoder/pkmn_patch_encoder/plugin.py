"""Registration of the encoder. Targets are strings, so that `pkmn --help` does not import torch."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_encoders(register: Register) -> None:
    """Register ``patches``."""
    register(
        "patches",
        "pkmn_patch_encoder.encoder:PatchEncoder",
        config="pkmn_patch_encoder.settings:PatchSettings",
        help="the screen in squares of the player's grid, with attention between them",
    )
