"""Measurement of the remedy for a learner that decides too much or too little: rewards decide sooner who acts."""

from __future__ import annotations

import numpy as np
import pytest

from pkmncli.api import PILOT_ACTS
from pkmncli.config.hand_over_settings import HandOverSettings
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.hand_over import HandOver

STEP = np.dtype([("source", "u1"), ("reward", "f4"), ("terminated", "?"), ("truncated", "?")])
STEPS, EPISODE_STEPS = 4_000, 300


def played(settings: HandOverSettings, *, agrees: float, earns: float, theirs: float) -> tuple[float, float]:
    """Return the mean reward of a step and the learner's share of the steps.

    Args:
        settings: of the hand-over.
        agrees: share of the learner's choices that are the rules', 0..1.
        earns: mean reward of a step of the learner.
        theirs: that of a step of the rules, which are sure to 0.8.
    """
    draw = np.random.default_rng(1)
    hand_over = HandOver(["walking"], 1, settings)
    arbiter = Arbiter(AgentMode.ADAPTIVE, 1, 2)
    phase, record, yes = np.zeros(1, np.int64), np.zeros(1, STEP), np.ones(1, np.bool_)
    total, own = 0.0, 0
    for step in range(STEPS):
        choice = phase + (draw.random() >= agrees)
        confidence = hand_over.confidences(phase, np.zeros(1, np.float32), phase)
        action, record["source"] = arbiter.choose(choice, confidence, ~yes, np.full(1, 0.8, np.float32))
        hand_over.note_choices(phase, choice, yes, phase)
        decides = action[0] != PILOT_ACTS
        record["reward"] = (earns if decides else theirs) + draw.normal(0, 0.5)
        record["truncated"] = step % EPISODE_STEPS == EPISODE_STEPS - 1
        hand_over.note_steps(record, phase)
        total += float(record["reward"][0])
        own += int(decides)
    return total / STEPS, own / STEPS


@pytest.mark.long
def test_a_learner_that_earns_less_than_the_rules_decides_less() -> None:
    worse = {"agrees": 0.85, "earns": 0.25, "theirs": 1.0}
    reward, share = played(HandOverSettings(), **worse)
    better, less = played(HandOverSettings(outcome_doubt=5), **worse)
    assert less < 0.75 * share and better > 1.05 * reward


@pytest.mark.long
def test_a_learner_that_earns_more_than_the_rules_decides_more() -> None:
    good = {"agrees": 0.5, "earns": 1.0, "theirs": 0.5}
    reward, share = played(HandOverSettings(), **good)
    better, more = played(HandOverSettings(outcome_doubt=5), **good)
    assert more > 2 * share and better > 1.2 * reward
