"""Registration of the backend for OpenAI's interface, and of its variant for vLLM."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_llm_backends(register: Register) -> None:
    """Register one backend under two names, ``openai`` and ``vllm``."""
    register(
        "openai",
        "pkmn_openai.backend:OpenAIBackend",
        config="pkmn_openai.settings:OpenAISettings",
        help="OpenAI, and any server with its interface (base_url): llama.cpp, LM Studio, OpenRouter",
        extra="openai",
    )
    register(
        "vllm",
        "pkmn_openai.backend:OpenAIBackend",
        config="pkmn_openai.settings:VLLMSettings",
        help="a vLLM server on this machine (base_url for another)",
        extra="openai",
    )
