"""Any Gymnasium environment as one that can be trained: adds what training needs beside ``reset`` and ``step``."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from pkmncli.api.actions import MASK, FlatActions
from pkmncli.api.base_environment import DEFAULT_EPISODE_STEPS, BaseEnvironment, hash_of_observation
from pkmncli.api.decisions import Facts
from pkmncli.api.environments import DEFAULT_RENDER_FPS, Context, Environment
from pkmncli.api.layers import arguments_and_wrappers, depth, member_of, method_of, state_methods_of
from pkmncli.api.plain_state import state_from_bytes, state_to_bytes
from pkmncli.api.spaces import array_members, blank_observation, named_parts, part_at
from pkmncli.errors import EnvironmentSetupError

if TYPE_CHECKING:
    from numpy.typing import NDArray


_ARRAYS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
_CONTRACT = ("advance", "write_observation", "facts", "milestone_steps", "save_state", "load_state")
_DECLARED = ("phase_names", "phase_roles", "situations", "milestone_names", "metric_names", "reward_names", "goal_name")
"""Attributes of the layers that are passed on, if one has them: no step changes them."""
_METHODS = (
    *("metrics", "progress", "status", "write_reward_parts", "reward_totals", "milestone_frames"),
    *("for_evaluation", "earlier_memory_hashes"),
)
"""Methods of the layers that are passed on, if one has them."""


class GymnasiumEnvironment(BaseEnvironment):
    """Adapter of any :class:`gymnasium.Env`, with the wrappers around it.

    Its observation becomes a mapping of arrays: parts of a Dict or Tuple by names such as ``"goal.position"``, anything
    else as ``"observation"``. Texts are left out; :meth:`context` shows them. The mask of allowed actions is the
    ``action_mask`` of the observation, of ``info``, or what ``action_masks()`` returns; otherwise all are allowed. Its
    actions are numbers from 0, or the controls of a continuous space, see :class:`pkmncli.api.FlatActions`.

    Optional members of :class:`pkmncli.api.OptionalEnvironment`, such as ``action_names``, ``metrics`` and
    ``succeeded``, are found at the environment or at any wrapper. ``info["success"]`` (or ``"is_success"``) and
    ``info["metrics"]`` of an episode's last step count, too.

    :meth:`save_state` uses the ``save_state`` and ``load_state``, or ``get_state`` and ``set_state``, of an environment
    without wrappers, or of the outermost wrapper. Otherwise it keeps the seed and the actions of the episode, and
    :meth:`load_state` repeats them.

    Args:
        env: the environment.
        max_steps_per_episode: steps after which an episode is truncated, in place of the environment's own limit.

    Raises:
        EnvironmentSetupError: it has no spaces, or of a kind that cannot be learned from.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], max_steps_per_episode: int | None = None) -> None:
        spec_limit = None if env.spec is None else env.spec.max_episode_steps
        if isinstance(env, TimeLimit):  # this class has the limit itself, and so its count can be restored
            spec_limit = env.spec.max_episode_steps if env.spec is not None else env._max_episode_steps
            env = env.env
        self.env = env
        self.title = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
        own_limit = getattr(env.unwrapped, "max_steps_per_episode", None)
        for name in ("action_space", "observation_space"):
            if not isinstance(space := getattr(env, name, None), gymnasium.Space):
                found = "none" if space is None else f"{type(space).__module__}.{type(space).__name__}"
                raise EnvironmentSetupError(f"{self.title} needs an {name} of gymnasium.spaces, and has {found}")
        limit = max_steps_per_episode or spec_limit or own_limit
        self.max_steps_per_episode = int(limit or DEFAULT_EPISODE_STEPS)
        self.metadata = {"render_fps": DEFAULT_RENDER_FPS, **(env.metadata or {})}  # type: ignore[misc]
        self.render_mode = env.render_mode
        try:
            self._flat = FlatActions.of(env.action_space)
        except EnvironmentSetupError as error:
            raise EnvironmentSetupError(f"{self.title}: {error}") from None
        self.action_space = self._flat.space
        members, self._text_paths = _members(env.observation_space, self.title)
        self._array_paths = {name: path for name, (path, _space) in members.items()}
        self._mask_in_observation = MASK in members
        mask = spaces.Box(0, 1, (self._flat.count,), np.int8)
        self.observation_space = spaces.Dict({name: space for name, (_path, space) in members.items()} | {MASK: mask})
        self._inside: Environment | None = None
        if _has_contract(env.unwrapped):
            self._inside = env.unwrapped  # type: ignore[assignment]
        for name in (*_DECLARED, *_METHODS):
            found = member_of(env, name)
            if found is not None and (name in _DECLARED or callable(found)):
                setattr(self, name, found)
        self.action_names: Any = self._flat.declared_names(member_of(env, "action_names"))
        own_names = member_of(env, "names")
        self._names: dict[str, Any] = {"game": self.title, **(own_names if isinstance(own_names, Mapping) else {})}
        self._mask_method = method_of(env, "action_masks")
        self._state_methods = state_methods_of(env)
        self._seed: int | None = None
        self._start: bytes | None = None
        self._actions: list[Any] = []
        self._arrays: dict[str, NDArray[Any]] = {}
        self._texts: dict[str, str] = {}
        self._info: Mapping[str, Any] = {}
        self._total = 0.0
        self._hash: int | None = None
        self._guided = False
        self._unchanged: frozenset[str] = frozenset()
        """Names of the arrays that wrappers left as the environment inside has them."""

    # Steps -----------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begin an episode. ``options["start_state"]`` is a state of :meth:`save_state` to begin in."""
        start: bytes | None = (options or {}).get("start_state")
        if start is not None and self._inside is None:
            self.load_state(start)
        else:
            observation, info = self.env.reset(seed=seed, options=options)
            self._take(observation, info)
        self._seed, self._start, self._actions, self._total, self.steps = seed, start, [], 0.0, 0
        return self.observation(), dict(self._info)

    def advance(self, action: int | NDArray[np.float32]) -> tuple[float, bool, bool]:
        """Take the action with a number, or continuous controls. Return (reward, terminated, truncated)."""
        given = np.array(action, np.float32) if isinstance(action, np.ndarray) and action.ndim else int(action)
        taken = given if self._flat.trivial and not self._flat.dimensions else self._flat.action(given)
        observation, reward, terminated, truncated, info = self.env.step(taken)
        self.steps += 1
        self._actions.append(given)
        self._total += float(reward)
        self._take(observation, info)
        return float(reward), bool(terminated), bool(truncated) or self.steps >= self.max_steps_per_episode

    def step(
        self, action: int | NDArray[np.float32]
    ) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Take the action with a number, or continuous controls.

        Return (observation, reward, terminated, truncated, info).
        """
        reward, terminated, truncated = self.advance(action)
        return self.observation(), reward, terminated, truncated, dict(self._info)

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Write the observation and the mask into arrays.

        Goals of a pilot change after the step, so what wrappers leave as it is comes from the environment inside.
        """
        inside = self._arrays_inside() if self._unchanged else {}
        for name, array in self._arrays.items():
            out[name][...] = inside[name] if name in self._unchanged else array

    def _take(self, observation: Any, info: Mapping[str, Any]) -> None:
        self._info, self._hash = info, None
        # copies: some environments write into the array they returned
        self._arrays = {name: np.array(part_at(observation, path)) for name, path in self._array_paths.items()}
        self._texts = {}
        for name, path in self._text_paths.items():
            with contextlib.suppress(KeyError):  # the fast contract observes arrays alone
                self._texts[name] = part_at(observation, path)
        self._arrays[MASK] = self._mask(info)
        if self._guided:
            inside = self._arrays_inside()
            self._unchanged = frozenset(
                name for name, array in self._arrays.items() if name in inside and np.array_equal(array, inside[name])
            )

    def _arrays_inside(self) -> dict[str, NDArray[Any]]:
        assert self._inside is not None
        space = self._inside.observation_space
        arrays = blank_observation(space)
        self._inside.write_observation(arrays)
        return {".".join(path): part_at(arrays, path) for path in array_members(space)}

    def _mask(self, info: Mapping[str, Any]) -> NDArray[np.int8]:
        found: Any = info.get(MASK)
        if self._mask_in_observation:
            found = self._arrays.get(MASK)
        elif found is None and self._mask_method is not None:
            found = self._mask_method()
        mask = None if found is None else self._flat.mask(found)
        # a copy: the environment may change its own mask in place
        return np.array(mask) if mask is not None and mask.any() else np.ones(self._flat.count, np.int8)

    # For training ----------------------------------------------------------------------------------------------

    @property
    def names(self) -> Mapping[str, Any]:
        """Names for people: those of the environment, or its id as the title."""
        return self._names

    @property
    def identity(self) -> dict[str, Any]:
        """Plain values that a recorded action depends on: those of the environment inside, id, arguments, wrappers."""
        return {**member_of(self.env, "identity", {"id": self.title}), **arguments_and_wrappers(self.env)}

    @property
    def frames_per_second(self) -> float:
        """Frames that are one second of play: as the environment says, or its pictures."""
        return float(member_of(self.env, "frames_per_second") or super().frames_per_second)

    @property
    def steps_since_progress(self) -> int | None:
        """Steps since anything was new, if the environment counts them."""
        found: int | None = member_of(self.env, "steps_since_progress")
        return found

    @property
    def pressed(self) -> int:
        """Action that the latest step carried out, if the environment inside says so; otherwise the one given."""
        own = getattr(self._inside, "pressed", None)
        if self._flat.dimensions:
            return 0
        return (self._actions or [0])[-1] if own is None else self._flat.number(own)

    @property
    def environment_inside(self) -> Any:
        """Environment below all wrappers if it has the whole contract, as pilots need it; else this one."""
        return self if self._inside is None else self._inside

    @property
    def succeeded(self) -> bool | None:
        """True if the episode is a success so far, False if not, None if nothing says so."""
        found = member_of(self.env, "succeeded")
        for key in ("success", "is_success"):
            found = self._info.get(key) if found is None else found
        return None if found is None else bool(found)

    def metrics(self) -> Mapping[str, float]:
        """Return ``info["metrics"]`` of the latest step. An environment with ``metrics()`` replaces this."""
        found = self._info.get("metrics")
        return found if isinstance(found, Mapping) else {}

    def guide(self, pilot: Any) -> None:
        """Pass the pilot on to an environment inside that shows its goals."""
        method = method_of(self.env, "guide")
        if method is not None:
            self._guided = self._inside is not None
            method(pilot)

    def facts(self) -> Facts:
        """Return the state after the latest step: that of an environment with facts inside, or steps and a hash."""
        if self._inside is not None:
            return self._inside.facts()
        if self._hash is None:
            self._hash = hash_of_observation(self._arrays)
        reached = sum(step >= 0 for step in self.milestone_steps())
        coarse = self._hash if all(array.dtype.kind in "biu" for array in self._arrays.values()) else 0
        return Facts(milestones=reached, frames=self.steps, coarse_hash=coarse, fine_hash=self._hash)

    def memory_hash(self) -> int:
        """Return a hash of the state: that of an environment with one inside, or of the observation."""
        return super().memory_hash() if self._inside is None else self._inside.memory_hash()

    def milestone_steps(self) -> list[int]:
        """Return for each milestone the step that reached it, -1 if not yet."""
        method = method_of(self.env, "milestone_steps")
        return list(method()) if method is not None else [-1] * len(self.milestone_names)

    def context(self) -> Context:
        """Return the state in words: those of the environment, or steps, reward and the texts of the observation."""
        method = method_of(self.env, "context")
        if method is not None:
            found: Context = method()
            return found
        texts = "".join(f" {name}: {text}" for name, text in self._texts.items())
        summary = f"{self.names['game']}, step {self.steps}, reward so far {self._total:g}.{texts}"
        return Context(current_goal="Earn as much reward as possible.", context_summary=summary)

    # Pictures --------------------------------------------------------------------------------------------------

    def render(self) -> Any:
        """Return the picture, uint8 (height, width, 3); None unless the render mode is ``rgb_array``.

        Raises:
            EnvironmentSetupError: a package that draws it is missing.
        """
        if self.render_mode != "rgb_array":
            return None
        try:
            return self.env.render()
        except gymnasium.error.DependencyNotInstalled as error:
            raise EnvironmentSetupError(f"{self.title} cannot draw: {' '.join(str(error).split())}") from None

    def view(self) -> Any:
        """Return the picture for people, as :meth:`render`."""
        method = method_of(self.env, "view")
        return method() if method is not None else self.render()

    # State -----------------------------------------------------------------------------------------------------

    def save_state(self) -> bytes:
        """Return the state of the episode: the environment's own, or the seed and the actions so far."""
        state: dict[str, Any] = {"id": self.title, "seed": self._seed, "steps": self.steps, "total": self._total}
        if self._state_methods is not None:
            state |= {"state": self._state_methods[0](), "arrays": self._arrays, "texts": self._texts}
            generator = getattr(self.env.unwrapped, "_np_random", None)
            if isinstance(generator, np.random.Generator):
                state["random"] = generator.bit_generator.state
        state |= {"start": self._start, "hash": self.facts().fine_hash}
        if self._state_methods is None:
            state["actions"] = np.array(self._actions, np.float32 if self._flat.dimensions else np.uint16)
        try:
            return state_to_bytes(state)
        except TypeError as error:
            raise EnvironmentSetupError(f"the state of {self.title} cannot be kept: {error}") from None

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Resume from a saved state. Return as :meth:`reset` does.

        Raises:
            EnvironmentSetupError: the state does not fit, or the environment does not repeat its episode.
        """
        try:
            saved = state_from_bytes(state)
            title, seed, start, steps = saved["id"], saved["seed"], saved["start"], int(saved["steps"])
            total, expected = float(saved["total"]), saved["hash"]
            actions, own, random = list(saved.get("actions", ())), saved.get("state"), saved.get("random")
        except (ValueError, TypeError, KeyError) as error:
            raise EnvironmentSetupError(f"the saved state is none of {self.title}: {error}") from None
        if title != self.title:
            raise EnvironmentSetupError(f"the saved state is of {title}, and this environment is {self.title}")
        self.reset(seed=seed, options=None if start is None else {"start_state": start})
        if self._state_methods is not None:
            self._state_methods[1](own)  # it says nothing of what is observed there, so that is kept, too
            if random is not None:  # in place, since the environment may have the generator under another name
                self.env.unwrapped.np_random.bit_generator.state = random
            self._arrays, self._texts = saved.get("arrays", self._arrays), saved.get("texts", self._texts)
            self._hash = None
        else:
            for number, action in enumerate(actions, start=1):
                ended = any(self.advance(action)[1:])
                if ended and number < len(actions):
                    break
            if self.facts().fine_hash != expected:
                raise EnvironmentSetupError(
                    f"{self.title} does not repeat an episode: the {len(actions):,} actions from seed {seed} lead to "
                    "another observation. Let reset(seed=...) decide all that is random, or give it save_state() and "
                    "load_state()"
                )
        self.steps, self._total = steps, total
        return self.observation(), dict(self._info)

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def adapted(environment: Any, max_steps_per_episode: int | None = None) -> Any:
    """Return an environment that can be trained: itself if it is one, else in a :class:`GymnasiumEnvironment`.

    The latter calls ``step``, also that of a class which overrides the one of an environment with an ``advance``.

    Args:
        environment: what a plugin's target, or a script, has built.
        max_steps_per_episode: for :class:`GymnasiumEnvironment`.

    Raises:
        EnvironmentSetupError: it is no Gymnasium environment, or cannot be adapted.
    """
    whole = _has_contract(environment)
    if isinstance(environment, BaseEnvironment):
        whole = type(environment).advance is not BaseEnvironment.advance
        environment.max_steps_per_episode = max_steps_per_episode or environment.max_steps_per_episode
    if whole and not (isinstance(environment, gymnasium.Env) and _overrides_step(type(environment))):
        return environment
    if not isinstance(environment, gymnasium.Env):
        kind = type(environment)
        raise EnvironmentSetupError(f"{kind.__module__}.{kind.__name__} is no gymnasium.Env: derive the class from it")
    return GymnasiumEnvironment(environment, max_steps_per_episode)


def _has_contract(environment: Any) -> bool:
    return all(callable(getattr(environment, name, None)) for name in _CONTRACT)


def _overrides_step(kind: type) -> bool:
    """Return True if the class that defines ``step`` is derived from another with an ``advance``, not a mere base."""
    bases = [one for one in kind.__mro__[depth(kind, "step") + 1 :] if one not in (BaseEnvironment, Environment)]
    return any("advance" in vars(one) for one in bases)


def _members(space: gymnasium.Space[Any], title: str) -> tuple[dict[str, tuple[Any, Any]], dict[str, Any]]:
    """Return path and space of each array of an observation, by name, and the path of each text."""
    arrays, texts = {}, {}
    for name, path, part in named_parts(space):
        if isinstance(part, _ARRAYS):
            arrays[name] = path, part
        elif part.dtype is not None and part.dtype.kind == "U":
            texts[name] = path
        else:
            raise EnvironmentSetupError(
                f"{title} observes {type(part).__name__} ({name}): arrays, numbers and texts can be "
                "observed; put a wrapper around it with --wrapper module:Class"
            )
    return arrays, texts
