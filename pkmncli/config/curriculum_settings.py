"""Settings of the curriculum: its stages, what it takes to leave one, and where episodes begin."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pkmncli.api.strategies import StrategyType
from pkmncli.config.option import Heading, Option

ADAPTIVE: Literal["adaptive"] = "adaptive"


class Stage(BaseModel):
    """One stage. The keys are those of the documents."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    reward_threshold: float = Field(description="mean reward of the measured episodes that it takes to leave the stage")
    llm_confidence: float = Field(
        ge=0,
        le=1,
        description="trust: the learner acts where its confidence is above this times the advised side's",
    )
    min_episodes: int | None = Field(default=None, ge=1, description="episodes that the stage lasts at least")
    strategy_preference: Literal["llm_heavy", "balanced", "rule_heavy", "adaptive"] = Field(
        default=ADAPTIVE,
        description="strategy that the stage begins with, where that gives the language model no more to say",
    )

    @field_validator("strategy_preference", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @property
    def preferred(self) -> StrategyType | None:
        """The strategy to begin with; None for that in use."""
        return None if self.strategy_preference == ADAPTIVE else StrategyType(self.strategy_preference)


DEFAULT_STAGES = (
    Stage(reward_threshold=50, llm_confidence=0.9, strategy_preference="llm_heavy"),
    Stage(reward_threshold=100, llm_confidence=0.7, strategy_preference="balanced"),
    Stage(reward_threshold=200, llm_confidence=0.5, strategy_preference="rule_heavy"),
    Stage(reward_threshold=500, llm_confidence=0.3, strategy_preference="adaptive"),
)
"""Those of the documents."""


class CurriculumSettings(BaseModel):
    """What a user may set under ``[curriculum]``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    enabled: Annotated[
        bool,
        Option(Heading.DECIDERS, "Trust the learner more, stage by stage.", names=("--curriculum/--no-curriculum",)),
    ] = Field(default=True, description="use a curriculum; without one, trust in the advised side stays at 0.9")
    stages: tuple[Stage, ...] = Field(
        default=DEFAULT_STAGES,
        min_length=1,
        description="tables of reward_threshold, llm_confidence, and perhaps min_episodes and strategy_preference",
    )
    measure: Literal["greedy", "training"] = Field(
        default="greedy",
        description="what is measured: episodes of their own that the learner plays alone, or those of the training",
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
        description="greedy episodes that are played each time, from starts of seeds that the training does not have",
        json_schema_extra={"unit": "episodes"},
    )
    measure_idle_steps: int = Field(
        default=300,
        ge=1,
        description="steps without reward after which a greedy episode is broken off: it got nowhere",
        json_schema_extra={"unit": "steps"},
    )
    window_episodes: int = Field(default=10, ge=2, le=1_000, description="latest measured episodes that count")
    min_episodes: int = Field(default=10, ge=1, description="episodes of the training that a stage lasts at least")
    max_deviation: float = Field(
        default=0.2,
        ge=0,
        description="standard deviation of the measured rewards at most, as a share of their mean",
    )
    advancement_patience: int | None = Field(
        default=20,
        ge=1,
        description="measured episodes without advancing after which trust sinks to the next stage's anyway",
    )
    confidence_decay_rate: float = Field(
        default=0.0, ge=0, le=1, description="share by which trust sinks with each episode, down to the next stage's"
    )

    @model_validator(mode="after")
    def _stages_get_harder(self) -> Self:
        trusts = [stage.llm_confidence for stage in self.stages]
        if trusts != sorted(trusts, reverse=True):
            raise ValueError(f"llm_confidence must not rise from stage to stage: {', '.join(map(str, trusts))}")
        return self
