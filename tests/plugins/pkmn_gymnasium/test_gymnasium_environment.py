"""Any Gymnasium environment as one that can be trained."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import FrameStackObservation, TransformReward
from support.plain_environments import Compound, Corridor, Counting, Forgetful, Snapshot

from pkmncli.api import GymnasiumEnvironment
from pkmncli.api.gymnasium_environment import adapted
from pkmncli.declared import frames_per_second_of
from pkmncli.errors import EnvironmentSetupError
from pkmncli.training.workers.spec import standing_of


def played(environment: GymnasiumEnvironment, *actions: int, seed: int = 7) -> GymnasiumEnvironment:
    environment.reset(seed=seed)
    for action in actions:
        environment.advance(action)
    return environment


def test_an_observation_that_is_no_dictionary_gets_a_name_and_a_mask() -> None:
    environment = played(GymnasiumEnvironment(gymnasium.make("CartPole-v1")))
    observation = environment.observation()
    assert {name: array.shape for name, array in observation.items()} == {"observation": (4,), "action_mask": (2,)}
    assert environment.observation_space.contains(observation)
    assert environment.names["game"] == "CartPole-v1"
    assert environment.max_steps_per_episode == 500


def test_parts_are_flattened_texts_left_out_and_the_mask_taken_from_info() -> None:
    environment = played(GymnasiumEnvironment(Compound()))
    observation = environment.observation()
    assert set(observation) == {"where.0", "where.1", "bits", "action_mask"}
    assert (observation["where.0"], observation["action_mask"].tolist()) == (2, [0, 1, 0])
    assert "mission: go" in environment.context().context_summary
    environment.advance(1)
    assert environment.observation()["action_mask"].tolist() == [1, 1, 1], "the step named none"


def test_arguments_and_wrappers_tell_environments_apart() -> None:
    plain = gymnasium.make("CartPole-v1", sutton_barto_reward=True, render_mode="rgb_array")
    assert GymnasiumEnvironment(plain).identity == {"id": "CartPole-v1", "arguments": {"sutton_barto_reward": "True"}}
    assert GymnasiumEnvironment(TransformReward(Corridor(), abs)).identity == {
        "id": "Corridor",
        "wrappers": ["TransformReward"],
        "wrapper_arguments": [{"func": "<built-in function abs>"}],
    }


def test_a_function_among_the_arguments_is_the_same_in_every_process() -> None:
    wrapped = FrameStackObservation(TransformReward(Corridor(), lambda reward: reward), 2)
    assert "0x" not in str(GymnasiumEnvironment(wrapped).identity)


def test_the_limit_of_the_environment_or_of_the_settings_truncates() -> None:
    limited = gymnasium.make("CartPole-v1", max_episode_steps=3)
    assert played(GymnasiumEnvironment(limited), 0, 1).advance(0)[1:] == (False, True)
    assert played(GymnasiumEnvironment(limited, max_steps_per_episode=4), 0, 1, 0).advance(1)[1:] == (False, True)


@pytest.mark.parametrize(
    "build",
    [
        lambda: gymnasium.make("CartPole-v1"),
        lambda: Corridor(wind=0.5),
        lambda: Snapshot(wind=0.5),
        lambda: FrameStackObservation(Corridor(wind=0.5), 3),
        lambda: TransformReward(gymnasium.make("Taxi-v4"), abs),
    ],
)
def test_an_episode_goes_on_from_a_saved_state_exactly(build: Any) -> None:
    one, other = played(GymnasiumEnvironment(build()), 1, 1), GymnasiumEnvironment(build())
    np.testing.assert_equal(other.load_state(one.save_state())[0], one.observation())
    for action in (0, 1, 1):
        (observation, *results), (expected, *others) = other.step(action)[:4], one.step(action)[:4]
        np.testing.assert_equal(observation, expected)
        assert results == others
    assert (other.steps, other.facts()) == (one.steps, one.facts())


def test_an_environment_with_a_state_of_its_own_repeats_no_steps() -> None:
    state = played(GymnasiumEnvironment(Snapshot()), 1, 1).save_state()
    before = Snapshot.taken
    GymnasiumEnvironment(Snapshot()).load_state(state)
    assert Snapshot.taken == before


def test_the_generator_goes_on_where_it_was_beside_a_state_without_it() -> None:
    class Partial(Snapshot):
        def get_state(self) -> dict[str, Any]:
            return {"place": self.place}

        def set_state(self, state: Any) -> None:
            self.place = state["place"]

    one, other = played(GymnasiumEnvironment(Partial()), 1, 1), GymnasiumEnvironment(Partial())
    other.load_state(one.save_state())
    assert other.env.unwrapped.np_random.random() == one.env.unwrapped.np_random.random()


def test_an_environment_that_does_not_repeat_itself_is_refused() -> None:
    state = played(GymnasiumEnvironment(Forgetful()), 1, 1).save_state()
    with pytest.raises(EnvironmentSetupError, match="Forgetful does not repeat an episode: the 2 actions from seed 7"):
        GymnasiumEnvironment(Forgetful()).load_state(state)


def test_a_state_of_another_environment_is_refused() -> None:
    state = played(GymnasiumEnvironment(Corridor()), 1).save_state()
    with pytest.raises(EnvironmentSetupError, match=r"is of Corridor, and this environment is CartPole-v1"):
        GymnasiumEnvironment(gymnasium.make("CartPole-v1")).load_state(state)


def test_success_and_metrics_are_those_of_the_last_step() -> None:
    environment = played(GymnasiumEnvironment(Corridor()))
    assert environment.succeeded is None
    while not environment.advance(1)[1]:
        assert environment.succeeded is False
    assert environment.succeeded is True
    assert environment.metrics() == {"place": 6}


def test_actions_of_several_components_are_numbers() -> None:
    class Pair(Corridor):
        action_space = gymnasium.spaces.MultiDiscrete([2, 2])

        def step(self, action: Any) -> Any:
            return super().step(int(action[0]) & int(action[1]))

        def action_masks(self) -> Any:
            return [True, True, False, True]  # of both components, one after the other

    environment = played(GymnasiumEnvironment(Pair()), 3, 3)
    assert environment.action_space == gymnasium.spaces.Discrete(4)
    assert list(environment.action_names)[-1] == "action_1_1"
    assert environment.observation()["action_mask"].tolist() == [0, 1, 0, 1]
    other = GymnasiumEnvironment(Pair())
    other.load_state(environment.save_state())
    assert other.facts() == environment.facts()


@pytest.mark.parametrize("identifier", ["MountainCarContinuous-v0", "Pendulum-v1"])
def test_continuous_actions_are_arrays_clipped_to_the_bounds_and_repeated_exactly(identifier: str) -> None:
    environment, other = (GymnasiumEnvironment(gymnasium.make(identifier)) for _ in range(2))
    high = float(gymnasium.make(identifier).action_space.high[0])  # type: ignore[attr-defined]
    for one, beyond in ((environment, 1.0), (other, 2.0)):
        one.reset(seed=4)
        for control in (0.3, -0.1, beyond * high):
            one.step(np.array([control], np.float32))
    assert environment.facts() == other.facts()
    assert environment.pressed == 0
    third = GymnasiumEnvironment(gymnasium.make(identifier))
    third.load_state(environment.save_state())
    assert third.facts() == environment.facts()


class Bare:
    action_space = observation_space = gymnasium.spaces.Discrete(2)


class WithoutObservations(Corridor):
    observation_space = None  # type: ignore[assignment]


class WithoutActions(Corridor):
    action_space = (0, 1)  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Bare, r"\.Bare is no gymnasium\.Env: derive the class from it"),
        (WithoutObservations, "WithoutObservations needs an observation_space of gymnasium.spaces, and has none"),
        (WithoutActions, r"WithoutActions needs an action_space of gymnasium.spaces, and has builtins\.tuple"),
    ],
)
def test_what_an_environment_lacks_is_named(made: type, said: str) -> None:
    with pytest.raises(EnvironmentSetupError, match=said):
        adapted(made())


def test_only_what_lacks_the_contract_is_adapted() -> None:
    whole = Counting()
    assert adapted(whole, 9) is whole
    assert whole.max_steps_per_episode == 9
    assert isinstance(adapted(Corridor()), GymnasiumEnvironment)
    wrapped = adapted(TransformReward(whole, abs))  # type: ignore[arg-type]
    wrapped.reset(seed=1)
    wrapped.advance(2)
    assert wrapped.facts() == whole.facts()
    assert wrapped.metrics() == whole.metrics()


def test_time_and_progress_of_a_wrapped_environment_are_its_own() -> None:
    class Emulated(Counting):
        frames_per_second = 59.7275

        @property
        def steps_since_progress(self) -> int:
            return self.steps

    environment = adapted(TransformReward(Emulated(), abs))  # type: ignore[arg-type]
    assert frames_per_second_of(environment) == 59.7275, "facts() counts its frames"
    environment.reset(seed=1)
    environment.advance(2)
    assert standing_of(environment, 1).steps_since_progress == 1
    environment.reset()
    assert standing_of(environment, 0).steps_since_progress == 0
    plain = GymnasiumEnvironment(Corridor())
    plain.reset(seed=1)
    assert standing_of(plain, 0).steps_since_progress is None
    assert frames_per_second_of(plain) == 30


class Generous(Counting):
    def step(self, action: int) -> Any:
        observation, reward, *others = super().step(action)
        return observation, reward + 100, *others


class Doubling(Generous):
    def advance(self, action: int) -> tuple[float, bool, bool]:
        reward, terminated, truncated = super().advance(action)
        return 2 * reward, terminated, truncated


@pytest.mark.parametrize(("made", "factor"), [(Generous, 1), (Doubling, 2)])
def test_a_step_that_a_derived_class_overrides_is_called(made: type[Counting], factor: int) -> None:
    environment = adapted(made(), 2)
    environment.reset(seed=1)
    assert environment.advance(2) == (100.0 + 2 * factor, False, False)
    assert environment.advance(1) == (100.0 + factor, False, True)


def test_a_wrapper_around_the_fast_contract_may_observe_texts_and_nested_parts() -> None:
    class Nested(Counting):
        def __init__(self) -> None:
            super().__init__()
            me = gymnasium.spaces.Dict(number=self.observation_space["number"])
            mask = self.observation_space["action_mask"]
            self.observation_space = gymnasium.spaces.Dict(me=me, words=gymnasium.spaces.Text(9), action_mask=mask)

        def write_observation(self, out: Any) -> None:
            out["me"]["number"][0] = self.total
            out["action_mask"][:] = 1

        def guide(self, pilot: Any) -> None:
            pass

    environment = adapted(TransformReward(Nested(), abs))  # type: ignore[arg-type]
    environment.guide(None)
    environment.reset(seed=1)
    environment.environment_inside.total = 9
    assert set(environment.observation()) == {"me.number", "action_mask"}
    assert environment.observation()["me.number"] == [9]
