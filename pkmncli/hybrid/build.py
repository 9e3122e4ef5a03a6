"""Parts of a hybrid, built from settings: the learner with its encoder, the pilot, and the curriculum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pkmncli.api import Algorithm, Pilot
from pkmncli.config import DEFAULT_STEPS, ResolvedSettings
from pkmncli.config.curriculum_settings import CurriculumSettings
from pkmncli.config.description import named_parts
from pkmncli.errors import ConfigurationError, PluginError, first_fault
from pkmncli.hybrid.curriculum import Curriculum
from pkmncli.plugins import get_registry

if TYPE_CHECKING:
    import numpy as np
    from gymnasium import spaces
    from numpy.typing import NDArray
    from pydantic import BaseModel

    from pkmncli.plugins import Registry


def build_learner(
    settings: ResolvedSettings,
    registry: Registry,
    observation_space: spaces.Dict,
    action_space: spaces.Discrete | spaces.Box,
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

    Raises:
        PluginError: there is no such learner, or it has ``draw`` and no ``sample``, as earlier versions asked for.
    """
    train = settings.train
    registration = registry.get("algorithms", train.rl)
    kind = registration.load()
    if not hasattr(action_space, "n") and isinstance(kind, type) and not hasattr(kind, "controls"):
        raise ConfigurationError(
            f"rl = {train.rl!r} cannot learn the continuous actions {action_space}: use ppo or a2c, or a wrapper that "
            "offers a few chosen actions"
        )
    own = settings.for_part(registration)
    learner: Algorithm = kind(
        observation_space,
        action_space,
        num_envs,
        seed,
        own,
        train.device,
        total_steps,
        **encoder_argument(settings, registry, own),
    )
    if hasattr(learner, "draw") and not hasattr(learner, "sample"):
        raise PluginError(f"the learner {train.rl} is of an earlier version: name its method draw() sample()")
    return learner


def controls_of(learner: Algorithm) -> Callable[[], NDArray[np.float32]]:
    """Return the method that gives the controls of a learner's latest choice, for continuous actions."""

    def refuse() -> NDArray[np.float32]:
        raise ConfigurationError("continuous actions need a learner that chooses them: use rl = ppo or a2c")

    found: Callable[[], NDArray[np.float32]] = getattr(learner, "controls", refuse)
    return found


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
    return {"encoder": EncoderFactory(name, registration.load(), settings.for_part(registration))}


def trained_alone(
    trained: Algorithm,
    settings: ResolvedSettings,
    registry: Registry,
    of_one: tuple[spaces.Dict, spaces.Discrete | spaces.Box],
) -> Algorithm:
    """Return a learner for one environment, with the weights of a trained one for any number of them.

    Args:
        trained: the trained learner.
        settings: of its training.
        registry: of the plugins.
        of_one: observation and action space of one environment.

    Raises:
        ConfigurationError: the learner cannot hand out its weights.
    """
    train = settings.train
    total_steps = DEFAULT_STEPS if train.steps is None else train.steps
    learner = build_learner(settings, registry, *of_one, num_envs=1, seed=train.seed, total_steps=total_steps)
    if hasattr(trained, "weights") and hasattr(learner, "take_weights"):
        learner.take_weights(trained.weights())
    elif train.envs == 1:
        learner.load_state_dict(trained.state_dict())
    else:
        raise ConfigurationError(f"the learner {train.rl} has no weights() for another number of environments")
    return learner


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
        raise ConfigurationError(first_fault(error, "curriculum_config")) from error
