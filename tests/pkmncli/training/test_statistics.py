"""The summary has every promised key, and counters go on after a resume."""

from __future__ import annotations

import json
from dataclasses import replace

from pkmncli.api import EpisodeSummary
from pkmncli.training.recording.counters import RECENT_EPISODES, TrainingStatistics

PROMISED = {
    "total_episodes",
    "total_steps",
    "best_reward",
    "final_avg_reward",
    "avg_episode_length",
    "avg_llm_usage",
}


def episode(reward: float, steps: int = 10, **milestones: int) -> EpisodeSummary:
    return EpisodeSummary(0, 0, 1, steps, reward, False, "time-limit", 0.25, milestones, first_step=1000)


def loaded(statistics: TrainingStatistics) -> TrainingStatistics:
    """Counters that went through a checkpoint."""
    found = TrainingStatistics()
    found.load_state_dict(json.loads(json.dumps(statistics.state_dict())))
    return found


def test_summary_of_a_run_without_an_episode_is_complete() -> None:
    summary = TrainingStatistics(steps=5).summary()
    assert set(summary) >= PROMISED
    assert summary["best_reward"] is None


def test_averages_cover_the_recent_episodes_and_milestones_keep_their_first_step() -> None:
    statistics = TrainingStatistics()
    for number in range(RECENT_EPISODES + 5):
        statistics.add_episode(episode(float(number), starter=3), num_envs=2)
    summary = statistics.summary()
    assert summary["best_reward"] == RECENT_EPISODES + 4
    assert summary["final_avg_reward"] == sum(range(5, RECENT_EPISODES + 5)) / RECENT_EPISODES
    assert summary["milestones"] == {
        "starter": {"episodes": RECENT_EPISODES + 5, "first_step": 1006, "best_step": 3, "best_frame": None}
    }
    assert summary["avg_llm_usage"] == 0.25


def test_the_learners_share_lately_is_of_the_recent_episodes_also_after_a_resume() -> None:
    statistics = TrainingStatistics()
    assert statistics.recent_learner_share is None
    statistics.add_episode(episode(0.0, steps=1000), 1, learner_steps=0)
    for _ in range(RECENT_EPISODES):
        statistics.add_episode(episode(0.0, steps=10), 1, learner_steps=9)
    assert statistics.recent_learner_share == 0.9
    again = loaded(statistics)
    again.add_episode(episode(0.0, steps=10), 1, learner_steps=0)
    assert again.summary()["recent_learner_share"] == 0.81


def test_a_milestones_split_is_that_of_the_soonest_episode() -> None:
    statistics = TrainingStatistics()
    for step in (30, 20, 25):
        one = replace(episode(1.0, starter=step), milestone_frames={"starter": step * 24})
        statistics.add_episode(one, num_envs=2)
    split = statistics.summary()["milestones"]["starter"]
    assert (split["best_step"], split["best_frame"]) == (20, 480)


def test_counters_go_on_after_a_resume() -> None:
    statistics = TrainingStatistics(steps=100)
    statistics.add_episode(episode(2.0, outside=7), 1)
    again = loaded(statistics)
    for one in (statistics, again):
        one.add_episode(episode(4.0, outside=6, lab=9), 1)
    assert again.summary() == statistics.summary()


def test_milestones_stand_in_the_games_order_whichever_episode_reached_them_first() -> None:
    statistics = TrainingStatistics(milestone_order=["outside", "meadow", "lab"])
    statistics.add_episode(episode(1.0, outside=3, lab=9), 1)
    statistics.add_episode(episode(1.0, outside=3, meadow=5), 1)
    assert statistics.milestones_reached == ["outside", "meadow", "lab"]
    assert list(statistics.summary()["milestones"]) == ["outside", "meadow", "lab"]
