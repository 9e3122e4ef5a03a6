"""Environments by one call, alone or several at once; their check; the log of a script."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

from pkmn_balatro.checks import check_environment, checked_count
from pkmn_balatro.env_wrapper import mask_of
from pkmncli.errors import ConfigurationError, did_you_mean, without_prefix

_STEPS = 200
"""Steps of random play in a check."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def create_balatro_env(seed: int | None = 42, **settings: Any) -> gymnasium.Env[Any, Any]:
    """Return a Balatro environment, reset.

    Args:
        seed: of its first episode and, by it, of those after; None for a random one.
        settings: fields of :class:`pkmn_balatro.settings.BalatroSettings`, such as ``deck`` and ``win_ante``.

    Raises:
        ConfigurationError: there is no such setting, or its value or the seed is wrong.
        EnvironmentSetupError: there is no such deck or stake.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - slow to import

    from pkmn_balatro.environment import BalatroEnvironment  # noqa: PLC0415 - the simulator
    from pkmn_balatro.settings import BalatroSettings  # noqa: PLC0415

    try:
        checked = BalatroSettings(**settings)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = list(BalatroSettings.model_fields)
            hint = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise ConfigurationError(f"balatro has no setting {name!r}: {hint}") from None
        raise ConfigurationError(f"balatro: {name} = {first['input']!r}: {without_prefix(first['msg'])}") from None
    if seed is not None:
        checked_count("seed", seed, least=0)
    environment = BalatroEnvironment(checked)
    environment.reset(seed=seed)
    return environment


def make_vectorized_env(
    env_creator: Callable[[], Any], n_envs: int = 8, asynchronous: bool = False, seed: int | None = 42
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Return several environments that are stepped together, as a Gymnasium vector, reset.

    After an episode's end the observation is the first one of the next; the last one is ``info["final_obs"]``.

    A trainer given this vector makes its own environments by ``env_creator``, in separate processes.

    Args:
        env_creator: makes an environment.
        n_envs: number of environments.
        asynchronous: True to have each in a separate process, which is faster where a step takes long.
        seed: of the first one's episodes; the others have the seeds after it. None for random ones.

    Raises:
        ConfigurationError: ``n_envs`` is not a whole number from 1, the seed not one from 0, or the function makes no
            environment.
    """
    if not callable(env_creator):
        raise ConfigurationError(f"{type(env_creator).__name__} is no function that makes an environment")
    checked_count("n_envs", n_envs)
    if seed is not None:
        checked_count("seed", seed, least=0)

    def make() -> Any:
        return check_environment(env_creator())

    kind = gymnasium.vector.AsyncVectorEnv if asynchronous else gymnasium.vector.SyncVectorEnv
    vector: Any = kind([make] * n_envs, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
    vector.reset(seed=seed)  # the function may give each the same one
    vector.env_creator = env_creator
    return vector  # type: ignore[no-any-return]


def validate_environment(env: Any) -> bool:
    """Check an environment, and print what is wrong with it, each fault on its own line. Return True if nothing is.

    It is checked by Gymnasium's own check; then it is played at random with its mask, where the mask, the observations
    and the rewards are checked; then two episodes with the same seed and actions are compared.
    """
    faults = _faults(env)
    name = type(env.unwrapped if isinstance(env, gymnasium.Env) else env).__name__
    if not faults:
        print(f"{name}: no faults found.")
        return True
    print(f"{name}: {len(faults)} faults:" if len(faults) > 1 else f"{name}: 1 fault:")
    for fault in faults:
        print(f"- {fault}")
    return False


def setup_logging(level: str = "INFO", log_file: str | Path | None = None) -> logging.Logger:
    """Show the messages of trainings on standard error, and keep them in a file. Return the logger.

    Called again, it replaces what it has set up before.

    Args:
        level: least severe messages: DEBUG, INFO, WARNING or ERROR.
        log_file: file to append to; None for none.

    Raises:
        ConfigurationError: there is no such level, or the file cannot be opened.
    """
    number = logging.getLevelNamesMapping().get(str(level).upper())
    if number is None:
        raise ConfigurationError(f"log level {level!r}: choose DEBUG, INFO, WARNING or ERROR")
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if log_file is not None:
        try:
            Path(log_file).parent.mkdir(parents=True, exist_ok=True)
            handlers.append(logging.FileHandler(log_file, encoding="utf-8"))
        except OSError as error:
            raise ConfigurationError(f"log file {log_file}: {error.strerror}") from None
    logger = logging.getLogger("pkmncli")
    for one in [one for one in logger.handlers if getattr(one, "of_setup_logging", False)]:
        logger.removeHandler(one)
        one.close()
    for one in handlers:
        one.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        one.of_setup_logging = True  # type: ignore[attr-defined]
        logger.addHandler(one)
    logger.setLevel(number)
    return logger


def _faults(env: Any) -> list[str]:
    try:
        check_environment(env)
    except ConfigurationError as error:
        return [str(error)]
    if not isinstance(env, gymnasium.Env):
        return [f"{type(env).__name__} is no gymnasium.Env: derive its class from that"]
    faults: list[str] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            check_env(env.unwrapped, skip_render_check=True)
        except Exception as error:
            faults.append(f"Gymnasium's check: {_line(error)}")
    faults += [f"Gymnasium's check warns: {_line(one.message)}" for one in told if "unwrapped" not in str(one.message)]
    try:
        faults += _faults_of_play(env)
    except Exception as error:
        faults.append(f"random play ends with {type(error).__name__}: {_line(error)}")
    return list(dict.fromkeys(faults))


def _faults_of_play(env: gymnasium.Env[Any, Any]) -> list[str]:
    faults: dict[str, str] = {}
    first, actions = _episode(env, None, faults)
    second, _actions = _episode(env, actions, {})
    if first != second:
        faults["differ"] = (
            "two episodes with the same seed and actions differ: let reset(seed=...) decide all that is random"
        )
    return list(faults.values())


def _episode(
    env: gymnasium.Env[Any, Any], given: list[Any] | None, faults: dict[str, str]
) -> tuple[list[Any], list[Any]]:
    """Play an episode at random, or with given actions. Return what was seen and earned, and the actions.

    The first fault of each kind is added to ``faults``.
    """
    generator = np.random.default_rng(0)
    env.action_space.seed(0)
    observation, info = env.reset(seed=0)
    seen, actions = [_digest(observation)], []
    count = getattr(env.action_space, "n", None)
    for step in range(_STEPS if given is None else len(given)):
        mask = mask_of(env, observation, info)
        if mask is not None and mask.shape != (count,):
            faults.setdefault("shape", f"the mask has shape {mask.shape}, and there are {count} actions")
            mask = None
        elif mask is not None and not mask.any():
            faults.setdefault("mask", f"after {step} steps the mask allows no action")
            mask = None
        if given is not None:
            action = given[step]
        elif mask is not None:
            action = int(generator.choice(mask.nonzero()[0]))
        else:
            action = env.action_space.sample()
        observation, reward, terminated, truncated, info = env.step(action)
        actions.append(action)
        seen.append((_digest(observation), _digest(float(reward))))
        if not np.isfinite(float(reward)):
            faults.setdefault("reward", f"the reward of step {step + 1} is {reward}")
        if not env.observation_space.contains(observation):
            faults.setdefault("observation", _misfit(env.observation_space, observation))
        if terminated or truncated:
            break
    return seen, actions


def _misfit(space: gymnasium.Space[Any], observation: Any) -> str:
    if isinstance(space, gymnasium.spaces.Dict) and isinstance(observation, Mapping):
        for name, part in space.spaces.items():
            if name not in observation:
                return f"the observation lacks {name!r}"
            if not part.contains(observation[name]):
                return f"the observation's {name!r} is not in its space {_line(part)}"
    return f"the observation is not in its space {_line(space)}"


def _digest(observation: Any) -> Any:
    """Return plain values that are equal for equal observations, also where they hold NaN."""
    if isinstance(observation, Mapping):
        return [(name, _digest(value)) for name, value in sorted(observation.items())]
    if isinstance(observation, tuple):
        return [_digest(value) for value in observation]
    return observation if isinstance(observation, str) else np.asarray(observation).tobytes()


def _line(text: Any) -> str:
    """Return a text in one line of at most 300 characters, without the colours of Gymnasium's warnings."""
    found = " ".join(_COLOUR.sub("", str(text)).split())
    return found if len(found) <= 300 else f"{found[:297]}..."
