"""What the settings choose fits together, or is refused with the setting's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import BaseModel
from support.worker_pools import take

from pkmncli import hookimpl
from pkmncli.config import ResolvedSettings, resolve_settings
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import Registry, get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import environment_spec, worker_spec
from pkmncli.training.compatibility import prepare_settings
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import EnvironmentSpec, WorkerSpec


def resolved(*sets: str, registry: Registry | None = None, **options: Any) -> ResolvedSettings:
    return resolve_settings(options, registry=registry or get_registry(), sets=sets, environ={})


def discount_of_the_potential(settings: ResolvedSettings) -> float | None:
    rewards = environment_spec(settings, get_registry()).settings["rewards"]
    gamma: float | None = rewards["potential"]["settings"]["gamma"]
    return gamma


def test_a_reward_takes_its_discount_from_the_learner() -> None:
    assert discount_of_the_potential(resolved(reward=["potential"])) == 0.99
    assert discount_of_the_potential(resolved("dqn.gamma=0.95", reward=["potential"])) == 0.95
    assert discount_of_the_potential(resolved("dqn.gamma=0.9", "potential.gamma=0.9", reward=["potential"])) == 0.9
    assert discount_of_the_potential(resolved(reward=["potential"], rl="none")) is None


def test_another_discount_than_the_learners_is_refused() -> None:
    settings = resolved("potential.gamma=0.9", reward=["potential"])
    with pytest.raises(ConfigurationError, match=r"'potential\.gamma' = 0\.9: .* dqn\.gamma = 0\.99"):
        environment_spec(settings, get_registry())


def test_weights_and_settings_of_rewards_come_from_a_file_and_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'reward = ["progress", "battle=0.5"]\n[battle]\nwon_trainer = 40\ndamage = 0\n[progress]\nlevel = 5\n'
    )
    settings = resolve_settings(
        {}, registry=get_registry(), config_path=file, sets=["battle.damage=3"], environ={"PKMN_BATTLE__LOST": "-1"}
    )
    rewards = environment_spec(settings, get_registry()).settings["rewards"]
    assert {name: part["weight"] for name, part in rewards.items()} == {"progress": 1.0, "battle": 0.5}
    own = rewards["battle"]["settings"]
    assert (own["won_trainer"], own["damage"], own["lost"], own["fainted"]) == (40, 3, -1, 2)
    assert rewards["progress"]["settings"]["level"] == 5
    with pytest.raises(ConfigurationError, match=r"unknown setting 'battle\.damages' .* did you mean 'battle\.damage'"):
        resolved("battle.damages=1")


def test_a_profiles_folder_takes_the_place_of_its_name(tmp_path: Path) -> None:
    settings = resolved(game_folder=tmp_path)
    assert environment_spec(settings, get_registry()).settings["game_folder"] == tmp_path
    with pytest.raises(ConfigurationError, match="are two games"):
        environment_spec(resolved(game_folder=tmp_path, game="crystal"), get_registry())


def test_an_environment_that_names_its_pilots_is_played_by_the_first_of_them() -> None:
    class Settings(BaseModel):
        pilots: ClassVar[tuple[str, ...]] = ("own", "another")

    class PilotSettings(BaseModel):
        depth: int = 3

    class Theirs:
        @hookimpl
        def pkmn_register_environments(self, register: Any) -> None:
            register("puzzle", dict, config=Settings, help="a game with its own pilot")

        @hookimpl
        def pkmn_register_pilots(self, register: Any) -> None:
            register("own", dict, config=PilotSettings, help="plays the game")

    registry = Registry.discover({})
    registry.register_plugin(Theirs(), "theirs")
    settings = prepare_settings(resolved(env="puzzle", registry=registry), registry)
    assert (settings.train.pilot, settings.origins["pilot"]) == ("own", "environment puzzle has its own pilot")
    assert settings.origins["mode"] == "default" and settings.plugin_values("own") == {"depth": 3}


def test_an_environment_without_a_pilot_is_the_learners_alone() -> None:
    settings = prepare_settings(resolved(env="gameboy"), get_registry())
    assert (settings.train.pilot, settings.train.mode) == ("none", "rl-only")
    assert settings.origins["mode"] == "environment gameboy has no pilot"
    usual = resolved()
    assert prepare_settings(usual, get_registry()) is usual


@pytest.mark.parametrize("asked", [{"pilot": "rules"}, {"mode": "adaptive"}, {"mode": "llm-only"}])
def test_what_was_asked_for_is_refused_rather_than_left_out(asked: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="gameboy"):
        prepare_settings(resolved(env="gameboy", **asked), get_registry())


def test_a_pilot_of_another_plugin_is_the_users_choice() -> None:
    class Theirs:
        @hookimpl
        def pkmn_register_pilots(self, register: Any) -> None:
            register("blind", dict, help="plays anything")

    registry = Registry.discover({})
    registry.register_plugin(Theirs(), "theirs")
    settings = resolved(env="gameboy", pilot="blind", registry=registry)
    assert prepare_settings(settings, registry).train.pilot == "blind"


def test_what_an_environment_does_not_show_is_refused_with_what_it_shows() -> None:
    with pytest.raises(ConfigurationError, match="the environment gameboy shows multi_modal, screen, state"):
        environment_spec(resolved(env="gameboy", observation_type="goal"), get_registry())


def test_a_setting_that_this_training_does_not_read_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings = resolved(
        lessons_file=tmp_path / "none.json", llm_interval=9, web_port=9_000, env="gameboy", game="crystal"
    )
    prepare_settings(settings, get_registry())
    assert capsys.readouterr().err.splitlines() == [
        "llm_interval, lessons_file: no effect, since no language model is chosen (--llm)",
        "game: no effect, since the environment gameboy has no such setting",
        "web_port: no effect, since no live page is asked for (--dashboard)",
    ]


def test_the_step_limit_reaches_an_environment_without_settings_and_the_rest_is_said_to_have_no_effect(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Theirs:
        @hookimpl
        def pkmn_register_environments(self, register: Any) -> None:
            register("endless", "support.plain_environments:Endless", help="without settings")

    registry = Registry.discover({})
    registry.register_plugin(Theirs(), "theirs")
    given = {"env": "endless", "mode": "rl-only", "max_steps_per_episode": 3, "env_args": ["wind=1"]}
    settings = prepare_settings(resolved(registry=registry, **given), registry)
    said = capsys.readouterr().err
    assert "env_args: no effect" in said
    assert "max_steps_per_episode" not in said
    with WorkerPool(worker_spec(settings, registry, Purpose.TRAINING, num_envs=1)) as pool:
        pool.reset()
        ends = [bool(take(pool, np.zeros(1, np.int64))[1]["truncated"][0]) for _ in range(6)]
    assert ends == [False, False, True, False, False, True]
    assert pool.max_steps_per_episode == 3


def test_what_no_seed_of_an_episode_decides_is_decided_by_the_seed_of_the_run() -> None:
    part = EnvironmentSpec("support.plain_environments:Unseeded")
    seen = []
    for seed in (1, 1, 2):
        with WorkerPool(WorkerSpec(part, None, seed=seed, purpose=Purpose.TRAINING, num_envs=2)) as pool:
            pool.reset()
            seen.append(pool.observations()["observation"].ravel().tolist())
            assert pool.call(0, "time_steps", 5) > 0
            assert pool.call_all("repeats") == [False, True]
            assert pool.observations()["observation"][0] != seen[-1][0], "the episode has begun again"
    assert seen[0] == seen[1] != seen[2]
    assert seen[0][0] % 1 != seen[0][1] % 1
