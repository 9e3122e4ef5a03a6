"""Wrappers around a Balatro environment: standard infos, curriculum, scaled rewards, masks.

from pkmn_balatro.env_wrapper import wrap_balatro_env
from pkmn_balatro.utils import create_balatro_env

env = wrap_balatro_env(create_balatro_env(seed=42), use_curriculum=True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from pkmn_balatro.checks import check_environment, checked_count
from pkmncli.api.layers import layers_of, member_of, state_methods_of
from pkmncli.errors import ConfigurationError, did_you_mean
from pkmncli.learners.observations import MASK

if TYPE_CHECKING:
    from numpy.typing import NDArray

Step = tuple[Any, float, bool, bool, dict[str, Any]]


class EnvironmentWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Base class of wrappers: the environment inside is ``self.env``. A subclass overrides ``reset`` or ``step``.

    What a subclass assigns to itself is kept in checkpoints, together with the state of the environment inside: plain
    values, lists, dictionaries and arrays. So a training resumes exactly also if a wrapper remembers earlier episodes,
    as long as the class of the environment inside defines ``save_state`` and ``load_state``, as Balatro's does.

    Raises:
        ConfigurationError: what is to be wrapped is no environment.
    """

    def __init__(self, env: Any) -> None:
        check_environment(env)
        if not isinstance(env, gymnasium.Env):
            raise ConfigurationError(f"{type(env).__name__} is no gymnasium.Env: derive its class from that")
        super().__init__(env)
        self._of_gymnasium = frozenset({*vars(self), "_of_gymnasium"})

    def __init_subclass__(cls) -> None:
        """Give each subclass the state methods as its own: those that it overrides would count as hiding a state."""
        super().__init_subclass__()
        for name in ("save_state", "load_state"):
            if name not in vars(cls):
                setattr(cls, name, getattr(cls, name))

    @property
    def save_state(self) -> Callable[[], dict[str, Any]]:
        """Function that returns the state of this wrapper and of all that is inside.

        Raises:
            AttributeError: the environment inside cannot save its state.
        """
        save, _load = self._inside()
        return lambda: {"inside": save(), "own": self._own_state()}

    @property
    def load_state(self) -> Callable[[Mapping[str, Any]], None]:
        """Function that takes such a state.

        Raises:
            AttributeError: as above.
        """
        _save, load = self._inside()

        def take(state: Mapping[str, Any]) -> None:
            load(state["inside"])
            self.__dict__.update(state["own"])

        return take

    def _own_state(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._of_gymnasium}

    def _inside(self) -> tuple[Any, Any]:
        found = state_methods_of(self.env)
        if found is None:
            raise AttributeError(f"{type(self.env).__name__} cannot save its state")
        return found


class BalatroGymWrapper(EnvironmentWrapper):
    """Wrapper after which every Balatro environment looks the same to other libraries.

    ``info`` has ``action_mask`` (n,) int8, ``metrics`` (numbers by name, such as ``ante`` and ``score``) and, at an
    episode's end, ``success``. An action may be any whole number, also of NumPy; any other is refused.
    """

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode. Return (observation, info)."""
        observation, info = self.env.reset(**kwargs)
        return observation, {**info, **self._added(observation, info)}

    def step(self, action: Any) -> Step:
        """Take the action with a number. Return (observation, reward, terminated, truncated, info).

        Raises:
            ConfigurationError: there is no such action.
        """
        observation, reward, terminated, truncated, info = self.env.step(self._number(action))
        info = {**info, **self._added(observation, info)}
        succeeded = member_of(self.env, "succeeded")
        if (terminated or truncated) and succeeded is not None:
            info["success"] = bool(succeeded)
        return observation, float(reward), bool(terminated), bool(truncated), info

    def _added(self, observation: Any, info: Mapping[str, Any]) -> dict[str, Any]:
        mask = mask_of(self.env, observation, info)
        added: dict[str, Any] = {} if mask is None else {MASK: mask.astype(np.int8)}
        return added | {"metrics": metrics_of(self.env, info)}

    def _number(self, action: Any) -> Any:
        space = self.env.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            return action
        try:
            number = int(action)
        except (TypeError, ValueError):
            number = -1
        if not space.contains(number):
            raise ConfigurationError(
                f"there is no action {action!r}: actions are whole numbers from {space.start} to "
                f"{space.start + space.n - 1}"
            )
        return number


@dataclass(frozen=True)
class CurriculumConfig:
    """Settings of the curriculum.

    Attributes:
        initial_max_ante: ante whose boss ends an episode at first.
        ante_increment: antes that are added at each advance.
        success_threshold: share of successes that advances, above 0 and up to 1.
        window: latest episodes that the share is taken of.
        final_ante: last ante of a whole game; from there on, episodes end as without the curriculum.
    """

    initial_max_ante: int = 2
    ante_increment: int = 1
    success_threshold: float = 0.8
    window: int = 20
    final_ante: int = 8

    def __post_init__(self) -> None:
        for name in ("initial_max_ante", "ante_increment", "window", "final_ante"):
            checked_count(f"curriculum: {name}", getattr(self, name))
        if not isinstance(self.success_threshold, Real) or not 0 < self.success_threshold <= 1:
            raise ConfigurationError(
                f"curriculum: success_threshold = {self.success_threshold!r}: give a share above 0, up to 1"
            )

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> CurriculumConfig:
        """Return the settings in a dictionary.

        Raises:
            ConfigurationError: it has an unknown name, or a wrong value.
        """
        known = [one.name for one in fields(cls)]
        for name in given or {}:
            if name not in known:
                hint = did_you_mean(name, known, f"there are {', '.join(known)}")
                raise ConfigurationError(f"curriculum: unknown setting {name!r}: {hint}")
        return cls(**(given or {}))


class CurriculumWrapper(EnvironmentWrapper):
    """Wrapper that lets short games come first.

    An episode ends as a success when the boss of :attr:`max_ante` is beaten. When the share of successes among the
    latest episodes reaches the threshold, :attr:`max_ante` rises, and the count begins again. Each environment of a
    training has its own curriculum. The metric ``max_ante`` shows it. Evaluations play whole games.

    The environment's metric ``ante`` says where a game is.

    Args:
        env: the environment.
        curriculum_config: the fields of :class:`CurriculumConfig` by name.
        settings: the same as keywords.

    Raises:
        ConfigurationError: a setting is wrong, or the environment has no metric ``ante``.
    """

    active: bool = True
    """False in an evaluation, which plays whole games."""

    def __init__(self, env: Any, curriculum_config: Mapping[str, Any] | None = None, **settings: Any) -> None:
        super().__init__(env)
        given = CurriculumConfig.of({**(curriculum_config or {}), **settings})
        if "ante" not in (member_of(env, "metric_names") or ()):
            raise ConfigurationError(f"curriculum: {type(env.unwrapped).__name__} has no metric 'ante'")
        self.initial_max_ante = given.initial_max_ante
        self.ante_increment = given.ante_increment
        self.success_threshold = given.success_threshold
        self.window = given.window
        self.final_ante = given.final_ante
        self.max_ante = given.initial_max_ante
        """Ante whose boss ends the episode."""
        self.results: list[bool] = []
        """Successes of the latest episodes, since the last advance."""
        self.beaten = False
        self.ended = True

    @property
    def metric_names(self) -> tuple[str, ...]:
        """Names of the environment's metrics, and ``max_ante``."""
        return (*member_of(self.env, "metric_names"), "max_ante")

    def for_evaluation(self) -> None:
        """Play whole games from now on."""
        self.active = False

    def metrics(self) -> dict[str, float]:
        """Return the environment's metrics, and the ante whose boss ends the episode."""
        return {**member_of(self.env, "metrics")(), "max_ante": self.max_ante}

    @property
    def succeeded(self) -> bool | None:
        """True if the boss of the highest ante is beaten, or the environment calls the episode a success."""
        found = member_of(self.env, "succeeded")
        return True if self.beaten else found

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode. Return (observation, info)."""
        self.beaten, self.ended = False, False
        return super().reset(**kwargs)

    def step(self, action: Any) -> Step:
        """Take an action. Return (observation, reward, terminated, truncated, info)."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        shortened = self.active and self.max_ante < self.final_ante
        if shortened and not terminated and metrics_of(self.env, info)["ante"] > self.max_ante:
            self.beaten = terminated = True
        if (terminated or truncated) and not self.ended:
            self.ended = True
            info = {**info, "success": bool(self.succeeded), "max_ante": self.max_ante}
            if shortened:
                self._count(bool(self.succeeded))
        return observation, float(reward), terminated, truncated, info

    def _count(self, success: bool) -> None:
        self.results = [*self.results, success][-self.window :]
        if len(self.results) == self.window and sum(self.results) >= self.success_threshold * self.window:
            self.max_ante = min(self.max_ante + self.ante_increment, self.final_ante)
            self.results = []


class RewardScalingWrapper(EnvironmentWrapper):
    """Wrapper that brings rewards to a useful size.

    Args:
        env: the environment.
        scale: factor on each reward; None to divide rewards by the deviation of the discounted returns so far, and to
            clip them to -10..10. The learners of this program can do the latter themselves, over all environments
            together (``normalize_reward``).
        gamma: discount of a reward one step later, for these returns.

    Raises:
        ConfigurationError: the scale is not a number above 0.
    """

    def __init__(self, env: Any, scale: float | None = None, gamma: float = 0.99) -> None:
        super().__init__(env)
        if scale is not None and not (isinstance(scale, Real) and math.isfinite(scale) and scale > 0):
            raise ConfigurationError(f"reward scale = {scale!r}: give a number above 0, or None")
        self.scale, self.gamma = scale, gamma
        self.discounted = 0.0
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode. Return (observation, info)."""
        self.discounted = 0.0
        return super().reset(**kwargs)

    def step(self, action: Any) -> Step:
        """Take an action. Return (observation, reward, terminated, truncated, info)."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, self._scaled(float(reward)), terminated, truncated, {**info, "unscaled_reward": reward}

    def _scaled(self, reward: float) -> float:
        if self.scale is not None:
            return self.scale * reward
        self.discounted = self.gamma * self.discounted + reward
        self.count += 1  # mean and squares as Welford (1962) updates them
        before = self.discounted - self.mean
        self.mean += before / self.count
        self.squares += before * (self.discounted - self.mean)
        deviation = math.sqrt(self.squares / self.count)
        return float(np.clip(reward / deviation if deviation > 1e-8 else reward, -10, 10))


class ActionMaskWrapper(EnvironmentWrapper):
    """Wrapper for algorithms of other libraries: it offers the mask, and replaces forbidden actions.

    A forbidden action is replaced by an allowed one, which is sampled uniformly. The seed of the episode decides which;
    ``info["action_replaced"]`` says so. The learners of this program never choose a forbidden action.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.mask: NDArray[np.int8] | None = None
        self.generator = np.random.default_rng(0)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the latest observation: (n,) bool, True = allowed. MaskablePPO calls it."""
        if self.mask is None:
            return np.ones(self._count(), np.bool_)
        return self.mask.astype(np.bool_)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode. Return (observation, info)."""
        if kwargs.get("seed") is not None:
            self.generator = np.random.default_rng(kwargs["seed"])
        observation, info = self.env.reset(**kwargs)
        self.mask = mask_of(self.env, observation, info)
        return observation, info

    def step(self, action: Any) -> Step:
        """Take an action, or an allowed one in its place. Return (observation, reward, terminated, truncated, info)."""
        replaced = self.mask is not None and self.mask.any() and not self.mask[int(action)]
        if replaced and self.mask is not None:
            action = int(self.generator.choice(self.mask.nonzero()[0]))
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.mask = mask_of(self.env, observation, info)
        return observation, float(reward), terminated, truncated, {**info, "action_replaced": bool(replaced)}

    def _count(self) -> int:
        return int(getattr(self.env.action_space, "n", 0))


def wrap_balatro_env(
    env: Any, use_curriculum: bool = False, curriculum_config: Mapping[str, Any] | None = None
) -> gymnasium.Env[Any, Any]:
    """Return an environment in a :class:`BalatroGymWrapper`, and in a :class:`CurriculumWrapper` if asked for.

    Args:
        env: the environment.
        use_curriculum: True to let short games come first.
        curriculum_config: fields of :class:`CurriculumConfig` by name.

    Raises:
        ConfigurationError: ``env`` is no environment, or a setting is wrong.
    """
    wrapped: EnvironmentWrapper = BalatroGymWrapper(env)
    if use_curriculum:
        wrapped = CurriculumWrapper(wrapped, curriculum_config)
    elif curriculum_config:
        CurriculumConfig.of(curriculum_config)
    return wrapped


def with_curriculum(env: Any) -> Any:
    """Return an environment in a :class:`CurriculumWrapper`; itself if it is in one."""
    return env if any(isinstance(layer, CurriculumWrapper) for layer in layers_of(env)) else CurriculumWrapper(env)


def mask_of(env: Any, observation: Any, info: Mapping[str, Any]) -> NDArray[np.int8] | None:
    """Return the mask of allowed actions, (n,) 1 = allowed, from wherever an environment has it; None if nowhere."""
    found = info.get(MASK)
    if found is None and isinstance(observation, Mapping):
        found = observation.get(MASK)
    if found is None:
        method = member_of(env, "action_masks")
        found = method() if callable(method) else None
    return None if found is None else np.array(found, np.int8)


def metrics_of(env: Any, info: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics of an environment at present, by name: of its ``metrics()``, or of ``info``."""
    method = member_of(env, "metrics")
    return dict(method()) if callable(method) else dict(info.get("metrics", {}))
