"""Pilots of the environment of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkmncli.api import RunInfo, pilots_of
from pkmncli.errors import PkmnError


def own_pilot(run: RunInfo | None) -> str | None:
    """Return the pilot that the run was trained with; None if it had none, or is not known."""
    name = _core(run).get("pilot")
    return None if name in (None, "none") else str(name)


def better_pilot(run: RunInfo | None) -> str | None:
    """Return the pilot that the run's environment names first, if it names the run's own after it; else None."""
    try:
        named = list(pilots_of(str(_core(run).get("env"))))
    except PkmnError:
        return None  # the environment's plugin is not installed here
    return named[0] if own_pilot(run) in named[1:] else None


def _core(run: RunInfo | None) -> Mapping[str, Any]:
    return run.settings.get("", {}) if run else {}
