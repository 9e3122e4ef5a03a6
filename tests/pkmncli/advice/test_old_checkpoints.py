"""Advice in checkpoints of earlier versions resumes with the same worth, share, question and live advice."""

from __future__ import annotations

import json
from typing import Any

from pkmncli.advice.live_advice import AdvisedEnvironment, LiveAdvice
from pkmncli.advice.old_checkpoints import upgraded
from pkmncli.advice.policy import AdvicePolicy
from pkmncli.advice.triggers import Event, EventWatcher
from pkmncli.advice.worth import Results, Situation

DESK: dict[str, Any] = {
    "watcher": {"lines": ["a battle began"], "numbers": [513, 1, 5, 2, 7], "seen": [1, 9]},
    "next_ask": 80,
    "asked_at": 60,
    "asked": {"system": "You advise.", "prompt": "Goal: out", "event": "battle begins"},
    "passed": ["new map"],
    "situation": [513, 5, 161, 1],
    "between": False,
    "event": "battle ends",
    "live": True,
    "fresh": False,
    "set_aside": 0,
    "after": [4, 0],
    "texts": ["out", "go_to", "script", "go to Fern Trail"],
    "given_in": [513, 1, 0, 0],
    "latency_s": 0.5,
    "steps": 4,
    "reward": 0.25,
    "failures": ["nap: brought nothing in 4 steps"],
}
STATE: dict[str, Any] = {
    "desks": [DESK, {**DESK, "live": False, "asked": None}],
    "sides": {"share": 0.8, "llm_steps": 12, "rule_steps": 3, "length": 6.5},
    "usage": {"requests": 3},
    "told_spent": True,
    "timeliness": {"answers": 3, "outdated": 1, "lag_steps": 9.0, "told": False},
    "lessons": [[513, 1, 0, 0, "press a", 3, 0, 0.0, 0], [513, 1, 0, "press b", 3, 1, 2.0, 0]],
    "allowance": {"advised": [12, 1.5], "rules": [40, 8.0]},
    "held_back": 2,
    "covered_steps": 15,
    "advised_side_steps": 52,
}


def test_an_environment_resumes_with_its_question_and_its_advice() -> None:
    live, ended = (AdvisedEnvironment(EventWatcher([], [], {})) for _ in range(2))
    states = upgraded(json.loads(json.dumps(STATE)))["environments"]
    for environment, state in zip((live, ended), states, strict=True):
        environment.load_state_dict(state)
    advice = LiveAdvice(
        "out", "go_to", "go to Fern Trail", "script", 0.5, Situation(513, 1, 0, 0), fresh=False, steps=4, reward=0.25
    )
    assert (live.live, live.ended) == (advice, None)
    assert (ended.live, ended.ended) == (None, advice)
    assert live.question is not None
    assert (live.question.prompt, live.question.asked_at, live.question.sent) == ("Goal: out", 60, False)
    assert live.question.happened == {Event.MAP}
    assert ended.question is None


def test_the_policy_resumes_with_the_worth_of_advice() -> None:
    policy = AdvicePolicy()
    policy.load_state_dict(upgraded(STATE)["policy"])
    assert (policy.worth.advised.steps, policy.worth.advised.reward) == (12, 1.5)
    assert (policy.worth.rules.steps, policy.worth.rules.reward) == (40, 8.0)
    assert policy.held_back == 2
    assert policy.share.covered_steps == STATE["covered_steps"]
    assert policy.worth.results(Situation(513, 1, 0)) == {"press a": Results(3), "press b": Results(3, 1, 2.0)}


def test_the_state_of_this_version_stays_as_it_is() -> None:
    state = upgraded(STATE)
    assert upgraded(state) is state
