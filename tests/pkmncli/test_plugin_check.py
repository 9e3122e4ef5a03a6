"""What plugin authors are given: the example package works, and the check finds what breaks a contract."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from pydantic import BaseModel, ConfigDict, Field
from support.variants import long_after
from torch import Tensor, nn

from pkmncli import hookimpl
from pkmncli.api import NAMES_ENCODER, Algorithm
from pkmncli.config import resolve_settings
from pkmncli.errors import ConfigurationError, PluginError
from pkmncli.hybrid.build import encoder_argument
from pkmncli.learners.observations import ObservationLayout
from pkmncli.plugins import Plugin, Registry
from pkmncli.testing import check_plugin

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "pkmn_coin_reward"
BUILT_IN = (
    "pkmn_pyboy.plugin",
    "pkmn_dqn.plugin",
    "pkmn_ppo.plugin",
    "pkmn_encoders.plugin",
    "pkmn_decisions.plugin",
    "pkmn_gymnasium.plugin",
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


class TakesLess(GoodReward):
    def score(self, previous: Any, state: Any) -> dict[str, float]:  # type: ignore[override]
        return {}


class BindsNothing(GoodReward):
    def bind(self) -> None: ...


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


def two_encoders() -> type[BaseModel]:
    class TwoEncoders(BaseModel):
        model_config = ConfigDict(extra="forbid")
        near: str = Field("own", description="how it reads what is near", json_schema_extra=NAMES_ENCODER)
        far: str = Field("own", description="how it reads what is far", json_schema_extra=NAMES_ENCODER)

    return TwoEncoders


def test_a_learner_that_would_take_two_encoders_is_told_in_a_line() -> None:
    settings, own = resolve_settings({}, registry=Registry(), environ={}), two_encoders()(near="a", far="b")
    with pytest.raises(ConfigurationError, match=r"^settings 'dqn\.near' and 'dqn\.far' name an encoder each") as told:
        encoder_argument(settings, Registry(), own)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("registration", "message"),
    [
        ({"help": ""}, "reward 'coins' has no help line"),
        ({"target": dict}, "dict has no reset, score, save_state, load_state"),
        ({"target": TakesLess}, r"TakesLess.score must take \(previous, action, state\)"),
        ({"target": BindsNothing}, r"BindsNothing.bind must take \(environment\)"),
        ({"config": lenient()}, "Lenient must forbid unknown keys"),
        ({"config": without_default()}, "setting weight has no default"),
        ({"config": undescribed()}, "setting weight has no description"),
        ({"config": two_encoders()}, "near and far are all marked NAMES_ENCODER, only one may be"),
    ],
)
def test_a_broken_contract_is_found(registration: dict[str, Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_plugin(plugin_with(**registration))


@pytest.mark.parametrize("method", ["sample_actions", "observe_shown", "weights", "take_weights"])
def test_what_a_learner_may_leave_out_is_a_method_where_it_is_not(method: str) -> None:
    contract = {name: len for name, value in vars(Algorithm).items() if callable(value) and not name.startswith("_")}

    class Learners:
        def __init__(self, target: type) -> None:
            self.target = target

        @hookimpl
        def pkmn_register_algorithms(self, register: Callable[..., None]) -> None:
            register("odd", self.target, help="learns in its own way")

    check_plugin(Learners(type("Odd", (), contract)))
    with pytest.raises(AssertionError, match=f"Odd.{method} is not a method"):
        check_plugin(Learners(type("Odd", (), {**contract, method: 7})))


class Encoder(nn.Module):
    """A good one, which tests make worse."""

    def __init__(self, layout: ObservationLayout, settings: Any) -> None:
        super().__init__()
        if not layout.vector_size:
            raise ConfigurationError("nothing to read")
        self.num_features = 6
        self.layer = nn.Linear(layout.vector_size, 6)

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        found: Tensor = self.layer(columns["vector"])
        return found


class NotFinite(Encoder):
    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        return super().forward(columns) / (columns["vector"].sum() == 0)


class Blind(Encoder):
    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        return super().forward({"vector": torch.zeros_like(columns["vector"])})


class Random(Encoder):
    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        return nn.functional.dropout(super().forward(columns))


class Remembering(Encoder):
    def __init__(self, layout: ObservationLayout, settings: Any) -> None:
        super().__init__(layout, settings)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        self.seen += 1
        return super().forward(columns)


class OfTheBatch(Encoder):
    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        return super().forward(columns) - columns["vector"].mean()


class Detached(Encoder):
    def forward(self, columns: Mapping[str, Tensor]) -> Tensor:
        return super().forward(columns).detach()


class ReadsNothing(Encoder):
    def __init__(self, layout: ObservationLayout, settings: Any) -> None:
        raise ConfigurationError("it reads tapes alone")


def encoder_plugin(target: type) -> Any:
    class Inline:
        @hookimpl
        def pkmn_register_encoders(self, register: Callable[..., None]) -> None:
            register("mine", target, help="an encoder")

    return Inline()


def test_a_good_encoder_passes() -> None:
    assert [(entry.kind, entry.name) for entry in check_plugin(encoder_plugin(Encoder))] == [("encoders", "mine")]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (NotFinite, "gives numbers that are not finite"),
        (Blind, "gives equal features for different observations"),
        (Random, "gives different features for the same observations"),
        (Remembering, "reading changes it"),
        (OfTheBatch, "its features depend on the batch"),
        (Detached, "no gradient reaches its weights"),
    ],
)
def test_what_an_encoder_does_wrong_is_found(target: type, message: str) -> None:
    with pytest.raises(AssertionError, match=f"encoder 'mine', of .*: {message}"):
        check_plugin(encoder_plugin(target))


@pytest.mark.parametrize(("target", "message"), [(ReadsNothing, "reads tapes"), (SimpleNamespace, "positional")])
def test_an_encoder_that_reads_nothing_is_told(target: type, message: str) -> None:
    with pytest.raises((ConfigurationError, TypeError), match=message):
        check_plugin(encoder_plugin(target))


def test_a_plugin_must_do_something() -> None:
    with pytest.raises(PluginError, match="registers nothing"):
        check_plugin(SimpleNamespace())


def test_a_heavy_import_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import numpy\nfrom pkmncli import hookimpl\n@hookimpl\ndef pkmn_run_started(run): pass\n"
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


@pytest.mark.parametrize("example", long_after(1, ["pkmn_coin_reward", "pkmn_patch_encoder", "pkmn_bandit"]))
def test_the_examples_own_tests_pass(example: str) -> None:
    folder = EXAMPLES / example
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    assert "3 passed" in result.stdout


@pytest.mark.parametrize("module", long_after(1, BUILT_IN))
def test_built_in_plugins_keep_the_contracts(module: str) -> None:
    __import__(module)
    assert check_plugin(sys.modules[module])
