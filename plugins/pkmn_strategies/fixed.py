"""Strategies that keep one share for the whole training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pkmn_strategies.track_record import TrackRecord
from pkmncli.api import StrategyType


class FixedStrategy:
    """Keeps its share whatever happens, and counts how it does.

    Args:
        settings: none; strategies are all built alike.
        initial: where one that adapts would begin.
    """

    kind: ClassVar[StrategyType]

    def __init__(self, *, settings: Any = None, initial: StrategyType | None = None) -> None:
        self._record = TrackRecord(times_chosen=1)

    @property
    def name(self) -> str:
        """The strategy's own."""
        return self.kind.value

    @property
    def share(self) -> float:
        """Of the language model, 0..1."""
        return self.kind.llm_share

    @property
    def asks_to_stay(self) -> bool:
        """Never: it does not depend on stages."""
        return False

    def select(self, performance: Mapping[str, Any]) -> float:
        """Counts an episode."""
        self._record.add(performance)
        return self.share

    def begin_stage(self, preferred: StrategyType | None) -> None:
        """Changes nothing: who chooses a fixed share wants it in every stage."""

    def get_strategy_stats(self) -> dict[str, Any]:
        """How the strategy has done; the keys are those of the adaptive one."""
        return {
            "current_strategy": self.name,
            "llm_share": self.share,
            "episodes": self._record.rewards.count,
            "total_switches": 0,
            "strategies": {self.name: self._record.summary()},
        }

    def state_dict(self) -> dict[str, Any]:
        """What was counted."""
        return {"record": self._record.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        self._record = TrackRecord.from_state_dict(state["record"])


class LLMHeavy(FixedStrategy):
    """80% language model, 20% rules."""

    kind = StrategyType.LLM_HEAVY


class Balanced(FixedStrategy):
    """50% language model, 50% rules."""

    kind = StrategyType.BALANCED


class RuleHeavy(FixedStrategy):
    """20% language model, 80% rules."""

    kind = StrategyType.RULE_HEAVY
