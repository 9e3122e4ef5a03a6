"""Contract of strategies, which share the steps with advice between language model and rules."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol


class StrategyType(StrEnum):
    """Shares that strategies choose between."""

    LLM_HEAVY = "llm_heavy"
    """80% language model, 20% rules."""
    BALANCED = "balanced"
    """50% language model, 50% rules."""
    RULE_HEAVY = "rule_heavy"
    """20% language model, 80% rules."""

    @property
    def llm_share(self) -> float:
        """Share of the language model in the advised side's steps with advice, 0..1."""
        return _LLM_SHARE[self]

    def towards(self, more_llm: bool) -> StrategyType:
        """Return the next share with more of the language model, or of the rules; itself at the end."""
        order = list(StrategyType)
        return order[min(max(order.index(self) + (-1 if more_llm else 1), 0), len(order) - 1)]


_LLM_SHARE = {StrategyType.LLM_HEAVY: 0.8, StrategyType.BALANCED: 0.5, StrategyType.RULE_HEAVY: 0.2}


class Strategy(Protocol):
    """Strategy that shares advised steps.

    Built with the keywords ``settings``, which may be None, and ``initial``, a StrategyType.

    It is asked at the end of every episode of every environment, in the order in which they end.
    """

    @property
    def name(self) -> str:
        """Name of the strategy in use, for metrics, summaries and people, such as ``llm_heavy``."""
        ...

    @property
    def share(self) -> float:
        """Share of the language model in the steps with advice, 0..1."""
        ...

    @property
    def asks_to_stay(self) -> bool:
        """True if the curriculum should not advance to its next stage now."""
        ...

    def select(self, performance: Mapping[str, Any]) -> float:
        """Take in the results of an episode, and return the share from now on.

        Args:
            performance: ``episode_reward``, ``average_reward``, ``episode_length`` (steps), ``llm_usage_rate``,
                ``success`` (whether the episode was a success) and ``success_rate``, None if unknown,
                ``strategy_switches``, ``curriculum_stage``; and for each side, or None where it did not act:
                ``llm_efficiency`` and ``rule_efficiency``, the reward per step, and ``llm_success_rate`` and
                ``rule_success_rate``, the share of steps with a reward. Steps back from advice are charged to it.
        """
        ...

    def begin_stage(self, preferred: StrategyType | None) -> None:
        """Begin a stage of the curriculum, which may prefer a strategy for it."""
        ...

    def get_strategy_stats(self) -> dict[str, Any]:
        """Return the results of each strategy so far, as plain values."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values (JSON)."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        ...
