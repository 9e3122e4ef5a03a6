"""Settings of the pilot ``planning``, the section ``[planning]``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class PlanningSettings(BaseModel):
    """Settings of the pilot ``planning``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    draws: int = Field(
        default=8, ge=1, le=200, description="Hands that are drawn from the cards not seen, for each discard."
    )
    hands: int = Field(
        default=12, ge=1, le=100, description="Typical hands that measure the strength of jokers and levels."
    )
    discard_gain: float = Field(
        default=1.08,
        ge=1.0,
        le=5.0,
        description="Factor by which a discard must raise the expected score, compared with a play now.",
    )
    dollar: float = Field(
        default=0.018,
        ge=0.0,
        le=1.0,
        description="Worth of a dollar: the share by which what it buys should raise the score.",
    )
