"""Check that the settings of a new training fit together; defaults give way to choices."""

from __future__ import annotations

from collections.abc import Iterator

from pkmncli.config import NONE, ResolvedSettings, TrainSettings
from pkmncli.config.resolved import DEFAULT
from pkmncli.diagnostics import say_once
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import Registry
from pkmncli.training.assembly import unread_settings

_READ_WITH_A_MODEL = (
    *(name for name in TrainSettings.model_fields if name.startswith(("llm_", "lessons"))),
    *("max_context_length", "strategy", "initial_strategy"),
)
"""Settings that only a training with a language model reads."""


def prepare_settings(settings: ResolvedSettings, registry: Registry) -> ResolvedSettings:
    """Return the settings that a new training runs with. Say which of the given ones have no effect.

    A default gives way to what was chosen: without a learner the pilot plays alone; an environment that the default
    pilot cannot play has the learner alone.

    Raises:
        ConfigurationError: two settings exclude each other, or nothing could decide a step.
        PluginError: nothing could serve the live page.
    """
    settings = _fit_pilot(_fit_mode(settings), registry)
    check_deciders(settings)
    check_live_page(settings, registry)
    for remark in _without_effect(settings, registry):
        say_once(remark)
    return settings


def check_deciders(settings: ResolvedSettings) -> None:
    """Raise ConfigurationError if nothing could decide a step, or settings exclude each other."""
    train = settings.train
    if train.rl == NONE and train.mode != "llm-only":
        raise ConfigurationError(f"mode {train.mode} needs a learner: leave out --rl none, or use --mode llm-only")
    if train.llm != NONE and train.mode == "rl-only":
        raise ConfigurationError("mode rl-only takes no advice: leave out --llm, or use --mode adaptive or llm-only")
    if train.pilot == NONE and train.mode != "rl-only":
        raise ConfigurationError(f"mode {train.mode} needs a pilot: leave out --pilot none, or use --mode rl-only")
    learner_alone = train.rl == NONE or train.mode == "rl-only" or train.pilot == NONE
    if train.pretrain_steps and not train.demonstrations and learner_alone:
        raise ConfigurationError(
            f"pretrain_steps = {train.pretrain_steps}: nobody shows a learner anything here: name earlier runs with "
            "--demonstrations, or use --mode adaptive with a pilot and a learner"
        )
    if train.demonstrations and train.rl == NONE:
        raise ConfigurationError("demonstrations: there is no learner to show them to: leave them out")
    if train.init_state is not None and train.cartridge is not None:
        raise ConfigurationError("init_state and cartridge both say where episodes begin: leave one out")


def check_live_page(settings: ResolvedSettings, registry: Registry) -> None:
    """Raise PluginError if a live page is asked for and no plugin serves it."""
    if settings.train.web:
        registry.get("commands", "dashboard").load()


def _fit_mode(settings: ResolvedSettings) -> ResolvedSettings:
    """Return the settings with the pilot alone if there is no learner."""
    if settings.train.rl != NONE or settings.origins["mode"] != DEFAULT:
        return settings
    return settings.changed({"mode": "llm-only"}, may_change=("mode",), origin="no learner was chosen")


def _fit_pilot(settings: ResolvedSettings, registry: Registry) -> ResolvedSettings:
    """Return the settings without a pilot if the environment has none.

    An environment's settings model may name in a class variable ``pilots`` which pilots of its plugin can play it.
    Pilots of other plugins are the user's choice.

    Raises:
        ConfigurationError: the user chose a pilot that cannot play it, or a mode that needs one.
    """
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


def _without_effect(settings: ResolvedSettings, registry: Registry) -> Iterator[str]:
    """Yield a line for each group of given settings that this training does not read."""
    train, origins = settings.train, settings.origins
    unread = {
        "no language model is chosen (--llm)": _READ_WITH_A_MODEL if train.llm == NONE else (),
        f"the environment {train.env} has no such setting": unread_settings(settings, registry),
        "no live page is asked for (--dashboard)": () if train.web else ("web_port", "web_host_name"),
    }
    for why, names in unread.items():
        given = [name for name in names if origins[name] != DEFAULT]
        if given:
            yield f"{', '.join(given)}: no effect, since {why}"
