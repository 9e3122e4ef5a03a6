"""Going on from a saved state changes nothing, in this process or another; a state that does not fit is told."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.pyboy_fakes import random_actions, small_rom
from support.variants import long_after

from pkmn_pyboy.emulation.saved_state import MAGIC
from pkmn_pyboy.environment import PokemonEnvironment
from pkmncli.errors import EmulatorError

Make = Callable[..., PokemonEnvironment]

GO_ON = """
import sys
from pathlib import Path
from pkmn_pyboy.environment import make_environment
environment = make_environment(screen="packed", sticky_probability=0.1)
environment.load_state(Path(sys.argv[1]).read_bytes())
for action in Path(sys.argv[2]).read_bytes():
    observation, reward, *_ = environment.step(action)
    sums = {name: int(array.sum() * 1e4) for name, array in observation.items()}
    print(repr((reward, environment.facts(), environment.memory_hash(), sums)))
"""


def trail(environment: PokemonEnvironment, actions: list[int]) -> list[tuple[Any, ...]]:
    steps = []
    for action in actions:
        observation, reward, terminated, truncated, info = environment.step(action)
        arrays = {name: array.tobytes() for name, array in observation.items()}
        steps.append((arrays, reward, terminated, truncated, dict(info), environment.facts()))
    return steps


@pytest.fixture
def played(make: Make) -> PokemonEnvironment:
    environment = make(screen="packed", sticky_probability=0.1)
    environment.reset(seed=6)
    for action in random_actions(environment, 6, 120):
        environment.step(action)
    return environment


@pytest.mark.long
def test_going_on_is_as_if_it_had_never_been_saved(make: Make, played: PokemonEnvironment) -> None:
    draw = np.random.default_rng(2)
    actions = [int(action) for action in draw.integers(0, 9, 200)]
    states = []
    expected = []
    for start in range(0, 200, 20):
        states.append(played.save_state())
        expected.append(trail(played, actions[start : start + 20]))
    final = played.memory_hash()
    other = make(screen="packed", sticky_probability=0.1)
    for index, state in enumerate(states):
        observation, info = other.load_state(state)
        assert other.observation_space.contains(observation)
        assert info["frames"] == other.frames
        assert trail(other, actions[index * 20 : index * 20 + 20]) == expected[index]
    assert other.memory_hash() == final
    assert any(step[1] for steps in expected for step in steps), "no reward was ever paid: the trail proves too little"


def test_loading_gives_the_observation_of_the_saved_step(played: PokemonEnvironment) -> None:
    before = {name: array.copy() for name, array in played.observation().items()}
    facts, milestones = played.facts(), played.milestone_steps()
    state = played.save_state()
    for action in random_actions(played, 1, 50):
        played.step(action)
    observation, _ = played.load_state(state)
    assert all(np.array_equal(observation[name], before[name]) for name in before)
    assert (played.facts(), played.milestone_steps()) == (facts, milestones)


def test_rewards_are_not_paid_twice_after_loading(make: Make) -> None:
    environment = make(observation_type="state", rewards={"exploration": 1})
    environment.reset(seed=1)
    seen = 0.0
    for action in random_actions(environment, 3, 150):
        seen += environment.step(action)[1]
    assert seen > 0
    state = environment.save_state()
    other = make(observation_type="state", rewards={"exploration": 1})
    other.reset(seed=9)
    other.load_state(state)
    actions = list(range(4, 8)) * 10
    assert [environment.step(a)[1] for a in actions] == [other.step(a)[1] for a in actions]


@pytest.mark.long
def test_going_on_in_another_process(played: PokemonEnvironment, tmp_path: Path) -> None:
    actions = bytes(int(action) for action in np.random.default_rng(3).integers(0, 9, 40))
    (tmp_path / "saved").write_bytes(played.save_state())
    (tmp_path / "actions").write_bytes(actions)
    expected = []
    for action in actions:
        observation, reward, *_ = played.step(action)
        sums = {name: int(array.sum() * 1e4) for name, array in observation.items()}
        expected.append(repr((reward, played.facts(), played.memory_hash(), sums)))
    command = [sys.executable, "-c", GO_ON, str(tmp_path / "saved"), str(tmp_path / "actions")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == expected


def changed_header(state: bytes, **values: Any) -> bytes:
    start = len(MAGIC) + 4
    (length,) = struct.unpack_from("<I", state, len(MAGIC))
    header = json.loads(state[start : start + length]) | values
    text = json.dumps(header).encode()
    return MAGIC + struct.pack("<I", len(text)) + text + state[start + length :]


@pytest.mark.parametrize(
    ("spoil", "says"),
    long_after(
        1,
        [
            (lambda state: b"", "no saved state"),
            (lambda state: b"\x1d" + state, "no saved state"),
            (lambda state: state[:10], "cut off"),
            (lambda state: state[:300], "cut off"),
            (lambda state: state[:-1], "cut off"),
            (lambda state: state + b"x", "cut off"),
            (lambda state: state[:-50] + bytes((state[-50] ^ 1,)) + state[-49:], "is damaged"),
            (lambda state: state[:14] + b"\xff" + state[15:], "header is damaged"),
            (lambda state: changed_header(state, format=99), "has format 99"),
            (lambda state: changed_header(state, rom_sha1="0" * 40, game="crystal"), "is of crystal"),
            (lambda state: changed_header(state, pyboy="2.9.0", pyboy_state=30), r"made with PyBoy 2\.9\.0"),
            (lambda state: changed_header(state, session={}), "has the rewards none"),
        ],
    ),
)
def test_a_saved_state_that_does_not_fit(
    played: PokemonEnvironment, spoil: Callable[[bytes], bytes], says: str
) -> None:
    state = played.save_state()
    before = played.memory_hash()
    with pytest.raises(EmulatorError, match=says) as caught:
        played.load_state(spoil(state))
    assert "\n" not in str(caught.value)
    assert played.memory_hash() == before
    played.step(8)


@pytest.mark.long
def test_a_state_of_other_rewards_or_another_game(make: Make, played: PokemonEnvironment, tmp_path: Path) -> None:
    with pytest.raises(EmulatorError, match="has the rewards exploration, progress, this environment progress"):
        make(rewards={"progress": 1}).load_state(played.save_state())
    (tmp_path / "other.gbc").write_bytes(small_rom())
    other = make(game="crystal", rom_path=tmp_path / "other.gbc", force_rom=True)
    with pytest.raises(EmulatorError, match="is of quillwood"):
        other.load_state(played.save_state())
