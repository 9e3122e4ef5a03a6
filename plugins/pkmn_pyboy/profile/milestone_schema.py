"""Schema of milestones.toml: milestones, their evidence, and what they need."""

# ruff: noqa: RUF012 - pydantic copies defaults

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pkmn_pyboy.profile.schema import FieldMoveName, ProfileFile


class EvidenceFile(ProfileFile):
    """Condition in memory. Values are in a named field, or at an address of work RAM."""

    kind: Literal["map", "event", "bit", "equals", "at_least", "key_item", "machine", "party_species"]
    group: int | None = None
    number: int | None = None
    index: int | None = Field(default=None, ge=0)
    field: str | None = None
    address: int | None = Field(default=None, ge=0xC000, lt=0xE000)
    bit: int | None = Field(default=None, ge=0)
    value: int | None = None
    id: int | None = None
    place: int | None = Field(default=None, ge=0)


class StationFile(ProfileFile):
    """Station of the radio in game.toml: the position of the knob, and the music that shows that it plays."""

    knob: int = Field(ge=0, le=255)
    music: int = Field(ge=0, le=255)


FacingName = Literal["down", "up", "left", "right"]
MapPair = tuple[Annotated[int, Field(ge=0, le=255)], Annotated[int, Field(ge=0, le=255)]]


class PlaceFile(ProfileFile):
    """Tile, or person by number on the map; ``facing`` is the direction to face before A is pressed."""

    x: int | None = Field(default=None, ge=0, le=255)
    y: int | None = Field(default=None, ge=0, le=255)
    facing: FacingName | None = None
    person: int | None = Field(default=None, ge=1, le=15)


class ByFile(ProfileFile):
    """Byte in memory that selects a case: a named field, or an address of work RAM."""

    field: str | None = None
    address: int | None = Field(default=None, ge=0xC000, lt=0xE000)


class CaseFile(PlaceFile):
    """Keys that replace those of a target while the byte in memory has a value."""

    value: int = Field(ge=0, le=255)


class TargetFile(PlaceFile):
    """Destination: a tile, a person by number on the map, or any tile that starts a scene by its number.

    With ``push_to`` the person is a boulder, to push to that tile; without ``person`` it is any boulder. With
    ``station`` the radio must play that before A is pressed. ``by`` and ``cases`` change the target with a byte in
    memory, ``choices`` with the pilot's setting ``partner``.
    """

    map: MapPair
    scene: int | None = Field(default=None, ge=0, le=255)
    push_to: tuple[Annotated[int, Field(ge=0, le=255)], Annotated[int, Field(ge=0, le=255)]] | None = None
    station: StationFile | None = None
    by: ByFile | None = None
    cases: list[CaseFile] = []
    choices: list[PlaceFile] = []


class GoalFile(ProfileFile):
    """Keys that milestones and errands share."""

    key: str = Field(pattern="^[a-z0-9_]+$")
    name: str
    evidence_all: list[EvidenceFile] = Field(min_length=1)
    hint: str = ""
    target: TargetFile | None = None
    needs: list[str] | None = None
    errands: list[str] = []
    gives_items: list[int] = []
    needs_items: list[int] = []
    needs_badges: list[Annotated[int, Field(ge=0, le=15)]] = []
    needs_field_moves: list[FieldMoveName] = []
    needs_species: list[int] = []
    min_level: int = Field(default=0, ge=0, le=100)
    foes: list[tuple[int, int] | tuple[int, int, int]] = []
    refuse_words: list[str] = []
    party_room: int = Field(default=0, ge=0, le=6)
    catch: list[int] = []
    gives_species: list[int] = []
    supplies: list[tuple[int, Annotated[int, Field(ge=1, le=99)]]] = []


class MilestoneFile(GoalFile):
    """Milestone of the game."""

    order: int | None = None
    optional: bool = False


class ErrandFile(GoalFile):
    """Side task of a goal."""

    over_with: list[str] = []
    gives_hour: int | None = Field(default=None, ge=0, le=23)


class LockedRoomsFile(ProfileFile):
    """Rooms that lock behind the player; from outside the map ``enter`` is the destination first."""

    enter: MapPair
    rooms: list[MapPair] = Field(min_length=1)


class MilestonesFile(ProfileFile):
    """File milestones.toml; ``first_goal`` is the milestone at which the episodes of a first training end."""

    first_goal: str = ""
    milestone: list[MilestoneFile] = []
    errand: list[ErrandFile] = []
    locked_rooms: list[LockedRoomsFile] = []
