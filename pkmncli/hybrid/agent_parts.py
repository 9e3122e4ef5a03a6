"""The parts of a hybrid agent for a user's loop, built from the settings of a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from pkmncli.api import Algorithm, Pilot
from pkmncli.config import DEFAULT_STEPS, ResolvedSettings
from pkmncli.config.curriculum_settings import CurriculumSettings
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.curriculum import Curriculum
from pkmncli.hybrid.encoder_choice import encoder_argument
from pkmncli.plugins import get_registry

if TYPE_CHECKING:
    from numpy.typing import NDArray


def batch_of_one(observation: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an observation, without its texts, as a learner takes them."""
    return {name: np.asarray(part)[None] for name, part in observation.items() if not isinstance(part, Mapping)}


def build_learner(settings: ResolvedSettings, arrays: Mapping[str, NDArray[Any]], actions: int) -> Algorithm:
    """Return the learner that the settings choose, for one environment.

    Args:
        settings: of a training.
        arrays: the first observation, batch first; its shapes define the observation space.
        actions: number of actions.
    """
    from gymnasium import spaces  # noqa: PLC0415 - a tenth of a second that only agents with a learner need

    train = settings.train
    registry = get_registry()
    registration = registry.get("algorithms", train.rl)
    own = settings.for_part(registration)
    learner: Algorithm = registration.load()(
        spaces.Dict({name: _space_of(name, array[0]) for name, array in arrays.items()}),
        spaces.Discrete(actions),
        1,
        train.seed,
        own,
        train.device,
        DEFAULT_STEPS if train.steps is None else train.steps,
        **encoder_argument(settings, registry, own),
    )
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
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in ("curriculum_config", *first["loc"]))
        raise ConfigurationError(f"{where}: {first['msg']}") from error


def _space_of(name: str, array: NDArray[Any]) -> Any:
    from gymnasium import spaces  # noqa: PLC0415 - as above

    low, high = (0, 255) if array.dtype == np.uint8 else (0, 1) if name == "action_mask" else (-np.inf, np.inf)
    return spaces.Box(low, high, array.shape, array.dtype.type)
