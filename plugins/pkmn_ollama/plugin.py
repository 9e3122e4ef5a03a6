"""Registration of the backend for Ollama."""

from __future__ import annotations

from pkmncli.api import Register
from pkmncli.hookspecs import hookimpl


@hookimpl
def pkmn_register_llm_backends(register: Register) -> None:
    """Register ``ollama``."""
    register(
        "ollama",
        "pkmn_ollama.backend:OllamaBackend",
        config="pkmn_ollama.settings:OllamaSettings",
        help="models of an Ollama server (OLLAMA_HOST)",
        extra="ollama",
    )
