"""Schema of the files of a game profile. Unknown keys are errors, so that a typo is always noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from pkmn_pyboy.profile.script_marks import compile_pattern

ButtonName = Literal["a", "b", "start", "select", "up", "down", "left", "right"]


class ProfileFile(BaseModel):
    """Table of a profile's files."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, populate_by_name=True)


class AboutFile(ProfileFile):
    """Game. ``memory`` names the profile that it shares its memory with, ``rom`` its image, if any."""

    title: str
    key: str = ""
    memory: str = ""
    rom: str = ""
    bundled: bool = False


class RomFile(ProfileFile):
    """Image that the profile describes."""

    sha1: str = Field(pattern="^[0-9a-fA-F]{40}$")
    name: str = ""
    header_title: str = ""
    code: str = ""
    version: int | None = None
    cgb_flag: int | None = None
    cartridge_type: int | None = None
    rom_size: int | None = None
    ram_size: int | None = None


class LookalikeFile(ProfileFile):
    """Image that the profile does not fit."""

    name: str
    header_title: str = ""
    code: str = ""
    version: int | None = None


class TimingFile(ProfileFile):
    """Frames of one action, and of the game's animations."""

    action_frames: int = Field(default=24, ge=2, le=600)
    hold_frames: int = Field(default=10, ge=1, le=599)
    walk_frames: int = 0
    turn_frames: int = 0
    fade_frames: int = 0
    """These three have no effect; accepted from older profiles."""
    episode_steps: int = Field(default=10_000, ge=1)
    game_steps: int | None = Field(default=None, ge=1)


class StartStepFile(ProfileFile):
    """Part of the start from power-on to control: a wait, or presses made in turn, ``times`` of them at most."""

    press: ButtonName | list[ButtonName] | None = None
    hold: int = Field(default=4, ge=1)
    wait: int = Field(default=20, ge=1)
    times: int = Field(default=1, ge=1)
    until: Literal["free_control"] | None = None
    map: tuple[int, int] | None = None


class StartFile(ProfileFile):
    """Start from power-on to control."""

    max_frames: int = Field(default=20_000, ge=1)
    steps: list[StartStepFile] = []


class SavedCopyFile(ProfileFile):
    """Copy of a saved game in a cartridge's RAM: offsets in the file of a battery save."""

    marks: list[tuple[int, int]] = Field(min_length=1)
    same: int = Field(ge=0)


class ContinueFile(ProfileFile):
    """Start from power-on to control in a saved game, with the evidence of the saved game."""

    max_frames: int = Field(default=20_000, ge=1)
    steps: list[StartStepFile] = Field(min_length=1)
    saved: list[SavedCopyFile] = Field(min_length=1)
    same: str


class HashFile(ProfileFile):
    """Fields that the two hashes of a state cover."""

    coarse: list[str] = ["wMapGroup", "wMapNumber", "wXCoord", "wYCoord"]
    fine: list[str] = ["wMapGroup", "wMapNumber", "wXCoord", "wYCoord"]


FieldMoveName = Literal["cut", "fly", "surf", "strength", "flash", "whirlpool", "waterfall"]


class FlagFile(ProfileFile):
    """Condition that a bit of a field is set, or that the field has a value."""

    field: str
    bit: int | None = Field(default=None, ge=0)
    value: int | None = None


class FieldMoveFile(ProfileFile):
    """Field move that opens a way outside of battle. ``machine`` counts from 0: slot in wTMsHMs and in TMHMMoves."""

    move: int = Field(ge=1, le=255)
    item: int = Field(ge=1, le=255)
    machine: int = Field(ge=0, le=63)
    badge: FlagFile
    tiles: list[int] = []
    movement: int | None = None
    in_use: FlagFile | None = None


class ItemUsesFile(ProfileFile):
    """Uses of items: pairs of an item's number and hit points, bits of a status, or a ball's factor."""

    heal: list[tuple[int, int]] = []
    cure: list[tuple[int, int]] = []
    revive: list[int] = []
    ball: list[tuple[int, float]] = []


class MenuWordsFile(ProfileFile):
    """Labels in the START menu for the party, the pack, moving a member to another slot, and using an item."""

    party: str
    pack: str
    move: str
    use: str = ""


class RadioFile(ProfileFile):
    """Radio: the end of its device's entry in the START menu, the evidence of its card, its knob, its music.

    The knob goes from 0 to ``most``, by ``step`` with each press up or down.
    """

    entry: str = Field(min_length=1)
    card: FlagFile
    knob: str
    step: int = Field(default=1, ge=1, le=255)
    most: int = Field(default=255, ge=1, le=255)
    music: str


class GameFile(ProfileFile):
    """File game.toml."""

    game: AboutFile
    rom: list[RomFile] = []
    lookalike: list[LookalikeFile] = []
    timing: TimingFile = TimingFile()
    start: StartFile = StartFile()
    continuing: ContinueFile | None = Field(default=None, alias="continue")
    hash: HashFile | None = None
    field_moves: dict[FieldMoveName, FieldMoveFile] | None = None
    items: ItemUsesFile = ItemUsesFile()
    menu: MenuWordsFile | None = None
    radio: RadioFile | None = None
    lacks: list[str] = []

    @field_validator("rom", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return [value] if isinstance(value, dict) else value


class FieldFile(ProfileFile):
    """Field of memory."""

    at: int = Field(ge=0, le=0xFFFF)
    bank: int = Field(ge=-1, le=7)
    size: int = Field(default=1, ge=1, le=0x1000)
    encoding: str = Field(default="u8", alias="as")
    meaning: str = ""
    when: str = ""


class TableFile(ProfileFile):
    """Table in the image."""

    bank: int = Field(ge=0)
    address: int = Field(ge=0, lt=0x8000)
    layout: str = ""


class CollisionFile(ProfileFile):
    """Meanings of collision bytes."""

    wall: list[int] = []
    water: list[int] = []
    reacts_to_a: list[int] = []
    """No effect; accepted from older profiles."""
    name: dict[str, int] = {}


class CharacterRunFile(ProfileFile):
    """Consecutive characters."""

    start: int = Field(alias="from")
    characters: str


class TextFile(ProfileFile):
    """Coding of text."""

    end: int = 0x50
    run: list[CharacterRunFile] = []
    single: dict[str, str] = {}

    @field_validator("single")
    @classmethod
    def _numbers(cls, value: dict[str, str]) -> dict[str, str]:
        for key in value:
            int(key, 0)
        return value


class MemoryFile(ProfileFile):
    """File memory.toml."""

    field: dict[str, dict[str, FieldFile]] = {}
    struct: dict[str, Any] = {}
    """No effect; accepted from older profiles."""
    rom_tables: dict[str, TableFile] = {}
    collision: CollisionFile | None = None
    text: TextFile | None = None


class TablesFile(ProfileFile):
    """File tables.toml, written by the build of a game from source; overrides memory.toml."""

    rom_tables: dict[str, TableFile] = {}


def _numbers_and_name(numbers: int) -> Callable[[list[int | str]], list[int | str]]:
    """Return a check of a row that begins with so many numbers and continues with a name."""

    def check(row: list[int | str]) -> list[int | str]:
        if not all(isinstance(one, int) and 0 <= one < 2**16 for one in row[:numbers]):
            raise ValueError(f"a row begins with {numbers} whole number{'s' if numbers > 1 else ''} from 0 to 65535")
        if not isinstance(row[numbers], str):
            raise ValueError("a name is text")
        return row

    return check


class MapNamesFile(ProfileFile):
    """Group, number and name of each map; more columns may follow."""

    table: list[Annotated[list[int | str], Field(min_length=3), AfterValidator(_numbers_and_name(2))]]


class NumberNamesFile(ProfileFile):
    """Number and name; more columns may follow."""

    table: list[Annotated[list[int | str], Field(min_length=2), AfterValidator(_numbers_and_name(1))]]


class NamesFile(ProfileFile):
    """File names.toml."""

    maps: MapNamesFile | None = None
    species: NumberNamesFile | None = None
    moves: NumberNamesFile | None = None
    items: NumberNamesFile | None = None
    types: NumberNamesFile | None = None
    trainer_classes: NumberNamesFile | None = None
    landmarks: NumberNamesFile | None = None
    event_flags: NumberNamesFile | None = None
    visited_towns: NumberNamesFile | None = None
    johto_badges: list[str] = []
    kanto_badges: list[str] = []


DirectionName = Literal["down", "up", "left", "right"]


class PeopleFile(ProfileFile):
    """Meaning of the movement byte of people on maps."""

    walks: list[int] = []
    facing: dict[str, DirectionName] = {}
    rock: list[int] = []

    @field_validator("facing")
    @classmethod
    def _numbers(cls, value: dict[str, str]) -> dict[str, str]:
        for key in value:
            int(key, 0)
        return value


class SignsFile(ProfileFile):
    """Kinds of signs."""

    hidden_item: int = -1


class ScriptFile(ProfileFile):
    """Role of a map script that begins with a pattern; ``kind`` limits it to people of that kind."""

    role: Literal["trainer", "item", "healer", "clerk"]
    begins: str
    kind: int = -1

    @field_validator("begins")
    @classmethod
    def _pattern(cls, value: str) -> str:
        compile_pattern(value)
        return value


class BlockFile(ProfileFile):
    """Block of two by two tiles: its upper left tile, and its number in the map's tileset."""

    x: int = Field(ge=0, le=254, multiple_of=2)
    y: int = Field(ge=0, le=254, multiple_of=2)
    block: int = Field(ge=0, le=255)


class BlocksWithFile(ProfileFile):
    """Blocks that a map's script sets while only this event is set."""

    event: int = Field(ge=0)
    blocks: list[BlockFile]


class ChangedFile(ProfileFile):
    """Map whose script sets blocks when it is entered; ``always`` while none of the events is set."""

    map: tuple[Annotated[int, Field(ge=1, le=255)], Annotated[int, Field(ge=1, le=255)]]
    always: list[BlockFile] = []
    with_: list[BlocksWithFile] = Field(default=[], alias="with")


class WorldFile(ProfileFile):
    """File world.toml."""

    people: PeopleFile = PeopleFile()
    signs: SignsFile = SignsFile()
    script: list[ScriptFile] = []
    changed: list[ChangedFile] = []
