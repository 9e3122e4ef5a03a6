"""Outcomes of advice and of the rules in an episode, by which strategies compare them."""

from __future__ import annotations

from pkmncli.advice.worth import LEAST_STEPS, AdviceWorth, Charge

UNKNOWN = {"llm_efficiency": None, "llm_success_rate": None, "rule_efficiency": None, "rule_success_rate": None}


def played(charge: Charge, rewards: list[float], *, advised: bool) -> Charge:
    worth = AdviceWorth()
    for reward in rewards:
        worth.count(charge, reward, advised=advised, live=advised, costs=True)
        charge.pass_step()
    return charge


def test_each_side_has_the_rewards_of_its_own_steps() -> None:
    charge = played(Charge(), [1.0] * 5 + [0.0] * 5, advised=True)
    outcomes = played(charge, [0.25] * 10, advised=False).outcomes()
    assert (outcomes["llm_efficiency"], outcomes["llm_success_rate"]) == (0.5, 0.5)
    assert (outcomes["rule_efficiency"], outcomes["rule_success_rate"]) == (0.25, 1.0)


def test_steps_back_from_advice_count_as_its_steps_and_earn_nothing() -> None:
    charge = played(Charge(), [1.0] * 10, advised=True)
    charge.end()
    outcomes = played(charge, [2.0] * 10, advised=False).outcomes()
    assert (outcomes["llm_efficiency"], outcomes["llm_success_rate"]) == (0.5, 0.5)
    assert outcomes["rule_efficiency"] is None


def test_losses_count_against_a_side_and_are_no_success() -> None:
    outcomes = played(Charge(), [-1.0] * 10, advised=False).outcomes()
    assert (outcomes["rule_efficiency"], outcomes["rule_success_rate"]) == (-1.0, 0.0)


def test_a_side_with_few_steps_is_not_judged() -> None:
    assert played(Charge(), [1.0] * (LEAST_STEPS - 1), advised=True).outcomes() == UNKNOWN
    assert Charge().outcomes() == UNKNOWN


def test_a_resumed_episode_has_the_same_outcomes() -> None:
    charge = played(played(Charge(), [1.0] * 12, advised=True), [0.5] * 12, advised=False)
    assert Charge.from_state(charge.state()) == charge
    assert Charge.from_state([3, 7]) == Charge(3, 7), "as earlier versions saved it"
