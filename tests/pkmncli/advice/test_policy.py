"""Policy of advice: one reason why advice is not followed, from events, results and the model's share."""

from __future__ import annotations

import json
from collections.abc import Collection

import pytest

from pkmncli.advice.policy import RETRY_EVERY, AdvicePolicy, Objection
from pkmncli.advice.triggers import Event
from pkmncli.advice.worth import LEAST_TRIES, Charge, Situation, action_key
from pkmncli.api import Advice
from pkmncli.declared import default_action_names

HERE, THERE = Situation(0x201, 1, 0), Situation(0x202, 1, 0)
PRESS_A, PRESS_B = Advice("out", presses=(0,)), Advice("out", presses=(1,))
WALK = Advice("out", skill="go_to", arguments={"map": "Fern Trail"})
TILE = Advice("out", skill="go_to", arguments={"x": 3, "y": 5})


def learned(*rewards: float, holds_back: bool = True) -> AdvicePolicy:
    policy = AdvicePolicy(holds_back_failures=holds_back)
    for reward in rewards:
        policy.worth.add_result(HERE, "press a", reward)
    return policy


def objection(
    policy: AdvicePolicy, advice: Advice, situation: Situation | None = HERE, happened: Collection[Event] = ()
) -> Objection | None:
    return policy.objection(advice, action_key(advice, default_action_names()), situation, happened)


def objections(policy: AdvicePolicy, times: int, advice: Advice = PRESS_A) -> list[Objection | None]:
    return [objection(policy, advice) for _ in range(times)]


def test_advice_that_always_failed_is_held_back_where_it_failed_and_tried_now_and_then() -> None:
    policy = learned(*[0.0] * LEAST_TRIES)
    assert objection(policy, PRESS_A, THERE) is None
    assert objection(policy, PRESS_A, None) is None
    assert objection(policy, PRESS_B, HERE) is None
    found = objections(policy, 3 * RETRY_EVERY)
    assert found.count(None) == 3
    assert found[0] is Objection.ALWAYS_FAILED
    assert policy.held_back == found.count(Objection.ALWAYS_FAILED)


def test_too_few_tries_or_one_success_hold_nothing_back() -> None:
    assert objection(learned(*[0.0] * (LEAST_TRIES - 1)), PRESS_A) is None
    assert objection(learned(*[0.0] * 20, 0.5), PRESS_A) is None


def test_failures_hold_nothing_back_if_lessons_are_off() -> None:
    assert objection(learned(*[0.0] * 20, holds_back=False), PRESS_A) is None


def test_a_success_on_a_retry_ends_the_holding_back() -> None:
    policy = learned(0.0, 0.0, 0.0)
    assert objection(policy, PRESS_A) is Objection.ALWAYS_FAILED
    policy.worth.add_result(HERE, "press a", 1.0)
    assert not any(objections(policy, RETRY_EVERY))


@pytest.mark.parametrize(
    ("advice", "event", "late"),
    [
        (PRESS_A, Event.MAP, True),
        (TILE, Event.MAP, True),
        (WALK, Event.MAP, False),
        (WALK, Event.GOAL, True),
        (PRESS_A, Event.INTERVAL, False),
    ],
)
def test_advice_is_too_late_when_its_moment_has_passed(advice: Advice, event: Event, late: bool) -> None:
    policy = AdvicePolicy(llm_share=0.0)
    policy.share.count(llm=True)
    assert objection(policy, advice, HERE, {event}) is (Objection.OUTDATED if late else Objection.RULES_TURN)
    assert policy.held_back == 0


def test_advice_that_earns_less_than_the_rules_is_held_back_and_ended() -> None:
    policy = AdvicePolicy(most_cost=0.05)
    for _ in range(100):
        policy.worth.count(Charge(), 1.0, advised=False, live=False, costs=True)
    assert policy.may_continue()
    for _ in range(40):
        policy.worth.count(Charge(), 0.0, advised=True, live=True, costs=True)
    assert objection(policy, WALK, HERE) is Objection.EARNS_LESS
    assert not policy.may_continue()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_model_gets_its_share_of_the_steps_with_advice(share: float) -> None:
    policy = AdvicePolicy(share)
    for _ in range(500):
        followed = objection(policy, WALK, HERE) is None
        for _ in range(8):
            policy.share.count(llm=followed)
    assert policy.share.llm_steps / policy.share.covered_steps == pytest.approx(share, abs=0.02)


def test_a_resumed_run_decides_alike() -> None:
    policy, other = learned(0.0, 0.0, 0.0), AdvicePolicy()
    objection(policy, PRESS_A)
    other.load_state_dict(json.loads(json.dumps(policy.state_dict())))
    assert objections(other, RETRY_EVERY) == objections(policy, RETRY_EVERY)
    assert other.state_dict() == policy.state_dict()
