"""What may stand in the four files of a game profile. Unknown keys are errors, so that a typo never goes unnoticed."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

ButtonName = Literal["a", "b", "start", "select", "up", "down", "left", "right"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class RomFile(_File):
    """An image that the profile describes."""

    name: str
    sha1: str = Field(pattern="^[0-9a-fA-F]{40}$")
    title: str = ""
    code: str = ""
    version: int | None = None


class LookalikeFile(_File):
    """An image that the profile does not fit."""

    name: str
    title: str = ""
    code: str = ""
    version: int | None = None


class TimingFile(_File):
    """Frames of one action."""

    action_frames: int = Field(default=24, ge=2, le=600)
    hold_frames: int = Field(default=10, ge=1, le=599)


class UntilFile(_File):
    """When a start step is done."""

    control: bool = False
    map: tuple[int, int] | None = None


class StartStepFile(_File):
    """A part of the way from power-on to control."""

    presses: list[ButtonName] = Field(min_length=0)
    hold_frames: int = Field(default=4, ge=1)
    wait_frames: int = Field(default=20, ge=1)
    until: UntilFile = UntilFile()
    max_frames: int = Field(default=20_000, ge=1)


class HashFile(_File):
    """Fields that the two hashes of a state cover."""

    coarse: list[str] = ["wMapGroup", "wMapNumber", "wXCoord", "wYCoord"]
    fine: list[str] = ["wMapGroup", "wMapNumber", "wXCoord", "wYCoord"]


class GameFile(_File):
    """game.toml"""

    title: str
    extends: str = ""
    bundled_rom: str = ""
    rom: list[RomFile] = []
    lookalike: list[LookalikeFile] = []
    timing: TimingFile = TimingFile()
    start: list[StartStepFile] = []
    hash: HashFile | None = None
    lacks: list[str] = []


class FieldFile(_File):
    """One field of memory."""

    at: int = Field(ge=0, le=0xFFFF)
    bank: int = Field(ge=-1, le=7)
    size: int = Field(default=1, ge=1, le=0x1000)
    encoding: str = Field(default="u8", alias="as")
    meaning: str = ""
    when: str = ""


class StructFile(_File):
    """A record of several parts."""

    size: int
    parts: dict[str, tuple[int, int]] = {}


class TableFile(_File):
    """A table in the image."""

    bank: int = Field(ge=0)
    address: int = Field(ge=0, lt=0x8000)
    layout: str = ""


class CollisionFile(_File):
    """Meanings of collision bytes."""

    wall: list[int] = []
    water: list[int] = []
    reacts_to_a: list[int] = []
    name: dict[str, int] = {}


class CharacterRunFile(_File):
    """Characters that follow each other."""

    start: int = Field(alias="from")
    characters: str


class TextFile(_File):
    """How text is coded."""

    end: int = 0x50
    run: list[CharacterRunFile] = []
    single: dict[str, str] = {}

    @field_validator("single")
    @classmethod
    def _numbers(cls, value: dict[str, str]) -> dict[str, str]:
        for key in value:
            int(key, 0)
        return value


class MemoryFile(_File):
    """memory.toml"""

    field: dict[str, dict[str, FieldFile]] = {}
    struct: dict[str, StructFile] = {}
    rom_tables: dict[str, TableFile] = {}
    collision: CollisionFile | None = None
    text: TextFile | None = None


class TablesFile(_File):
    """tables.toml, for a game whose image is built from source: written by the build, and goes before memory.toml."""

    rom_tables: dict[str, TableFile] = {}


class NamesFile(_File):
    """names.toml"""

    maps: list[tuple[int, int, str]] = []
    species: list[tuple[int, str]] = []
    moves: list[tuple[int, str]] = []
    items: list[tuple[int, str]] = []
    types: list[tuple[int, str]] = []
    trainer_classes: list[tuple[int, str]] = []
    johto_badges: list[str] = []
    kanto_badges: list[str] = []


class EvidenceFile(_File):
    """One condition in memory: exactly one of map, flag, key_item, or a field with bit, equals or at_least."""

    map: tuple[int, int] | None = None
    flag: int | None = Field(default=None, ge=0)
    key_item: int | None = None
    field: str | None = None
    bit: int | None = Field(default=None, ge=0)
    equals: int | None = None
    at_least: int | None = None


class TargetFile(_File):
    """A place to walk to."""

    map: tuple[int, int]
    x: int | None = None
    y: int | None = None
    facing: Literal["down", "up", "left", "right"] | None = None


class MilestoneFile(_File):
    """One goal on the way."""

    key: str = Field(pattern="^[a-z0-9_]+$")
    name: str
    evidence: list[EvidenceFile] = Field(min_length=1)
    optional: bool = False
    hint: str = ""
    target: TargetFile | None = None
    needs: dict[str, Any] = {}


class MilestonesFile(_File):
    """milestones.toml"""

    milestone: list[MilestoneFile] = []
