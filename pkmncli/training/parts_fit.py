"""Defaults that don't go with what was chosen give way: a pilot that can't play the game, a mode without its side."""

from __future__ import annotations

from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.resolved import DEFAULT
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import Registry


def fit_parts(settings: ResolvedSettings, registry: Registry) -> ResolvedSettings:
    """The settings, with the pilot alone where there is no learner, and without a pilot where the environment has none.

    An environment's settings model may say in a class variable ``pilots`` which pilots of its own plugin can play it.
    A default pilot that is not among them is left out; then the learner decides alone. Other plugins' pilots are the
    user's choice.

    Raises:
        ConfigurationError: a pilot that can't play it, or a mode that needs one, was asked for.
    """
    if settings.train.rl == NONE and settings.origins["mode"] == DEFAULT:
        settings = settings.changed({"mode": "llm-only"}, may_change=("mode",), origin="no learner was chosen")
    train = settings.train
    environment = registry.get("environments", train.env)
    pilots = getattr(environment.load_config(), "pilots", None)
    if pilots is None or train.pilot == NONE or train.pilot in pilots:
        return settings
    origin = settings.origins["pilot"]
    if origin != DEFAULT:
        if registry.get("pilots", train.pilot).plugin is not environment.plugin:
            return settings
        raise ConfigurationError(
            f"setting 'pilot' = {train.pilot!r} ({origin}): it cannot play the environment {train.env}; "
            "leave it out: the learner then decides alone"
        )
    changes = {"pilot": NONE}
    if train.mode != "rl-only":
        if settings.origins["mode"] != DEFAULT or train.rl == NONE:
            raise ConfigurationError(
                f"setting 'mode' = {train.mode!r} ({settings.origins['mode']}): it needs a pilot, and the environment "
                f"{train.env} has none; use --mode rl-only, with a learner"
            )
        changes["mode"] = "rl-only"
    return settings.changed(changes, may_change=tuple(changes), origin=f"environment {train.env} has no pilot")
