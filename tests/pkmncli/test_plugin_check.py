"""What plugin authors are given: the example package works, and the check finds what breaks a contract."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from pkmncli.config import resolve_settings
from pkmncli.errors import PluginError
from pkmncli.hookspecs import hookimpl
from pkmncli.plugins import Plugin, Registry
from pkmncli.testing import check_plugin

EXAMPLE = Path(__file__).parents[2] / "examples" / "pkmn_coin_reward"
BUILT_IN = (
    "pkmn_pyboy.plugin",
    "pkmn_dqn.plugin",
    "pkmn_ppo.plugin",
    "pkmn_decisions.plugin",
    "pkmn_tensorboard.plugin",
)


class GoodSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    weight: float = Field(1.0, description="how much")


class GoodReward:
    def reset(self, state: Any) -> None: ...
    def score(self, previous: Any, action: int, state: Any) -> dict[str, float]:
        return {}

    def save_state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Any) -> None: ...


def plugin_with(**registration: Any) -> Any:
    defaults = {"target": GoodReward, "config": GoodSettings, "help": "a reward"}

    class Inline:
        @hookimpl
        def pkmn_register_rewards(self, register: Callable[..., None]) -> None:
            register("coins", **{**defaults, **registration})

    return Inline()


def test_a_good_plugin_passes() -> None:
    assert [entry.name for entry in check_plugin(plugin_with())] == ["coins"]


def lenient() -> type[BaseModel]:
    class Lenient(BaseModel):
        weight: float = Field(1.0, description="how much")

    return Lenient


def without_default() -> type[BaseModel]:
    class WithoutDefault(BaseModel):
        model_config = ConfigDict(extra="forbid")
        weight: float = Field(description="how much")

    return WithoutDefault


def undescribed() -> type[BaseModel]:
    class Undescribed(BaseModel):
        model_config = ConfigDict(extra="forbid")
        weight: float = 1.0

    return Undescribed


@pytest.mark.parametrize(
    ("registration", "message"),
    [
        ({"help": ""}, "reward 'coins' has no help line"),
        ({"target": dict}, "dict has no reset, score, save_state, load_state"),
        ({"config": lenient()}, "Lenient must forbid unknown keys"),
        ({"config": without_default()}, "setting weight has no default"),
        ({"config": undescribed()}, "setting weight has no description"),
    ],
)
def test_a_broken_contract_is_found(registration: dict[str, Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_plugin(plugin_with(**registration))


def test_a_plugin_must_do_something() -> None:
    with pytest.raises(PluginError, match="registers nothing"):
        check_plugin(SimpleNamespace())


def test_a_heavy_import_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import numpy\nfrom pkmncli.hookspecs import hookimpl\n@hookimpl\ndef pkmn_run_started(run): pass\n"
    (tmp_path / "heavy_plugin.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    import heavy_plugin  # type: ignore[import-not-found]  # noqa: PLC0415 - written just now

    with pytest.raises(AssertionError, match="importing heavy_plugin imports numpy"):
        check_plugin(heavy_plugin)


def test_the_example_works_without_being_installed(
    plugin_registry: Registry, register_plugin: Callable[..., Plugin], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from pkmn_coin_reward import plugin  # type: ignore[import-not-found]  # noqa: PLC0415 - only on the path now

    register_plugin(plugin, "coin-reward")
    settings = resolve_settings({}, registry=plugin_registry, sets=["coins.per_thousand=2"], environ={})
    reward = plugin_registry.get("rewards", "coins").load()(settings.plugin("coins"))
    reward.reset(SimpleNamespace(money=3000))
    assert reward.score(None, 0, SimpleNamespace(money=3500)) == {"coins": 1.0}


def test_the_examples_own_tests_pass() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=EXAMPLE,
        env={**os.environ, "PYTHONPATH": str(EXAMPLE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    assert "3 passed" in result.stdout


@pytest.mark.parametrize("module", BUILT_IN)
def test_built_in_plugins_keep_the_contracts(module: str) -> None:
    __import__(module)
    assert check_plugin(sys.modules[module])
