"""Settings of the hand-over: how the learner's confidence is computed."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class HandOverSettings(BaseModel):
    """Settings under ``[hand_over]``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    by: Literal["situation", "all", "values"] = Field(
        default="situation",
        description="scope of the learner's confidence: each kind of situation, or all of them together; "
        "with values it comes from the learner's predicted values",
    )
    memory: int = Field(
        default=500, ge=10, description="number of latest choices of a situation whose agreement counts"
    )
    doubt: float = Field(default=20.0, ge=0, description="choices that count as wrong before there are any")
    horizon: int = Field(default=32, ge=1, le=1_000, description="steps of reward by which a step is judged")
    outcome_memory: int = Field(
        default=4_000, ge=10, description="number of latest steps of a side whose outcome counts"
    )
    outcome_doubt: float = Field(
        default=50.0,
        gt=0,
        description="periods of `horizon` steps after which the outcome weighs as much as the agreement",
    )
    idle_steps: int = Field(
        default=150, ge=1, description="steps without reward after which the rules decide until the next reward"
    )
