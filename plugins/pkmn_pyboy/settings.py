"""Settings of the PyBoy environment, the section ``[pyboy]`` of a configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pkmn_pyboy.emulation.settings import EmulationSettings
from pkmn_pyboy.state.mask_rules import ALL_RULES, RULE_NAMES, rules_without
from pkmncli.api import PROVIDED, expand_home


class RewardPart(BaseModel):
    """Part of the reward: its implementation and its weight."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    weight: float = Field(default=1.0, ge=-1e9, le=1e9, description="Factor on the part's values.")
    target: str | Callable[..., Any] | None = Field(
        default=None, description='"package.module:Name" of the reward, or the class itself. Built-in names need none.'
    )
    config: str | type[BaseModel] | None = Field(
        default=None,
        description="Settings model, in the same form; without it the target gets the mapping.",
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings of the reward.")


class EnvironmentSettings(EmulationSettings):
    """Settings of the emulated game: setup, observation and reward."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, validate_default=False)

    observed_in_training: ClassVar[str] = "goal"
    """Default ``observation_type`` of trainings: the one that is learned best from."""

    game: str | None = Field(
        default=None,
        description="Game profile; by default found from the cartridge image.",
        json_schema_extra=PROVIDED,
    )
    game_folder: Path | None = Field(
        default=None, description="Folder of a game profile; overrides `game`.", json_schema_extra=PROVIDED
    )
    rom_path: Path | None = Field(
        default=None, description="Cartridge image; the profile's by default.", json_schema_extra=PROVIDED
    )
    force_rom: bool = Field(
        default=False,
        description="Accept an image that no profile knows; needs `game`.",
        json_schema_extra=PROVIDED,
    )
    observation_type: Literal["multi_modal", "screen", "state", "goal", "goal_screen"] = Field(
        default="multi_modal",
        description="Parts of the observation: multi_modal is the screen and the state variables; goal is the "
        "numbers of the goal, the map around the player and the state variables; goal_screen those and the screen.",
        json_schema_extra=PROVIDED,
    )
    goals: Literal["rules", "none"] = Field(
        default="rules",
        description="Source of the observed goals: the rules, or none, which leaves their numbers 0.",
        json_schema_extra=PROVIDED,
    )
    max_steps_per_episode: int | None = Field(
        default=None,
        ge=1,
        description="Maximum steps of an episode; the profile's by default.",
        json_schema_extra=PROVIDED,
    )
    goal: str | None = Field(
        default=None,
        description="Milestone that ends an episode; `first` is the game's goal for a first training, `last` its last "
        "milestone, the default.",
        json_schema_extra=PROVIDED,
    )
    local_map: bool = Field(
        default=True, description="Observe goals with a map of the tiles around the player; false for comparisons."
    )
    knowledge: Literal["cartridge", "seen"] = Field(
        default="cartridge",
        description="World known to the pilot: all maps of the cartridge image, or the tiles that were on the screen "
        "in the episode and the exits that were taken.",
        json_schema_extra=PROVIDED,
    )
    rewards: dict[str, RewardPart] = Field(
        default_factory=lambda: {"progress": RewardPart(), "exploration": RewardPart()},
        description="Parts of the reward by name. A number is short for its weight.",
        json_schema_extra=PROVIDED,
    )
    action_frames: int | None = Field(
        default=None, ge=2, le=600, description="Frames of an action; the profile's by default."
    )
    hold_frames: int | None = Field(default=None, ge=1, le=599, description="Frames that a button is held.")
    action_repeat: int = Field(default=1, ge=1, le=60, description="Number of times that one step makes its action.")
    without_mask_rules: tuple[str, ...] = Field(
        default=(),
        description=(
            f"Rules that the action mask leaves out: {', '.join(RULE_NAMES)}; {ALL_RULES} leaves everything allowed."
        ),
    )
    text_map_columns: int = Field(default=15, ge=3, le=99, description="Maximum columns of tiles in a text map.")
    text_map_rows: int = Field(default=11, ge=3, le=99, description="Maximum rows of tiles in a text map.")
    seed_presses: int = Field(
        default=16, ge=0, le=100, description="Maximum random steps and turns at the start of an episode."
    )

    @classmethod
    def of_command(cls, game: str | None, rom: Path | None, force_rom: bool) -> Self:
        """Return the settings of a command's options; ``game`` is the name of a profile or its folder."""
        folder = expand_home(Path(game)) if game is not None else None
        if folder is not None and (folder / "game.toml").is_file():
            return cls(game_folder=folder, rom_path=rom, force_rom=force_rom)
        return cls(game=game, rom_path=rom, force_rom=force_rom)

    def check(self) -> None:
        """Raise RomError or EnvironmentSetupError if the image or the profile that they name can't be played."""
        from pkmn_pyboy.profile.selection import select_game  # noqa: PLC0415 - the bundled game needs no check

        if (self.rom_path, self.game, self.game_folder) != (None, None, None):
            select_game(self)

    @field_validator("rewards", mode="before")
    @classmethod
    def _weights_alone(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: {"weight": part} if isinstance(part, int | float) and not isinstance(part, bool) else part
                for name, part in value.items()
            }
        return value

    @field_validator("without_mask_rules")
    @classmethod
    def _known_mask_rules(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        rules_without(value)
        return value

    @model_validator(mode="after")
    def _frames_fit(self) -> Self:
        if self.action_frames is not None and self.hold_frames is not None and self.hold_frames >= self.action_frames:
            raise ValueError("hold_frames must be less than action_frames")
        return self
