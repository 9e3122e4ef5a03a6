"""Registration of the backend for model files, and of the command that downloads some."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_llm_backends(register: Register) -> None:
    """Register ``local``."""
    register(
        "local",
        "pkmn_local.backend:LocalBackend",
        config="pkmn_local.settings:LocalSettings",
        help="a GGUF model file, run in this process by llama.cpp",
        extra="local",
    )


@hookimpl
def pkmn_register_commands(register: Register) -> None:
    """Register ``pkmn models``."""
    register("models", "pkmn_local.command:models", help="Fetch and list model files for --llm local.")
