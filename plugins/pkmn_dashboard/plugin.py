"""Registration of `pkmn dashboard`, and start of the page's server with a training that asks for it."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register, RunInfo


@hookimpl
def pkmn_register_commands(register: Register) -> None:
    """Register ``pkmn dashboard``."""
    register(
        "dashboard",
        "pkmn_dashboard.command:dashboard",
        help="Show a run on a live page, while it trains or afterwards.",
        extra="dashboard",
    )


@hookimpl
def pkmn_run_started(run: RunInfo) -> None:
    """Start the server, if the training should have a page."""
    if run.settings[""]["web"]:
        from pkmn_dashboard.beside_training import begin  # noqa: PLC0415 - most trainings have no page

        begin(run)


@hookimpl
def pkmn_run_ended(run: RunInfo) -> None:
    """End the server of the training."""
    if run.settings[""]["web"]:
        from pkmn_dashboard.beside_training import end  # noqa: PLC0415

        end()
