"""Policy of advice: one reason why advice is not followed, from events, results and the model's share."""

from __future__ import annotations

import json

import pytest

from pkmncli.advice.policy import AdvicePolicy, Objection
from pkmncli.advice.triggers import Event
from pkmncli.advice.worth import Charge
from pkmncli.api import Advice

PRESS = Advice("out", presses=(0,))
WALK = Advice("out", skill="go_to", arguments={"map": "Fern Trail"})
TILE = Advice("out", skill="go_to", arguments={"x": 3, "y": 5})


@pytest.mark.parametrize(
    ("advice", "event", "late"),
    [
        (PRESS, Event.MAP, True),
        (TILE, Event.MAP, True),
        (WALK, Event.MAP, False),
        (WALK, Event.GOAL, True),
        (PRESS, Event.INTERVAL, False),
    ],
)
def test_advice_is_too_late_when_its_moment_has_passed(advice: Advice, event: Event, late: bool) -> None:
    policy = AdvicePolicy(llm_share=0.0)
    policy.share.count(llm=True)
    assert policy.objection(advice, {event}) is (Objection.OUTDATED if late else Objection.RULES_TURN)
    assert policy.held_back == 0


def test_advice_that_earns_less_than_the_rules_is_held_back_and_ended() -> None:
    policy = AdvicePolicy(most_cost=0.05)
    for _ in range(100):
        policy.worth.count(Charge(), 1.0, advised=False, live=False, costs=True)
    assert policy.may_continue()
    for _ in range(40):
        policy.worth.count(Charge(), 0.0, advised=True, live=True, costs=True)
    assert policy.objection(WALK) is Objection.EARNS_LESS
    assert not policy.may_continue()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_model_gets_its_share_of_the_steps_with_advice(share: float) -> None:
    policy = AdvicePolicy(share)
    for _ in range(500):
        followed = policy.objection(WALK) is None
        for _ in range(8):
            policy.share.count(llm=followed)
    assert policy.share.llm_steps / policy.share.covered_steps == pytest.approx(share, abs=0.02)


def test_a_resumed_run_decides_alike() -> None:
    policy, other = AdvicePolicy(0.5, 0.05), AdvicePolicy(0.5, 0.05)
    for _ in range(40):
        policy.worth.count(Charge(), 0.0, advised=True, live=True, costs=True)
    assert policy.objection(WALK) is Objection.EARNS_LESS
    other.load_state_dict(json.loads(json.dumps(policy.state_dict())))
    assert other.state_dict() == policy.state_dict()
    assert other.objection(WALK) is Objection.EARNS_LESS
    assert other.held_back == policy.held_back + 1
