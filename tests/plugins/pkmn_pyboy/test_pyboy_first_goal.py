"""Goals that a game names itself, the first training's and the last, and their episode lengths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.loading import load_profile
from pkmn_pyboy.profile.model import GameProfile
from pkmncli.errors import EnvironmentSetupError


@pytest.mark.long
def test_first_and_last_are_the_games_own_goals(
    make: Callable[..., PokemonEnvironment], quillwood: GameProfile
) -> None:
    first, last, between = make(goal="first"), make(goal="last"), make(goal="cairn_badge")
    assert quillwood.milestones[first.goal].key == quillwood.first_goal == "thorn_badge"
    assert last.goal == make().goal == quillwood.last_goal
    assert first.max_steps_per_episode == make().max_steps_per_episode == quillwood.episode_steps
    assert last.max_steps_per_episode == quillwood.game_steps
    assert first.max_steps_per_episode < between.max_steps_per_episode < last.max_steps_per_episode
    assert make(goal="last", max_steps_per_episode=77).max_steps_per_episode == 77


def test_a_first_goal_that_is_no_milestone_is_told(quillwood: GameProfile, tmp_path: Path) -> None:
    for file in quillwood.folder.glob("*.toml"):
        text = file.read_text(encoding="utf-8").replace('first_goal = "thorn_badge"', 'first_goal = "thorn"')
        (tmp_path / file.name).write_text(text, encoding="utf-8")
    with pytest.raises(EnvironmentSetupError, match="first_goal = 'thorn' is not a milestone"):
        load_profile(tmp_path)
