"""Settings of the environment for any Game Boy image, the section ``[gameboy]`` of a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pkmn_pyboy.emulation.rom import RomImage, load_rom
from pkmn_pyboy.emulation.settings import EmulationSettings
from pkmncli.api import PROVIDED
from pkmncli.errors import ConfigurationError, RomError


class NoveltySettings(BaseModel):
    """Settings of the reward for new screens, and of which screens count as the same."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    new_screen: float = Field(default=1.0, ge=0.0, description="Reward for a screen not seen before in the episode.")
    half_life_screens: int = Field(
        default=200, ge=0, description="New screens of an episode after which one is worth half; 0 for no decay."
    )
    cell_pixels: Literal[8, 16] = Field(
        default=16, description="Edge in pixels of the squares whose mean brightness distinguishes screens."
    )
    levels: int = Field(default=4, ge=2, le=16, description="Shades of brightness that are distinguished.")


class GameBoySettings(EmulationSettings, NoveltySettings):
    """Settings of the environment for any image, of which only the screen is known."""

    pilots: ClassVar[tuple[str, ...]] = ()
    """Pilots that can play the environment: none."""

    rom_path: Path | None = Field(default=None, description="Cartridge image; required.", json_schema_extra=PROVIDED)
    observation_type: Literal["multi_modal", "screen", "state"] = Field(
        default="screen", description="Only the screen can be observed; `state` is refused.", json_schema_extra=PROVIDED
    )
    max_steps_per_episode: int | None = Field(
        default=None, ge=1, description="Steps after which an episode is truncated; 2,000.", json_schema_extra=PROVIDED
    )
    goal: str | None = Field(
        default=None, description="There are no milestones, so there is no goal.", json_schema_extra=PROVIDED
    )
    action_frames: int = Field(default=24, ge=2, le=600, description="Frames of an action.")
    hold_frames: int = Field(default=10, ge=1, le=599, description="Frames that a button is held.")
    start_frames: int = Field(
        default=300, ge=1, le=100_000, description="Frames from power-on to the start of episodes."
    )

    def image(self) -> RomImage:
        """Return the cartridge image.

        Raises:
            RomError: it is not set, missing or damaged.
            ConfigurationError: a goal or state variables are requested, which such a game lacks.
        """
        if self.rom_path is None:
            raise RomError("the environment gameboy needs an image: name it with --rom (rom_path)")
        if self.goal not in (None, "first", "last"):  # without goals, the first and the last are none
            raise ConfigurationError(
                f"setting 'goal' = {self.goal!r}: the environment gameboy has no milestones; leave it out"
            )
        if self.observation_type == "state":
            raise ConfigurationError(
                "setting 'observation_type' = 'state': the environment gameboy has only the screen; use screen"
            )
        return load_rom(self.rom_path)

    def check(self) -> None:
        """Raise the errors of :meth:`image`."""
        self.image()

    @model_validator(mode="after")
    def _frames_fit(self) -> Self:
        if self.hold_frames >= self.action_frames:
            raise ValueError("hold_frames must be less than action_frames")
        return self
