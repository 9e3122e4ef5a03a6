"""Registration of the command and of a language model backend. Targets are strings: `pkmn --help` imports none."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_commands(register: Register) -> None:
    """Register ``pkmn multimodel``."""
    register(
        "multimodel",
        "pkmn_multimodel.command:app",
        config="pkmn_multimodel.settings:MultiModelConfig",
        evaluate="pkmn_multimodel.command:evaluate",
        help="Train several language models together, helping or opposing each other.",
    )


@hookimpl
def pkmn_register_llm_backends(register: Register) -> None:
    """Register ``huggingface``."""
    register(
        "huggingface",
        "pkmn_multimodel.backend:HuggingFaceBackend",
        config="pkmn_multimodel.settings:HuggingFaceSettings",
        help="a model of the local Hugging Face cache or a folder, in this process by transformers",
        extra="multimodel",
    )
