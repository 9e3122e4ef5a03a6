"""The flat list of actions."""

from __future__ import annotations

import pytest

from pkmn_balatro.actions import CANCEL, SIMPLE, ActionList


def test_ten_positions_give_637_plays_and_1495_actions() -> None:
    actions = ActionList(10)
    assert (len(actions.plays), len(actions.choices), actions.count) == (637, 175, 1495)


@pytest.mark.parametrize("positions", [5, 8, 12])
def test_each_action_has_one_name_by_its_cards(positions: int) -> None:
    actions = ActionList(positions)
    assert len(set(actions.names)) == actions.count == len(actions.names)
    for subset in ((0,), (0, 1, 4), (0, 1, 2, 3, 4)):
        places = "_".join(str(place + 1) for place in subset)
        assert actions.names[actions.play_of(subset)] == f"play_{places}"
        assert actions.names[actions.discard_of(subset)] == f"discard_{places}"
    assert actions.names[actions.choice_of((1, 3))] == "choose_2_4"
    assert actions.names[CANCEL] == "cancel"
    assert actions.names[: len(SIMPLE)] == SIMPLE
