"""Tracker of metrics for Weights & Biases, or with ``WANDB_MODE=offline`` in the run folder's ``wandb/``.

A run keeps its id there, so a resumed training continues the same run. Steps that were logged before are then left out:
the training repeats them with the same values. With a live language model, whose answers may differ the second time,
the values may differ: wandb keeps the first ones.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from typing import Any

import wandb

from pkmn_wandb.settings import WandbSettings
from pkmncli.api import RunInfo, parse_json
from pkmncli.errors import ConfigurationError

FOLDER = "wandb"
STATE_FILE = "pkmn.json"

_ONLINE = ("online", "shared")


class WandbTracker:
    """Tracker (:class:`pkmncli.api.Tracker`). wandb's own process does the slow work."""

    def __init__(self, run: RunInfo, step: int, settings: WandbSettings) -> None:
        folder = run.folder / FOLDER
        folder.mkdir(exist_ok=True)
        self._state_file = folder / STATE_FILE
        self._id, self._logged_before = self._recall()
        # It would advertise another product, despite the setting that silences it.
        os.environ.setdefault("WANDB_DISABLE_WEAVE", "true")
        self._run = wandb.init(
            project=settings.project,
            entity=settings.entity,
            group=settings.group,
            tags=settings.tags or None,
            name=run.folder.name,
            id=self._id,
            resume="allow",
            dir=run.folder,
            config={section or "train": dict(values) for section, values in run.settings.items()},
            settings=wandb.Settings(
                silent=True,  # its lines would break the live view
                console="off",  # the terminal's output is not sent
                disable_git=True,
                disable_code=True,
            ),
        )

    @classmethod
    def check(cls, settings: WandbSettings) -> None:
        """Check that wandb has a key; otherwise it would stop a training to ask for one.

        Raises:
            ConfigurationError: there is no key.
        """
        if wandb.setup().settings.mode in _ONLINE and not wandb.login(prompt=False):
            raise ConfigurationError(
                "--track wandb: wandb has no key; run: wandb login. Or set WANDB_MODE=offline, and later: wandb sync"
            )

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add the values of one step, unless they were added before the run was interrupted."""
        if step <= self._logged_before:
            return
        self._run.log(dict(metrics), step=step)
        self._remember(step)

    def flush(self) -> None:
        """Do nothing: wandb's process has the values already."""

    def close(self, summary: Mapping[str, Any] | None) -> None:
        """Wait until wandb's process has written its values."""
        if summary is not None:
            self._run.summary.update({name: summary[name] for name in summary if summary[name] is not None})
        self._run.finish(exit_code=0 if summary is not None else 1)

    def _recall(self) -> tuple[str, int]:
        """Return the run's id and the last logged step of an earlier session; or a new id."""
        try:
            state = parse_json(self._state_file.read_text(encoding="utf-8"))
            return str(state["id"]), int(state["step"])
        except (OSError, ValueError, KeyError, TypeError):
            return secrets.token_hex(4), -1

    def _remember(self, step: int) -> None:
        whole = self._state_file.with_suffix(".tmp")  # a partial file would lose the run's id
        whole.write_text(json.dumps({"id": self._id, "step": step}), encoding="utf-8")
        whole.replace(self._state_file)
