"""Encoders of the user's choice through a run's whole life: training, going on, evaluation, export, and what fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Discrete
from support.variants import long_after

from pkmncli.config import ResolvedSettings
from pkmncli.errors import PluginError
from pkmncli.hybrid.agent import HybridAgent
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.assembly import build_learner, environment_spec
from pkmncli.training.checkpoints.files import read_checkpoint

EXAMPLE = Path(__file__).parents[2] / "examples" / "pkmn_patch_encoder"
SHORT = ["--observation-type=multi_modal", "--max-steps-per-episode=30", "--save-interval=60"]
SIZES = {
    "dqn": ["--set=dqn.learning_starts=40", "--set=dqn.batch_size=8"],
    "ppo": ["--set=ppo.n_steps=30", "--set=ppo.batch_size=15", "--set=ppo.n_epochs=1", "--rl=ppo"],
    "a2c": ["--rl=a2c"],
}

Pkmn = Callable[..., Any]


@pytest.fixture
def patches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example's plugin, as if it were installed."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from pkmn_patch_encoder import plugin  # type: ignore[import-not-found]  # noqa: PLC0415 - only on the path now

    get_registry().register_plugin(plugin, "patch-encoder")
    yield
    get_registry().unregister_plugin("patch-encoder")


def learner_of(run: Run) -> tuple[Any, Any]:
    """The learner of a run's newest checkpoint, and an environment like its own."""
    settings = ResolvedSettings.from_run(run.folder, get_registry())
    environment: Any = environment_spec(settings, get_registry()).build()
    spaces: Any = SimpleNamespace(
        observation_space=environment.observation_space, action_space=environment.action_space, num_envs=1
    )
    learner = build_learner(settings, get_registry(), spaces, total_steps=1)
    learner.load_state_dict(read_checkpoint(run.checkpoints.resolve()).learner)
    return learner, environment


@pytest.mark.long
@pytest.mark.usefixtures("patches")
@pytest.mark.parametrize(
    ("encoder", "own", "rl"),
    [
        ("patches", "patch_features=8", "dqn"),
        ("embedding", "screen_channels=[4,8]", "ppo"),
        ("convolution", "", "a2c"),
    ],
)
def test_a_run_lives_with_it(encoder: str, own: str, rl: str, pkmn: Pkmn, tmp_path: Path) -> None:
    sets = [f"--set={rl}.encoder={encoder}", *([f"--set={encoder}.{own}"] if own else [])]
    trained = pkmn("train", "--steps=60", "--run-name=it", *SHORT, *SIZES[rl], *sets)
    assert (trained.code, trained.err) == (0, "")
    run = Run(tmp_path / "runs" / "it")
    config = run.config_file.read_text()
    assert f'encoder = "{encoder}"' in config
    assert (f"[{encoder}]" in config) == bool(own), "its settings are kept with the run"
    assert pkmn("train", "--resume", "it", "--steps=90").code == 0
    assert pkmn("eval", "it", "--episodes=1").code == 0
    exported = pkmn("export", "it", "--policy", "--no-tables")
    assert (exported.code, exported.err) == (0, "")
    policy = torch.export.load(tmp_path / "it-export" / "policy.pt2").module()
    names = json.loads((tmp_path / "it-export" / "policy.json").read_text())["observation"]
    learner, environment = learner_of(run)
    random, observation = np.random.default_rng(0), environment.reset(seed=1)[0]
    for _ in range(10):
        batch = {name: np.asarray(value)[None] for name, value in observation.items()}
        chosen = policy({name: torch.as_tensor(observation[name]) for name in names})["action"]
        assert chosen == learner.act(batch, explore=False)[0][0]
        observation = environment.step(int(random.choice(np.flatnonzero(observation["action_mask"]))))[0]
    environment.close()


@pytest.mark.usefixtures("patches")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--set=dqn.encoder=patchs"],
            "setting 'dqn.encoder' (option --set dqn.encoder): there is no encoder 'patchs'; did you mean 'patches'?",
        ),
        (["--set=dqn.encoder=patches", "--set=patches.patch_features=7"], "setting 'patches.patch_features' = 7"),
        (["--set=dqn.encoder=patches", "--observation-type=state"], "encoder 'patches' reads screens"),
        (
            ["--rl=ppo", "--set=ppo.encoder=embedding", "--observation-type=screen"],
            "encoder 'embedding': the observations of ppo have no category",
        ),
    ],
)
def test_a_wrong_choice_is_told_in_a_line(arguments: list[str], complaint: str, pkmn: Pkmn, tmp_path: Path) -> None:
    result = pkmn("train", "--steps=20", *SHORT, *arguments)
    assert result.code == 2
    assert result.out.startswith("Starting 1 environment") or not result.out
    assert complaint in result.err and result.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.long
def test_a_run_whose_encoder_is_gone_is_told(pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("train", "--steps=20", "--run-name=it", *SHORT).code == 0
    config = tmp_path / "runs" / "it" / "config.toml"
    config.write_text(config.read_text().replace('encoder = "convolution"', 'encoder = "patches"', 1))
    for command in (["eval", "it", "--episodes=1"], ["export", "it", "--policy"], ["train", "--resume", "it"]):
        result = pkmn(*command)
        assert result.code == 2, command
        assert "setting 'dqn.encoder'" in result.err and "there is no encoder 'patches'" in result.err


def test_an_agent_in_a_loop_of_ones_own_takes_it_too() -> None:
    agent = HybridAgent(None, mode="rl-only", settings={"dqn.encoder": "convolution", "dqn.head_features": 8})
    observation = {"state_variables": np.zeros(25, np.float32), "action_mask": np.ones(9, np.int8)}
    assert 0 <= agent.get_action(observation) < 9


def test_a_learner_that_knows_nothing_of_encoders_is_given_none(register_plugin: Any, plugin_registry: Any) -> None:
    from pkmncli import hookimpl  # noqa: PLC0415
    from pkmncli.config import resolve_settings  # noqa: PLC0415

    class Plain:
        def __init__(self, *positional: Any) -> None:
            self.arguments = positional

    class Inline:
        @hookimpl
        def pkmn_register_algorithms(self, register: Any) -> None:
            register("plain", Plain, help="knows nothing")

    register_plugin(Inline())
    settings = resolve_settings({"rl": "plain"}, registry=plugin_registry, environ={})
    pool: Any = SimpleNamespace(observation_space=1, action_space=Discrete(2), num_envs=3)
    learner: Any = build_learner(settings, plugin_registry, pool, total_steps=4)
    assert (learner.arguments[:3], learner.arguments[4], learner.arguments[6]) == ((1, Discrete(2), 3), None, 4)


def test_a_learner_of_an_earlier_version_is_refused(register_plugin: Any, plugin_registry: Any) -> None:
    from pkmncli import hookimpl  # noqa: PLC0415
    from pkmncli.config import resolve_settings  # noqa: PLC0415

    class Drawing:
        def __init__(self, *positional: Any) -> None: ...

        def draw(self) -> None: ...

    class Inline:
        @hookimpl
        def pkmn_register_algorithms(self, register: Any) -> None:
            register("drawing", Drawing, help="has draw() and no sample()")

    register_plugin(Inline())
    settings = resolve_settings({"rl": "drawing"}, registry=plugin_registry, environ={})
    pool: Any = SimpleNamespace(observation_space=1, action_space=Discrete(2), num_envs=3)
    with pytest.raises(PluginError, match=r"drawing is of an earlier version: name its method draw\(\) sample\(\)$"):
        build_learner(settings, plugin_registry, pool, total_steps=4)


@pytest.mark.parametrize(
    ("rl", "steps", "complaint"),
    long_after(
        1,
        [
            (
                "ppo",
                40,
                "ppo learns nothing in 40 steps, since its next update comes after 2,048: lower ppo.n_steps",
            ),
            ("dqn", 40, "dqn learns nothing in 40 steps, since its first update comes after 1,000: lower dqn.learning"),
            ("a2c", 40, None),
        ],
    ),
)
def test_a_training_too_short_to_learn_says_so_before_it_begins(
    rl: str, steps: int, complaint: str | None, pkmn: Pkmn
) -> None:
    result = pkmn("train", f"--rl={rl}", f"--steps={steps}", *SHORT)
    assert (result.code, result.err) == (0, "")
    announced = result.out.split("Ctrl-C saves and stops.")[1].partition(f"{steps} steps in")[0]
    assert (complaint in announced) if complaint else ("learns nothing" not in result.out)
