"""Policies that games come with: weights, the settings that they were trained with, and what they were measured at.

A game's profile may have a folder ``pretrained``:

    weights.safetensors  what acts, as the learner's weights() gives it
    config.toml          the settings of its training, without paths of the machine that it was trained on
    score.json           the learner alone, the pilot and random play on the same starts; the image; versions
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from pkmncli.atomic_files import write_atomic, write_errors_explained, write_json
from pkmncli.config import CONFIG_FILE, ResolvedSettings
from pkmncli.config.run_file import toml_text
from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError, RunError
from pkmncli.runs import Run, create_run, open_run
from pkmncli.training.assembly import build_learner, worker_spec
from pkmncli.training.checkpoints import Checkpoint, write_checkpoint
from pkmncli.training.seeds import Purpose
from pkmncli.training.workers import WorkerPool

if TYPE_CHECKING:
    from pkmncli.plugins import Registry

FOLDER = "pretrained"
WEIGHTS = "weights.safetensors"
SCORE = "score.json"

_OF_ONE_TRAINING = (
    *("game", "run_name", "preset", "envs", "steps", "episodes", "quiet", "web", "web_port", "track", "log_level"),
    *("demonstrations", "start_from", "pretrain_steps"),
)
"""Settings of the core that the policy does not depend on, beside all paths."""


@dataclass(frozen=True, slots=True)
class Pretrained:
    """The policy that a game comes with."""

    name: str
    folder: Path

    def settings(self, registry: Registry) -> ResolvedSettings:
        """What it was trained with, for its game."""
        found = ResolvedSettings.from_run(self.folder, registry)
        return found.changed({"game": self.name}, may_change=("game",), origin=f"pretrained {self.name}")

    def weights(self) -> dict[str, Any]:
        """What acts, by dotted name. Raises RunError where the file is missing or damaged."""
        try:
            return dict(load_file(self.folder / WEIGHTS))
        except (OSError, SafetensorError) as error:
            raise RunError(f"{self.folder / WEIGHTS} cannot be read: {error}; install its package anew") from None

    def score(self) -> dict[str, Any]:
        """What it was measured at. Raises RunError where the file is missing or damaged."""
        try:
            return dict(json.loads((self.folder / SCORE).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise RunError(f"{self.folder / SCORE} cannot be read: {error}; install its package anew") from None


def find_pretrained(name: str, registry: Registry) -> Pretrained:
    """The policy that a game comes with, by the game's name.

    Raises:
        PluginError: there is no such game.
        ConfigurationError: it comes without one.
    """
    folder: Path = registry.get("games", name).load() / FOLDER
    if not folder.is_dir():
        having = [one for one in registry.names("games") if (registry.get("games", one).load() / FOLDER).is_dir()]
        raise ConfigurationError(
            f"the game {name} comes without a pretrained policy; there is one for {', '.join(having) or 'none'}"
        )
    return Pretrained(name, folder)


@contextmanager
def pretrained_run(name: str, registry: Registry, rom: Path | None = None) -> Iterator[Run]:
    """A run in a temporary folder whose one checkpoint acts as the policy that a game comes with.

    Args:
        name: of the game.
        registry: where plugins are looked up.
        rom: the game's image, where its profile has none.
    """
    pretrained = find_pretrained(name, registry)
    settings = pretrained.settings(registry)
    if rom is not None:
        settings = settings.changed({"rom_path": rom}, may_change=("rom_path",))
    score = pretrained.score()
    with tempfile.TemporaryDirectory(prefix="pkmn-") as folder:
        run = create_run(Path(folder), name, settings.train.rl, f"{FOLDER}-{name}")
        with WorkerPool(worker_spec(settings, registry, Purpose.EVALUATION, num_envs=1)) as pool:
            differing = [key for key, value in score["identity"].items() if pool.identity.get(key) != value]
            if differing:
                say(f"pretrained {name} was measured with another {', '.join(differing)}: it may do worse here")
            learner: Any = build_learner(settings, registry, pool, total_steps=1, num_envs=settings.train.envs)
            learner.take_weights(pretrained.weights())
            pool.reset()
            names = {**pool.names, "identity": pool.identity}
            write_json(
                run.folder / "names.json", {**names, "phases": pool.phase_names, "milestones": pool.milestone_names}
            )
            checkpoint = Checkpoint(
                step=int(score["steps"]),
                learner=learner.state_dict(),
                trainer={"arbiter": {"trust": 0.0}},
                arrays={},
                workers=tuple(pool.save()),
            )
        write_atomic(run.config_file, settings.to_toml(run.folder))
        write_checkpoint(run.checkpoints.path(checkpoint.step), checkpoint, ())
        run.checkpoints.record(checkpoint.step)
        yield run


def open_agent(
    context: Any, run: str | None, save_dir: Path | None, registry: Registry, pretrained: str | None, rom: Path | None
) -> Run:
    """The run that a command is about: one in its folder, or for as long as it runs one of a game's own policy.

    Args:
        context: the command's, as Typer has it.
        run: name or folder of a run; the latest without.
        save_dir: folder of the run folders.
        registry: where plugins are looked up.
        pretrained: the game whose policy is wanted instead.
        rom: that game's image, where its profile has none.

    Raises:
        ConfigurationError: both a run and a game are given, or there is no such policy.
        RunError: there is no such run.
    """
    if pretrained is None:
        if rom is not None:
            raise ConfigurationError("--rom: a run keeps its own image; it goes with --pretrained")
        return open_run(run, save_dir)
    if run is not None:
        raise ConfigurationError(f"--pretrained {pretrained} is no run's: leave out {run}")
    found: Run = context.with_resource(pretrained_run(pretrained, registry, rom))
    return found


def write_pretrained(folder: Path, learner: Any, settings: ResolvedSettings, score: Mapping[str, Any]) -> None:
    """Writes a policy as a game comes with it.

    Args:
        folder: made where it is missing; files of an earlier one are replaced.
        learner: what acts.
        settings: of its training.
        score: what it was measured at; ``identity`` and ``steps`` among it.

    Raises:
        ConfigurationError: the learner hands on no weights.
        RunError: a file can't be written.
    """
    if not hasattr(learner, "weights"):
        raise ConfigurationError(f"the learner {type(learner).__name__} hands on no weights: it has no weights()")
    arrays = {name: np.ascontiguousarray(value) for name, value in learner.weights().items()}
    with write_errors_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / WEIGHTS, save(arrays))
        write_atomic(folder / CONFIG_FILE, toml_text(_kept(settings), lambda section, key: "of its training"))
        write_json(folder / SCORE, score)


def _kept(settings: ResolvedSettings) -> dict[str, dict[str, Any]]:
    """The settings that a policy depends on, by section: no path, and nothing of the one training alone."""
    kept = {}
    for section, values in settings.values().items():
        kept[section] = {
            key: value
            for key, value in values.items()
            if value is not None
            and not isinstance(value, Path)
            and not (section == "" and (key in _OF_ONE_TRAINING or key.startswith(("llm", "lessons"))))
        }
    return {section: values for section, values in kept.items() if values}
