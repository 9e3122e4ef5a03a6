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


def best_pilot(run: RunInfo | None) -> str | None:
    """Return the pilot that the run's environment names first; the run's own if it names none."""
    own = own_pilot(run)
    try:
        return next(iter(pilots_of(str(_core(run).get("env")))), own)
    except PkmnError:
        return own  # the environment's plugin is not installed here


def _core(run: RunInfo | None) -> Mapping[str, Any]:
    return run.settings.get("", {}) if run else {}
