"""Types of settings that decide how much memory a learner takes: larger ones than these fail, or never end."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Features = Annotated[int, Field(ge=1, le=65_536)]
"""Numbers in a layer of a network."""

Layers = Annotated[tuple[Features, ...], Field(max_length=16)]
"""Widths of hidden layers, in order."""

Channels = Annotated[int, Field(ge=1, le=4_096)]
"""Channels of a convolution."""

Horizon = Annotated[int, Field(ge=1, le=5_000)]
"""Steps ahead; the cost grows with their square."""

Steps = Annotated[int, Field(ge=1, le=1_000_000)]
"""Steps that a learner holds in memory at once."""
