"""Takes metrics to Weights & Biases, or with ``WANDB_MODE=offline`` into the run folder's ``wandb/``.

A run keeps its id there, so a training that goes on goes on in the same run. Steps that were logged before are left
out then: the course is the same, and so are the values. With a live language model, whose answers may be others the
second time, they may differ: wandb keeps those of the first.
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
    """A :class:`pkmncli.api.Tracker`. What takes time is done by wandb's own process."""

    def __init__(self, run: RunInfo, step: int, settings: WandbSettings) -> None:
        folder = run.folder / FOLDER
        folder.mkdir(exist_ok=True)
        self._state_file = folder / STATE_FILE
        self._id, self._logged_before = self._recall()
        # It would recommend another product of its makers, past the setting that silences it.
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
                silent=True,  # lines of its own would break the live view
                console="off",  # what the terminal shows is not sent
                disable_git=True,
                disable_code=True,
            ),
        )

    @classmethod
    def check(cls, settings: WandbSettings) -> None:
        """Makes sure that wandb knows who is asking, since it would stop a training to ask for a key.

        Raises:
            ConfigurationError: it does not.
        """
        if wandb.setup().settings.mode in _ONLINE and not wandb.login(prompt=False):
            raise ConfigurationError(
                "--track wandb: wandb has no key; run: wandb login. Or set WANDB_MODE=offline, and later: wandb sync"
            )

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Adds the values of one step, unless they were added before the run was broken off."""
        if step <= self._logged_before:
            return
        self._run.log(dict(metrics), step=step)
        self._remember(step)

    def flush(self) -> None:
        """Nothing is held back: wandb's process has it already."""

    def close(self, summary: Mapping[str, Any] | None) -> None:
        """Waits until wandb's process has written what it has."""
        if summary is not None:
            self._run.summary.update({name: summary[name] for name in summary if summary[name] is not None})
        self._run.finish(exit_code=0 if summary is not None else 1)

    def _recall(self) -> tuple[str, int]:
        """The run's id and the last step that was logged, of an earlier part of the training; or a new id."""
        try:
            state = parse_json(self._state_file.read_text(encoding="utf-8"))
            return str(state["id"]), int(state["step"])
        except (OSError, ValueError, KeyError, TypeError):
            return secrets.token_hex(4), -1

    def _remember(self, step: int) -> None:
        whole = self._state_file.with_suffix(".tmp")  # cut off in the middle, it would cost the run its id
        whole.write_text(json.dumps({"id": self._id, "step": step}), encoding="utf-8")
        whole.replace(self._state_file)
