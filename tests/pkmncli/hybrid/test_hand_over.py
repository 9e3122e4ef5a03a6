"""Hand-over by evidence: agreement first, outcomes as they come in, each kind of situation separately."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from pkmncli.api import STEP_RECORD, Source
from pkmncli.config.hand_over_settings import HandOverSettings
from pkmncli.hybrid.hand_over import HandOver

SITUATIONS = ("walking", "walking", "battle")
"""Situation of each phase: 0 and 1 are walking, 2 is a battle."""
WALK, FIGHT = 0, 2
RECORD = np.dtype(list(STEP_RECORD), align=True)


def hand_over(num_envs: int = 1, **settings: object) -> HandOver:
    return HandOver(SITUATIONS, num_envs, HandOverSettings(**{"horizon": 4, **settings}))  # type: ignore[arg-type]


def choices(keeper: HandOver, phase: int, count: int, share: float) -> None:
    """Note choices, a share of which agrees with the advised side's."""
    for number in range(count):
        greedy = np.array([1 if number < share * count else 2])
        keeper.note_choices(np.array([phase]), greedy, np.array([True]), np.array([1]))


def step(keeper: HandOver, phase: int, source: Source, reward: float, *, ended: bool = False) -> list[str]:
    records = np.zeros(1, RECORD)
    records["source"], records["reward"], records["terminated"] = source, reward, ended
    return keeper.note_steps(records, np.array([phase]))


def confidence(keeper: HandOver, phase: int, own: float = 0.0, advised: int = 1) -> float:
    found: NDArray[np.float32] = keeper.confidences(np.array([phase]), np.array([own], np.float32), np.array([advised]))
    return float(found[0])


def test_nothing_is_handed_over_before_there_is_evidence() -> None:
    assert confidence(hand_over(), WALK, own=0.9) == 0.0


def test_each_kind_of_situation_has_evidence_of_its_own() -> None:
    keeper = hand_over()
    choices(keeper, WALK, 500, 1.0)
    choices(keeper, FIGHT, 500, 0.2)
    assert confidence(keeper, WALK) > 0.9
    assert confidence(keeper, 1) == confidence(keeper, WALK), "two phases, one kind"
    assert confidence(keeper, FIGHT) < 0.25
    together = hand_over(by="all")
    choices(together, WALK, 500, 1.0)
    choices(together, FIGHT, 500, 0.2)
    assert confidence(together, WALK) == confidence(together, FIGHT)


def test_few_choices_are_worth_less_than_many() -> None:
    few, many = hand_over(), hand_over()
    choices(few, WALK, 5, 1.0)
    choices(many, WALK, 400, 1.0)
    assert confidence(few, WALK) < 0.5 < confidence(many, WALK)


def test_where_nobody_says_what_the_rules_would_do_the_learners_own_confidence_holds() -> None:
    keeper = hand_over()
    choices(keeper, WALK, 500, 1.0)
    assert confidence(keeper, WALK, own=0.25, advised=-1) == 0.25
    assert confidence(hand_over(by="values"), WALK, own=0.75) == 0.75


def outcomes(keeper: HandOver, own: float, theirs: float, count: int = 4_000) -> None:
    """Note stretches of steps in turn, with a mean reward per step for each side."""
    for number in range(count):
        learner = number // 20 % 2 == 0
        reward = (own if learner else theirs) * (2 if number % 2 else 0)
        step(keeper, WALK, Source.RL if learner else Source.RULE, reward)


def test_choices_that_agree_and_lead_nowhere_do_not_keep_the_say() -> None:
    keeper = hand_over(outcome_doubt=5)
    choices(keeper, WALK, 500, 1.0)
    before = confidence(keeper, WALK)
    outcomes(keeper, own=0.2, theirs=1.0)
    assert confidence(keeper, WALK) < 0.6 < before


def test_a_better_way_than_the_teachers_keeps_the_say() -> None:
    keeper = hand_over(outcome_doubt=5)
    choices(keeper, WALK, 500, 0.5)
    before = confidence(keeper, WALK)
    outcomes(keeper, own=1.2, theirs=1.0)
    assert before < 0.5
    assert confidence(keeper, WALK) > 0.9


@pytest.mark.long
def test_where_steps_cost_something_losing_more_than_the_teacher_counts_against_the_learner() -> None:
    found = {}
    for own in (-2.0, -1.0, -0.5):
        keeper = hand_over(outcome_doubt=5)
        choices(keeper, WALK, 500, 1.0)
        outcomes(keeper, own=own, theirs=-1.0)
        found[own] = keeper.metrics()["hand_over/walking/outcome"]
    assert found[-2.0] < 0.2
    assert found[-1.0] > 0.9
    assert found[-0.5] == 1.0


def test_nobody_takes_over_where_nobody_else_may_decide() -> None:
    keeper = hand_over(idle_steps=10)
    for _ in range(20):
        step(keeper, WALK, Source.RL, 0.0)
    assert confidence(keeper, WALK, own=0.75, advised=-1) == 0.75


def test_rewards_that_follow_an_episodes_end_are_not_its_steps() -> None:
    keeper = hand_over()
    for _ in range(3):
        step(keeper, WALK, Source.RL, 0.0)
    step(keeper, WALK, Source.RL, 0.0, ended=True)
    for _ in range(4):
        step(keeper, FIGHT, Source.RULE, 5.0)
    state = keeper.state_dict()
    count, mean, _variance = state["outcomes"][0][0]
    assert (count, mean) == (4, 0.0)


def test_the_rules_decide_again_where_nothing_comes() -> None:
    keeper = hand_over(idle_steps=10)
    choices(keeper, WALK, 500, 1.0)
    for _ in range(9):
        step(keeper, WALK, Source.RL, 0.0)
    assert confidence(keeper, WALK) > 0.9
    step(keeper, WALK, Source.RL, 0.0)
    assert confidence(keeper, WALK) == 0.0
    step(keeper, WALK, Source.RULE, 1.0)
    assert confidence(keeper, WALK) > 0.9, "until something came"


def test_taking_over_is_told_once_and_so_is_losing_it_again() -> None:
    keeper = hand_over()
    told = [line for _ in range(1_200) for line in step(keeper, WALK, Source.RL, 1.0)]
    assert len(told) == 1
    assert told[0].startswith("The learner takes over: walking.")
    told = [line for _ in range(2_000) for line in step(keeper, WALK, Source.RULE, 1.0)]
    assert len(told) == 1
    assert told[0].startswith("The rules take over again: walking.")


def test_random_steps_say_nothing_about_choices() -> None:
    keeper = hand_over()
    for _ in range(300):
        keeper.note_choices(np.array([WALK]), np.array([1]), np.array([False]), np.array([1]))
    assert confidence(keeper, WALK) == 0.0


def test_it_goes_on_from_a_checkpoint_as_if_it_had_never_stopped() -> None:
    whole, begun = hand_over(), hand_over()
    for keeper in (whole, begun):
        choices(keeper, WALK, 30, 0.7)
        for number in range(50):
            step(keeper, (WALK, FIGHT)[number % 2], (Source.RL, Source.RULE)[number % 3 == 0], number % 5)
    resumed = hand_over()
    resumed.load_state_dict(json.loads(json.dumps(begun.state_dict())))
    for keeper in (whole, resumed):
        choices(keeper, FIGHT, 30, 0.4)
        for number in range(50):
            step(keeper, (WALK, FIGHT)[number % 2], (Source.RL, Source.RULE)[number % 2], number % 7, ended=number == 9)
    assert resumed.state_dict() == whole.state_dict()
    assert resumed.metrics() == whole.metrics()


@pytest.mark.parametrize("name", ["confidence", "agreement", "outcome", "share"])
def test_metrics_name_the_situation(name: str) -> None:
    assert {f"hand_over/walking/{name}", f"hand_over/battle/{name}"} <= set(hand_over().metrics())
