"""Settings of the section ``[patches]``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, PositiveInt


class PatchSettings(BaseModel):
    """Sizes of the encoder."""

    model_config = ConfigDict(extra="forbid")

    patch_pixels: PositiveInt = Field(8, description="side of a patch, in pixels of the half-size screen")
    patch_features: int = Field(32, ge=4, multiple_of=4, description="numbers that describe a patch")
    vector_features: PositiveInt = Field(64, description="numbers that describe the state variables")
