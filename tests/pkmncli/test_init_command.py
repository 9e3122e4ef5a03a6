"""Command `pkmn init`: the file that it writes is a whole, valid one, and never overwrites another."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.config import ResolvedSettings, resolve_settings
from pkmncli.plugins import get_registry

Pkmn = Callable[..., Any]


def read(path: Path) -> ResolvedSettings:
    return resolve_settings({}, registry=get_registry(), config_path=path, environ={})


@pytest.mark.parametrize(
    ("given", "sets"),
    [
        ({}, []),
        ({"rl": "ppo", "llm": "ollama"}, []),
        ({"rl": "none"}, []),
        ({"env": "gym:CartPole-v1", "rl": "a2c"}, ["a2c.gamma=0.5"]),
        ({}, ["reward=['progress']", "seed=7"]),
    ],
)
def test_what_is_written_means_what_was_chosen_with_and_without_the_comments(
    pkmn: Pkmn, tmp_path: Path, given: dict[str, str], sets: list[str]
) -> None:
    path = tmp_path / "pkmn.toml"
    options = [f"--{name}={value}" for name, value in given.items()] + [f"--set={one}" for one in sets]
    result = pkmn("init", *options)
    assert (result.code, result.err) == (0, "")
    assert result.out == "Wrote pkmn.toml. Train with: pkmn train --config pkmn.toml\n"
    chosen = resolve_settings(given, registry=get_registry(), sets=sets, environ={})
    assert read(path).values() == chosen.values()
    uncommented = re.sub(r"^#(\w+ = )", r"\1", path.read_text(), flags=re.MULTILINE)
    path.write_text(uncommented)
    assert len(tomllib.loads(uncommented)) > 50
    assert read(path).values() == chosen.values()


def test_every_setting_is_described(pkmn: Pkmn, tmp_path: Path) -> None:
    pkmn("init", "mine.toml", "--rl=ppo")
    lines = (tmp_path / "mine.toml").read_text().splitlines()
    settings = [number for number, line in enumerate(lines) if re.match(r"#?\w+ =", line)]
    assert all(lines[number - 1].startswith("# ") for number in settings)
    assert {"[curriculum]", "[ppo]", "[pyboy]", 'rl = "ppo"', "#seed = 0"} <= set(lines)
    assert "[dqn]" not in lines
    assert max(len(line) for line in lines if line.startswith("# ")) <= 100


def test_an_existing_file_is_kept(pkmn: Pkmn, tmp_path: Path) -> None:
    (tmp_path / "pkmn.toml").write_text("seed = 1")
    result = pkmn("init")
    assert (result.code, result.err) == (
        2,
        "pkmn.toml exists already and is not overwritten: name another file\n",
    )
    assert (tmp_path / "pkmn.toml").read_text() == "seed = 1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rl=dqm"], "dqm"),
        (["--rl=none", "--set=mode='rl-only'"], "rl-only"),
        (["no/folder.toml"], "can't be written"),
    ],
)
def test_nothing_is_written_for_a_wrong_choice(pkmn: Pkmn, tmp_path: Path, options: list[str], said: str) -> None:
    result = pkmn("init", *options)
    assert result.code == 2 and said in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_file_for_an_environment_with_its_own_pilot_has_its_section(pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("init", "--env=balatro", "--rl=ppo").code == 0
    found = tomllib.loads((tmp_path / "pkmn.toml").read_text())
    assert {"balatro", "planning", "ppo"} <= found.keys()


@pytest.mark.parametrize(
    ("options", "own"),
    [([], {"progress", "exploration"}), (["--env=balatro"], set()), (["--env=gym:CartPole-v1"], set())],
)
def test_parts_of_the_reward_have_sections_only_where_the_environment_takes_them(
    pkmn: Pkmn, tmp_path: Path, options: list[str], own: set[str]
) -> None:
    pkmn("init", *options)
    assert {"progress", "exploration"} & set(tomllib.loads((tmp_path / "pkmn.toml").read_text())) == own
