"""Strategies: how the steps for which there is advice are shared between the language model and the rules."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol


class StrategyType(StrEnum):
    """The three shares that strategies choose between."""

    LLM_HEAVY = "llm_heavy"
    """80% language model, 20% rules."""
    BALANCED = "balanced"
    """50% language model, 50% rules."""
    RULE_HEAVY = "rule_heavy"
    """20% language model, 80% rules."""

    @property
    def llm_share(self) -> float:
        """The language model's share of the advised side's steps for which there is advice, 0..1."""
        return _LLM_SHARE[self]

    def towards(self, more_llm: bool) -> StrategyType:
        """The next one with more of the language model, or of the rules; itself at the end."""
        order = list(StrategyType)
        return order[min(max(order.index(self) + (-1 if more_llm else 1), 0), len(order) - 1)]


_LLM_SHARE = {StrategyType.LLM_HEAVY: 0.8, StrategyType.BALANCED: 0.5, StrategyType.RULE_HEAVY: 0.2}


class Strategy(Protocol):
    """Shares advised steps. Built with the keywords ``settings``, which may be None, and ``initial``, a StrategyType.

    It is asked at the end of every episode of every environment, in the order in which they end.
    """

    @property
    def name(self) -> str:
        """The strategy in use, as metrics, summaries and people name it: ``llm_heavy`` and the like."""
        ...

    @property
    def share(self) -> float:
        """The language model's share of the steps for which there is advice, 0..1."""
        ...

    @property
    def asks_to_stay(self) -> bool:
        """Whether the curriculum should not go on to its next stage now."""
        ...

    def select(self, performance: Mapping[str, Any]) -> float:
        """Takes in how an episode went, and returns the share from now on.

        Args:
            performance: ``episode_reward``, ``average_reward``, ``episode_length`` (steps), ``llm_usage_rate``,
                ``success`` (whether the episode reached its goal), ``success_rate``, ``strategy_switches``,
                ``curriculum_stage``; and for each side of the episode, or None where it did not act:
                ``llm_efficiency`` and ``rule_efficiency``, the reward that followed on a step of that side's, by
                step, and ``llm_success_rate`` and ``rule_success_rate``, the share of its steps on which some did.
        """
        ...

    def begin_stage(self, preferred: StrategyType | None) -> None:
        """The curriculum has reached a stage; it may prefer a strategy to begin it with."""
        ...

    def get_strategy_stats(self) -> dict[str, Any]:
        """How each strategy has done so far, as plain values."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that decides what comes next, as plain values (JSON)."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        ...
