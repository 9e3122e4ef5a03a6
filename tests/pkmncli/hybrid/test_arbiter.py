"""The arbiter decides by mode and confidences, and resumes exactly."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pkmncli.api import PILOT_ACTS, Source
from pkmncli.hybrid.arbiter import AgentMode, Arbiter

ENVS = 4
ACTIONS = np.array([0, 4, 5, 8])
NOBODY = np.zeros(ENVS, np.float32)
GREEDY = np.zeros(ENVS, np.bool_)

confidences = st.lists(st.floats(0, 1, width=32), min_size=ENVS, max_size=ENVS).map(
    lambda values: np.array(values, np.float32)
)


def test_rl_only_never_asks_the_pilot() -> None:
    arbiter = Arbiter(AgentMode.RL_ONLY, ENVS, seed=0)
    exploring = np.array([True, False, False, True])
    actions, sources = arbiter.choose(ACTIONS, NOBODY, exploring, np.ones(ENVS, np.float32))
    assert actions.tolist() == ACTIONS.tolist()
    assert sources.tolist() == [Source.EXPLORE, Source.RL, Source.RL, Source.EXPLORE]


def test_llm_only_never_asks_the_learner() -> None:
    arbiter = Arbiter(AgentMode.LLM_ONLY, ENVS, seed=0)
    actions, sources = arbiter.choose(ACTIONS, np.ones(ENVS, np.float32), GREEDY, NOBODY)
    assert (actions == PILOT_ACTS).all()
    assert (sources == Source.RULE).all()


@given(learner=confidences, pilot=confidences)
def test_adaptive_gives_the_step_to_the_higher_weighted_confidence(learner: np.ndarray, pilot: np.ndarray) -> None:
    arbiter = Arbiter(AgentMode.ADAPTIVE, ENVS, seed=0, trust=0.9, trial_share=0.0)
    actions, sources = arbiter.choose(ACTIONS, learner, GREEDY, pilot)
    for index in range(ENVS):
        if learner[index] > 0.9 * pilot[index]:
            assert (actions[index], sources[index]) == (ACTIONS[index], Source.RL)
        else:
            assert (actions[index], sources[index]) == (PILOT_ACTS, Source.RULE)


def test_a_learner_without_confidence_gets_its_share_of_trial_segments() -> None:
    arbiter = Arbiter(AgentMode.ADAPTIVE, ENVS, seed=1, trial_share=0.25, segment_steps=10)
    sure = np.ones(ENVS, np.float32)
    decided = [arbiter.choose(ACTIONS, NOBODY, GREEDY, sure)[1] for _ in range(4000)]
    share = float(np.mean(np.stack(decided) == Source.RL))
    assert 0.2 < share < 0.3


def test_lower_trust_never_takes_steps_from_the_learner() -> None:
    random = np.random.default_rng(0)
    learner, pilot = (random.random((200, ENVS)).astype(np.float32) for _ in range(2))
    shares = []
    for trust in (0.9, 0.7, 0.5, 0.3):
        arbiter = Arbiter(AgentMode.ADAPTIVE, ENVS, seed=0, trust=trust, trial_share=0.0)
        steps = [arbiter.choose(ACTIONS, a, GREEDY, b)[1] for a, b in zip(learner, pilot, strict=True)]
        shares.append(np.mean(np.stack(steps) == Source.RL))
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_a_resumed_arbiter_draws_what_it_would_have_drawn() -> None:
    sure = np.ones(ENVS, np.float32)
    first = Arbiter(AgentMode.ADAPTIVE, ENVS, seed=3, trial_share=0.5, segment_steps=3)
    for _ in range(50):
        first.choose(ACTIONS, NOBODY, GREEDY, sure)
    second = Arbiter(AgentMode.ADAPTIVE, ENVS, seed=99, trial_share=0.5, segment_steps=3)
    second.load_state_dict(first.state_dict())
    for _ in range(50):
        expected, actual = (one.choose(ACTIONS, NOBODY, GREEDY, sure)[1].tolist() for one in (first, second))
        assert actual == expected
