"""Distance to the next milestone's target: also to a person or scene, and to the goal of the episode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rewards.goal_distance import GoalDistance
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.story.tracker import MilestoneTracker

TOWN, HOME, TRAIL = 0x101, 0x102, 0x201


@pytest.fixture
def state(make: Callable[..., PokemonEnvironment]) -> GameState:
    """Return the state in the bedroom, at (3,3)."""
    environment = make(observation_type="state")
    environment.reset(seed=0)
    return environment.state


def test_an_optional_milestone_counts_where_it_is_the_goal(
    quillwood: GameProfile, rom_path: Path, state: GameState
) -> None:
    tracker = MilestoneTracker(quillwood.milestones)
    goal = quillwood.milestone_index("healed")
    tracker.load_state(all_before("healed", quillwood))
    trail = state._replace(map_group=TRAIL >> 8, map_number=TRAIL & 0xFF, x=38, y=8)
    rom = rom_path.read_bytes()
    to_healer = GoalDistance(rom, quillwood, tracker, goal).tiles(trail)
    to_glade = GoalDistance(rom, quillwood, tracker).tiles(trail)
    nearer = trail._replace(x=30)
    assert to_healer is not None and to_glade is not None
    assert GoalDistance(rom, quillwood, tracker, goal).tiles(nearer) == to_healer + 8, "the healer is to the east"
    assert GoalDistance(rom, quillwood, tracker).tiles(nearer) == to_glade - 8, "the next required one to the west"


def test_the_environment_asks_for_its_own_goal(make: Callable[..., PokemonEnvironment]) -> None:
    parts = {"distance": 1.0, "milestone": 0, "badge": 0, "level": 0, "health": 0}
    worth = []
    for goal in (None, "healed"):
        environment = make(observation_type="state", goal=goal, rewards={"potential": {"settings": parts}})
        environment.reset(seed=0)
        environment.milestones.load_state(all_before("healed", environment.profile))
        environment.rewards.reset(environment.state)
        worth.append(environment.rewards.save_state())
    assert worth[0] != worth[1]


@pytest.mark.parametrize(
    ("target", "further"),
    long_after(1, [(Target(HOME, person=1), 5), (Target(HOME, 4, 7, person=1), 5), (Target(HOME, person=9), 0)]),
)
def test_the_distance_to_a_person_on_another_map(
    quillwood: GameProfile, rom_path: Path, state: GameState, target: Target, further: int
) -> None:
    to_map, to_person = (distance(one, quillwood, rom_path, state) for one in (Target(HOME), target))
    assert to_map is not None
    assert to_person == to_map + further, "from the foot of the stairs on to the person, if there is one"


def test_the_distance_to_a_scene_on_another_map(quillwood: GameProfile, rom_path: Path, state: GameState) -> None:
    to_scene, to_tile = (
        distance(one, quillwood, rom_path, state) for one in (Target(TOWN, scene=255), Target(TOWN, 2, 8))
    )
    assert to_scene == to_tile is not None


def distance(target: Target, profile: GameProfile, rom_path: Path, state: GameState) -> int | None:
    """Return the distance in tiles to a target of the next milestone."""
    tracker = MilestoneTracker([replace(profile.milestones[1], needs=(), target=target)])
    return GoalDistance(rom_path.read_bytes(), profile, tracker).tiles(state)


def all_before(key: str, profile: GameProfile) -> dict[str, list[int]]:
    """Return the state of a tracker whose next milestone is ``key``."""
    done, count = profile.milestone_index(key), len(profile.milestones)
    return {"steps": [0] * done + [-1] * (count - done), "frames": [0] * count}
