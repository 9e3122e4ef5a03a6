"""Registration of the backend for Anthropic."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_llm_backends(register: Register) -> None:
    """Register ``anthropic``."""
    register(
        "anthropic",
        "pkmn_anthropic.backend:AnthropicBackend",
        config="pkmn_anthropic.settings:AnthropicSettings",
        help="Anthropic's models (ANTHROPIC_API_KEY)",
        extra="anthropic",
    )
