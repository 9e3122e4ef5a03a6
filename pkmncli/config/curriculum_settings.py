"""Settings of the curriculum: its stages, and the conditions for leaving them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pkmncli.api.strategies import StrategyType
from pkmncli.config.option import Heading, Option

ADAPTIVE: Literal["adaptive"] = "adaptive"


class Stage(BaseModel):
    """A stage. Its keys are part of the documented API."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    reward_threshold: float = Field(
        description="mean reward of the measured episodes that is needed to leave the stage"
    )
    llm_confidence: float = Field(
        ge=0,
        le=1,
        description="trust: the learner acts where its confidence is above this times the advised side's",
    )
    min_episodes: int | None = Field(default=None, ge=1, description="episodes that the stage lasts at least")
    strategy_preference: Literal["llm_heavy", "balanced", "rule_heavy", "adaptive"] = Field(
        default=ADAPTIVE,
        description="strategy that the stage begins with, unless it would give the language model a larger share",
    )

    @field_validator("strategy_preference", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @property
    def preferred(self) -> StrategyType | None:
        """Strategy to begin with; None to keep the current one."""
        return None if self.strategy_preference == ADAPTIVE else StrategyType(self.strategy_preference)


DEFAULT_STAGES = (
    Stage(reward_threshold=50, llm_confidence=0.9, strategy_preference="llm_heavy"),
    Stage(reward_threshold=100, llm_confidence=0.7, strategy_preference="balanced"),
    Stage(reward_threshold=200, llm_confidence=0.5, strategy_preference="rule_heavy"),
    Stage(reward_threshold=500, llm_confidence=0.3, strategy_preference="adaptive"),
)
"""Documented default stages."""


class CurriculumSettings(BaseModel):
    """Settings under ``[curriculum]``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    enabled: Annotated[
        bool,
        Option(Heading.DECIDERS, "Trust the learner more, stage by stage.", names=("--curriculum/--no-curriculum",)),
    ] = Field(default=True, description="use a curriculum; without one, trust in the advised side stays at 0.9")
    stages: tuple[Stage, ...] = Field(
        default=DEFAULT_STAGES,
        min_length=1,
        description="tables of reward_threshold, llm_confidence, and optionally min_episodes and strategy_preference",
    )
    measure: Literal["greedy", "training"] = Field(
        default="greedy",
        description="measured episodes: separate ones that the learner plays alone, or those of the training",
    )
    measure_interval: int = Field(
        default=10,
        ge=1,
        description="episodes of the training between two greedy ones",
        json_schema_extra={"unit": "episodes"},
    )
    measure_starts: int = Field(
        default=5,
        ge=1,
        description="greedy episodes of each measurement, from start states that training does not use",
        json_schema_extra={"unit": "episodes"},
    )
    measure_idle_steps: int = Field(
        default=300,
        ge=1,
        description="steps without reward after which a greedy episode is stopped",
        json_schema_extra={"unit": "steps"},
    )
    window_episodes: int = Field(
        default=10, ge=2, le=1_000, description="number of latest measured episodes that count"
    )
    min_episodes: int = Field(default=10, ge=1, description="episodes of the training that a stage lasts at least")
    max_deviation: float = Field(
        default=0.2,
        ge=0,
        description="maximum standard deviation of the measured rewards, as a share of their mean",
    )
    advancement_patience: int | None = Field(
        default=20,
        ge=1,
        description="measured episodes without advancing after which trust falls to the next stage's anyway",
    )
    confidence_decay_rate: float = Field(
        default=0.0, ge=0, le=1, description="share by which trust falls with each episode, down to the next stage's"
    )

    @model_validator(mode="after")
    def _stages_get_harder(self) -> Self:
        trusts = [stage.llm_confidence for stage in self.stages]
        if trusts != sorted(trusts, reverse=True):
            raise ValueError(f"llm_confidence must not rise from stage to stage: {', '.join(map(str, trusts))}")
        return self
