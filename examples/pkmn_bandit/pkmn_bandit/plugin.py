"""Registration of the command. Targets are strings, so that `pkmn --help` does not import them."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_commands(register: Register) -> None:
    """Register ``pkmn bandit``."""
    register(
        "bandit",
        "pkmn_bandit.command:bandit",
        config="pkmn_bandit.settings:BanditSettings",
        evaluate="pkmn_bandit.command:evaluate",
        help="Learn which arm of a bandit pays best.",
    )
