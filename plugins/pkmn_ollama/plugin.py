"""Registration of the backend for Ollama."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


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
