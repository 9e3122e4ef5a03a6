"""Running a plugin's parts on a few steps finds what their methods' names and arguments don't show."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from pkmncli import cli, hookimpl
from pkmncli.api import BaseEnvironment, Decision, LLMReply, LLMRequest, StrategyType
from pkmncli.errors import EXIT_USAGE, LLMConnectionError
from pkmncli.learners.base import BaseLearner
from pkmncli.plugins import Registry
from pkmncli.testing import PluginTests, exercise_plugin


def plugin_with(**parts: Any) -> Any:
    """Return a plugin that registers a part of each of these kinds, as ``mine``."""

    class Inline:
        pass

    for kind, target in parts.items():

        def hook(register: Callable[..., None], target: Any = target) -> None:
            register("mine", target, help="a part")

        def of_class(self: Any, register: Callable[..., None], hook: Callable[..., None] = hook) -> None:
            hook(register)

        of_class.__name__ = f"pkmn_register_{kind}"
        setattr(Inline, of_class.__name__, hookimpl(of_class))
    return Inline()


SOURCE = """
    from pkmncli import hookimpl

    class Coins:
        def __init__(self, settings): pass
        def reset(self, state): pass
        def score(self, previous, action, state):
            return {"coins": self.gained(state)}
        def gained(self, state):
            return state.xx
        def save_state(self): return {}
        def load_state(self, state): pass

    @hookimpl
    def pkmn_register_rewards(register):
        register("coins", "misread_coins:Coins", help="coins")
"""


def test_a_field_that_the_state_lacks_is_told_with_the_plugins_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugin_registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "misread_coins.py").write_text(textwrap.dedent(SOURCE))
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin_registry.register_plugin(importlib.import_module("misread_coins"), "misread")
    assert cli.run(["plugins", "check", "coins"]) == EXIT_USAGE
    told = capsys.readouterr().err
    expected = "reward 'coins': AttributeError: 'GameState' object has no attribute 'xx' (misread_coins.py, line 10)"
    assert told.endswith(f"{expected}\n")
    assert told.count("\n") == 1


class Line(BaseEnvironment):
    """Three tiles, as small as an environment can be."""

    def __init__(self) -> None:
        self.observation_space = spaces.Dict({"place": spaces.Box(0, 2, (1,), np.float32)})
        self.action_space = spaces.Discrete(2)  # type: ignore[assignment]
        self.place = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.place = 0
        return self.observation(), {}

    def advance(self, action: int) -> tuple[float, bool, bool]:
        self.steps += 1
        self.place = min(max(self.place + 2 * action - 1, 0), 2)
        return 0.0, self.place == 2, False

    def write_observation(self, out: Mapping[str, Any]) -> None:
        out["place"][0] = self.place


class LeavesItsSpace(Line):
    def write_observation(self, out: Mapping[str, Any]) -> None:
        out["place"][0] = self.place + 7


class NoNumber(Line):
    def advance(self, action: int) -> tuple[float, bool, bool]:
        return float("nan"), False, False


class ForgetsItsPlace(Line):
    constants = ("place",)

    def load_state(self, state: bytes) -> Any:
        self.place = 1 - min(self.place, 1)
        return super().load_state(state)


class Pilot:
    def __init__(self, environment: Any) -> None: ...
    def reset(self, seed: int) -> None: ...
    def save_state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Any) -> None: ...
    def act(self, advice: Any) -> Decision:
        return Decision(self.action, "always", 1.0)

    action = 1


class ForbiddenPilot(Pilot):
    action = 2


class KeepsAnArray(Pilot):
    def save_state(self) -> dict[str, Any]:
        return {"place": np.zeros(2)}


class Share:
    name = "mine"
    asks_to_stay = False
    share = 0.5

    def __init__(self, *, settings: Any = None, initial: StrategyType = StrategyType.BALANCED) -> None: ...
    def select(self, performance: Mapping[str, Any]) -> float:
        return self.share

    def begin_stage(self, preferred: Any) -> None: ...
    def get_strategy_stats(self) -> dict[str, Any]:
        return {}

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Any) -> None: ...


class TooMuch(Share):
    share = 1.5


class AddsNone(Share):
    def select(self, performance: Mapping[str, Any]) -> float:
        return float(performance["llm_efficiency"] * 0 + 0.5)


class Learner(BaseLearner):
    def act(self, observations: Any, explore: bool) -> Any:
        count = len(observations["action_mask"])
        return np.full(count, self.chosen), np.ones(count, np.float32), np.zeros(count, np.bool_)

    def learn(self, sampled: Any) -> dict[str, float]:
        return {}

    def state(self) -> dict[str, Any]:
        return {}

    chosen = 3


class ForbiddenLearner(Learner):
    chosen = 0


class Backend:
    sees = False

    def __init__(self, settings: Any, model: str | None) -> None:
        self.model = "mine"

    def check(self) -> str:
        return "here"

    def complete(self, request: LLMRequest) -> LLMReply:
        return LLMReply("yes", self.model)

    def models(self) -> list[str]:
        return [self.model]

    def close(self) -> None: ...


class Unreachable(Backend):
    def check(self) -> str:
        raise LLMConnectionError("nobody answers")


class Raises(Backend):
    def complete(self, request: LLMRequest) -> LLMReply:
        raise OSError("cut off")


class Analyzer:
    def __init__(self, folder: Path) -> None: ...
    def analyze_patterns(self, min_frequency: int = 3, *, limit: int | None = None) -> Any:
        return [self.row]

    def close(self) -> None: ...

    row: Any = MappingProxyType({"context": "all"})


class TellsTexts(Analyzer):
    row = "all"


def test_good_parts_pass() -> None:
    parts = {"environments": Line, "pilots": Pilot, "strategies": Share, "algorithms": Learner}
    assert exercise_plugin(plugin_with(**parts, llm_backends=Backend, analyzers=Analyzer)) == []


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"environments": LeavesItsSpace},
            r"environment 'mine': reset\(\) returns what is not in its observation_space",
        ),
        ({"environments": NoNumber}, r"environment 'mine': advance\(\) returns the reward nan"),
        ({"environments": ForgetsItsPlace}, "environment 'mine': after load_state.* another one"),
        ({"environments": Line, "pilots": ForbiddenPilot}, "pilot 'mine': .* action 2, which the mask forbids"),
        ({"environments": Line, "pilots": KeepsAnArray}, "pilot 'mine': .* is not of plain values"),
        ({"strategies": TooMuch}, r"strategy 'mine': .* share 1\.5, which is not in 0\.\.1"),
        ({"strategies": AddsNone}, r"strategy 'mine': TypeError: .*test_plugin_steps\.py, line \d+\)$"),
        ({"algorithms": ForbiddenLearner}, "algorithm 'mine': .* which the mask forbids"),
        ({"llm_backends": Raises}, "llm backend 'mine': OSError: cut off"),
        ({"analyzers": TellsTexts}, "analyzer 'mine': .* rows that are no mappings"),
    ],
)
def test_what_a_part_does_wrong_is_found(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        exercise_plugin(plugin_with(**parts))


def test_what_cannot_be_tried_is_said() -> None:
    assert exercise_plugin(plugin_with(llm_backends=Unreachable)) == [
        "llm backend 'mine' was not tried: nobody answers"
    ]
    assert exercise_plugin(plugin_with(pilots=Pilot)) == [
        "pilot 'mine' was not tried: its plugin has no environment for it to play"
    ]
    assert exercise_plugin(plugin_with(llm_backends=Raises), ask=False) == []


class TestGoodParts(PluginTests):
    """The tests that a plugin author inherits."""

    plugin = plugin_with(environments=Line, pilots=Pilot)


def test_the_inherited_tests_fail_for_a_part_that_does_wrong() -> None:
    class TestBadParts(PluginTests):
        plugin = plugin_with(environments=NoNumber)

    TestBadParts().test_the_parts_keep_the_contracts()
    with pytest.raises(AssertionError, match="reward nan"):
        TestBadParts().test_the_parts_run()
