"""Trainings of Gymnasium environments by their ids: arguments, wrappers, exact resume, and one line for mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest
import torch
from support.killed_training import train_until
from support.variants import long_after

from pkmn_gymnasium.making import make_environment
from pkmn_gymnasium.settings import GymnasiumSettings
from pkmncli.comparison.compared_runs import find_runs
from pkmncli.config import ResolvedSettings, resolve_settings
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry

Pkmn = Callable[..., Any]
POLE = ["--env=gym:CartPole-v1", "--env-arg=sutton_barto_reward=true", "--max-steps-per-episode=60", "--seed=2"]
STACK = "--wrapper=gymnasium.wrappers:FrameStackObservation stack_size=2"
"""Its state is not saved, so that the resumed run repeats the steps of the episode."""
SMALL = ["--steps=240", "--save-interval=80", "--final-episodes=2", "--no-film", "--set=dqn.learning_starts=40"]


def test_the_id_arguments_and_wrappers_are_settings(tmp_path: Path) -> None:
    given = {"env": "gym:CartPole-v1", "env_args": ["sutton_barto_reward=true"], "wrappers": ["a.b:C size=3 mode=fast"]}
    settings = resolve_settings(given, registry=get_registry(), environ={})
    assert (settings.train.env, settings.plugin_values("gym")["id"]) == ("gym", "CartPole-v1")
    (tmp_path / "config.toml").write_text(settings.to_toml())
    read = ResolvedSettings.from_run(tmp_path, get_registry())
    assert (read.train.wrappers, read.plugin_values("gym")) == (settings.train.wrappers, settings.plugin_values("gym"))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "needs an id, as --env gym:CartPole-v1"),
        ({"id": "CartPol-v1"}, "gym:CartPol-v1 does not exist: did you mean 'CartPole-v1'"),
        ({"id": "no_such_module:Thing-v0"}, "no_such_module cannot be imported"),
        ({"id": "CartPole-v1", "env_args": {"size": 3}}, "cannot be built with size=3"),
        (
            {"id": "FrozenLake-v1", "env_args": {"map_name": "9x9"}},
            "built with map_name=9x9: KeyError: '9x9'",
        ),
    ],
)
def test_a_mistake_is_one_line(settings: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigurationError, match=expected) as refused:
        make_environment(GymnasiumSettings(**settings))
    assert "\n" not in str(refused.value)


@pytest.mark.long
def test_a_slow_training_is_saved_by_the_clock_and_trains_the_same(
    pkmn: Pkmn, assert_same_course: Callable[..., None], tmp_path: Path
) -> None:
    saved = {}
    file = tmp_path / "slow.toml"
    for minutes in ("1e-9", "1e9"):  # over at each step, and never
        file.write_text(f"save_interval_minutes = {minutes}\nkeep_checkpoints = 100\n")
        assert pkmn("train", f"--config={file}", *POLE, *SMALL[2:], "--steps=60", f"--run-name={minutes}").code == 0
        names = [path.name for path in (tmp_path / "runs" / minutes / "checkpoints").glob("step-*")]
        saved[minutes] = sorted(int(name.removeprefix("step-")) for name in names)
    assert saved == {"1e-9": list(range(61)), "1e9": [0, 60]}
    assert_same_course(tmp_path / "runs" / "1e-9", tmp_path / "runs" / "1e9")


@pytest.mark.long
def test_a_killed_training_goes_on_exactly_and_its_episodes_are_replayed(
    pkmn: Pkmn, course: Callable[[Path], dict[str, Any]], assert_same_course: Callable[..., None], tmp_path: Path
) -> None:
    result = pkmn("train", *POLE, STACK, *SMALL, "--run-name=whole")
    assert result.code == 0, result.err
    train_until(("os.rename", ".step-000000160.tmp", 1), tmp_path, *POLE, STACK, *SMALL, "--run-name=killed")
    result = pkmn("train", "--resume", "killed")
    assert result.code == 0, result.err
    assert_same_course(tmp_path / "runs" / "killed", tmp_path / "runs" / "whole")
    summary = json.loads((tmp_path / "runs" / "whole" / "summary.json").read_text())
    assert summary["success_rate"] is None, "a pole that falls is no success"
    assert summary["learner_alone"]["goal"] is None
    assert {row["outcome"] for row in course(tmp_path / "runs" / "whole")["episodes"]} <= {"ended", "time-limit"}
    assert find_runs(["whole"], None, least=1)[0].settings["env"] == "gym:CartPole-v1"
    for command in (("replay", "whole", "--verify"), ("eval", "whole", "--episodes=2"), ("compare", "whole", "killed")):
        result = pkmn(*command)
        assert result.code == 0, result.err


_WRAPPERS = """
import gymnasium


def nothing(environment):
    return 5


class Sized(gymnasium.Wrapper):
    def __init__(self, environment, size):
        if size < 1:
            raise ValueError(f"size is {size}:\\nit must be at least 1")
        super().__init__(environment)


class Broken(gymnasium.Wrapper):
    def reset(self, **options):
        raise RuntimeError("first line\\nsecond line")
"""


@pytest.mark.parametrize(
    ("wrapper", "code", "expected"),
    [
        ("nothing", 2, "setting 'wrappers': own_wrappers:nothing gives no environment, but int"),
        ("Sized", 2, "setting 'wrappers': own_wrappers:Sized cannot be built: TypeError: .*'size'"),
        ("Sized size=0", 2, "Sized cannot be built with size=0: ValueError: size is 0: it must be at least 1"),
        ("Broken", 1, "environment 0 failed twice at the same step: RuntimeError: first line second line"),
    ],
)
def test_a_wrapper_that_fails_is_named_without_a_traceback(
    pkmn: Pkmn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapper: str, code: int, expected: str
) -> None:
    (tmp_path / "own_wrappers.py").write_text(_WRAPPERS)
    monkeypatch.syspath_prepend(tmp_path)
    result = pkmn("train", *POLE, *SMALL, f"--wrapper=own_wrappers:{wrapper}")
    assert result.code == code
    assert re.search(expected, result.err.splitlines()[-1])
    assert "Traceback" not in result.err
    assert "log.txt" not in result.err


@pytest.mark.long
def test_an_image_that_the_environment_does_not_read_may_be_missing_later(pkmn: Pkmn) -> None:
    result = pkmn("train", *POLE, *SMALL, "--rom=no_such_file.gbc", "--run-name=image")
    assert result.code == 0, result.err
    assert "rom_path: no effect" in result.err
    assert "then random play." in result.out
    result = pkmn("eval", "image", "--episodes=1")
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("name", "keys"),
    long_after(
        1, [("CartPole-v1", ["observation"]), ("Blackjack-v1", ["observation.0", "observation.1", "observation.2"])]
    ),
)
def test_an_exported_policy_plays_an_environment_without_names_and_mask(
    pkmn: Pkmn, tmp_path: Path, name: str, keys: list[str]
) -> None:
    memory = ["--rl=ppo", "--set=ppo.recurrent=gru", "--set=ppo.gru_size=3"]
    assert pkmn("train", f"--env=gym:{name}", "--steps=40", "--final-episodes=0", *memory).code == 0
    assert pkmn("export", "--policy", "--no-tables", "--to", "policy").code == 0
    policy = torch.export.load(str(tmp_path / "policy" / "policy.pt2")).module()
    described = json.loads((tmp_path / "policy" / "policy.json").read_text())
    environment = gymnasium.make(name)
    seen, _ = environment.reset(seed=1)
    parts = seen if isinstance(seen, tuple) else (seen,)
    observation = {key: torch.as_tensor(part) for key, part in zip(keys, parts, strict=True)}
    observation["action_mask"] = torch.ones(described["num_actions"], dtype=torch.int8)
    assert sorted(described["observation"]) == sorted(observation)
    found = policy(observation, torch.zeros(described["memory"]["shape"]))
    environment.step(int(found["action"]))
    assert found["memory"].shape == (3,)


def test_an_id_alone_is_answered_with_its_name(pkmn: Callable[..., Any]) -> None:
    result = pkmn("train", "--env", "CartPole-v1", "--steps=5")
    assert (result.code, result.out) == (2, "")
    assert "there is no environment 'CartPole-v1'; did you mean 'gym:CartPole-v1'?" in result.err


def test_a_preset_gives_way_where_nobody_shows_the_learner_anything(pkmn: Pkmn) -> None:
    result = pkmn("train", *POLE, *SMALL, "--preset=long", "--steps=40")
    assert result.code == 0, result.err
    assert "pretrain_steps (preset long): no effect, since no pilot and no earlier run shows" in result.err
    result = pkmn("train", *POLE, *SMALL, "--pretrain-steps=9")
    assert (result.code, result.err.startswith("pretrain_steps = 9: nobody shows a learner anything")) == (2, True)


def test_an_environment_without_a_pretrained_policy_is_named(pkmn: Pkmn) -> None:
    result = pkmn("train", *POLE, *SMALL, "--start-from=pretrained")
    assert result.code == 2
    assert "CartPole-v1 comes without a pretrained policy; there is one for quillwood" in result.err


def test_no_film_is_offered_where_no_episode_ended(pkmn: Callable[..., Any]) -> None:
    result = pkmn("train", "--env=gym:CartPole-v1", "--steps=5", "--run-name=it")
    assert result.code == 0
    assert "pkmn train --resume" in result.out
    assert "replay" not in result.out
