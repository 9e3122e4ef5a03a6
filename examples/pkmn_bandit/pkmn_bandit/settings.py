"""Settings of the section ``[bandit]``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class BanditSettings(BaseModel):
    """Settings of the bandit and of its learner."""

    model_config = ConfigDict(extra="forbid")

    arms: int = Field(5, ge=2, le=100, description="arms to choose from")
    pulls: int = Field(2000, ge=1, description="pulls in all")
    save_interval: int = Field(500, ge=1, description="pulls between two checkpoints")
