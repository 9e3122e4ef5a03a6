"""The adaptive strategy: a larger share for the language model while it brings more than the rules do."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pkmn_strategies.strategy_records import StrategyRecord, t_of_difference, t_of_mean
from pkmncli.api import StrategyType
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from pkmn_strategies.settings import AdaptiveSettings

KEPT_SWITCHES = 20

_RATES = ("llm_success_rate", "rule_success_rate")


class History(Protocol):
    """The decision history, if there is one: a DecisionHistoryAnalyzer."""

    def analyze_patterns(self, min_frequency: int = 3) -> Sequence[Mapping[str, Any]]:
        """Return patterns with ``success_rate`` and ``sources``, the number of decisions of each side."""
        ...


class AdaptiveStrategySystem:
    """Strategy that moves between LLM_HEAVY, BALANCED and RULE_HEAVY, one step at a time, by the results of episodes.

    In each episode it compares what advice and rules earned per step, by amount (efficiency) and by how often there was
    any reward (success patterns). The training counts both, in the same way as for the budget of advice. If the
    difference over the latest episodes is too large for chance, it moves that way. If the sides are alike, it returns
    to a strategy under which reward or length of episodes was better, and then checks the thresholds of reward and
    length, if any are set.

    A switch needs ``evidence``, a few episodes since the switch before, and at most ``most_switches`` in
    ``switch_window_episodes``, so that noise does not cause repeated switches.

    Override :meth:`_should_switch_strategy` or :meth:`select_strategy` for other rules.

    Args:
        history_analyzer: gives the success of both sides if performance metrics do not.
        goal_planner: kept for subclasses.
        settings: of the section ``[adaptive]``; None for defaults.
        initial: the first strategy.
    """

    def __init__(
        self,
        history_analyzer: History | None = None,
        goal_planner: Any = None,
        *,
        settings: AdaptiveSettings | None = None,
        initial: StrategyType = StrategyType.LLM_HEAVY,
    ) -> None:
        if settings is None:
            from pkmn_strategies.settings import AdaptiveSettings  # noqa: PLC0415 - pydantic, on first use

            settings = AdaptiveSettings()
        self.settings = settings
        self.history_analyzer = history_analyzer
        self.goal_planner = goal_planner
        self.current_strategy = StrategyType(initial)
        self._records = {strategy: StrategyRecord() for strategy in StrategyType}
        self._records[self.current_strategy].times_chosen = 1
        self._episodes = 0
        self._switches: list[tuple[int, str, str]] = []
        """Episode, from, to, of the latest switches."""
        self._total_switches = 0
        self._efficiency_gaps: deque[float] = deque(maxlen=settings.window_episodes)
        self._success_gaps: deque[float] = deque(maxlen=settings.window_episodes)

    # Called by the training ------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The strategy in use."""
        return self.current_strategy.value

    @property
    def share(self) -> float:
        """The language model's share of the steps for which there is advice, 0..1."""
        return self.current_strategy.llm_share

    @property
    def asks_to_stay(self) -> bool:
        """True while a switch is too recent to be judged."""
        return self._total_switches > 0 and self._since_switch < self.settings.min_episodes

    def select(self, performance: Mapping[str, Any]) -> float:
        """Take in an episode, use the strategy of :meth:`select_strategy`, and return the language model's share.

        Raises:
            ConfigurationError: a subclass's ``select_strategy`` returned no strategy.
        """
        before = self._episodes
        wanted = self.select_strategy(performance)
        if self._episodes == before:  # a subclass decided without this class
            self._count(performance)
        if wanted not in list(StrategyType):
            raise ConfigurationError(f"{type(self).__name__}.select_strategy returned {wanted!r}, which is no strategy")
        if wanted != self.current_strategy:
            self._switch(StrategyType(wanted))
        return self.share

    def select_strategy(self, context: Mapping[str, Any]) -> StrategyType:
        """Return the strategy to use from now on.

        Args:
            context: performance metrics of an episode that has ended, each counted once; without ``episode_reward``
                the strategy in use is returned.
        """
        if "episode_reward" not in context:
            return self.current_strategy
        metrics = self._with_history(context)
        self._count(metrics)
        wanted = self._should_switch_strategy(metrics)
        if wanted is not None and wanted is not self.current_strategy:
            self._switch(StrategyType(wanted))
        return self.current_strategy

    def begin_stage(self, preferred: StrategyType | None) -> None:
        """Take the strategy that a stage of the curriculum prefers, unless it has a larger share of the model."""
        if preferred is not None and preferred.llm_share < self.share:
            self._switch(preferred)

    def get_strategy_stats(self) -> dict[str, Any]:
        """Return statistics: the strategy in use, its switches, the worth of advice, and the results of each strategy.

        ``advice_gain`` is the reward per step of advice less that of the rules, over the latest episodes; None if
        unknown.
        """
        gaps = self._efficiency_gaps
        return {
            "current_strategy": self.name,
            "llm_share": self.share,
            "episodes": self._episodes,
            "episodes_since_switch": self._since_switch,
            "total_switches": self._total_switches,
            "switches": [
                {"episode": episode, "from": before, "to": after} for episode, before, after in self._switches
            ],
            "advice_gain": sum(gaps) / len(gaps) if gaps else None,
            "strategies": {strategy.value: record.summary() for strategy, record in self._records.items()},
        }

    # When to switch --------------------------------------------------------------------------------------------------

    def _should_switch_strategy(self, performance_metrics: Mapping[str, Any]) -> StrategyType | None:
        """Return the strategy to switch to, None to stay. Called after each episode, with its performance metrics."""
        if not self._may_switch():
            return None
        by_sides = self._by_sides()
        if abs(by_sides) >= self.settings.evidence:
            return self.current_strategy.towards(more_llm=by_sides > 0)
        if abs(by_sides) < 1:  # alike, or unknown: the results of whole episodes decide
            return self._by_episodes() or self._by_thresholds(performance_metrics)
        return None

    def _may_switch(self) -> bool:
        settings = self.settings
        first = self._episodes - settings.switch_window_episodes
        lately = sum(episode > first for episode, _before, _after in self._switches)
        rested = not self._switches or self._since_switch >= settings.rest_episodes
        return rested and lately < settings.most_switches

    def _by_sides(self) -> float:
        """Return Student's t of the language model's steps bringing more than the rules' (below 0: less)."""
        found = [
            t_of_mean(gaps)
            for gaps in (self._efficiency_gaps, self._success_gaps)
            if len(gaps) >= self.settings.min_episodes
        ]
        return max(found, key=abs, default=0.0)

    def _by_episodes(self) -> StrategyType | None:
        own = self._records[self.current_strategy]
        least = self.settings.min_episodes
        for measure, sign in (("rewards", 1.0), ("lengths", -1.0)):
            mine = getattr(own, measure)
            for strategy, record in self._records.items():
                others = getattr(record, measure)
                if strategy is self.current_strategy or min(mine.count, others.count) < least:
                    continue
                if sign * t_of_difference(others, mine) >= self.settings.evidence:
                    return self.current_strategy.towards(more_llm=strategy.llm_share > self.share)
        return None

    def _by_thresholds(self, metrics: Mapping[str, Any]) -> StrategyType | None:
        settings, own = self.settings, self._records[self.current_strategy]
        if own.rewards.count < settings.min_episodes:
            return None
        reward = metrics.get("average_reward")
        poor = settings.min_reward is not None and reward is not None and reward < settings.min_reward
        length = own.all_steps / own.rewards.count
        slow = settings.max_episode_length is not None and length > settings.max_episode_length
        return self.current_strategy.towards(more_llm=True) if poor or slow else None

    # Inside ----------------------------------------------------------------------------------------------------------

    @property
    def _since_switch(self) -> int:
        return self._episodes - (self._switches[-1][0] if self._switches else 0)

    def _count(self, metrics: Mapping[str, Any]) -> None:
        """Count an episode's metrics for the strategy in use."""
        self._episodes += 1
        self._records[self.current_strategy].add(metrics)
        _add_gap(self._efficiency_gaps, metrics.get("llm_efficiency"), metrics.get("rule_efficiency"))
        _add_gap(self._success_gaps, *(metrics.get(name) for name in _RATES))

    def _switch(self, wanted: StrategyType) -> None:
        self._switches.append((self._episodes, self.name, wanted.value))
        del self._switches[: -max(KEPT_SWITCHES, self.settings.most_switches)]
        self._total_switches += 1
        self.current_strategy = wanted
        self._records[wanted].times_chosen += 1

    def _with_history(self, context: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the metrics with the success of both sides; if they have none, that of the decision history."""
        if self.history_analyzer is None or any(context.get(name) is not None for name in _RATES):
            return context
        patterns = self.history_analyzer.analyze_patterns(min_frequency=3)
        rates = {f"{side}_success_rate": _success_of(side, patterns) for side in ("llm", "rule")}
        return {**context, **rates}

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "current_strategy": self.name,
            "records": {strategy.value: record.state_dict() for strategy, record in self._records.items()},
            "episodes": self._episodes,
            "switches": [list(switch) for switch in self._switches],
            "total_switches": self._total_switches,
            "efficiency_gaps": list(self._efficiency_gaps),
            "success_gaps": list(self._success_gaps),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.current_strategy = StrategyType(state["current_strategy"])
        self._records = {
            strategy: StrategyRecord.from_state_dict(state["records"][strategy.value]) for strategy in StrategyType
        }
        self._episodes = int(state["episodes"])
        self._switches = [(int(episode), before, after) for episode, before, after in state["switches"]]
        self._total_switches = int(state["total_switches"])
        window = self.settings.window_episodes
        self._efficiency_gaps = deque(state["efficiency_gaps"], maxlen=window)
        self._success_gaps = deque(state["success_gaps"], maxlen=window)


def _add_gap(gaps: deque[float], llm: float | None, rule: float | None) -> None:
    if llm is not None and rule is not None:
        gaps.append(float(llm) - float(rule))


def _success_of(side: str, patterns: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the mean success rate of the patterns that a side decided, weighted by how often it did."""
    total = weight = 0.0
    for pattern in patterns:
        count, rate = pattern.get("sources", {}).get(side, 0), pattern.get("success_rate")
        if count and rate is not None:
            total, weight = total + count * float(rate), weight + count
    return total / weight if weight else None
