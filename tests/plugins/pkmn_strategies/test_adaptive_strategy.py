"""The adaptive strategy finds the side whose steps are worth more, and does not waver if there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkmn_strategies import AdaptiveStrategySystem, plugin
from pkmn_strategies.settings import AdaptiveSettings
from pkmncli.api import StrategyType
from pkmncli.errors import ConfigurationError
from pkmncli.testing import check_plugin

seeds = st.integers(0, 2**32 - 1)
starts = st.sampled_from(StrategyType)


def play(
    strategy: AdaptiveStrategySystem, episodes: int, *, llm: float, rule: float, noise: float, seed: int
) -> list[StrategyType]:
    """Play episodes in which a step of each side has a given mean reward; return the strategy after each."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(episodes):
        by_llm, by_rule = llm + noise * random.standard_normal(), rule + noise * random.standard_normal()
        share = strategy.share
        metrics = episode(
            reward=300 * (share * by_llm + (1 - share) * by_rule),
            length=int(random.integers(100, 300)),
            success=bool(random.random() < 0.5),
            llm_efficiency=by_llm,
            rule_efficiency=by_rule,
            llm_success_rate=float(np.clip(0.5 + by_llm, 0, 1)),
            rule_success_rate=float(np.clip(0.5 + by_rule, 0, 1)),
        )
        found.append(strategy.select_strategy(metrics))
    return found


def episode(*, reward: float = 0.0, length: int = 200, success: bool = False, **more: Any) -> dict[str, Any]:
    return {"episode_reward": reward, "average_reward": reward, "episode_length": length, "success": success, **more}


def switches(found: list[StrategyType], initial: StrategyType) -> int:
    return sum(one is not other for one, other in zip([initial, *found], found, strict=False))


@given(seed=seeds, initial=starts)
@pytest.mark.long
def test_advice_that_is_worse_than_the_rules_loses_its_say_within_20_episodes(seed: int, initial: StrategyType) -> None:
    strategy = AdaptiveStrategySystem(initial=initial)
    assert play(strategy, 20, llm=0.05, rule=0.15, noise=0.03, seed=seed)[-1] is StrategyType.RULE_HEAVY


@given(seed=seeds, initial=starts)
@pytest.mark.long
def test_advice_that_is_better_than_the_rules_has_the_say_within_20_episodes(seed: int, initial: StrategyType) -> None:
    strategy = AdaptiveStrategySystem(initial=initial)
    assert play(strategy, 20, llm=0.15, rule=0.05, noise=0.03, seed=seed)[-1] is StrategyType.LLM_HEAVY


@pytest.mark.long
@given(seed=seeds, initial=starts, noise=st.floats(0.001, 100))
def test_noise_makes_it_switch_at_most_twice_in_any_50_episodes(seed: int, initial: StrategyType, noise: float) -> None:
    strategy = AdaptiveStrategySystem(initial=initial)
    found = play(strategy, 120, llm=0.1, rule=0.1, noise=noise, seed=seed)
    changed = np.array([one is not other for one, other in zip([initial, *found], found, strict=False)])
    assert max(np.convolve(changed.astype(int), np.ones(50, int))) <= 2


@pytest.mark.long
def test_noise_seldom_makes_it_switch_at_all() -> None:
    counts = []
    for seed in range(60):
        strategy = AdaptiveStrategySystem(initial=StrategyType.BALANCED)
        counts.append(switches(play(strategy, 50, llm=0.1, rule=0.1, noise=0.1, seed=seed), StrategyType.BALANCED))
    assert np.mean(counts) < 0.5


def test_what_was_learned_of_advice_that_turns_bad_is_unlearned() -> None:
    strategy = AdaptiveStrategySystem(initial=StrategyType.BALANCED)
    assert play(strategy, 60, llm=0.15, rule=0.05, noise=0.03, seed=1)[-1] is StrategyType.LLM_HEAVY
    assert play(strategy, 60, llm=0.05, rule=0.15, noise=0.03, seed=2)[-1] is StrategyType.RULE_HEAVY


def test_a_subclass_that_selects_by_itself_is_obeyed() -> None:
    class Alternating(AdaptiveStrategySystem):
        wanted: Any = StrategyType.RULE_HEAVY

        def select_strategy(self, context: Any) -> StrategyType:
            chosen: StrategyType = self.wanted
            return chosen

    strategy = Alternating()
    assert strategy.select(episode(reward=1.0)) == StrategyType.RULE_HEAVY.llm_share
    stats = strategy.get_strategy_stats()
    assert (stats["episodes"], stats["total_switches"], stats["current_strategy"]) == (1, 1, "rule_heavy")
    strategy.wanted = None
    with pytest.raises(ConfigurationError, match=r"Alternating\.select_strategy returned None, which is no strategy"):
        strategy.select(episode(reward=1.0))


def test_without_advice_there_is_nothing_to_adapt_to() -> None:
    strategy = AdaptiveStrategySystem()
    for number in range(40):
        strategy.select(episode(reward=number, llm_efficiency=None, rule_efficiency=0.1))
    assert strategy.current_strategy is StrategyType.LLM_HEAVY


@pytest.mark.parametrize(
    ("before", "after"),
    [({"reward": 100.0}, {"reward": 10.0}), ({"length": 90, "success": True}, {"length": 280, "success": True})],
)
def test_it_goes_back_to_a_strategy_that_was_better(before: dict[str, Any], after: dict[str, Any]) -> None:
    """If the sides' steps are alike, whole episodes decide: higher reward, or a shorter way to the goal."""
    strategy = AdaptiveStrategySystem(initial=StrategyType.LLM_HEAVY)
    for number in range(8):
        strategy.select(episode(**{**before, "reward": before.get("reward", 0.0) + number % 2}))
    strategy.begin_stage(StrategyType.BALANCED)
    for number in range(8):
        strategy.select(episode(**{**after, "reward": after.get("reward", 0.0) + number % 2}))
    assert strategy.current_strategy is StrategyType.LLM_HEAVY


def test_long_failures_are_not_held_against_a_strategy_by_their_length() -> None:
    strategy = AdaptiveStrategySystem(initial=StrategyType.LLM_HEAVY)
    for length in (90, 280):
        for number in range(8):
            strategy.select(episode(length=length + number % 2, reward=float(number % 2)))
        strategy.begin_stage(StrategyType.BALANCED)
    assert strategy.current_strategy is StrategyType.BALANCED


@pytest.mark.parametrize(
    ("settings", "kept"),
    [({"min_reward": 5.0}, False), ({"max_episode_length": 150}, False), ({"min_reward": -5.0}, True), ({}, True)],
)
def test_thresholds_of_reward_and_length_ask_for_more_advice(settings: dict[str, Any], kept: bool) -> None:
    strategy = AdaptiveStrategySystem(settings=AdaptiveSettings(**settings), initial=StrategyType.RULE_HEAVY)
    for _ in range(6):
        strategy.select(episode(reward=1.0, length=200))
    assert (strategy.current_strategy is StrategyType.RULE_HEAVY) is kept


def test_the_decision_history_tells_whose_patterns_succeed_where_the_metrics_do_not() -> None:
    class Analyzer:
        def analyze_patterns(self, min_frequency: int = 3) -> list[dict[str, Any]]:
            return [
                {"success_rate": 0.9, "sources": {"rule": 30, "llm": 1}},
                {"success_rate": 0.2, "sources": {"rule": 1, "llm": 30}},
                {"success_rate": None, "sources": {"llm": 2}},
            ]

    strategy = AdaptiveStrategySystem(history_analyzer=Analyzer())
    for _ in range(20):
        strategy.select_strategy(episode())
    assert strategy.current_strategy is StrategyType.RULE_HEAVY


def test_switching_can_be_overridden_as_the_documents_do() -> None:
    class CustomStrategySystem(AdaptiveStrategySystem):
        def _should_switch_strategy(self, performance_metrics: Mapping[str, Any]) -> StrategyType | None:
            if performance_metrics["episode_reward"] < 10:
                return StrategyType.LLM_HEAVY
            elif performance_metrics["llm_usage_rate"] > 0.8:
                return StrategyType.BALANCED
            return None

    strategy = CustomStrategySystem()
    assert strategy.select_strategy({"episode_reward": 50.0, "llm_usage_rate": 0.9}) is StrategyType.BALANCED
    assert strategy.select_strategy({"episode_reward": 50.0, "llm_usage_rate": 0.4}) is StrategyType.BALANCED
    assert strategy.select({"episode_reward": 5.0, "llm_usage_rate": 0.4}) == 0.8
    assert strategy.select_strategy({"current_goal": "anything"}) is StrategyType.LLM_HEAVY
    assert strategy.get_strategy_stats()["total_switches"] == 2


def test_statistics_are_kept_for_each_strategy() -> None:
    strategy = AdaptiveStrategySystem()
    for reward, success in ((1.0, True), (3.0, False)):
        strategy.select(episode(reward=reward, length=100, success=success, llm_usage_rate=0.4))
    strategy.begin_stage(StrategyType.RULE_HEAVY)
    strategy.select(episode(reward=7.0))
    stats = strategy.get_strategy_stats()
    assert stats["current_strategy"] == "rule_heavy"
    assert stats["switches"] == [{"episode": 2, "from": "llm_heavy", "to": "rule_heavy"}]
    assert stats["strategies"]["llm_heavy"] == {
        "episodes": 2,
        "times_chosen": 1,
        "average_reward": 2.0,
        "best_reward": 3.0,
        "average_length": 100.0,
        "average_llm_usage": 0.4,
        "success_rate": 0.5,
    }
    assert stats["strategies"]["rule_heavy"]["episodes"] == 1
    assert stats["strategies"]["balanced"]["average_reward"] is None


def test_a_stage_never_gives_the_language_model_more_to_say() -> None:
    strategy = AdaptiveStrategySystem(initial=StrategyType.BALANCED)
    for preferred in (StrategyType.LLM_HEAVY, None, StrategyType.BALANCED):
        strategy.begin_stage(preferred)
        assert strategy.current_strategy is StrategyType.BALANCED
    strategy.begin_stage(StrategyType.RULE_HEAVY)
    assert strategy.share == 0.2


def test_it_asks_to_stay_in_a_stage_until_a_switch_can_be_judged() -> None:
    strategy = AdaptiveStrategySystem()
    assert not strategy.asks_to_stay
    strategy.begin_stage(StrategyType.BALANCED)
    asked = []
    for _ in range(7):
        asked.append(strategy.asks_to_stay)
        strategy.select(episode())
    assert asked == [True] * 6 + [False]


@given(seed=seeds, cut=st.integers(0, 60))
@pytest.mark.long
def test_a_saved_strategy_goes_on_as_if_nothing_had_happened(seed: int, cut: int) -> None:
    whole = AdaptiveStrategySystem()
    play(whole, cut, llm=0.1, rule=0.2, noise=0.1, seed=seed)
    resumed = AdaptiveStrategySystem()
    resumed.load_state_dict(json.loads(json.dumps(whole.state_dict())))
    assert play(whole, 30, llm=0.3, rule=0.2, noise=0.1, seed=seed + 1) == play(
        resumed, 30, llm=0.3, rule=0.2, noise=0.1, seed=seed + 1
    )
    assert whole.state_dict() == resumed.state_dict()
    assert whole.get_strategy_stats() == resumed.get_strategy_stats()


def test_the_plugin_keeps_the_contracts() -> None:
    entries = check_plugin(plugin)
    assert [(entry.kind, entry.name) for entry in entries] == [
        ("strategies", name) for name in ("adaptive", "balanced", "llm-heavy", "rule-heavy")
    ]
    shares = {entry.name: entry.load()(settings=None, initial=StrategyType.BALANCED).share for entry in entries}
    assert shares == {"adaptive": 0.5, "balanced": 0.5, "llm-heavy": 0.8, "rule-heavy": 0.2}


def test_a_fixed_strategy_keeps_its_share_and_counts() -> None:
    (registration,) = [entry for entry in check_plugin(plugin) if entry.name == "llm-heavy"]
    strategy = registration.load()()
    for number in range(30):
        assert strategy.select(episode(reward=number, llm_efficiency=0.0, rule_efficiency=1.0)) == 0.8
    strategy.begin_stage(StrategyType.RULE_HEAVY)
    assert (strategy.name, strategy.share, strategy.asks_to_stay) == ("llm_heavy", 0.8, False)
    resumed = registration.load()()
    resumed.load_state_dict(json.loads(json.dumps(strategy.state_dict())))
    assert resumed.get_strategy_stats() == strategy.get_strategy_stats()
    assert resumed.get_strategy_stats()["strategies"]["llm_heavy"]["average_reward"] == 14.5
