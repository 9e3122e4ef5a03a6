"""The plugin that registers parts of the core for tests and demonstrations."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_llm_backends(register: Register) -> None:
    """Register a model that answers from a file."""
    register(
        "scripted",
        "pkmncli.testing.scripted:ScriptedBackend",
        config="pkmncli.testing.scripted:ScriptedSettings",
        help="answers written in a file, for tests and demonstrations",
    )
