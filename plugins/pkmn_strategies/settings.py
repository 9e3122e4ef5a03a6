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
        description="Episodes that a comparison takes at least, and a stage of the curriculum after a switch",
    )
    rest_episodes: PositiveInt = Field(default=4, description="Episodes between two switches at least")
    evidence: float = Field(
        default=3.0,
        gt=0,
        description="Difference that leads to a switch, in standard errors of its mean: Student's t",
    )
    most_switches: PositiveInt = Field(default=2, description="Switches within switch_window_episodes at most")
    switch_window_episodes: PositiveInt = Field(default=50, description="Episodes over which switches are limited")
    min_reward: float | None = Field(
        default=None,
        description="Average reward below which the language model is given more to say",
    )
    max_episode_length: PositiveInt | None = Field(
        default=None,
        description="Average length of an episode, in steps, above which the language model is given more to say",
        json_schema_extra={"unit": "steps"},
    )
