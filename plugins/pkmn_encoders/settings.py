"""Settings of the encoder ``embedding``, each with its unit.

[own] is chosen here; the sizes of the part that reads screens are those of the learners.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from pkmncli.learners.sizes import Channels, Features


class EmbeddingSettings(BaseModel):
    """Settings of ``[embedding]``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    category_features: Features = Field(8, description="Learned numbers per category [own]")
    vector_features: Features = Field(64, description="Numbers that describe the state variables [own: as dqn's]")
    vector_layers: PositiveInt = Field(1, le=8, description="Layers that compute these [own]")
    layer_norm: bool = Field(
        True,
        description="Normalise the output of each of those layers [own: as the default does]",
    )
    screen_channels: tuple[Channels, Channels] = Field(
        (32, 64), description="Channels of the two convolutions on the screen [own: as dqn's]"
    )
    screen_features: Features = Field(256, description="Numbers that describe the screen [own: as dqn's]")
    map_channels: tuple[Channels, Channels] = Field(
        (16, 32), description="Channels of the two convolutions on the map of bits [own: as dqn's]"
    )
    map_features: Features = Field(64, description="Numbers that describe the map of bits [own: as dqn's]")
