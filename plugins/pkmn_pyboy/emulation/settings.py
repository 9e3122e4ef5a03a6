"""Settings of every environment on the emulator, for any game."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from pkmncli.api import PROVIDED
from pkmncli.errors import ConfigurationError, first_fault

_Settings = TypeVar("_Settings", bound=BaseModel)


MOST_NOOPS = 36_000
"""Ten minutes of the game, in frames."""


class EmulationSettings(BaseModel):
    """Settings of an image: emulation, observation and start."""

    screen: Literal["rgb", "packed"] = Field(
        default="rgb",
        description="Screens as RGB (144, 160, 3) or packed: every second pixel, 4 bits each (72, 40).",
        json_schema_extra=PROVIDED,
    )
    sticky_probability: float = Field(
        default=0.0,
        ge=0.0,
        lt=1.0,
        description="Probability that a step repeats the previous action, if it is allowed.",
    )
    seed_noops: tuple[int, int] = Field(
        default=(0, 600),
        description="Minimum and maximum of the random number of idle frames before the first step.",
    )
    start_state: Path | None = Field(
        default=None, description="File of the saved state in which episodes start.", json_schema_extra=PROVIDED
    )
    cartridge: Path | None = Field(
        default=None,
        description="File of a battery save with the saved game in which episodes start; read only.",
        json_schema_extra=PROVIDED,
    )
    headless: bool = Field(default=True, description="Run without a window.", json_schema_extra=PROVIDED)
    emulation_speed: int = Field(
        default=0, ge=0, le=100, description="Speed with a window, in times real speed; 0 for no limit."
    )
    render_mode: Literal["rgb_array"] | None = Field(
        default=None, description="Set it to make `render` return pictures.", json_schema_extra=PROVIDED
    )

    @model_validator(mode="after")
    def _noops_in_order(self) -> Self:
        low, high = self.seed_noops
        if not 0 <= low <= high <= MOST_NOOPS:
            raise ValueError(f"seed_noops must be two numbers of frames, 0 to {MOST_NOOPS:,}, the lower one first")
        return self


def settings_from(model: type[_Settings], values: dict[str, Any], section: str = "") -> _Settings:
    """Return settings from keywords, as given to ``gymnasium.make``.

    Raises:
        ConfigurationError: a setting is unknown or out of range, in one line.
    """
    try:
        return model(**values)
    except ValidationError as error:
        fault = first_fault(error, *section.split(), everything="of the environment")
        raise ConfigurationError(f"Setting {fault}") from None
