"""Settings of the adaptive strategy."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, PositiveInt


class AdaptiveSettings(BaseModel):
    """Settings of ``[adaptive]``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    window_episodes: int = Field(
        default=20, ge=4, le=1_000, description="Latest episodes in which language model and rules are compared"
    )
    min_episodes: int = Field(
        default=6,
        ge=2,
        le=1_000,
        description="Minimum episodes of a comparison, and of a stage of the curriculum after a switch",
    )
    rest_episodes: PositiveInt = Field(default=4, description="Minimum episodes between two switches")
    evidence: float = Field(
        default=3.0,
        gt=0,
        description="Difference that leads to a switch, in standard errors of its mean: Student's t",
    )
    most_switches: PositiveInt = Field(default=2, description="Maximum switches within switch_window_episodes")
    switch_window_episodes: PositiveInt = Field(default=50, description="Episodes over which switches are limited")
    min_reward: float | None = Field(
        default=None,
        description="Average reward below which the language model gets a larger share",
    )
    max_episode_length: PositiveInt | None = Field(
        default=None,
        description="Average length of an episode, in steps, above which the language model gets a larger share",
        json_schema_extra={"unit": "steps"},
    )
