"""Worth of advice: useless advice gets its small share of steps, useful advice as many as it wants."""

from __future__ import annotations

import json

import pytest

from pkmncli.advice.worth import FREE_STEPS, LEAST_RULE_STEPS, AdviceWorth, Charge, Situation, action_key
from pkmncli.api import Advice, default_action_names

SHARE = 0.05
NAMES = default_action_names()


def played(steps: int, *, advised: float, rules: float, stretch: int = 8, share: float = SHARE) -> AdviceWorth:
    """Play steps in stretches of advice, if affordable, or of the rules; ``advised``, ``rules``: rewards per step."""
    worth = AdviceWorth()
    for _ in range(steps // stretch):
        by_advice = worth.affords(share, stretch)
        for _ in range(stretch):
            count(worth, advised if by_advice else rules, advised=by_advice)
    return worth


def count(worth: AdviceWorth, reward: float, *, advised: bool, costs: bool = True) -> None:
    """Count a step without aftermath."""
    worth.count(Charge(), reward, advised=advised, live=advised, costs=costs)


@pytest.mark.parametrize("advised", [0.0, -1.0])
def test_advice_that_earns_nothing_keeps_to_its_share(advised: float) -> None:
    worth = played(4000, advised=advised, rules=0.5)
    assert worth.advised.steps <= FREE_STEPS + SHARE * 4000


def test_advice_that_earns_nothing_keeps_to_its_share_before_the_rules_have_earned_anything() -> None:
    assert played(4000, advised=0.0, rules=0.0).advised.steps <= FREE_STEPS + SHARE * 4000


def test_advice_that_loses_less_than_the_rules_is_not_held_back() -> None:
    assert played(4000, advised=-0.1, rules=-1.0).rules.steps <= LEAST_RULE_STEPS + 8


@pytest.mark.parametrize("advised", [0.5, 0.6])
def test_advice_that_earns_as_much_as_the_rules_is_not_held_back(advised: float) -> None:
    worth = played(4000, advised=advised, rules=0.5)
    assert worth.rules.steps <= LEAST_RULE_STEPS + 8


def test_earned_reward_carries_advice_over_a_stretch_without_reward() -> None:
    worth = played(400, advised=1.0, rules=0.5)
    for _ in range(200):
        assert worth.affords(SHARE)
        count(worth, 0.0, advised=True)


def test_steps_that_the_rules_would_have_taken_too_cost_nothing_and_pay_what_came() -> None:
    worth = played(200, advised=0.0, rules=0.5)
    assert not worth.affords(SHARE, 8)
    count(worth, 30.0, advised=True, costs=False)
    assert worth.affords(SHARE, 8)


def test_advice_that_turns_good_is_found_out() -> None:
    worth = played(1000, advised=0.0, rules=0.2)
    taken = 0
    for _ in range(100):
        by_advice = worth.affords(SHARE, 8)
        taken += by_advice
        for _ in range(8):
            if by_advice:
                count(worth, 1.0, advised=True)
            else:
                count(worth, 0.2, advised=False)
    assert taken > 80


@pytest.mark.parametrize(("lasted", "back"), [(1, 5), (8, 12), (100, 30)])
def test_steps_back_are_charged_to_advice_and_earn_it_nothing(lasted: int, back: int) -> None:
    worth, charge = AdviceWorth(), Charge()
    for _ in range(lasted):
        worth.count(charge, 1.0, advised=True, live=True, costs=True)
        charge.pass_step()
    charge.end()
    for _ in range(200):
        worth.count(charge, 5.0, advised=False, live=False, costs=True)
        charge.pass_step()
    assert (worth.advised.steps, worth.advised.reward) == (lasted + back, lasted)
    assert (worth.rules.steps, worth.rules.reward) == (200 - back, 5.0 * (200 - back))


def test_advice_that_costs_nothing_has_no_aftermath() -> None:
    worth, charge = AdviceWorth(), Charge()
    worth.count(charge, 3.0, advised=True, live=True, costs=False)
    worth.count(charge, 0.0, advised=True, live=False, costs=True)  # proposed before the advice was withdrawn
    charge.end()
    assert (charge.steps, charge.aftermath) == (0, 0)
    assert (worth.advised.steps, worth.advised.reward) == (1, 3.0)


def test_a_share_of_one_lets_advice_cost_all() -> None:
    assert played(1000, advised=0.0, rules=1.0, share=1.0).rules.steps == 0


def test_a_resumed_run_judges_alike() -> None:
    worth = played(500, advised=0.1, rules=0.2)
    worth.add_result(Situation(1, 2, 0), "press a", 0.5)
    other = AdviceWorth()
    other.load_state_dict(json.loads(json.dumps(worth.state_dict())))
    assert other.state_dict() == worth.state_dict()
    assert [other.affords(SHARE, ahead) for ahead in range(40)] == [worth.affords(SHARE, ahead) for ahead in range(40)]


def test_the_same_advice_has_the_same_key() -> None:
    press = Advice("out", presses=(4, 4, 0), reason="one")
    assert action_key(press, NAMES) == action_key(Advice("elsewhere", presses=(4, 4, 0)), NAMES) == "press up, up, a"
    walk = Advice("out", skill="go_to", arguments={"map": "Fern Trail", "x": 3, "y": 5})
    assert action_key(walk, NAMES) == "go to Fern Trail (3, 5)"
    assert action_key(Advice("win", skill="fight"), NAMES) == "fight"
