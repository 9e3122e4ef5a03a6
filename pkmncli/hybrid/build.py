"""Parts of a hybrid, built from settings: the learner with its encoder, the pilot, and the curriculum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pkmncli.api import Algorithm, Pilot
from pkmncli.config import ResolvedSettings
from pkmncli.config.curriculum_settings import CurriculumSettings
from pkmncli.config.description import named_parts
from pkmncli.errors import ConfigurationError, PluginError
from pkmncli.hybrid.curriculum import Curriculum
from pkmncli.plugins import get_registry

if TYPE_CHECKING:
    from gymnasium import spaces
    from pydantic import BaseModel

    from pkmncli.plugins import Registry


def build_learner(
    settings: ResolvedSettings,
    registry: Registry,
    observation_space: spaces.Dict,
    action_space: spaces.Discrete,
    *,
    num_envs: int,
    seed: int,
    total_steps: int,
) -> Algorithm:
    """Return the learner that the settings choose.

    Args:
        settings: of a training.
        registry: of the plugins.
        observation_space: of one environment.
        action_space: of one environment.
        num_envs: number of environments.
        seed: of the learner.
        total_steps: steps at which its schedules end.
    """
    train = settings.train
    registration = registry.get("algorithms", train.rl)
    own = settings.for_part(registration)
    learner: Algorithm = registration.load()(
        observation_space,
        action_space,
        num_envs,
        seed,
        own,
        train.device,
        total_steps,
        **encoder_argument(settings, registry, own),
    )
    return learner


def encoder_argument(settings: ResolvedSettings, registry: Registry, own: BaseModel | None) -> dict[str, Any]:
    """Return the keyword argument ``encoder`` for a learner; empty if its settings name none, or the default.

    So learners that know nothing of encoders need not accept the argument.

    Args:
        settings: of the training, with those of its plugins.
        registry: where the name is looked up.
        own: the learner's settings.

    Raises:
        ConfigurationError: two of the learner's settings name encoders.
        PluginError: there is no encoder of the name, or it cannot be imported.
    """
    parts = [] if own is None else named_parts(own)
    names = [(key, name) for key, kind, name in parts if kind == "encoders"]
    if not names:
        return {}
    from pkmncli.learners.encoders import EncoderFactory  # noqa: PLC0415 - brings torch, as the learner does anyway

    if len(names) > 1:
        several = " and ".join(f"'{settings.train.rl}.{key}'" for key, _ in names)
        raise ConfigurationError(f"settings {several} name an encoder each, and a learner takes one: leave one unset")
    ((key, name),) = names
    try:
        registration = registry.get("encoders", name)
    except PluginError as error:
        raise PluginError(f"setting '{settings.train.rl}.{key}': {error}") from None
    origin = {
        "name": name,
        "target": _importable(registration.target),
        "config": None if registration.config is None else _importable(registration.config),
        "settings": None if registration.config is None else settings.plugin_values(name),
        "distribution": registration.distribution,
        "version": registration.version,
    }
    chosen = settings.for_part(registration)
    return {"encoder": EncoderFactory(name, registration.load(), chosen, origin)}


def build_pilot(settings: ResolvedSettings, env: Any) -> Pilot:
    """Return the pilot that the settings choose, for an environment of this process."""
    registration = get_registry().get("pilots", settings.train.pilot)
    own = settings.for_part(registration)
    pilot: Pilot = registration.load()(getattr(env, "unwrapped", env), own)
    return pilot


def build_curriculum(config: Mapping[str, Any]) -> Curriculum:
    """Return a curriculum that measures the loop's episodes, unless its settings say otherwise.

    Raises:
        ConfigurationError: a setting is wrong.
    """
    try:
        return Curriculum(CurriculumSettings(**{"measure": "training", **config}))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in ("curriculum_config", *first["loc"]))
        raise ConfigurationError(f"{where}: {first['msg']}") from error


def _importable(target: Any) -> str:
    return target if isinstance(target, str) else f"{target.__module__}:{target.__qualname__}"
