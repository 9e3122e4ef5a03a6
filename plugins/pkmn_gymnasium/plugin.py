"""Registration of the environment that is any one of Gymnasium's."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_environments(register: Register) -> None:
    """Register ``gym``."""
    register(
        "gym",
        "pkmn_gymnasium.making:make_environment",
        config="pkmn_gymnasium.settings:GymnasiumSettings",
        help="any environment registered with Gymnasium, as gym:ID or gym:module:ID",
    )
