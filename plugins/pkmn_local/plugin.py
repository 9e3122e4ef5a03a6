"""Registers the backend for model files, and the command that fetches some."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_llm_backends(register: Register) -> None:
    """llama.cpp in process."""
    register(
        "local",
        "pkmn_local.backend:LocalBackend",
        config="pkmn_local.settings:LocalSettings",
        help="a GGUF model file, run in this process by llama.cpp",
        extra="local",
    )


@hookimpl
def pkmn_register_commands(register: Register) -> None:
    """Fetching models."""
    register("models", "pkmn_local.command:models", help="Fetch and list model files for --llm local.")
