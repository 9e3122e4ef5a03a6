"""Presets: where their values stand among other sources, what a wrong one is told, and how plugins bring them."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.profile.loading import GAMES_FOLDER, load_profile
from pkmncli import hookimpl
from pkmncli.config import DEFAULT_STEPS, ResolvedSettings, resolve_settings
from pkmncli.config.presets import check_presets, read_preset
from pkmncli.config.run_file import CONFIG_FILE
from pkmncli.errors import PluginError
from pkmncli.plugins import Registry, get_registry
from pkmncli.testing import check_plugin

NAMES = ("far", "usual", "whole")
MINE = 'description = "mine"\nrl = "ppo"\nenvs = 2\n\n[ppo]\nn_steps = 128\n'

DOCUMENTED = {
    "ppo": {
        **{"learning_rate": 3e-4, "n_steps": 2048, "batch_size": 64, "n_epochs": 10, "gamma": 0.99},
        **{"gae_lambda": 0.95, "clip_range": 0.2, "ent_coef": 0.01, "vf_coef": 0.5},
    },
    "a2c": {
        **{"learning_rate": 7e-4, "n_steps": 5, "gamma": 0.99, "gae_lambda": 1.0, "ent_coef": 0.01, "vf_coef": 0.5},
    },
    "dqn": {
        **{"learning_rate": 1e-4, "buffer_size": 100_000, "learning_starts": 10_000, "batch_size": 32},
        **{"train_freq": 4, "gamma": 0.99},
    },
}


def resolved(cli: dict[str, Any] | None = None, **sources: Any) -> ResolvedSettings:
    return resolve_settings(cli or {}, registry=get_registry(), **{"environ": {}, **sources})


def test_every_other_source_stands_above_a_preset(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'description = "all"\n[dqn]\ngamma = 0.1\nn_step = 1\ntau = 0.1\nbatch_size = 1\n'
    )
    (tmp_path / "it.toml").write_text(
        f'preset = "{tmp_path / "mine.toml"}"\n[dqn]\ngamma = 0.2\nn_step = 2\ntau = 0.2\n'
    )
    settings = resolved(
        config_path=tmp_path / "it.toml",
        environ={"PKMN_DQN__GAMMA": "0.3", "PKMN_DQN__N_STEP": "3"},
        sets=["dqn.gamma=0.4"],
    )
    values, origins = settings.plugin_values("dqn"), settings.origins
    assert (values["gamma"], values["n_step"], values["tau"], values["batch_size"]) == (0.4, 3, 0.2, 1)
    assert origins["dqn.batch_size"] == f"preset {tmp_path / 'mine.toml'}:6"
    assert origins["dqn.tau"] == f"{tmp_path / 'it.toml'}:5"


@pytest.mark.parametrize("learner", DOCUMENTED)
def test_standard_restores_the_numbers_of_the_documents(learner: str) -> None:
    settings = resolved({"rl": learner, "preset": "standard"})
    assert DOCUMENTED[learner].items() <= settings.plugin_values(learner).items()
    assert settings.origins[f"{learner}.gamma"] == "preset standard"


def test_long_practises_the_whole_game_from_where_episodes_got_to() -> None:
    settings = resolved({"preset": "long"})
    assert settings.train.goal == "last"
    assert settings.starts.enabled
    assert settings.origins["starts.reached"] == "preset long"
    assert int(settings.train.steps or 0) > 5 * DEFAULT_STEPS


def test_a_first_badge_of_ones_own_image_needs_nothing_of_the_bundled_game() -> None:
    """The preset names no game, and nothing that only the bundled game has: every number is one of any game's."""
    files = get_registry().get("algorithms", "dqn").preset_files()
    preset = read_preset(files["crystal-first-badge"], "crystal-first-badge")
    profiles = {key: load_profile(GAMES_FOLDER / key) for key in ("quillwood", "crystal")}
    own = {milestone.key for milestone in profiles["quillwood"].milestones} | {"quillwood"}
    texts = [one.value for one in preset.given if isinstance(one.value, str)]
    assert not own & set(texts)
    assert not {"game", "game_folder", "rom_path", "init_state"} & {one.key for one in preset.given}
    assert resolved({"preset": "crystal-first-badge"}).train.goal == "first"
    first = {key: profile.first_goal for key, profile in profiles.items()}
    assert first == {"quillwood": "thorn_badge", "crystal": "zephyr_badge"}


def test_a_file_may_choose_the_learner_itself(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    settings = resolved({"preset": str(tmp_path / "mine.toml")})
    assert (settings.train.rl, settings.train.envs, settings.plugin_values("ppo")["n_steps"]) == ("ppo", 2, 128)


@pytest.mark.long
def test_a_run_keeps_its_settings_whatever_becomes_of_the_file(
    pkmn: Callable[..., Any], shared_run: Callable[..., Path], small_training: list[str], tmp_path: Path
) -> None:
    content = "\n".join(line.removeprefix("--set=dqn.") for line in small_training if line.startswith("--set=dqn."))
    preset = tmp_path / "small.toml"
    preset.write_text(f'description = "a small network"\n[dqn]\n{content}\n')
    options = [option for option in small_training if not option.startswith("--set")]
    assert pkmn("train", *options, "--preset=small.toml", "--run-name=small", "--quiet").code == 0
    run = tmp_path / "runs" / "small"
    text = (run / CONFIG_FILE).read_text()
    assert 'preset = "small.toml" # option --preset' in text and "batch_size = 8 # preset small.toml:4" in text
    same = tomllib.loads((shared_run() / CONFIG_FILE).read_text())
    assert tomllib.loads(text)["dqn"] == same["dqn"]
    preset.unlink()
    assert pkmn("train", "--resume", "small", "--steps=300", "--quiet").code == 0
    other = pkmn("train", "--resume", "small", "--preset=standard")
    assert (other.code, "setting 'preset' (option --preset) cannot change" in other.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--preset=standrd"], "did you mean 'standard'? dqn has crystal-first-badge, long, "),
        (["--preset=long", "--rl=ppo"], "(option --preset) is one of dqn, and the learner is ppo: ppo has standard"),
        (["--preset=long", "--rl=none"], "the learner none has no presets"),
        (["--preset=none.toml"], "setting 'preset' = 'none.toml' (option --preset): there is no such file"),
        (["--preset=mine.toml", "--rl=dqn"], "is for the learner ppo, and the training has dqn (option --rl)"),
        (["--preset=other.toml"], "sets ppo.n_steps, and the training's learner is dqn: add --rl ppo"),
        (["--preset=nameless.toml"], 'needs a line that says what it is for: description = "..."'),
        (["--preset=seeded.toml"], "setting 'seed' (preset seeded.toml:2): a preset can't set it"),
        (["--preset=wrong.toml"], "unknown setting 'dqn.gama' (preset wrong.toml:3): did you mean 'dqn.gamma'?"),
        (["--preset=bounds.toml"], "setting 'dqn.gamma' = 2 (preset bounds.toml:3): must be at most 1"),
    ],
)
def test_a_wrong_preset_is_told_in_a_line(
    options: list[str], expected: str, pkmn: Callable[..., Any], tmp_path: Path
) -> None:
    line = 'description = "a test"\n'
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "other.toml").write_text(f"{line}[ppo]\nn_steps = 128\n")
    (tmp_path / "nameless.toml").write_text("[dqn]\ngamma = 0.9\n")
    (tmp_path / "seeded.toml").write_text(f"{line}seed = 3\n")
    (tmp_path / "wrong.toml").write_text(f"{line}[dqn]\ngama = 0.9\n")
    (tmp_path / "bounds.toml").write_text(f"{line}[dqn]\ngamma = 2\n")
    result = pkmn("train", *options)
    assert (result.code, result.out) == (2, "")
    assert expected in result.err and result.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


# Of a plugin ------------------------------------------------------------------------------------------------------


class GuessSettings(BaseModel):
    """Of a learner that is only there to have presets."""

    model_config = ConfigDict(extra="forbid")
    gamma: float = Field(0.9, ge=0, le=1, description="discount")
    layers: tuple[int, ...] = Field((8,), description="units of each layer")


def plugin_with(presets: Any, config: Any = GuessSettings) -> Any:
    class Inline:
        @hookimpl
        def pkmn_register_algorithms(self, register: Callable[..., None]) -> None:
            register("guess", dict.fromkeys, config=config, help="guesses", presets=presets)

    return Inline()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "presets"
    folder.mkdir()
    (folder / "far.toml").write_text('description = "looks far"\n[guess]\ngamma = 0.99\nlayers = [16, 16]\n')
    (folder / "usual.toml").write_text('description = "as ever"\nenvs = 4\n[guess]\ngamma = 0.9\n')
    return folder


def test_the_presets_of_a_plugin_are_shown_and_taken(
    folder: Path, plugin_registry: Registry, pkmn: Callable[..., Any]
) -> None:
    plugin_registry.register_plugin(plugin_with(folder), "mine")
    shown = pkmn("plugins", "show", "guess").out
    assert shown.split("Presets, ")[1].splitlines()[1:] == [
        "  far: looks far",
        "      gamma = 0.99   (default 0.9)",
        "      layers = [16, 16]   (default [8])",
        "  usual: as ever",
        "      envs = 4",
    ]
    settings = resolve_settings({"rl": "guess", "preset": "far"}, registry=plugin_registry, environ={})
    assert settings.plugin_values("guess") == {"gamma": 0.99, "layers": (16, 16)}
    assert check_plugin(plugin_with(folder))


def test_a_plugins_wrong_presets_are_found(folder: Path, plugin_registry: Registry, pkmn: Callable[..., Any]) -> None:
    (folder / "far.toml").write_text('description = "looks far"\n[guess]\ngama = 0.99\n')
    (folder / "usual.toml").write_text('description = "as ever"\n[other]\nx = 1\n')
    (folder / "whole.toml").write_text('description = "all of it"\n[starts]\nreached = 2\n')
    plugin_registry.register_plugin(plugin_with(folder), "mine")
    problems = check_presets(plugin_registry.get("algorithms", "guess"))
    wrong = [f"{folder}/{name}.toml:3" in problem for name, problem in zip(NAMES, problems, strict=True)]
    assert wrong == [True, True, True]
    result = pkmn("plugins", "check")
    assert result.code == 2 and "unknown setting 'guess.gama'" in result.err
    with pytest.raises(AssertionError, match=r"unknown setting 'guess\.gama'"):
        check_plugin(plugin_with(folder))
    shutil.rmtree(folder)
    assert "there is no folder" in check_presets(plugin_registry.get("algorithms", "guess"))[0]


@pytest.mark.parametrize(
    ("presets", "config", "expected"),
    [("no folder", GuessSettings, "are no folder"), ("pkg:presets", None, "only algorithms with a config")],
)
def test_presets_that_cannot_be_registered(presets: str, config: Any, expected: str) -> None:
    with pytest.raises(PluginError, match=expected):
        Registry().register_plugin(plugin_with(presets, config), "mine")
