"""The environment: observations, rewards, states, and one clear line for what is wrong."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pydantic import ValidationError
from support.balatro_environment import act, begun, random_play

import pkmn_balatro.registration  # noqa: F401 - registers the environment
from pkmn_balatro import actions as at
from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.observation import PARTS, SCALARS
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator.blinds import BOSSES
from pkmn_balatro.simulator.cards import ACE, FACE_DOWN, HEARTS, KING, SPADES, make_card
from pkmn_balatro.simulator.jokers import JOKERS, kind_named
from pkmn_balatro.simulator.run import IllegalActionError, Joker, Phase
from pkmncli.api import GymnasiumEnvironment
from pkmncli.errors import EnvironmentSetupError
from pkmncli.seeds import Purpose
from pkmncli.training.workers.spec import EnvironmentSpec, WorkerSpec
from pkmncli.training.workers.worker import Worker

SCALARS_AT = {name: place for place, name in enumerate(SCALARS, PARTS["scalars"].start)}
"""Places of the single numbers in ``numbers``."""


# Observation -------------------------------------------------------------------------------------------------------


def test_a_face_down_card_is_not_seen() -> None:
    environment = begun(4)
    act(environment, "select_blind")
    run = environment.game.run
    run.hand[0] = make_card(ACE, SPADES) | FACE_DOWN
    other = run.draw[0] = make_card(KING, HEARTS)
    environment.load_state(environment.save_state())
    first = environment.observation(), environment.context(), environment.facts().fine_hash
    run = environment.game.run
    run.hand[0], run.draw[0] = other | FACE_DOWN, make_card(ACE, SPADES)
    second = environment.observation(), environment.context(), environment.facts().fine_hash
    assert all(np.array_equal(first[0][key], second[0][key]) for key in first[0])
    assert first[1:] == second[1:]
    assert "1 ?," in first[1].context_summary


def test_suggested_scores_do_not_tell_held_cards_that_are_face_down() -> None:
    environment = begun(4)
    act(environment, "select_blind")
    run = environment.game.run
    run.jokers = [Joker(kind_named("Baron")), Joker(kind_named("Raised Fist"))]
    told = []
    for card in (make_card(KING, HEARTS), make_card(ACE, SPADES)):
        run.hand[-1] = card | FACE_DOWN
        told.append(environment.context().action_suggestions)
    assert told[0] == told[1]
    run.hand[-1] = make_card(KING, HEARTS)
    assert environment.context().action_suggestions != told[0]


def test_the_observation_shows_hand_jokers_and_numbers() -> None:
    environment = begun(7)
    act(environment, "select_blind")
    run = environment.game.run
    run.jokers = [Joker(3), Joker(0, edition=2)]
    run.hand[0] = make_card(ACE, HEARTS, enhancement=4, edition=1, seal=2)
    observation = environment.observation()
    scalars = dict(zip(SCALARS, observation["numbers"][PARTS["scalars"]].tolist(), strict=True))
    assert scalars["hands"] == 1.0
    assert scalars["ante"] == pytest.approx(1 / 8)
    assert scalars["missing"] == pytest.approx(np.log10(301) / 6)
    assert observation["kinds"][:3].tolist() == [4, 1, 0]
    row = observation["hand"][0]
    assert row[0] == 1
    assert row[5:18].tolist() == [0.0] * 12 + [1.0], "an ace"
    assert row[18:22].tolist() == [0, 1, 0, 0], "of hearts"
    assert observation["hand"][8:].sum() == 0, "eight cards are held"
    deck = observation["numbers"][PARTS["deck"]]
    assert deck[13:17].sum() == pytest.approx(4.4), "44 cards are left"


def test_the_score_of_the_next_blind_is_seen_before_it_begins() -> None:
    environment = begun(1)
    seen = []
    for name in ("skip_blind", "skip_blind"):
        seen.append(float(environment.observation()["numbers"][SCALARS_AT["target"]]))
        act(environment, name)
    assert seen == pytest.approx([np.log10(301) / 6, np.log10(451) / 6])


def test_counts_of_the_draw_pile_follow_the_cards() -> None:
    environment = begun(8)
    for _ in random_play(environment, 8, 120, help_share=0.7):
        environment.observation()
        run = environment.game.run
        deck = environment.observation()["numbers"][PARTS["deck"]]
        cards = run.draw + [card for card in run.hand if card & FACE_DOWN]
        kings = sum(card & 0xF == KING and card >> 6 & 0xF != 6 for card in cards)
        assert deck[KING] == pytest.approx(0.25 * kings)


def test_check_env_is_clean(recwarn: pytest.WarningsRecorder) -> None:
    environment = gymnasium.make("pkmn/Balatro-v0", hand_positions=5)
    check_env(environment.unwrapped)
    assert [str(warning.message) for warning in recwarn] == []


# Seeds and states --------------------------------------------------------------------------------------------------


def test_the_same_seed_and_actions_give_the_same_run() -> None:
    records = []
    for seed in (11, 11, 12):
        environment = begun(seed)
        records.append([*random_play(environment, 5, 60, help_share=0.5), environment.memory_hash()])
    assert records[0] == records[1]
    assert records[0] != records[2]


def test_what_earlier_versions_recorded_can_be_verified() -> None:
    environment = begun(11)
    random_play(environment, 2, 7)
    with_generator = environment.game.save()
    digest = hashlib.blake2b(with_generator, digest_size=8).digest()
    assert environment.earlier_memory_hashes() == [int.from_bytes(digest, "little")]
    assert environment.memory_hash() not in environment.earlier_memory_hashes()
    environment.game.run.money += 1
    assert environment.game.save() != with_generator
    before = environment.memory_hash()
    environment.game.run.money -= 1
    assert environment.memory_hash() != before


def test_wrappers_pass_on_what_earlier_versions_recorded() -> None:
    inside = BalatroEnvironment()
    outside = GymnasiumEnvironment(gymnasium.Wrapper(inside))
    outside.reset(seed=3)
    assert outside.memory_hash() == inside.memory_hash()
    assert outside.earlier_memory_hashes() == inside.earlier_memory_hashes()  # type: ignore[attr-defined]


def test_a_reset_without_an_observation_begins_the_same_run() -> None:
    one, other = BalatroEnvironment(), BalatroEnvironment()
    for seed in (3, 4):
        one.reset(seed=seed)
        other.reset_unobserved(seed=seed)
        assert one.save_state() == other.save_state()


def test_a_subclass_with_its_own_reset_begins_with_it_in_a_training() -> None:
    class Rich(BalatroEnvironment):
        def reset(self, **options: Any) -> Any:
            super().reset(**options)
            self.game.run.money = 50
            return self.observation(), {}

    spec = WorkerSpec(EnvironmentSpec(""), None, seed=1, purpose=Purpose.TRAINING, num_envs=1)
    for kind, money in ((BalatroEnvironment, 4), (Rich, 50)):
        environment = kind()
        Worker(0, spec, environment, None).reset(0, 0)
        assert environment.game.run.money == money


@pytest.mark.parametrize("seed", range(5))
def test_a_saved_state_has_the_same_future(seed: int) -> None:
    environment = begun(seed)
    for _ in random_play(environment, seed, 10 + 7 * seed, help_share=0.6):
        pass
    if environment.game.run.phase == Phase.OVER:
        environment.reset(seed=seed)
    state = environment.save_state()
    twin = BalatroEnvironment(BalatroSettings())
    observation, info = twin.load_state(state)
    assert all(np.array_equal(observation[key], array) for key, array in environment.observation().items())
    assert info["action_mask"].tolist() == observation["action_mask"].tolist()
    ways = [[*random_play(one, seed, 40), one.save_state(), one.metrics()] for one in (environment, twin)]
    assert ways[0] == ways[1]


def test_a_start_state_begins_an_episode_there_with_the_luck_of_the_seed() -> None:
    environment = begun(1)
    act(environment, "select_blind", "play_1_2_3_4_5")
    state, hand = environment.save_state(), environment.game.run.hand
    ways = []
    for seed in (3, 3, 4):
        environment.reset(seed=seed, options={"start_state": state})
        assert environment.steps == 0
        assert environment.game.run.hand == hand
        environment.game.run.score = environment.game.run.target
        act(environment, "play_1")
        ways.append(environment.memory_hash())
    assert ways[0] == ways[1] != ways[2]


def test_a_start_state_of_an_easier_run_leaves_later_episodes_as_they_are_set() -> None:
    state = begun(1, win_ante=2).save_state()
    environment = begun(1, win_ante=5)
    identity = environment.identity
    environment.reset(seed=2, options={"start_state": state})
    assert environment.game.run.win_ante == 2
    assert environment.identity == identity
    environment.reset(seed=3)
    assert environment.game.run.win_ante == 5


def test_a_file_of_a_state_is_where_episodes_begin(tmp_path: Path) -> None:
    environment = begun(1)
    act(environment, "select_blind")
    path = tmp_path / "blind.state"
    path.write_bytes(environment.save_state())
    again = begun(2, start_state=path)
    assert again.game.run.hand == environment.game.run.hand
    path.write_bytes(b"damaged")
    with pytest.raises(EnvironmentSetupError, match="none of balatro"):
        begun(2, start_state=path)
    with pytest.raises(EnvironmentSetupError, match="cannot be read"):
        begun(2, start_state=tmp_path / "missing")


@pytest.mark.parametrize("state", [b"", b"\x80\x04", b'{"a": 1}', b"[1, 2]", b"balatro-run 1"])
def test_a_state_of_something_else_is_refused_and_changes_nothing(state: bytes) -> None:
    environment = begun(1)
    before = environment.save_state()
    with pytest.raises(EnvironmentSetupError, match="the state is none of balatro"):
        environment.load_state(state)
    assert environment.save_state() == before


def test_any_changed_byte_of_a_state_is_noticed() -> None:
    environment = begun(1)
    act(environment, "select_blind")
    state = environment.save_state()
    choose = random.Random(0)
    for place in [*range(40), *(choose.randrange(len(state)) for _ in range(60))]:
        changed = state[:place] + bytes([state[place] ^ 1 << choose.randrange(8)]) + state[place + 1 :]
        with pytest.raises(EnvironmentSetupError) as error:
            environment.load_state(changed)
        assert "\n" not in str(error.value)
    with pytest.raises(EnvironmentSetupError, match="damaged"):
        environment.load_state(state[:-20])
    assert environment.save_state() == state


def test_a_state_of_another_version_is_refused_by_its_number() -> None:
    environment = begun(1)
    state = environment.save_state().replace(b"balatro-run 1 ", b"balatro-run 99 ", 1)
    with pytest.raises(EnvironmentSetupError, match="version 99 of balatro's states"):
        environment.load_state(state)


# Reward and success ------------------------------------------------------------------------------------------------


def test_a_run_that_beats_its_last_boss_is_a_success() -> None:
    environment = begun(6, win_ante=1)
    total, ended = 0.0, False
    for _blind in range(3):
        act(environment, "select_blind")
        environment.game.run.target = 1
        reward, ended, _truncated = act(environment, "play_1")
        total += reward
        if not ended:
            act(environment, "leave_shop")
    assert ended
    assert environment.succeeded
    assert environment.milestone_steps()[-1] == environment.steps
    parts = environment.reward_totals()
    assert parts == {"progress": 1.5, "blind": 3.0, "boss": 1.0, "win": 10.0, "loss": 0.0}
    assert total == pytest.approx(sum(parts.values()))
    assert environment.metrics()["round"] == 3


def test_progress_is_the_share_of_the_target_and_a_lost_run_has_no_success() -> None:
    environment = begun(9, reward_progress=2.0, reward_loss=-3.0)
    act(environment, "select_blind")
    environment.game.run.target = 10_000
    rewards = [act(environment, "play_1")[0] for _ in range(3)]
    score = environment.game.run.score
    assert sum(rewards) == pytest.approx(2.0 * score / 10_000)
    reward, ended, _ = act(environment, "play_1")
    assert ended
    assert not environment.succeeded
    parts = np.zeros(32, np.float32)
    environment.write_reward_parts(parts)
    assert parts[4] == -3.0
    assert reward == pytest.approx(parts.sum())


def test_an_episode_is_truncated_at_its_limit() -> None:
    environment = begun(1, max_steps_per_episode=2)
    assert act(environment, "select_blind")[1:] == (False, False)
    assert act(environment, "sort_by_suit")[1:] == (False, True)
    with pytest.raises(EnvironmentSetupError, match="call reset"):
        environment.advance(0)


# Wrong input -------------------------------------------------------------------------------------------------------


def test_an_illegal_step_changes_nothing_and_says_why() -> None:
    environment = begun(1)
    before = environment.game.save()
    number = environment.actions.names.index("leave_shop")
    observation, reward, terminated, truncated, info = environment.step(number)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["illegal"] == "the action leave_shop is not allowed now (phase blind)"
    assert environment.game.save() == before
    assert np.array_equal(observation["action_mask"], info["action_mask"])
    assert "illegal" not in environment.step(at.SELECT_BLIND)[4]


def test_illegal_actions_may_raise() -> None:
    environment = begun(1, illegal_actions="raise")
    before = environment.save_state()
    with pytest.raises(IllegalActionError, match="leave_shop is not allowed now"):
        environment.step(environment.actions.names.index("leave_shop"))
    assert environment.save_state() == before


def test_a_negative_seed_is_refused_and_the_episode_continues() -> None:
    environment = begun(1)
    before = environment.save_state()
    with pytest.raises(gymnasium.error.Error, match="-1"):
        environment.reset(seed=-1)
    assert environment.save_state() == before


@pytest.mark.parametrize("action", [-1, 1495])
def test_an_action_that_does_not_exist_is_refused(action: int) -> None:
    environment = begun(1)
    before = environment.save_state()
    with pytest.raises(IllegalActionError, match="numbered from 0 to 1494"):
        environment.step(action)
    assert environment.save_state() == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"deck": "rad"}, "there is no deck 'rad'; did you mean 'red'?"),
        ({"stake": "whit"}, "there is no stake 'whit'; did you mean 'white'?"),
        ({"jokers": ["Blueprnt"]}, "there is no joker 'Blueprnt'; did you mean 'Blueprint'?"),
        ({"hand_positions": 4}, "greater than or equal to 5"),
        ({"win_ante": 0}, "greater than or equal to 1"),
    ],
)
def test_wrong_settings_name_what_is_known(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        BalatroSettings(**settings)
    assert message in str(error.value)


def test_a_run_may_begin_with_jokers_and_money() -> None:
    environment = begun(1, jokers=["blueprint", "Joker"], money=50, deck="Blue")
    run = environment.game.run
    assert [JOKERS[joker.kind].name for joker in run.jokers] == ["Blueprint", "Joker"]
    assert run.money == 50
    assert run.hands_per_round == 5


# Words -------------------------------------------------------------------------------------------------------------


def test_the_context_says_what_a_player_sees() -> None:
    environment = begun(1)
    run = environment.game.run
    run.jokers = [Joker(0)]
    boss = BOSSES[run.boss]
    context = environment.context()
    assert boss.name in context.context_summary
    assert boss.words in context.context_summary
    assert "select_blind" in context.action_suggestions
    act(environment, "select_blind")
    context = environment.context()
    assert "Score 300 more chips" in context.current_goal
    assert "Jokers (1 of 5): 1 Joker: +4 mult." in context.context_summary
    best = context.action_suggestions[0]
    assert best.startswith("play_")
    assert best.split()[0] in environment.actions.names
    environment.game.run.target = 1
    act(environment, "play_1")
    context = environment.context()
    assert "buy_1 $" in context.context_summary
    assert "leave_shop" in context.action_suggestions
    assert "shop" in environment.status()


def test_numbers_agree_with_their_nouns() -> None:
    environment = begun(1)
    act(environment, "select_blind")
    run = environment.game.run
    run.hands_left, run.discards_left, run.draw = 1, 1, run.draw[:1]
    for told in (environment.status(), environment.context().context_summary):
        assert "1 hand and 1 discard left" in told
    assert "1 hand, 1 discard left, 1 card to draw" in environment.text_view()


def test_the_guide_has_the_arrays_and_actions_as_they_are() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "balatro.md").read_text(encoding="utf-8")
    environment = BalatroEnvironment()
    for key, space in environment.observation_space.items():
        shape = f"({', '.join(map(str, space.shape or ()))}{',' * (len(space.shape or ()) == 1)})"
        assert f"| `{key}` | {shape} {space.dtype} |" in guide
    assert f"{environment.actions.count:,} actions" in guide
    for name in environment.actions.names[: at.BUY]:
        assert f"`{name}`" in guide
    for part in environment.reward_names:
        assert f"| `{part}` | `reward_{part}` |" in guide
