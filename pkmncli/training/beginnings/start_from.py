"""First weights of a new training's learner: from another run, or from the policy that a game comes with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pkmncli.checkpoint_index import LATEST
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.errors import CheckpointError, ConfigurationError, RunError
from pkmncli.runs import open_run
from pkmncli.training.assembly import observation_type_of
from pkmncli.training.beginnings.pretrained import find_pretrained, without_policy
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.checkpoints.selection import readable_checkpoint

if TYPE_CHECKING:
    from pkmncli.plugins import Registry

PRETRAINED = "pretrained"
"""In place of a run: the policy that the training's game comes with, or with ``:GAME`` that of another one."""


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """First weights, their origin in words, and the settings that they were trained with."""

    title: str
    settings: ResolvedSettings
    weights: Mapping[str, Any]


def find_starting_point(settings: ResolvedSettings, registry: Registry, game: str) -> StartingPoint | None:
    """Return the weights that the settings name; None if they name none.

    Args:
        settings: the training's.
        registry: where plugins are looked up.
        game: the game's title, which ``pretrained`` without a name goes by.

    Raises:
        ConfigurationError: there is no learner to take them, or no such game.
        RunError: there is no such run.
        CheckpointError: it has no such checkpoint.
    """
    train = settings.train
    if train.start_from is None:
        return None
    if train.rl == NONE:
        raise ConfigurationError("start_from: without a learner nobody takes the weights: leave it out")
    which, _, name = train.start_from.partition(":")
    if which == PRETRAINED:
        named = name or train.game_folder or train.game
        if not named and slug(game) not in registry.names("games"):
            raise without_policy(game, registry)
        pretrained = find_pretrained(named or slug(game), registry)
        return StartingPoint(f"pretrained {pretrained.name}", pretrained.settings(registry), pretrained.weights())
    try:
        run, checkpoint = open_run(train.start_from, train.save_dir), LATEST
    except RunError:
        which, separator, checkpoint = train.start_from.rpartition(":")
        if not separator:
            raise
        run = open_run(which, train.save_dir)
    folder = readable_checkpoint(run, checkpoint)
    own = ResolvedSettings.from_run(run.folder, registry)
    return StartingPoint(f"{run.name}, {folder.name}", own, read_checkpoint(folder).learner)


def begin_from(point: StartingPoint, learner: Any, settings: ResolvedSettings, registry: Registry) -> None:
    """Give a new learner its first weights.

    Raises:
        ConfigurationError: they don't fit; with the settings that differ.
    """
    train, theirs = settings.train, point.settings.train
    said = f"start_from {point.title}"
    if theirs.rl == NONE:
        raise ConfigurationError(f"{said}: it was trained without a learner, so it has no weights: name another run")
    for name in ("rl", "env"):
        if (other := getattr(theirs, name)) != getattr(train, name):
            raise ConfigurationError(
                f"{said}: it was trained with {name} = {other}, not {getattr(train, name)}: use --{name} {other}"
            )
    if not hasattr(learner, "take_weights"):
        raise ConfigurationError(f"{said}: the learner {train.rl} takes no weights: it has no take_weights()")
    seen = observation_type_of(point.settings, registry)
    if seen != observation_type_of(settings, registry):
        raise ConfigurationError(
            f"{said}: it sees observation_type = {seen}, this training {observation_type_of(settings, registry)}: "
            f"use --observation-type {seen}"
        )
    try:
        learner.take_weights(point.weights)
    except CheckpointError:
        raise ConfigurationError(
            f"{said}: its network has other layers than this training's; settings that differ: "
            f"{', '.join(_differing(point.settings, settings)) or 'none, but what the environments show does'}"
        ) from None


def _differing(theirs: ResolvedSettings, own: ResolvedSettings) -> list[str]:
    """Return the settings of learner and environment that differ, each with both values."""
    found = []
    for section in dict.fromkeys((own.train.rl, own.train.env)):
        values = own.values().get(section, {})
        for key, value in theirs.values().get(section, {}).items():
            if values.get(key) != value:
                found.append(f"{section}.{key} = {value} there, {values.get(key)} here")
    return found


def slug(name: str) -> str:
    """Return a name as part of a folder's name: lower-case words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
