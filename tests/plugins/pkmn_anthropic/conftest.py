"""Fixtures: the backend, with a server in the place of its service."""

from __future__ import annotations

from support.llm_services import build, keys, no_variables, server

__all__ = ["build", "keys", "no_variables", "server"]
