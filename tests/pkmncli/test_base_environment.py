"""The base class of environments: what an author writes, and what is there without being written."""

from __future__ import annotations

from collections import UserDict, defaultdict

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from support.plain_environments import Counting

from pkmncli.api import Environment
from pkmncli.api.plain_state import state_to_bytes
from pkmncli.errors import EnvironmentSetupError


def begun() -> Counting:
    environment = Counting()
    environment.reset(seed=3)
    environment.advance(2)
    return environment


@pytest.mark.filterwarnings("ignore")
def test_two_methods_make_an_environment_that_gymnasium_accepts() -> None:
    check_env(Counting(), skip_render_check=True)
    assert isinstance(Counting(), Environment)


def test_an_episode_goes_on_from_a_saved_state_in_another_instance() -> None:
    one, other = begun(), Counting()
    other.load_state(one.save_state())
    for action in (1, 2):
        assert other.step(action)[0]["number"] == one.step(action)[0]["number"]
    assert (other.facts(), other.seen) == (one.facts(), one.seen)
    assert other.np_random.random() == one.np_random.random()


def test_the_hash_tells_states_apart() -> None:
    environment = begun()
    before = environment.facts().fine_hash
    environment.advance(1)
    assert environment.facts().fine_hash != before
    assert environment.facts().frames == environment.steps == 2


def test_an_attribute_that_cannot_be_saved_is_named_with_what_to_do() -> None:
    environment = begun()
    environment.engine = object()  # type: ignore[attr-defined]
    with pytest.raises(EnvironmentSetupError, match=r"Counting\.engine cannot be saved .* `constants`"):
        environment.save_state()


@pytest.mark.parametrize("state", [b"", b"nonsense", b'{"~":"other","value":1}', b"[]"])
def test_bytes_of_something_else_are_refused(state: bytes) -> None:
    with pytest.raises(EnvironmentSetupError, match="none of Counting"):
        Counting().load_state(state)


def test_objects_that_attributes_share_are_shared_again() -> None:
    one, other = begun(), Counting()
    one.dice, one.places = one.np_random, [one.seen]  # type: ignore[attr-defined]
    other.load_state(one.save_state())
    assert other.dice is other.np_random  # type: ignore[attr-defined]
    assert other.places[0] is other.seen  # type: ignore[attr-defined]
    assert other.np_random.random() == one.np_random.random()


def test_what_would_come_back_as_something_else_is_refused() -> None:
    grid, bits, around = np.zeros((2, 3)), np.random.PCG64(1), []  # type: ignore[var-annotated]
    around.append(around)
    for first, second, why in (
        (grid, grid[0], "shares memory"),
        (np.random.Generator(bits), np.random.Generator(bits), "the same bit generator"),
        (0, around, "contains itself"),
        (0, defaultdict(lambda: 1), "no built-in type"),
        (0, UserDict(), "a UserDict is no plain value"),
    ):
        environment = begun()
        environment.first, environment.second = first, second  # type: ignore[attr-defined]
        with pytest.raises(EnvironmentSetupError, match=rf"Counting\.second cannot be saved .*{why}"):
            environment.save_state()


def test_a_state_of_an_earlier_version_is_read() -> None:
    environment = begun()
    state = state_to_bytes({name: state_to_bytes(value) for name, value in (("total", 7), ("steps", 2))})
    environment.load_state(state)
    assert (environment.total, environment.steps) == (7, 2)
