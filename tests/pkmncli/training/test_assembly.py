"""What the settings choose fits together, or is refused with the setting's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pkmncli import hookimpl
from pkmncli.config import ResolvedSettings, resolve_settings
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import Registry, get_registry
from pkmncli.training.assembly import environment_spec
from pkmncli.training.compatibility import prepare_settings


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
