"""Settings of start states: the game's start, or points that an earlier episode reached."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class StartsSettings(BaseModel):
    """Settings under ``[starts]``. The other episodes begin at the game's start, or ``init_state``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    furthest: float = Field(
        default=0.0, ge=0, le=1, description="share of episodes that begin at the furthest milestone reached in the run"
    )
    reached: float = Field(
        default=0.0, ge=0, le=1, description="share of episodes that begin at any of the milestones reached in the run"
    )

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        if self.furthest + self.reached > 1:
            raise ValueError(f"furthest and reached are {self.furthest + self.reached:g} together: at most 1")
        return self

    @property
    def enabled(self) -> bool:
        """True if some episodes begin elsewhere."""
        return self.furthest + self.reached > 0
