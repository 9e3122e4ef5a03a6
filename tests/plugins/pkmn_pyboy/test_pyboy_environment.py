"""Gymnasium's contract and the core's, and seeds that start the same episode everywhere."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FrameStackObservation
from support.pyboy_fakes import random_actions
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment, make_environment
from pkmn_pyboy.environments.observation import PACKED_SHAPE, unpack_screens
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import GameState
from pkmncli.api import Context, Environment, Facts
from pkmncli.errors import ConfigurationError, EmulatorError, EnvironmentSetupError

Make = Callable[..., PokemonEnvironment]

PLAY = """
import hashlib, random
from pkmn_pyboy.environment import make_environment
environment = make_environment(screen="packed")
observation, _ = environment.reset(seed=11)
draw = random.Random(4)
digest = hashlib.sha256()
for _ in range(150):
    action = draw.choice([a for a in range(9) if environment.mask[a]])
    observation, reward, *_ = environment.step(action)
    for name in sorted(observation):
        digest.update(observation[name].tobytes())
    digest.update(repr((reward, environment.facts())).encode())
print(digest.hexdigest(), environment.memory_hash())
"""


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("observation_type", long_after(1, ["multi_modal", "screen", "state"]))
def test_gymnasiums_checks(make: Make, observation_type: str) -> None:
    environment = make(observation_type=observation_type, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*not able to test alternative render modes.*", category=UserWarning)
        warnings.filterwarnings("ignore", message=".*Not able to test alternative render modes.*", category=UserWarning)
        check_env(environment)
    assert isinstance(environment, Environment)
    expected = {"multi_modal": {"screen", "state_variables"}, "screen": {"screen"}, "state": {"state_variables"}}
    assert set(environment.observation_space.spaces) == {"action_mask", *expected[observation_type]}


def test_observations_are_the_callers_own(make: Make) -> None:
    environment = make()
    first, _ = environment.reset(seed=1)
    kept = {name: array.copy() for name, array in first.items()}
    for action in random_actions(environment, 1, 30):
        observation, *_ = environment.step(action)
        assert not any(np.shares_memory(first[name], observation[name]) for name in first)
    assert same(first, kept)


@pytest.mark.long
def test_packed_and_rgb_screens_show_the_same(make: Make) -> None:
    rgb, packed = make(), make(screen="packed")
    first, second = rgb.reset(seed=3)[0], packed.reset(seed=3)[0]
    for action in random_actions(rgb, 1, 40):
        assert second["screen"].shape == PACKED_SHAPE
        np.testing.assert_array_equal(unpack_screens(second["screen"]), first["screen"][::2, ::2, 1] >> 4)
        first, second = rgb.step(action)[0], packed.step(action)[0]
    assert len(np.unique(first["screen"])) > 2


@pytest.mark.long
def test_written_observations_equal_returned_ones(make: Make) -> None:
    ours, theirs = make(screen="packed"), make(screen="packed")
    out = {name: np.zeros(space.shape, space.dtype) for name, space in ours.observation_space.spaces.items()}  # type: ignore[arg-type]
    ours.reset(seed=2)
    theirs.reset(seed=2)
    for action in random_actions(theirs, 3, 50):
        reward, terminated, truncated = ours.advance(action)
        ours.write_observation(out)
        observation, *rest = theirs.step(action)
        assert same(out, observation)
        assert [reward, terminated, truncated] == rest[:3]


@pytest.mark.long
def test_same_seed_same_episode_and_two_seeds_differ(make: Make) -> None:
    one, other = make(observation_type="state"), make(observation_type="state")
    hashes = set()
    for seed in range(6):
        first, _ = one.reset(seed=seed)
        second, _ = other.reset(seed=seed)
        assert same(first, second)
        for action in random_actions(one, seed, 20):
            assert same(one.step(action)[0], other.step(action)[0])
        assert one.memory_hash() == other.memory_hash()
        one.reset(seed=seed)
        hashes.add(one.memory_hash())
    assert len(hashes) == 6
    assert one.frames == 0


@pytest.mark.long
def test_resets_without_a_seed_go_on_drawing(make: Make) -> None:
    one, other = make(observation_type="state"), make(observation_type="state")
    hashes = []
    for environment in (one, other):
        environment.reset(seed=7)
        environment.reset()
        hashes.append(environment.memory_hash())
    assert hashes[0] == hashes[1]


@pytest.mark.long
def test_kind_of_observation_changes_nothing_in_the_game(make: Make) -> None:
    environments = [make(observation_type="state"), make(), make(screen="packed", render_mode="rgb_array")]
    for environment in environments:
        environment.reset(seed=4)
    for action in random_actions(environments[0], 9, 60):
        for environment in environments:
            environment.step(action)
    assert len({environment.memory_hash() for environment in environments}) == 1
    assert len({environment.facts() for environment in environments}) == 1


@pytest.mark.long
def test_same_episode_in_every_process() -> None:
    outputs = {
        subprocess.run([sys.executable, "-c", PLAY], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    }
    assert len(outputs) == 1


def test_facts_are_those_of_the_state(make: Make) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    for action in random_actions(environment, 8, 50):
        environment.step(action)
        facts = environment.facts()
        assert isinstance(facts, Facts)
        assert (facts.map_id, facts.x, facts.y) == environment.state.position
        assert facts.phase == environment.state.phase
        assert environment.phase_names[facts.phase] == environment.state.phase.name.lower()
        assert facts.frames == environment.steps * 24
        assert 0 < facts.coarse_hash < 2**64
        assert 0 < facts.fine_hash < 2**64
    assert len(environment.milestone_steps()) == len(environment.milestone_names)
    assert facts.milestones == sum(step >= 0 for step in environment.milestone_steps())


@pytest.mark.long
def test_episode_ends_at_the_goal_or_at_the_limit(make: Make) -> None:
    environment = make(observation_type="state", max_steps_per_episode=3)
    environment.reset(seed=1)
    ends = [environment.step(8)[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
    reaching = make(observation_type="state", goal="downstairs")
    reaching.reset(seed=1)
    pilot = RulesPilot(reaching, PilotSettings())
    pilot.reset(1)
    ends = []
    while not ends or not any(ends[-1]):
        ends.append(reaching.step(pilot.act(None).action)[2:4])
    assert ends[-1] == (True, False)
    assert set(ends[:-1]) <= {(False, False)}
    with pytest.raises(ConfigurationError, match="no such milestone"):
        make(goal="fly")


def test_stepping_before_a_reset_is_told(make: Make) -> None:
    with pytest.raises(EnvironmentSetupError, match=r"call reset\(\)"):
        make(observation_type="state").step(0)


def test_what_no_step_or_reset_can_mean_is_told(make: Make) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    for action in (-1, 9, 1.5):
        with pytest.raises(EnvironmentSetupError, match="use 0 to 8"):
            environment.step(action)  # type: ignore[arg-type]
    with pytest.raises(EnvironmentSetupError, match="'start' of reset"):
        environment.reset(options={"start": b""})
    with pytest.raises(EnvironmentSetupError, match="give bytes"):
        environment.reset(options={"start_state": 5})
    environment.close()
    with pytest.raises(EnvironmentSetupError, match=r"call reset\(\)"):
        environment.step(0)
    with pytest.raises(EnvironmentSetupError, match="is closed"):
        environment.reset()


def test_repeats_and_hold_frames(make: Make) -> None:
    environment = make(observation_type="state", action_repeat=3, action_frames=20, hold_frames=8)
    environment.reset(seed=1)
    environment.step(8)
    assert environment.frames == 60


def test_sticky_actions_come_from_the_seed(make: Make) -> None:
    pressed = []
    for _ in range(2):
        environment = make(observation_type="state", sticky_probability=0.5)
        environment.reset(seed=3)
        pressed.append([])
        for action in [4, 5, 6, 7] * 10:
            environment.step(action)
            pressed[-1].append(environment.pressed)
    assert pressed[0] == pressed[1]
    repeats = sum(a == b for a, b in zip(pressed[0], pressed[0][1:], strict=False))
    assert 8 < repeats < 32


def test_frames_are_stacked_by_gymnasiums_wrapper(make: Make) -> None:
    stacked = FrameStackObservation(make(screen="packed"), 4)
    observation, _ = stacked.reset(seed=1)
    assert observation["screen"].shape == (4, *PACKED_SHAPE)


def test_render_gives_the_picture_when_asked_for(make: Make) -> None:
    environment = make(observation_type="state", render_mode="rgb_array")
    environment.reset(seed=1)
    picture = environment.render()
    assert picture.shape == (144, 160, 3)
    assert picture.dtype == np.uint8
    assert len(np.unique(picture)) > 2
    assert make(observation_type="state").render() is None


def test_context_is_in_words(make: Make) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    context = environment.context()
    assert isinstance(context, Context)
    current = environment.milestones.current()
    assert current is not None
    assert context.current_goal == current.hint
    assert environment.profile.names.map_name(environment.state.map_id) in context.context_summary
    assert "@" in context.text_map
    assert "#" in context.text_map
    assert any("down" in suggestion for suggestion in context.action_suggestions)


class Everything:
    """Reward of a third party."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.worth = settings["worth"]

    def reset(self, state: GameState) -> None:
        pass

    def score(self, previous: GameState, action: int, state: GameState) -> dict[str, float]:
        return {"step": self.worth}

    def save_state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        pass


@pytest.mark.long
def test_rewards_are_weighted_and_added_up(make: Make) -> None:
    parts = {"mine": {"target": Everything, "weight": 0.5, "settings": {"worth": 3.0}}, "progress": 2}
    environment = make(observation_type="state", rewards=parts)
    environment.reset(seed=1)
    _, reward, _, _, info = environment.step(8)
    assert info["reward_parts"]["mine.step"] == 1.5
    assert reward == pytest.approx(sum(info["reward_parts"].values()))
    with pytest.raises(ConfigurationError, match="is none of progress, exploration"):
        make(rewards={"unknown": 1})
    with pytest.raises(ConfigurationError, match="can't be imported"):
        make(rewards={"mine": {"target": "pkmn_pyboy.nowhere:Nothing"}})
    with pytest.raises(ConfigurationError, match=r"rewards\.progress\.settings"):
        make(rewards={"progress": {"settings": {"badges": 3}}})


def test_wrong_settings_are_told_by_name() -> None:
    with pytest.raises(ConfigurationError, match="Setting screens"):
        make_environment(screens="rgb")
    with pytest.raises(ConfigurationError, match="hold_frames must be less"):
        make_environment(hold_frames=30, action_frames=24)
    with pytest.raises(ConfigurationError, match=r"rewards\.progress\.settings\.chocolate"):
        make_environment(rewards={"progress": {"settings": {"chocolate": 1}}})
    with pytest.raises(ConfigurationError, match=r"rewards\.progress\.weight"):
        make_environment(rewards={"progress": float("nan")})
    with pytest.raises(ConfigurationError, match="seed_noops must be two numbers of frames, 0 to 36,000"):
        make_environment(seed_noops=(0, 99_999_999))


@pytest.mark.long
def test_start_from_a_saved_state(make: Make, tmp_path: Path) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    for action in random_actions(environment, 5, 200):
        environment.step(action)
    state, place = environment.save_state(), environment.state.position
    environment.reset(seed=2, options={"start_state": state})
    assert (environment.steps, environment.frames) == (0, 0)
    assert environment.state.map_id == place[0]
    first = environment.memory_hash()
    environment.reset(seed=2, options={"start_state": environment.emulator.save_state()})
    assert environment.state.map_id == place[0]
    (tmp_path / "start.state").write_bytes(state)
    other = make(observation_type="state", start_state=tmp_path / "start.state")
    other.reset(seed=2)
    assert other.memory_hash() == first
    other.reset(seed=3)
    assert other.memory_hash() != first
    with pytest.raises(EnvironmentSetupError, match="cannot be read"):
        make(start_state=tmp_path / "none.state")
    with pytest.raises(EmulatorError):
        environment.reset(options={"start_state": b"nonsense"})


@pytest.mark.long
def test_short_names_after_an_import_and_long_ones_without() -> None:
    code = """
import gymnasium, sys
environment = gymnasium.make("pkmn_pyboy.registration:pkmn/Quillwood-v0", observation_type="state")
observation, info = environment.reset(seed=1)
print(environment.spec.id, sorted(observation), info["frames"])
other = gymnasium.make("pkmn/Quillwood-v0", screen="packed")
print(other.observation_space["screen"].shape)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["pkmn/Quillwood-v0 ['action_mask', 'state_variables'] 0", "(72, 40)"]


def test_crystal_is_registered_and_asks_for_an_image() -> None:
    import pkmn_pyboy.registration  # noqa: F401, PLC0415

    with pytest.raises(EnvironmentSetupError, match="your own cartridge image"):
        gymnasium.make("pkmn/Crystal-v0")


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    code = (
        "import sys, pkmn_pyboy.plugin; print(sorted({'pyboy', 'numpy', 'gymnasium', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_an_episode_that_would_begin_at_its_goal_is_refused(make: Callable[..., PokemonEnvironment]) -> None:
    environment = make(goal="outside")
    environment.reset(seed=1)
    state = environment.emulator.save_state()
    nearer = make(goal="game_started")
    with pytest.raises(EnvironmentSetupError, match="game_started is already reached"):
        nearer.reset(seed=1, options={"start_state": state})
