"""Game profiles: a folder of data files that describes a game to the environment, without code.

``game.toml`` (images, timing, the start from power-on to control, fields of the hashes), ``memory.toml`` (fields),
``names.toml`` (for display), ``milestones.toml`` and ``world.toml`` (people and scripts on the maps). A profile may
name another one under ``game.memory``: files that it lacks are then taken from that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pkmn_pyboy.emulation.rom import Lookalike, RomIdentity
from pkmn_pyboy.profile.charmap import Charmap
from pkmn_pyboy.profile.memory_map import MemoryField, MemoryMap
from pkmn_pyboy.profile.milestones import Evidence, LockedRooms, Milestone
from pkmn_pyboy.profile.script_marks import WorldRules
from pkmncli.errors import ConfigurationError, did_you_mean

BATTLES = ("none", "wild", "trainer")
"""Names of the kinds of battle, by number."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names for display, by the numbers in memory."""

    maps: Mapping[int, str]
    """Names of maps by map id: group * 256 + number."""
    species: Mapping[int, str] = field(default_factory=dict)
    moves: Mapping[int, str] = field(default_factory=dict)
    items: Mapping[int, str] = field(default_factory=dict)
    types: Mapping[int, str] = field(default_factory=dict)
    trainer_classes: Mapping[int, str] = field(default_factory=dict)
    landmarks: Mapping[int, str] = field(default_factory=dict)
    event_flags: Mapping[int, str] = field(default_factory=dict)
    visited_towns: Mapping[int, str] = field(default_factory=dict)
    johto_badges: tuple[str, ...] = ()
    kanto_badges: tuple[str, ...] = ()

    def as_mapping(self) -> dict[str, dict[int, str]]:
        """Return all names by number, by kind."""
        return {
            "maps": dict(self.maps),
            "species": dict(self.species),
            "moves": dict(self.moves),
            "items": dict(self.items),
            "types": dict(self.types),
            "trainer_classes": dict(self.trainer_classes),
            "battles": dict(enumerate(BATTLES)),
        }

    def map_name(self, map_id: int) -> str:
        """Return a map's name, or its numbers."""
        return self.maps.get(map_id) or f"map {map_id >> 8}.{map_id & 0xFF}"


@dataclass(frozen=True, slots=True)
class StartStep:
    """Part of the start from power-on to control.

    ``presses`` are made in turn, ``times`` of them at most, each held ``hold_frames`` and followed by ``wait_frames``;
    without presses it is a wait. With ``until_control`` the step ends as soon as the player has control, on
    ``until_map`` (group, number) if it is given.
    """

    presses: tuple[str, ...]
    hold_frames: int
    wait_frames: int
    times: int
    until_control: bool
    until_map: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class SavedCopy:
    """Copy of a saved game in a cartridge's RAM: bytes that mark it as complete, and the position of ``same``."""

    marks: tuple[tuple[int, int], ...]
    """Offset and value."""
    same: int


@dataclass(frozen=True, slots=True)
class ContinueRecipe:
    """Start from power-on to control in a game that the cartridge holds.

    ``copies`` are its possible positions, the one that the game prefers first. ``same`` is a field of memory that
    distinguishes one player's game from another's: after the start it equals the saved value.
    """

    steps: tuple[StartStep, ...]
    max_frames: int
    copies: tuple[SavedCopy, ...]
    same: MemoryField


@dataclass(frozen=True, slots=True)
class CollisionRules:
    """Meaning of a tile's collision byte. Tiles that are neither wall nor water are land."""

    wall: frozenset[int]
    water: frozenset[int]
    names: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FieldMove:
    """Field move: a move that opens a way outside of battle.

    ``machine`` is the slot of its machine, from 0: its count in wTMsHMs, its move in the image's TMHMMoves, and its bit
    in bytes 24 to 31 of a species' base data. ``tiles`` are the collision values that it opens, ``movement`` that of
    the objects that it pushes. ``badge`` holds when the player may use it, ``in_use`` while it works.
    """

    name: str
    move: int
    item: int
    machine: int
    badge: Evidence
    tiles: frozenset[int] = frozenset()
    movement: int | None = None
    in_use: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Radio:
    """Radio in a device that the START menu opens, with cards side by side; the radio's card is the rightmost.

    ``entry`` is the end of the device's entry in the menu. ``card`` holds while the radio's card is shown. The knob
    goes from 0 to ``most``: UP adds ``step``, DOWN subtracts it.
    """

    entry: str
    card: Evidence
    knob: MemoryField
    step: int
    most: int
    music: MemoryField


@dataclass(frozen=True, slots=True)
class ItemUses:
    """Uses of items, by their numbers."""

    heal: Mapping[int, int] = field(default_factory=dict)
    """Hit points that each restores."""
    cure: Mapping[int, int] = field(default_factory=dict)
    """Status bits that each cures."""
    revive: frozenset[int] = frozenset()
    ball: Mapping[int, float] = field(default_factory=dict)
    """Balls, with the factor on the chance to catch."""


@dataclass(frozen=True, slots=True)
class GameProfile:
    """Profile of a game, as data."""

    folder: Path
    name: str
    title: str
    roms: tuple[RomIdentity, ...]
    lookalikes: tuple[Lookalike, ...]
    bundled_rom: Path | None
    action_frames: int
    episode_steps: int
    """Maximum steps of an episode, unless the user sets another number."""
    game_steps: int
    """Maximum steps of an episode whose goal is the game's last milestone."""
    hold_frames: int
    start: tuple[StartStep, ...]
    start_max_frames: int
    coarse_fields: tuple[str, ...]
    fine_fields: tuple[str, ...]
    lacks: frozenset[str]
    memory: MemoryMap
    collision: CollisionRules
    charmap: Charmap
    names: Names
    item_uses: ItemUses
    menu_words: Mapping[str, str]
    """Labels in the START menu: ``party``, ``pack``, ``move`` (a member to another slot), ``use``."""
    milestones: tuple[Milestone, ...]
    first_goal: str | None = None
    """Milestone at which the episodes of a first training end; None for the game's last."""
    errands: Mapping[str, Milestone] = field(default_factory=dict)
    """Side tasks of milestones, by key."""
    locked_rooms: tuple[LockedRooms, ...] = ()
    """Maps that lock behind the player, by the map through which they are entered."""
    field_moves: Mapping[str, FieldMove] = field(default_factory=dict)
    """Field moves by name: cut, fly, surf, strength, flash, whirlpool, waterfall."""
    world: WorldRules = field(default_factory=WorldRules)
    """Rules for reading people on maps and their scripts."""
    radio: Radio | None = None
    continuing: ContinueRecipe | None = None
    """Start in a saved game, if it is known."""

    @property
    def last_goal(self) -> int:
        """Index of the last required milestone; -1 if there is none."""
        required = [index for index, milestone in enumerate(self.milestones) if not milestone.optional]
        return required[-1] if required else -1

    def steps_to(self, goal: int) -> int:
        """Return the maximum steps of an episode with a goal: more for later goals.

        Args:
            goal: index of the milestone in the order.
        """
        last = self.last_goal
        first = self.milestone_index(self.first_goal) if self.first_goal is not None else last
        beyond = min(max(goal - first, 0) / max(last - first, 1), 1.0)
        return round(self.episode_steps + beyond * (self.game_steps - self.episode_steps))

    def milestone_index(self, key: str) -> int:
        """Return the index of a milestone in the order. Raises ConfigurationError for an unknown key."""
        for index, milestone in enumerate(self.milestones):
            if milestone.key == key:
                return index
        keys = [milestone.key for milestone in self.milestones]
        hint = did_you_mean(key, keys, f"it has {', '.join(keys)}")
        raise ConfigurationError(f"setting 'goal' = {key!r}: {self.name} has no such milestone; {hint}")
