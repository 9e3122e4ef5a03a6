"""Log, environments by one call, several at once, and the check of environments."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from support.little_balatro import ACTIONS, LittleBalatro

from pkmn_balatro.utils import create_balatro_env, make_vectorized_env, setup_logging, validate_environment
from pkmncli.errors import ConfigurationError, PkmnError


def test_messages_go_to_standard_error_and_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger("pkmncli").level
    for _ in range(2):
        logger = setup_logging("warning", tmp_path / "logs" / "train.log")
    logging.getLogger("pkmncli.training").warning("the disk is nearly full")
    logger.info("not this")
    assert capsys.readouterr().err.count("the disk is nearly full") == 1
    assert (tmp_path / "logs" / "train.log").read_text().count("the disk is nearly full") == 1
    with pytest.raises(ConfigurationError, match="choose DEBUG, INFO, WARNING or ERROR"):
        setup_logging("LOUD")
    setup_logging()
    for handler in list(logger.handlers):
        if getattr(handler, "of_setup_logging", False):
            logger.removeHandler(handler)
            handler.close()
    logger.setLevel(before)


def test_a_seed_decides_the_first_episode_and_those_after() -> None:
    first, second, other = (create_balatro_env(seed=seed) for seed in (3, 3, 4))
    for _ in range(2):
        boards = [env.reset()[0] for env in (first, second, other)]
        assert all(np.array_equal(array, boards[1][name]) for name, array in boards[0].items())
        assert not all(np.array_equal(array, boards[2][name]) for name, array in boards[0].items())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decks": "red"}, "balatro has no setting 'decks': did you mean 'deck'?"),
        ({"deck": "rod"}, "there is no deck 'rod'; did you mean 'red'?"),
        ({"win_ante": 0}, "win_ante = 0"),
        ({"seed": "red"}, "seed = 'red': give a whole number from 0"),
    ],
)
def test_wrong_settings_of_the_game_are_refused_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PkmnError) as refused:
        create_balatro_env(**settings)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


# The check of environments, and several at once -------------------------------------------------------------------


class Faulty(LittleBalatro):
    """A game with four faults."""

    played = 0

    def write_observation(self, out: Any) -> None:
        super().write_observation(out)
        type(self).played += 1
        out["numbers"][0] = 7 + type(self).played
        if self.steps > 2:
            out["action_mask"][...] = 0

    def advance(self, action: int) -> tuple[float, bool, bool]:
        return float("nan"), *super().advance(action)[1:]


def test_a_valid_environment_passes_its_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert validate_environment(LittleBalatro())
    assert capsys.readouterr().out == "LittleBalatro: no faults found.\n"


def test_each_fault_of_an_environment_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert not validate_environment(Faulty())
    told = capsys.readouterr().out
    lines = told.splitlines()
    assert lines[0].startswith("Faulty: ")
    assert all(line.startswith("- ") for line in lines[1:])
    for part in (
        "the observation's 'numbers' is not in its space",
        "after 3 steps the mask allows no action",
        "the reward of step 1 is nan",
        "two episodes with the same seed and actions differ",
    ):
        assert part in told


class Unrewarded(LittleBalatro):
    """A game with one fault, at every step."""

    def advance(self, action: int) -> tuple[float, bool, bool]:
        return float("nan"), *super().advance(action)[1:]


def test_a_fault_of_every_step_is_told_once_and_no_other_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert not validate_environment(Unrewarded())
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("- Gymnasium's check")]
    assert lines[1:] == ["- the reward of step 1 is nan"]


class Pair(gymnasium.ObservationWrapper[Any, int, Any]):
    """Observations of two parts."""

    def __init__(self, env: gymnasium.Env[Any, int]) -> None:
        super().__init__(env)
        zeros = gymnasium.spaces.Box(0, 1, (2,), np.float32)
        self.observation_space = gymnasium.spaces.Tuple((env.observation_space, zeros))

    def observation(self, observation: Any) -> Any:
        return observation, np.zeros(2, np.float32)


def test_observations_may_be_tuples(capsys: pytest.CaptureFixture[str]) -> None:
    assert validate_environment(Pair(LittleBalatro()))
    assert capsys.readouterr().out == "LittleBalatro: no faults found.\n"


def test_warnings_of_gymnasium_are_told_without_its_colours(capsys: pytest.CaptureFixture[str]) -> None:
    assert not validate_environment(gymnasium.make("CartPole-v1"))
    assert capsys.readouterr().out.splitlines()[1].startswith("- Gymnasium's check warns: WARN: A Box observation")


def test_what_is_no_environment_fails_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    for thing, told in (
        ("balatro", "str: 1 fault:\n- str is no environment: it has no reset"),
        (LittleBalatro, "type: 1 fault:\n- LittleBalatro is a class and no environment: give an instance of it"),
    ):
        assert not validate_environment(thing)
        assert told in capsys.readouterr().out


@pytest.mark.parametrize("asynchronous", [False, pytest.param(True, marks=pytest.mark.long)])
def test_several_environments_are_stepped_together(asynchronous: bool) -> None:
    vector = make_vectorized_env(LittleBalatro, n_envs=3, asynchronous=asynchronous)
    observation, _ = vector.reset()
    assert observation["numbers"].shape == (3, ACTIONS)
    plays = observation["numbers"].argmax(axis=1)
    assert len(set(plays.tolist())) > 1
    np.testing.assert_array_equal(vector.step(plays)[1], np.ones(3))
    ended = np.zeros(3, bool)
    for _ in range(60):  # games are lost, and the mask always allows something
        wrong = np.array([int(mask.nonzero()[0][0]) for mask in observation["action_mask"]])
        observation, _, terminated, _, _ = vector.step(wrong)
        ended |= terminated
    assert ended.all()
    vector.close()


@pytest.mark.parametrize("count", [0, 1.5, "8"])
def test_a_wrong_number_of_environments_is_refused(count: Any) -> None:
    with pytest.raises(ConfigurationError, match="give a whole number from 1"):
        make_vectorized_env(LittleBalatro, n_envs=count)
