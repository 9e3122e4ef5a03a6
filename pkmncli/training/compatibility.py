"""Check that the settings of a new training fit together; defaults give way to choices."""

from __future__ import annotations

from collections.abc import Iterator

from pkmncli.api.ray_cluster import check_address, require_ray
from pkmncli.config import NONE, ResolvedSettings, TrainSettings
from pkmncli.config.command_settings import CommandSettings
from pkmncli.config.presets import PRESET_ORIGIN
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
    pilot cannot play has the learner alone, or with the language model.

    Raises:
        ConfigurationError: two settings exclude each other, or nothing could decide a step.
        PluginError: nothing could serve the live page.
    """
    settings = _fit_preset(_fit_pilot(_fit_mode(settings), registry))
    check_deciders(settings)
    check_live_page(settings, registry)
    _check_workers(settings.train)
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
    if train.pilot == NONE and train.llm == NONE and train.mode != "rl-only":
        raise ConfigurationError(
            f"mode {train.mode} needs a pilot or a language model: leave out --pilot none, choose --llm, or use --mode "
            "rl-only"
        )
    if train.pretrain_steps and not _demonstrates(train):
        raise ConfigurationError(
            f"pretrain_steps = {train.pretrain_steps}: nobody shows a learner anything here: name earlier runs with "
            "--demonstrations, or use --mode adaptive with a pilot and a learner"
        )
    if train.demonstrations and train.rl == NONE:
        raise ConfigurationError("demonstrations: there is no learner to show them to: leave them out")
    if train.envs_per_worker > train.envs:
        raise ConfigurationError(f"envs_per_worker = {train.envs_per_worker} is more than envs = {train.envs}")
    if train.init_state is not None and train.cartridge is not None:
        raise ConfigurationError("init_state and cartridge both say where episodes begin: leave one out")


def _check_workers(train: TrainSettings) -> None:
    """Raise ConfigurationError if workers on Ray are asked for and cannot be had."""
    if train.workers != "ray":
        return
    require_ray("workers = ray")
    if train.ray_address is not None:
        check_address(train.ray_address)
    if not train.headless:
        raise ConfigurationError("workers = ray: actors of Ray show no window: leave out --no-headless")


def _demonstrates(train: TrainSettings) -> bool:
    """Return True if a pilot beside the learner, or earlier runs, can show it what to do."""
    learner_alone = train.rl == NONE or train.mode == "rl-only" or train.pilot == NONE
    return bool(train.demonstrations) or not learner_alone


def check_live_page(settings: ResolvedSettings | CommandSettings, registry: Registry) -> None:
    """Raise PluginError if a live page is asked for and no plugin serves it."""
    if settings.train.web:
        registry.get("commands", "dashboard").load()


def _fit_mode(settings: ResolvedSettings) -> ResolvedSettings:
    """Return the settings with the pilot alone if there is no learner."""
    if settings.train.rl != NONE or settings.origins["mode"] != DEFAULT:
        return settings
    return settings.changed({"mode": "llm-only"}, may_change=("mode",), origin="no learner was chosen")


def _fit_pilot(settings: ResolvedSettings, registry: Registry) -> ResolvedSettings:
    """Return the settings with a pilot that can play the environment, or with a mode that needs none.

    Raises:
        ConfigurationError: the user chose a pilot that cannot play it, or a mode that needs one.
    """
    fitted = fit_pilot(settings, registry)
    train = fitted.train
    if fitted is settings or train.pilot != NONE or train.mode == "rl-only" or train.llm != NONE:
        return fitted
    if fitted.origins["mode"] != DEFAULT or train.rl == NONE:
        raise ConfigurationError(
            f"setting 'mode' = {train.mode!r} ({fitted.origins['mode']}): it needs a pilot, and the environment "
            f"{train.env} has none; use --mode rl-only, with a learner, or choose --llm"
        )
    return fitted.changed({"mode": "rl-only"}, may_change=("mode",), origin=f"environment {train.env} has no pilot")


def fit_pilot(settings: ResolvedSettings, registry: Registry) -> ResolvedSettings:
    """Return the settings with the environment's pilot in place of a default one that cannot play it, or with none.

    An environment's settings model may name in a class variable ``pilots`` which pilots of its plugin can play it, the
    best one first; without it, all of its plugin can. Pilots of other plugins are the user's choice.

    Raises:
        ConfigurationError: the user chose a pilot that cannot play it.
    """
    train = settings.train
    environment = registry.get("environments", train.env)
    pilots = getattr(environment.load_config(), "pilots", None)
    if train.pilot == NONE or (pilots is not None and train.pilot in pilots):
        return settings
    of_its_plugin = registry.get("pilots", train.pilot).plugin is environment.plugin
    if pilots is None and of_its_plugin:
        return settings
    origin = settings.origins["pilot"]
    if origin != DEFAULT:
        if not of_its_plugin:
            return settings
        raise ConfigurationError(
            f"setting 'pilot' = {train.pilot!r} ({origin}): it cannot play the environment {train.env}; "
            "leave it out: the learner then decides alone"
        )
    best, has = (pilots[0], "its own pilot") if pilots else (NONE, "no pilot")
    model = None if best == NONE else registry.get("pilots", best).load_config()
    its_own = () if model is None else tuple(f"{best}.{name}" for name in model.model_fields)
    return settings.changed(
        {"pilot": best}, may_change=("pilot", *its_own), origin=f"environment {train.env} has {has}"
    )


def _fit_preset(settings: ResolvedSettings) -> ResolvedSettings:
    """Return the settings without the demonstrations that a preset asks for and nobody can give."""
    origin = settings.origins["pretrain_steps"]
    if not settings.train.pretrain_steps or _demonstrates(settings.train) or not origin.startswith(PRESET_ORIGIN):
        return settings
    say_once(f"pretrain_steps ({origin}): no effect, since no pilot and no earlier run shows the learner anything")
    return settings.changed({"pretrain_steps": 0}, may_change=("pretrain_steps",), origin="nobody shows anything")


def _without_effect(settings: ResolvedSettings, registry: Registry) -> Iterator[str]:
    """Yield a line for each group of given settings that this training does not read."""
    train, origins = settings.train, settings.origins
    unread = {
        "no language model is chosen (--llm)": _READ_WITH_A_MODEL if train.llm == NONE else (),
        f"the environment {train.env} has no such setting": unread_settings(settings, registry),
        "no live page is asked for (--dashboard)": () if train.web else ("web_port", "web_host_name", "web_root_path"),
        "workers are local (--workers)": () if train.workers == "ray" else ("ray_address",),
    }
    for why, names in unread.items():
        given = [name for name in names if origins[name] != DEFAULT]
        if given:
            yield f"{', '.join(given)}: no effect, since {why}"
