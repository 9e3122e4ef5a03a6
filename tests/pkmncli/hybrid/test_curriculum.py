"""The curriculum: conditions to pass a stage, the fall of trust, and an exact resume."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pkmncli.api import Source, StrategyType
from pkmncli.config.curriculum_settings import CurriculumSettings, Stage
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.curriculum import Change, Curriculum

ENVS = 4

rewards = st.lists(st.floats(-20, 700), min_size=0, max_size=60)


def on_training(**settings: Any) -> Curriculum:
    """Return a curriculum that measures training episodes and has endless patience."""
    return Curriculum(CurriculumSettings(**{"measure": "training", "advancement_patience": None, **settings}))


def play(curriculum: Curriculum, earned: Sequence[float], *, asks_to_stay: bool = False) -> list[Change]:
    changes = [curriculum.end_episode(reward, asks_to_stay=asks_to_stay) for reward in earned]
    return [change for change in changes if change is not None]


def test_the_defaults_are_those_of_the_documents() -> None:
    stages = CurriculumSettings().stages
    assert [stage.reward_threshold for stage in stages] == [50, 100, 200, 500]
    assert [stage.llm_confidence for stage in stages] == [0.9, 0.7, 0.5, 0.3]
    assert [stage.preferred for stage in stages] == [*StrategyType, None]


def test_it_goes_through_all_stages_and_ends() -> None:
    curriculum = on_training()
    for stage, (reward, trust) in enumerate(((50, 0.7), (100, 0.5), (200, 0.3)), start=1):
        assert play(curriculum, [reward] * 9) == []
        (change,) = play(curriculum, [reward])
        assert (change.advanced, change.completed, change.stage, change.trust) == (True, False, stage + 1, trust)
        assert f"Stage {stage} of the curriculum passed" in change.reason
    (end,) = play(curriculum, [500.0] * 10)
    assert (end.completed, end.stage, end.trust) == (True, 4, 0.3)
    assert play(curriculum, [900.0] * 40) == []
    assert (curriculum.stage, curriculum.advancements) == (4, 4)


@given(earned=rewards, stays=st.lists(st.booleans(), min_size=60, max_size=60))
@pytest.mark.long
def test_a_stage_is_left_exactly_when_all_criteria_are_met(earned: list[float], stays: list[bool]) -> None:
    curriculum = on_training(max_deviation=0.5)
    thresholds = [50, 100, 200, 500]
    inside: list[float] = []
    for reward, stay in zip(earned, stays, strict=False):
        inside.append(reward)
        latest = inside[-10:]
        expected = (
            not curriculum.completed
            and not stay
            and len(inside) >= 10
            and fmean(latest) >= thresholds[curriculum.stage - 1]
            and pstdev(latest) <= 0.5 * abs(fmean(latest))
        )
        change = curriculum.end_episode(reward, asks_to_stay=stay)
        assert (change is not None) is expected
        if change is not None:
            inside = []


@pytest.mark.parametrize(
    ("earned", "settings", "stays"),
    [
        ([49.9] * 30, {}, False),  # too little
        ([51.0] * 9, {}, False),  # too few
        ([30.0, 80.0] * 15, {}, False),  # too uneven
        ([60.0] * 30, {}, True),  # the strategy asks to stay
        ([60.0] * 30, {"min_episodes": 31}, False),  # too soon
    ],
)
def test_each_criterion_alone_holds_a_stage(earned: list[float], settings: dict[str, Any], stays: bool) -> None:
    curriculum = on_training(**settings)
    assert play(curriculum, earned, asks_to_stay=stays) == []
    assert (curriculum.stage, curriculum.trust) == (1, 0.9)


def test_what_the_pilot_earns_does_not_count_where_the_learner_is_measured() -> None:
    curriculum = Curriculum(CurriculumSettings(advancement_patience=None))
    assert play(curriculum, [1000.0] * 50) == []
    for _ in range(10):
        curriculum.add_measured(60.0)
    assert play(curriculum, [0.0])[0].advanced
    assert curriculum.measured == [], "what was measured in a stage says nothing about the next"


def test_a_stage_may_have_its_own_least_number_of_episodes() -> None:
    first = Stage(reward_threshold=1, llm_confidence=0.9, min_episodes=15)
    curriculum = on_training(stages=(first, Stage(reward_threshold=2, llm_confidence=0.5)))
    assert [change.stage for change in play(curriculum, [5.0] * 14)] == []
    assert [change.stage for change in play(curriculum, [5.0])] == [2]


def test_patience_that_runs_out_lowers_trust_one_notch_and_says_so() -> None:
    curriculum = on_training(advancement_patience=20)
    changes = play(curriculum, [0.0] * 100)
    assert [(change.advanced, change.stage, change.trust) for change in changes] == [
        (False, 1, 0.7),
        (False, 1, 0.5),
        (False, 1, 0.3),
    ]
    assert "20 measured episodes in stage 1 of the curriculum without advancing" in changes[0].reason
    assert curriculum.advancements == 0
    (passed,) = play(curriculum, [60.0] * 10)
    assert (passed.stage, passed.trust) == (2, 0.3), "trust that was lost does not come back"


def test_patience_counts_what_was_measured_and_not_what_was_trained() -> None:
    curriculum = Curriculum(CurriculumSettings(advancement_patience=3))
    assert [curriculum.end_episode(0.0) for _ in range(50)] == [None] * 50, "nothing was measured yet"
    for _ in range(3):
        curriculum.add_measured(0.0)
    change = curriculum.end_episode(0.0)
    assert change is not None
    assert change.trust == 0.7


def test_confidence_decays_to_the_next_stages_trust_and_no_further() -> None:
    curriculum = on_training(confidence_decay_rate=0.1)
    curriculum.end_episode(0.0)
    assert curriculum.trust == pytest.approx(0.81)
    play(curriculum, [0.0] * 30)
    assert curriculum.trust == 0.7


@given(earned=rewards, decay=st.floats(0, 0.5), patience=st.integers(1, 30), stays=st.booleans())
def test_trust_never_rises(earned: list[float], decay: float, patience: int, stays: bool) -> None:
    curriculum = on_training(confidence_decay_rate=decay, advancement_patience=patience)
    before = curriculum.trust
    for reward in earned:
        curriculum.end_episode(reward, asks_to_stay=stays)
        assert 0.3 <= curriculum.trust <= before
        before = curriculum.trust


@given(seed=st.integers(0, 2**32 - 1))
@pytest.mark.long
def test_with_equal_confidences_the_language_models_share_never_rises_as_stages_advance(seed: int) -> None:
    """With equal confidences in every stage, the advised side's steps, and the model's share of them, only decrease."""
    random = np.random.default_rng(seed)
    learner, pilot = (random.random((100, ENVS)).astype(np.float32) for _ in range(2))
    actions, greedy = np.zeros(ENVS, np.int64), np.zeros(ENVS, np.bool_)
    curriculum = on_training()
    share_of_advised, shares = StrategyType.LLM_HEAVY.llm_share, []
    for threshold in (50, 100, 200, 500):
        arbiter = Arbiter(AgentMode.ADAPTIVE, ENVS, seed=0, trust=curriculum.trust, trial_share=0.0)
        chosen = [arbiter.choose(actions, a, greedy, b)[1] for a, b in zip(learner, pilot, strict=True)]
        shares.append(share_of_advised * np.mean(np.stack(chosen) == Source.RULE))
        (change,) = play(curriculum, [float(threshold)] * 10)
        if change.preferred is not None:
            share_of_advised = min(share_of_advised, change.preferred.llm_share)
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1]


@given(earned=rewards, cut=st.integers(0, 60), measure=st.sampled_from(["greedy", "training"]))
def test_a_saved_curriculum_goes_on_as_if_nothing_had_happened(earned: list[float], cut: int, measure: str) -> None:
    settings = CurriculumSettings(measure=measure, confidence_decay_rate=0.01, max_deviation=1.0)
    whole = Curriculum(settings)
    changes: list[tuple[Change | None, Change | None]] = []
    resumed = Curriculum(settings)
    for number, reward in enumerate(earned):
        if number == cut:
            resumed.load_state_dict(json.loads(json.dumps(whole.state_dict())))
        for one in (whole, resumed) if number >= cut else (whole,):
            one.add_measured(reward)
        change = whole.end_episode(reward)
        if number >= cut:
            changes.append((change, resumed.end_episode(reward)))
    assert all(one == other for one, other in changes)
    if len(earned) > cut:
        assert whole.state_dict() == resumed.state_dict()


@pytest.mark.parametrize(
    "wrong",
    [
        {"stages": []},
        {"stages": [{"reward_threshold": 1}]},
        {"stages": [{"reward_threshold": 1, "llm_confidence": 1.5}]},
        {"stages": [{"reward_threshold": 1, "llm_confidence": 0.5, "strategy_preference": "loud"}]},
        {"stages": [{"reward_threshold": n, "llm_confidence": n / 10} for n in (1, 2)]},
        {"advancement_patience": 0},
        {"confidence_decay_rate": 2},
    ],
)
def test_settings_that_make_no_curriculum_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CurriculumSettings(**wrong)


def test_the_documents_own_settings_are_taken() -> None:
    settings = CurriculumSettings.model_validate(
        {
            "stages": [
                {
                    "reward_threshold": 10.0,
                    "min_episodes": 5,
                    "llm_confidence": 0.9,
                    "strategy_preference": "LLM_HEAVY",
                }
            ],
            "advancement_patience": 20,
            "confidence_decay_rate": 0.05,
        }
    )
    assert settings.stages[0].preferred is StrategyType.LLM_HEAVY
