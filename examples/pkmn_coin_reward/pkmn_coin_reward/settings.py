"""Settings of the section ``[coins]``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class CoinSettings(BaseModel):
    """Settings of the reward for money."""

    model_config = ConfigDict(extra="forbid")

    per_thousand: float = Field(1.0, ge=0, allow_inf_nan=False, description="reward for a thousand coins gained")
