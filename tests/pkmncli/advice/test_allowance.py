"""The budget of advice: useless advice gets its small share of steps, useful advice as many as it wants."""

from __future__ import annotations

import json

import pytest

from pkmncli.advice.allowance import FREE_STEPS, LEAST_RULE_STEPS, MOST_AFTERMATH, TURNING_BACK, Allowance, Trail

SHARE = 0.05


def played(steps: int, *, advised: float, rules: float, stretch: int = 8, share: float = SHARE) -> Allowance:
    """Play steps in stretches of advice, if allowed, or of the rules; ``advised``, ``rules``: rewards per step."""
    allowance = Allowance(share)
    for _ in range(steps // stretch):
        by_advice = allowance.allows(stretch)
        for _ in range(stretch):
            if by_advice:
                allowance.count_advised(advised)
            else:
                allowance.count_rules(rules)
    return allowance


@pytest.mark.parametrize("advised", [0.0, -1.0])
def test_advice_that_earns_nothing_keeps_to_its_share(advised: float) -> None:
    allowance = played(4000, advised=advised, rules=0.5)
    assert allowance.advised_steps <= FREE_STEPS + SHARE * 4000


def test_advice_that_earns_nothing_keeps_to_its_share_before_the_rules_have_earned_anything() -> None:
    assert played(4000, advised=0.0, rules=0.0).advised_steps <= FREE_STEPS + SHARE * 4000


def test_advice_that_loses_less_than_the_rules_is_not_held_back() -> None:
    assert played(4000, advised=-0.1, rules=-1.0).rule_steps <= LEAST_RULE_STEPS + 8


@pytest.mark.parametrize("advised", [0.5, 0.6])
def test_advice_that_earns_as_much_as_the_rules_is_not_held_back(advised: float) -> None:
    allowance = played(4000, advised=advised, rules=0.5)
    assert allowance.rule_steps <= LEAST_RULE_STEPS + 8


def test_what_advice_has_earned_carries_it_over_a_stretch_without_reward() -> None:
    allowance = played(400, advised=1.0, rules=0.5)
    for _ in range(200):
        assert allowance.allows()
        allowance.count_advised(0.0)


def test_steps_that_the_rules_would_have_taken_too_cost_nothing_and_pay_what_came() -> None:
    allowance = played(200, advised=0.0, rules=0.5)
    assert not allowance.allows(8)
    allowance.count_advised(30.0, costs=False)
    assert allowance.allows(8)


def test_advice_that_turns_good_is_found_out() -> None:
    allowance = played(1000, advised=0.0, rules=0.2)
    taken = 0
    for _ in range(100):
        by_advice = allowance.allows(8)
        taken += by_advice
        for _ in range(8):
            if by_advice:
                allowance.count_advised(1.0)
            else:
                allowance.count_rules(0.2)
    assert taken > 80


@pytest.mark.parametrize("lasted", [1, 8, 100])
def test_the_way_back_is_advices_own_and_earns_it_nothing(lasted: int) -> None:
    allowance, trail = Allowance(SHARE), Trail()
    for _ in range(lasted):
        allowance.count(trail, 1.0, advised=True, live=True, costs=True)
        trail.pass_step()
    trail.end()
    for _ in range(200):
        allowance.count(trail, 5.0, advised=False, live=False, costs=True)
        trail.pass_step()
    back = min(lasted + TURNING_BACK, MOST_AFTERMATH)
    assert (allowance.advised_steps, allowance.advised_reward) == (lasted + back, lasted)
    assert (allowance.rule_steps, allowance.rule_reward) == (200 - back, 5.0 * (200 - back))


def test_what_costs_nothing_leads_nobody_astray() -> None:
    allowance, trail = Allowance(SHARE), Trail()
    allowance.count(trail, 3.0, advised=True, live=True, costs=False)
    allowance.count(trail, 0.0, advised=True, live=False, costs=True)  # proposed before the advice was withdrawn
    trail.end()
    assert trail == Trail()
    assert (allowance.advised_steps, allowance.advised_reward) == (1, 3.0)


def test_a_share_of_one_lets_advice_cost_all() -> None:
    assert played(1000, advised=0.0, rules=1.0, share=1.0).rule_steps == 0


def test_a_run_that_goes_on_judges_alike() -> None:
    allowance = played(500, advised=0.1, rules=0.2)
    other = Allowance(SHARE)
    other.load_state_dict(json.loads(json.dumps(allowance.state_dict())))
    assert other.state_dict() == allowance.state_dict()
    assert [other.allows(ahead) for ahead in range(40)] == [allowance.allows(ahead) for ahead in range(40)]
