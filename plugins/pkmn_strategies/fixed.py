"""Strategies that keep one share for the whole training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pkmn_strategies.strategy_records import StrategyRecord
from pkmncli.api import StrategyType


class FixedStrategy:
    """Strategy with a constant share, which counts its results.

    Args:
        settings: unused; all strategies are built alike.
        initial: unused; an adaptive strategy begins with it.
    """

    kind: ClassVar[StrategyType]

    def __init__(self, *, settings: Any = None, initial: StrategyType | None = None) -> None:
        self._record = StrategyRecord(times_chosen=1)

    @property
    def name(self) -> str:
        """The strategy's name."""
        return self.kind.value

    @property
    def share(self) -> float:
        """The language model's share, 0..1."""
        return self.kind.llm_share

    @property
    def asks_to_stay(self) -> bool:
        """False: a fixed share does not depend on stages."""
        return False

    def select(self, performance: Mapping[str, Any]) -> float:
        """Count an episode."""
        self._record.add(performance)
        return self.share

    def begin_stage(self, preferred: StrategyType | None) -> None:
        """Change nothing: a fixed share holds in every stage."""

    def get_strategy_stats(self) -> dict[str, Any]:
        """Return the strategy's results; the keys are those of the adaptive strategy."""
        return {
            "current_strategy": self.name,
            "llm_share": self.share,
            "episodes": self._record.rewards.count,
            "total_switches": 0,
            "strategies": {self.name: self._record.summary()},
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return {"record": self._record.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._record = StrategyRecord.from_state_dict(state["record"])


class LLMHeavy(FixedStrategy):
    """80% language model, 20% rules."""

    kind = StrategyType.LLM_HEAVY


class Balanced(FixedStrategy):
    """50% language model, 50% rules."""

    kind = StrategyType.BALANCED


class RuleHeavy(FixedStrategy):
    """20% language model, 80% rules."""

    kind = StrategyType.RULE_HEAVY
