"""Trials of a plugin's parts on a few real steps, for any plugin author: they find what only running shows."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from pydantic import ValidationError

from pkmncli.api import FlatActions, LLMFailure, LLMRequest, StrategyType, Transitions
from pkmncli.api.gymnasium_environment import adapted
from pkmncli.api.spaces import blank_observation
from pkmncli.diagnostics import one_line
from pkmncli.errors import PkmnError, PluginError
from pkmncli.plugins import Registration, Registry

STEPS = 20
"""Steps of each trial."""

_SPACE = gymnasium.spaces.Dict(
    {
        "numbers": gymnasium.spaces.Box(0, 1, (6,), np.float32),
        "action_mask": gymnasium.spaces.Box(0, 1, (4,), np.int8),
    }
)
"""Observations that learners are tried with."""

_EPISODE = {
    "episode_reward": 1.0,
    "average_reward": 0.5,
    "episode_length": 40,
    "llm_usage_rate": 0.4,
    "success": True,
    "success_rate": 0.5,
    "strategy_switches": 0,
    "curriculum_stage": 0,
    "llm_efficiency": 0.1,
    "rule_efficiency": 0.2,
    "llm_success_rate": 0.3,
    "rule_success_rate": 0.2,
}


class _NotTriedError(Exception):
    """Reason why a part is not tried here."""


def exercise_plugin(plugin: Any, *, ask: bool = True) -> list[str]:
    """Try each part of a plugin on a few real steps, with its default settings.

    Rewards get the states of the game in the bundled game, or in the plugin's own environment with a ``state``; pilots
    play the plugin's own environments. Stores, trackers, commands, games and encoders are not tried.

    Args:
        plugin: the module that its entry point names, or an object with hook implementations.
        ask: ask language models a question of one word. It connects to their service.

    Returns:
        A line for each part that could not be tried, such as a language model without its service.

    Raises:
        PluginError: a hook or a registration is wrong, or a target cannot be imported.
        AssertionError: a part raised an error, or returned what its contract forbids. The message names the line of the
            plugin's own code.
    """
    registry = Registry()
    registry.register_plugin(plugin, "checked")
    entries = registry.registrations()
    left_out = []
    for entry in entries:
        if entry.kind not in _TRIALS or (entry.kind == "llm_backends" and not ask):
            continue
        entry.load()
        try:
            _TRIALS[entry.kind](entry, entries)
        except _NotTriedError as reason:
            left_out.append(f"{entry.title} was not tried: {reason}")
        except Exception as error:
            raise AssertionError(f"{entry.title}: {_told(error)}{_place(entry, error)}") from error
    return left_out


def _told(error: BaseException) -> str:
    return str(error) if isinstance(error, (AssertionError, PkmnError)) else one_line(error)


def _place(entry: Registration, error: BaseException) -> str:
    """Return the innermost line of the plugin's own package that an error passed, for the end of a message."""
    module = sys.modules.get(getattr(entry.load(), "__module__", None) or "")
    top = sys.modules.get(module.__name__.partition(".")[0]) if module is not None else None
    if module is None or top is None or not getattr(module, "__file__", None):
        return ""
    folder = Path(next(iter(getattr(top, "__path__", [])), str(module.__file__)))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file == folder or folder in file.parents:
            return f" ({file.relative_to(folder.parent).as_posix()}, line {frame.lineno})"
    return ""


@contextmanager
def _building() -> Iterator[None]:
    """Turn a part's refusal of its default settings or of what is offered into a reason not to try it."""
    try:
        yield
    except (PkmnError, ValidationError) as error:
        raise _NotTriedError(_told(error)) from error


def _settings(entry: Registration) -> Any:
    model = entry.load_config()
    return None if model is None else model()


def _plain(what: str, value: Any) -> Any:
    """Return a value as JSON brings it back."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{what} is not of plain values: {error}") from error


def _built_environment(entry: Registration) -> Any:
    with _building():
        settings = _settings(entry)
        environment = entry.load()() if settings is None else entry.load()(settings)
        return environment if hasattr(environment, "advance") else adapted(environment, None)


def _actions(environment: Any, seed: int = 1) -> Iterator[int | None]:
    """Yield an allowed action again and again; None for a continuous one."""
    random = np.random.default_rng(seed)
    space = environment.action_space
    count = None if isinstance(space, gymnasium.spaces.Box) else FlatActions.of(space).count
    seen = blank_observation(environment.observation_space)
    while True:
        environment.write_observation(seen)
        mask = seen.get("action_mask")
        if count is None:
            yield None
            continue
        allowed = np.arange(count)
        if mask is not None:
            allowed = np.flatnonzero(FlatActions.of(space).mask(mask))
            assert len(allowed), "the action mask forbids every action"
        yield int(random.choice(allowed))


def _given(environment: Any, action: int | None) -> Any:
    space = environment.action_space
    if action is None:
        return space.sample()
    return action if isinstance(space, gymnasium.spaces.Discrete) else FlatActions.of(space).action(action)


def _try_environment(entry: Registration, entries: list[Registration]) -> None:
    environment = _built_environment(entry)
    try:
        observation, _info = environment.reset(seed=1)
        assert observation in environment.observation_space, "reset() returns what is not in its observation_space"
        environment.action_space.seed(1)
        actions = _actions(environment)
        for _ in range(STEPS):
            reward, terminated, truncated = environment.advance(_given(environment, next(actions)))
            assert math.isfinite(reward), f"advance() returns the reward {reward}"
            if terminated or truncated:
                environment.reset(seed=2)
        before, facts = blank_observation(environment.observation_space), environment.facts()
        environment.write_observation(before)
        assert before in environment.observation_space, "write_observation() writes what is not in its space"
        environment.context()
        environment.load_state(environment.save_state())
        assert environment.facts() == facts, "after load_state(save_state()) its state is another one"
    finally:
        environment.close()


def _try_reward(entry: Registration, entries: list[Registration]) -> None:
    environment = next((made for made in _own_environments(entries) if hasattr(made, "state")), None)
    if environment is None:
        environment = _bundled_game()
    try:
        with _building():
            given = {} if entry.config is None else _settings(entry)
            reward, resumed = (entry.load()(given) for _ in range(2))
        environment.reset(seed=1)
        game = getattr(environment, "game", environment)
        for one in (reward, resumed):
            if hasattr(one, "bind"):
                one.bind(game)
        reward.reset(environment.state)
        actions = _actions(environment)
        for _ in range(STEPS):
            previous, action = environment.state, next(actions)
            environment.advance(_given(environment, action))
            parts = reward.score(previous, action, environment.state)
            assert isinstance(parts, Mapping), f"score() returns {parts!r}, no parts by name"
            for name, value in parts.items():
                assert math.isfinite(value), f"score() returns {value} for the part {name!r}"
        resumed.reset(environment.state)
        resumed.load_state(_plain("what save_state() returns", reward.save_state()))
    finally:
        environment.close()


def _own_environments(entries: list[Registration], pilot: str | None = None) -> Iterator[Any]:
    """Yield the plugin's environments that can be built; with a pilot, those that it can play by their settings."""
    for entry in entries:
        if entry.kind == "environments":
            played = getattr(entry.load_config(), "pilots", None)
            if pilot is not None and played is not None and pilot not in played:
                continue
            try:
                yield _built_environment(entry)
            except _NotTriedError:
                continue


def _bundled_game() -> Any:
    try:
        entry = Registry.discover().get("environments", "pyboy")
    except PluginError as error:
        raise _NotTriedError(str(error)) from error
    return _built_environment(entry)


def _try_pilot(entry: Registration, entries: list[Registration]) -> None:
    environment = next(_own_environments(entries, entry.name), None)
    if environment is None:
        raise _NotTriedError("its plugin has no environment for it to play")
    try:
        environment.reset(seed=1)
        with _building():
            given = () if entry.config is None else (_settings(entry),)
            pilot, resumed = (entry.load()(environment, *given) for _ in range(2))
        pilot.reset(1)
        for _ in range(STEPS):
            allowed = next(_allowed(environment))
            decision = pilot.act(None)
            assert decision.action in allowed, f"act() chooses action {decision.action}, which the mask forbids"
            _reward, terminated, truncated = environment.advance(_given(environment, decision.action))
            if terminated or truncated:
                environment.reset(seed=2)
                pilot.reset(2)
        resumed.reset(1)
        resumed.load_state(_plain("what save_state() returns", pilot.save_state()))
    finally:
        environment.close()


def _allowed(environment: Any) -> Iterator[set[int]]:
    flat, seen = FlatActions.of(environment.action_space), blank_observation(environment.observation_space)
    while True:
        environment.write_observation(seen)
        mask = seen.get("action_mask")
        yield set(range(flat.count)) if mask is None else set(np.flatnonzero(flat.mask(mask)).tolist())


def _try_strategy(entry: Registration, entries: list[Registration]) -> None:
    with _building():
        strategy, resumed = (entry.load()(settings=_settings(entry), initial=StrategyType.BALANCED) for _ in range(2))
    for stage in (None, StrategyType.RULE_HEAVY):
        strategy.begin_stage(stage)
        for sides in ({}, {"llm_efficiency": None, "llm_success_rate": None, "success": None, "success_rate": None}):
            share = strategy.select({**_EPISODE, **sides})
            assert 0 <= share <= 1, f"select() returns the share {share}, which is not in 0..1"
            assert strategy.share == share, f"select() returns {share}, but its share is {strategy.share}"
    assert isinstance(strategy.name, str), f"its name is {strategy.name!r}, no text"
    assert isinstance(strategy.asks_to_stay, bool), f"asks_to_stay is {strategy.asks_to_stay!r}"
    _plain("what get_strategy_stats() returns", strategy.get_strategy_stats())
    resumed.load_state_dict(_plain("what state_dict() returns", strategy.state_dict()))
    assert resumed.share == strategy.share, "after load_state_dict(state_dict()) it has another share"


def _try_learner(entry: Registration, entries: list[Registration]) -> None:
    space = gymnasium.spaces.Discrete(4)
    with _building():
        learner, resumed = (entry.load()(_SPACE, space, 2, 1, _settings(entry), "cpu", 1000) for _ in range(2))
    try:
        random = np.random.default_rng(1)
        seen = _seen(random)
        for _ in range(STEPS):
            actions, confidences, exploring = learner.act(seen, True)
            assert actions.shape == confidences.shape == exploring.shape == (2,), (
                "act() returns arrays of other shapes than (2,)"
            )
            allowed = seen["action_mask"][np.arange(2), actions] == 1
            assert allowed.all(), f"act() chooses the actions {actions}, which the mask forbids"
            following, no = _seen(random), np.zeros(2, np.bool_)
            rewards, sources = random.random(2).astype(np.float32), np.zeros(2, np.uint8)
            learner.observe(Transitions(seen, actions, rewards, no, no, following, sources))
            sampled = learner.sample()
            if sampled is not None:
                learner.learn(sampled)
                learner.publish()
            seen = following
        resumed.load_state_dict(learner.state_dict())
        resumed.load_segments(list(learner.segments()))
        same = np.array_equal(resumed.act(seen, False)[0], learner.act(seen, False)[0])
        assert same, "after load_state_dict(state_dict()) it acts otherwise"
    finally:
        for one in (learner, resumed):
            getattr(one, "close", lambda: None)()


def _seen(random: np.random.Generator) -> dict[str, Any]:
    mask = random.integers(0, 2, (2, 4)).astype(np.int8)
    mask[:, 3] = 1
    return {"numbers": random.random((2, 6)).astype(np.float32), "action_mask": mask}


def _try_backend(entry: Registration, entries: list[Registration]) -> None:
    with _building():
        backend = entry.load()(_settings(entry), None)
    try:
        with _building():
            line = backend.check()
        assert isinstance(line, str), f"check() returns {line!r}, no line for people"
        try:
            reply = backend.complete(LLMRequest("Answer in one word.", "Say yes.", max_tokens=16, timeout_s=20.0))
        except LLMFailure as failure:
            raise _NotTriedError(str(failure)) from failure
        assert isinstance(reply.text, str), f"the text of its reply is {reply.text!r}"
        assert all(isinstance(name, str) for name in backend.models()), "models() returns names that are no texts"
    finally:
        backend.close()


def _try_analyzer(entry: Registration, entries: list[Registration]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with _building():
            analyzer = entry.load()(Path(folder))
        try:
            found = analyzer.analyze_patterns(1, limit=2)
            assert all(isinstance(row, Mapping) for row in found), (
                "analyze_patterns() returns rows that are no mappings"
            )
        finally:
            analyzer.close()


_TRIALS: dict[str, Callable[[Registration, list[Registration]], None]] = {
    "environments": _try_environment,
    "rewards": _try_reward,
    "pilots": _try_pilot,
    "strategies": _try_strategy,
    "algorithms": _try_learner,
    "llm_backends": _try_backend,
    "analyzers": _try_analyzer,
}
