"""The encoder that scores actions, and the poker hands that it reads."""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from support.learner_stream import one_torch_thread

from pkmn_balatro import actions as at
from pkmn_balatro.action_encoder import ActionEncoder
from pkmn_balatro.actions import ActionList
from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.poker_features import PokerFeatures
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator.cards import DEBUFFED, ENHANCEMENTS, make_card
from pkmn_balatro.simulator.run import HANDS
from pkmn_balatro.simulator.scoring import score_hand
from pkmncli.errors import ConfigurationError
from pkmncli.learners.encoders import EncoderFactory, scores_actions
from pkmncli.learners.observations import ObservationLayout, layout_of

__all__ = ["one_torch_thread"]

PLACES = 6
SETTINGS = BalatroSettings(hand_positions=PLACES, encoder_features=16, encoder_action_features=8)
LISTED = ActionList(PLACES)


def begun(seed: int = 1) -> BalatroEnvironment:
    environment = BalatroEnvironment(SETTINGS)
    environment.reset(seed=seed)
    environment.advance(at.SELECT_BLIND)
    return environment


def encoder_of(environment: BalatroEnvironment, **changed: Any) -> tuple[ActionEncoder, ObservationLayout]:
    layout = layout_of(environment.observation_space, environment.action_space, "dqn")
    torch.manual_seed(0)
    encoder = ActionEncoder(layout, SETTINGS.model_copy(update=changed))
    for judge in (encoder.sets, encoder.offers, encoder.jokers, encoder.consumables, encoder.vouchers, encoder.packs):
        torch.nn.init.normal_(judge.scores.weight)
    return encoder, layout


def scores_of(encoder: ActionEncoder, layout: ObservationLayout, *observations: dict[str, Any]) -> torch.Tensor:
    batch = {name: np.stack([one[name] for one in observations]) for name in observations[0]}
    columns = {name: torch.from_numpy(array) for name, array in layout.encode(batch).items()}
    with torch.no_grad():
        scores: torch.Tensor = encoder(columns)[:, encoder.num_features :]
    return scores


def hands() -> list[list[int]]:
    """Return hands with every poker hand in them, and some at random with bonus, wild, stone and debuffed cards."""
    made = [
        [make_card(rank, suit) for rank, suit in zip(ranks, suits, strict=True)]
        for ranks, suits in (
            ((12, 0, 1, 2, 3, 7), (0, 1, 0, 2, 3, 0)),
            ((12, 11, 10, 9, 8, 2), (1, 1, 1, 1, 1, 2)),
            ((4, 4, 4, 9, 9, 4), (0, 0, 0, 0, 0, 2)),
            ((4, 4, 4, 4, 4, 4), (3, 3, 3, 3, 3, 1)),
            ((7, 7, 7, 7, 2, 7), (0, 1, 2, 3, 0, 1)),
            ((2, 5, 7, 9, 11, 11), (2, 2, 2, 2, 2, 1)),
        )
    ]
    luck = random.Random(3)
    kinds = [ENHANCEMENTS.index(name) for name in ("", "", "", "wild", "stone")]
    for _ in range(6):
        made.append(
            [
                make_card(luck.randrange(13), luck.randrange(2), luck.choice(kinds)) | luck.choice((0, 0, 0, DEBUFFED))
                for _ in range(PLACES)
            ]
        )
    return made


@pytest.mark.parametrize("number", range(12))
def test_sets_of_cards_are_the_poker_hands_of_the_game_with_their_scores(number: int) -> None:
    environment = begun()
    run = environment.game.run
    run.hand = hands()[number]
    run.levels = [1 + place % 3 for place in range(len(HANDS))]
    run.score = 100
    observation = environment.observation()
    features = PokerFeatures(LISTED.plays, PLACES)
    sets, kept, best = features(torch.tensor(observation["hand"])[None], torch.tensor(observation["numbers"])[None])
    scores = []
    for place, positions in enumerate(LISTED.plays):
        scored = score_hand(run, list(positions))
        scores.append(scored.total)
        found = sets[0, :, place]
        assert int(found[: len(HANDS)].argmax()) == scored.hand, positions
        assert 10 ** (6 * float(found[-4])) - 1 == pytest.approx(scored.total, rel=1e-3, abs=0.5), positions
        assert bool(found[-2]) == (scored.total >= run.target - run.score), positions
        assert float(kept[0, -1, place]) == pytest.approx((PLACES - len(positions)) / 8)
    assert 10 ** (6 * float(best[0, -2])) - 1 == pytest.approx(max(scores), rel=1e-3)


def test_a_set_of_cards_has_the_same_score_at_other_places() -> None:
    environment = begun()
    encoder, layout = encoder_of(environment)
    observation = environment.observation()
    order = [3, 0, 5, 1, 4, 2]
    moved = {name: array.copy() for name, array in observation.items()}
    moved["hand"] = observation["hand"][order]
    encoder.join = torch.nn.Sequential(torch.nn.Linear(encoder.join[0].in_features, 16))  # type: ignore[arg-type]
    torch.nn.init.zeros_(encoder.join[0].weight)  # the rest of the description does see the places
    first, second = scores_of(encoder, layout, observation, moved)
    different = 0
    for positions in LISTED.plays:
        before = tuple(sorted(order[place] for place in positions))
        for action in (LISTED.play_of, LISTED.discard_of):
            assert float(second[action(positions)]) == pytest.approx(float(first[action(before)]), abs=1e-4)
            different += abs(float(second[action(positions)] - first[action(positions)])) > 1e-3
        if len(positions) <= 3:
            assert float(second[LISTED.choice_of(positions)]) == pytest.approx(
                float(first[LISTED.choice_of(before)]), abs=1e-4
            )
    assert different > len(LISTED.plays), "other cards have other scores"


@pytest.mark.parametrize(
    ("place", "actions"),
    [
        (1, [at.SELL_JOKER + 1, at.JOKER_LEFT]),
        (at.MOST_JOKERS + 2, [at.USE + 2, at.SELL_CONSUMABLE + 2]),
        (at.MOST_JOKERS + at.MOST_CONSUMABLES + 3, [at.BUY + 3, at.PICK + 3]),
        (at.MOST_JOKERS + at.MOST_CONSUMABLES + 4, [at.PICK + 4]),
        (at.MOST_JOKERS + at.MOST_CONSUMABLES + 5 + 1, [at.BUY_VOUCHER + 1]),
        (at.MOST_JOKERS + at.MOST_CONSUMABLES + 5 + 2 + 2, [at.OPEN_PACK + 2]),
    ],
)
def test_a_kind_changes_the_scores_of_the_actions_about_it(place: int, actions: list[int]) -> None:
    environment = begun()
    encoder, layout = encoder_of(environment)
    torch.nn.init.zeros_(encoder.join[0].weight)  # what is left is what each action sees itself
    observation = environment.observation()
    changed = {name: array.copy() for name, array in observation.items()}
    changed["kinds"][place] = 7
    first, second = scores_of(encoder, layout, observation, changed)
    assert torch.nonzero((first - second).abs() > 1e-4)[:, 0].tolist() == sorted(actions)


def test_other_actions_are_refused_and_other_observations_only_read() -> None:
    environment = begun()
    space = environment.observation_space
    layout = layout_of(space, gymnasium.spaces.Discrete(7), "dqn")
    with pytest.raises(ConfigurationError, match=f"scores the {LISTED.count} actions of balatro, not 7"):
        ActionEncoder(layout, SETTINGS)
    less = gymnasium.spaces.Dict({name: space[name] for name in ("hand", "numbers", "action_mask")})
    factory = EncoderFactory("balatro-actions", ActionEncoder, SETTINGS)
    encoder, features = factory(layout_of(less, environment.action_space, "dqn"), None)
    assert features == 16
    assert not scores_actions(encoder)
