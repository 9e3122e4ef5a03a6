"""Game profiles: a folder of data files that teaches the environment a game, without a line of code.

``game.toml`` (images, timing, the way from power-on to control, what hashes cover), ``memory.toml`` (fields),
``names.toml`` (for display), ``milestones.toml`` and ``world.toml`` (who is who on the maps). A profile may name
another one under ``game.memory``: what it does not have itself is then that one's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from pkmn_pyboy.milestones import Evidence, LockedRooms, Milestone
from pkmn_pyboy.rom import Lookalike, RomIdentity
from pkmn_pyboy.state.memory_map import MemoryField, MemoryMap
from pkmn_pyboy.state.text import Charmap
from pkmn_pyboy.world.script_marks import WorldRules
from pkmncli.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Names:
    """Names for display, by the numbers in memory."""

    maps: Mapping[int, str]
    """By map id: group * 256 + number."""
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
        """All that is named by number, by kind."""
        return {
            "maps": dict(self.maps),
            "species": dict(self.species),
            "moves": dict(self.moves),
            "items": dict(self.items),
            "types": dict(self.types),
            "trainer_classes": dict(self.trainer_classes),
        }

    def map_name(self, map_id: int) -> str:
        """A map's name, or its numbers."""
        return self.maps.get(map_id) or f"map {map_id >> 8}.{map_id & 0xFF}"


@dataclass(frozen=True, slots=True)
class StartStep:
    """A part of the way from power-on to control.

    ``presses`` are made in turn, ``times`` of them at most, each held ``hold_frames`` and followed by
    ``wait_frames``; without presses it is a wait. With ``until_control`` the step ends as soon as the player has
    control, on ``until_map`` (group, number) where one is named.
    """

    presses: tuple[str, ...]
    hold_frames: int
    wait_frames: int
    times: int
    until_control: bool
    until_map: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class SavedCopy:
    """Where a cartridge's RAM holds a saved game: bytes that are there when it is whole, and where ``same`` stands."""

    marks: tuple[tuple[int, int], ...]
    """Offset and value."""
    same: int


@dataclass(frozen=True, slots=True)
class ContinueRecipe:
    """The way from power-on to control in a game that the cartridge holds.

    ``copies`` are where it may be, the one that the game takes first at the front. ``same`` is a field of memory that
    tells one player's game from another's: after the recipe it is what was saved.
    """

    steps: tuple[StartStep, ...]
    max_frames: int
    copies: tuple[SavedCopy, ...]
    same: MemoryField


@dataclass(frozen=True, slots=True)
class CollisionRules:
    """What a tile's collision byte means. What is neither wall nor water is land."""

    wall: frozenset[int]
    water: frozenset[int]
    reacts_to_a: frozenset[int]
    names: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FieldMove:
    """A move that opens the way outside of battle.

    ``machine`` is the place of what teaches it, from 0: its count in wTMsHMs, its move in the image's TMHMMoves, and
    its bit in bytes 24 to 31 of a species' base data. ``tiles`` are the collision values that it opens, ``movement``
    that of the things that it pushes. ``badge`` holds when the player may use it, ``in_use`` while it works.
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
    """A radio in a device that the START menu opens, with cards side by side, the radio's to the right of all others.

    ``entry`` is what the device's entry in the menu ends in. ``card`` holds while the radio's card is shown. The knob
    goes from 0 to ``most``: a press up adds ``step``, one down takes it off.
    """

    entry: str
    card: Evidence
    knob: MemoryField
    step: int
    most: int
    music: MemoryField


@dataclass(frozen=True, slots=True)
class ItemUses:
    """What things are good for, by their numbers."""

    heal: Mapping[int, int] = field(default_factory=dict)
    """Hit points that each gives back."""
    cure: Mapping[int, int] = field(default_factory=dict)
    """Bits of the status that each takes away."""
    revive: frozenset[int] = frozenset()
    ball: Mapping[int, float] = field(default_factory=dict)
    """Balls, with the factor on the chance to catch."""


@dataclass(frozen=True, slots=True)
class GameProfile:
    """A game, as data."""

    folder: Path
    name: str
    title: str
    roms: tuple[RomIdentity, ...]
    lookalikes: tuple[Lookalike, ...]
    bundled_rom: Path | None
    action_frames: int
    episode_steps: int
    """Steps after which an episode is cut off, where a user sets nothing else."""
    game_steps: int
    """The same for an episode that is to reach the game's last milestone."""
    hold_frames: int
    walk_frames: int
    turn_frames: int
    fade_frames: int
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
    """What the START menu calls things: ``party``, ``pack``, ``move`` (a member to another place), ``use``."""
    milestones: tuple[Milestone, ...]
    first_goal: str | None = None
    """Milestone at which the episodes of a first training end; None for the game's last."""
    errands: Mapping[str, Milestone] = field(default_factory=dict)
    """What has to be done for milestones beside them, by key."""
    locked_rooms: tuple[LockedRooms, ...] = ()
    """Maps that lock behind the player, by the map through which they are entered."""
    field_moves: Mapping[str, FieldMove] = field(default_factory=dict)
    """By name: cut, fly, surf, strength, flash, whirlpool, waterfall."""
    world: WorldRules = field(default_factory=WorldRules)
    """How people on maps and their scripts are read."""
    radio: Radio | None = None
    continuing: ContinueRecipe | None = None
    """How a saved game is continued, where that is known."""

    @property
    def last_goal(self) -> int:
        """Place of the last milestone that the story needs; -1 without any."""
        required = [index for index, milestone in enumerate(self.milestones) if not milestone.optional]
        return required[-1] if required else -1

    def steps_to(self, goal: int) -> int:
        """Return the steps after which an episode with a goal is cut off: more of them, the further it is to go.

        Args:
            goal: place of the milestone in the order.
        """
        last = self.last_goal
        first = self.milestone_index(self.first_goal) if self.first_goal is not None else last
        beyond = min(max(goal - first, 0) / max(last - first, 1), 1.0)
        return round(self.episode_steps + beyond * (self.game_steps - self.episode_steps))

    def milestone_index(self, key: str) -> int:
        """Place of a milestone in the order. Raises ConfigurationError for an unknown key."""
        for index, milestone in enumerate(self.milestones):
            if milestone.key == key:
                return index
        keys = [milestone.key for milestone in self.milestones]
        near = get_close_matches(key, keys, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(keys)}"
        raise ConfigurationError(f"setting 'goal' = {key!r}: {self.name} has no such milestone; {hint}")
