"""The compared sides of the benchmarks are alike: the same network, optimizer, observations and actions."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from support.variants import long_after

from pkmn_dqn.network import QNetwork
from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.policy import ActorCritic
from pkmn_ppo.settings import PPOSettings
from pkmncli.config import resolve_settings
from pkmncli.learners.observations import layout_of
from pkmncli.plugins import get_registry

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Provide the modules of the benchmark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.syspath_prepend(str(BENCHMARKS))
        import learners  # noqa: PLC0415
        import our_side  # noqa: PLC0415
        import sb3_side  # noqa: PLC0415
        import training_spec  # noqa: PLC0415

        yield SimpleNamespace(
            learners=learners, ours=our_side, theirs=sb3_side, TrainingSpec=training_spec.TrainingSpec
        )
        for name in ("learners", "our_side", "sb3_options", "sb3_side", "training_spec"):
            sys.modules.pop(name)


def shapes(parameters: Any) -> list[tuple[int, ...]]:
    return sorted(tuple(parameter.shape) for parameter in parameters)


def layout_for(sides: SimpleNamespace, spec: Any) -> Any:
    env = sides.theirs.environment(spec)
    layout = layout_of(env.unwrapped.observation_space, env.action_space, "test")
    env.close()
    return layout


def test_dqn_is_alike(sides: SimpleNamespace, tmp_path: Path) -> None:
    spec = sides.TrainingSpec("dqn", tmp_path, "one")
    sets = sides.ours.sets_of(spec)
    settings = resolve_settings(sides.ours.settings_of(spec), registry=get_registry(), sets=sets, environ={})
    ours = settings.plugin("dqn")
    assert isinstance(ours, DQNSettings)
    envs = sides.theirs.environments(spec, 0.1)
    theirs = sides.theirs.dqn_of(spec, envs)
    envs.close()
    network = QNetwork(layout_for(sides, spec), ours)
    assert shapes(theirs.q_net.parameters()) == shapes(network.parameters())
    (group,) = theirs.policy.optimizer.param_groups
    assert (group["lr"], group["eps"], group["fused"]) == (ours.learning_rate, ours.adam_epsilon, True)
    assert (ours.double, ours.dueling, ours.n_step, ours.demonstration_margin) == (False, False, 1, 0)
    assert theirs.target_update_interval == ours.target_update_interval * ours.train_freq
    assert settings.train.reward_weights == sides.theirs.REWARDS


@pytest.mark.parametrize("masks", long_after(1, [False, True]))
def test_ppo_is_alike(sides: SimpleNamespace, tmp_path: Path, masks: bool) -> None:
    spec = sides.TrainingSpec("ppo", tmp_path, "one", masks=masks)
    envs = sides.theirs.environments(spec, 0.1)
    theirs = sides.theirs.ppo_of(spec, envs)
    envs.close()
    ours = PPOSettings()
    network = ActorCritic(layout_for(sides, spec), ours)
    assert shapes(theirs.policy.parameters()) == shapes(network.parameters())
    assert theirs.n_steps == ours.n_steps and theirs.clip_range(1.0) == ours.clip_range
    first, second = (layer.weight.norm().item() for layer in (theirs.policy.action_net, network.policy[-1]))
    assert first == pytest.approx(second, rel=1e-5)  # both are about equally likely at first


def test_both_networks_read_a_screen_alike(sides: SimpleNamespace, tmp_path: Path) -> None:
    """The same weights give the same values, although the other library passes bytes as floats."""
    spec = sides.TrainingSpec("dqn", tmp_path, "one")
    envs = sides.theirs.environments(spec, 0.1)
    theirs = sides.theirs.dqn_of(spec, envs).q_net
    seen = envs.reset()
    envs.close()
    network = QNetwork(layout_for(sides, spec), DQNSettings(dueling=False))
    features = theirs.features_extractor.network
    network.load_state_dict(
        {**features.state_dict(), **{f"advantage.{name}": value for name, value in theirs.q_net.state_dict().items()}}
    )
    tensors = {name: torch.tensor(array) for name, array in seen.items()}
    values = network({"screen": tensors["screen"], "vector": tensors["state_variables"]})
    torch.testing.assert_close(theirs(tensors), values)
    assert values.std() > 0


def test_both_sides_take_as_many_steps(sides: SimpleNamespace) -> None:
    """The other library's PPO ends with a rollout, so ours must get as many steps."""
    assert sides.learners.steps_of("dqn", 40_000) == 40_000
    assert sides.learners.steps_of("ppo", 40_000) == 20 * 2_048
    assert sides.learners.steps_of("ppo", 2_048) == 2_048


def test_what_was_trained_is_not_trained_again(sides: SimpleNamespace, tmp_path: Path) -> None:
    spec = sides.TrainingSpec("dqn", tmp_path, "one")
    result = {"steps_per_second": 5.0, "spec": json.loads(spec.to_json())}
    (tmp_path / "one.json").write_text(json.dumps(result), encoding="utf-8")
    assert sides.learners.training("our", spec) == result
    with pytest.raises(SystemExit, match="other options"):
        sides.learners.training("our", replace(spec, seed=1))


def test_agreement_is_told_for_each_mean(sides: SimpleNamespace) -> None:
    returns = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([2.5, 2.5, 4.0])}
    ends = {"a": (1.0, 2.9), "b": (2.5, 4.0)}
    told = sides.learners.agreement("a", "b", returns, ends)
    assert told == 'the mean of "a" is outside the interval of "b"; the mean of "b" is outside the interval of "a".'
    ends["a"] = (1.0, 3.1)
    assert 'the mean of "b" is within the interval of "a"' in sides.learners.agreement("a", "b", returns, ends)
