"""Fixtures: the backend, with a server in the place of its service."""

from __future__ import annotations

from support.llm_services import build, keys, no_variables, server
from support.small_model import llama_cpp, ollama_proxy, smollm2

__all__ = ["build", "keys", "llama_cpp", "no_variables", "ollama_proxy", "server", "smollm2"]
