"""The mask of the environment: what the game accepts, also while targets are chosen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.balatro_environment import act, begun, random_play
from support.variants import long_after

from pkmn_balatro import actions as at
from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.masks import MOST_FREE_ACTIONS
from pkmn_balatro.simulator.blinds import BELL
from pkmn_balatro.simulator.cards import FORCED, HEARTS, KING, SPADES, make_card
from pkmn_balatro.simulator.consumables import AURA, DEATH, MAGICIAN
from pkmn_balatro.simulator.decks import DECKS
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.run import IllegalActionError, Joker, Phase
from pkmn_balatro.simulator.stakes import STAKES


def calls_of(game: Game) -> dict[str, Callable[[], object]]:
    """Return the game's own call for each action that needs no cards."""
    return {
        "select_blind": game.select_blind,
        "skip_blind": game.skip_blind,
        "reroll_boss": game.reroll_boss,
        "reroll_shop": game.reroll,
        "leave_shop": game.leave_shop,
        "skip_pack": game.skip_pack,
        **{f"buy_{slot + 1}": lambda slot=slot: game.buy(slot) for slot in range(at.SHOP_SLOTS)},
        **{f"buy_voucher_{slot + 1}": lambda slot=slot: game.buy_voucher(slot) for slot in range(at.VOUCHER_SLOTS)},
        **{f"open_pack_{slot + 1}": lambda slot=slot: game.open_pack(slot) for slot in range(at.PACK_SLOTS)},
        **{f"sell_joker_{place + 1}": lambda place=place: game.sell_joker(place) for place in range(at.MOST_JOKERS)},
        **{
            f"sell_consumable_{place + 1}": lambda place=place: game.sell_consumable(place)
            for place in range(at.MOST_CONSUMABLES)
        },
    }


# The mask ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", long_after(1, range(6)))
def test_every_allowed_action_is_accepted_and_an_episode_ends(seed: int) -> None:
    environment = begun(seed, illegal_actions="raise", endless=seed % 2 == 1, max_steps_per_episode=500)
    ends = []
    for _action, _reward, ended in random_play(environment, seed, 1000, help_share=0.5):
        ends.append(ended)
        observation = environment.observation()
        assert environment.observation_space.contains(observation)
        assert observation["action_mask"].any()
    assert ends[-1]


@pytest.mark.long
@pytest.mark.parametrize("deck", [deck.name for deck in DECKS])
def test_every_allowed_action_is_accepted_with_every_deck(deck: str) -> None:
    for seed in range(16):
        positions = 5 + seed % 8
        environment = begun(
            seed, deck=deck, stake=STAKES[seed % 8], illegal_actions="raise", endless=True, hand_positions=positions
        )
        for step, _ in enumerate(random_play(environment, seed, 400, help_share=0.3 + 0.05 * (seed % 8))):
            assert environment.action_masks().any()
            if not step % 5:
                assert environment.observation_space.contains(environment.observation())


@pytest.mark.parametrize("seed", long_after(1, range(4)))
def test_the_mask_is_what_the_game_accepts(seed: int) -> None:
    environment = begun(seed, stake=("white", "gold")[seed % 2], deck=("red", "ghost")[seed // 2])
    names = environment.actions.names
    seen = set()
    for step, _ in enumerate(random_play(environment, 100 + seed, 250, help_share=0.6)):
        phase = environment.game.run.phase
        if environment.pending is not None or phase == Phase.OVER or (phase in seen and step % 6):
            continue
        mask = environment.action_masks()
        seen.add(phase)
        before = environment.game.save()
        for name in calls_of(environment.game):
            game = environment.game.copy()
            try:
                calls_of(game)[name]()
                accepted = True
            except IllegalActionError as error:
                accepted = False
                assert "\n" not in str(error)
                assert game.save() == before
            assert accepted == bool(mask[names.index(name)]), f"{name}: {environment.status()}"
        for first, query in ((at.PICK, environment.game.can_pick), (at.USE, environment.game.can_use)):
            count = at.PACK_ITEMS if first == at.PICK else at.MOST_CONSUMABLES
            assert [bool(mask[first + place]) for place in range(count)] == [
                query(place) is not None for place in range(count)
            ]
    assert {Phase.BLIND, Phase.PLAY, Phase.SHOP, Phase.PACK} <= seen


def test_cards_beyond_the_hand_are_not_allowed_and_five_of_eight_are() -> None:
    environment = begun(3)
    act(environment, "select_blind")
    mask, actions = environment.action_masks(), environment.actions
    allowed = [actions.plays[number] for number in range(len(actions.plays)) if mask[actions.play + number]]
    assert len(allowed) == 218
    assert max(position for subset in allowed for position in subset) == 7
    assert mask[actions.discard : actions.choose].sum() == 218
    environment.game.run.discards_left = 0
    environment.load_state(environment.save_state())
    assert not environment.action_masks()[actions.discard : actions.choose].any()


def test_a_forced_card_beyond_the_positions_takes_the_last_one() -> None:
    environment = begun(5, hand_positions=5)
    act(environment, "select_blind")
    run = environment.game.run
    run.blind, run.boss = 2, BELL
    run.hand[7] |= FORCED
    environment.load_state(environment.save_state())
    assert environment.visible_places == [0, 1, 2, 3, 7]
    mask, actions = environment.action_masks(), environment.actions
    allowed = [actions.plays[number] for number in range(len(actions.plays)) if mask[actions.play + number]]
    assert allowed
    assert all(4 in subset for subset in allowed)
    act(environment, "play_5")
    assert run.hands_played == 0, "the loaded game is another object"
    assert environment.game.run.hands_played == 1


def test_sorting_and_cancelling_are_limited() -> None:
    environment = begun(1)
    act(environment, "select_blind")
    environment.game.run.jokers = [Joker(0), Joker(1)]
    for _ in range(MOST_FREE_ACTIONS // 2):
        act(environment, "sort_by_suit", "joker_left_2")
    names, mask = environment.actions.names, environment.action_masks()
    allowed = {names[number] for number in np.flatnonzero(mask[: environment.actions.play])}
    assert not allowed & {"sort_by_suit", "sort_by_rank", "joker_left_2"}
    act(environment, "discard_1")
    assert environment.action_masks()[at.SORT_BY_SUIT]


# Targets -----------------------------------------------------------------------------------------------------------


def with_consumables(*kinds: int) -> BalatroEnvironment:
    environment = begun(2)
    environment.game.run.consumables = list(kinds)
    act(environment, "select_blind")
    return environment


def test_a_consumable_asks_for_its_targets_in_a_second_step() -> None:
    environment = with_consumables(MAGICIAN)
    act(environment, "use_1")
    mask, actions = environment.action_masks(), environment.actions
    assert environment.phase_names[environment.facts().phase] == "targets"
    chosen = [actions.choices[number] for number in np.flatnonzero(mask[actions.choose :])]
    assert {len(subset) for subset in chosen} == {1, 2}
    assert len(chosen) == 8 + 28
    act(environment, "choose_2_5")
    lucky = [place for place, card in enumerate(environment.game.run.hand) if card >> 6 & 0xF == 8]
    assert lucky == [1, 4]
    assert environment.game.run.consumables == []


def test_cancelling_keeps_the_consumable() -> None:
    environment = with_consumables(MAGICIAN)
    before = environment.game.save()
    act(environment, "use_1", "cancel")
    assert environment.game.save() == before
    assert environment.pending is None


def test_aura_takes_only_cards_without_edition() -> None:
    environment = with_consumables(AURA)
    environment.game.run.hand[1:] = [card | 1 << 10 for card in environment.game.run.hand[1:]]
    act(environment, "use_1")
    actions = environment.actions
    assert [actions.choices[number] for number in np.flatnonzero(environment.action_masks()[actions.choose :])] == [
        (0,)
    ]


def test_death_turns_the_card_of_fewer_chips_into_the_other() -> None:
    environment = with_consumables(DEATH)
    environment.game.run.hand[:2] = [make_card(KING, SPADES), make_card(3, HEARTS)]
    act(environment, "use_1", "choose_1_2")
    assert environment.game.run.hand[:2] == [make_card(KING, SPADES)] * 2
