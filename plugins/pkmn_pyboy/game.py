"""Running game: emulator, profile, cartridge, state, milestones. Knows no Gymnasium and no reward."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.details_reader import DetailsReader
from pkmn_pyboy.state.mask_rules import rules_without
from pkmn_pyboy.state.masks import MaskTable
from pkmn_pyboy.state.name_tables import EncodedNames, names_with_image
from pkmn_pyboy.state.reader import StateReader
from pkmn_pyboy.state.seen_tiles import SeenTiles
from pkmn_pyboy.story.progress_clock import ProgressClock
from pkmn_pyboy.story.tracker import MilestoneTracker
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmncli.api import Action

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pkmn_pyboy.emulation.emulator import Emulator
    from pkmn_pyboy.emulation.rom import RomImage
    from pkmn_pyboy.profile.model import GameProfile
    from pkmn_pyboy.state.details import Details
    from pkmn_pyboy.state.game_state import GameState


class HasGame(Protocol):
    """Object with a running game, such as an environment."""

    @property
    def game(self) -> Game:
        """Running game."""
        ...


class Game:
    """Game that runs on the emulator, as pilot, rewards and words read it.

    Whoever presses buttons calls :meth:`begin` at the start of an episode and :meth:`look` after each step.

    Args:
        emulator: runs the image.
        rom: the checked image.
        profile: description of the game.
        goal: index of the milestone that ends an episode, -1 for none.
        knowledge: world known to the pilot, ``cartridge`` or ``seen``.
        without_mask_rules: names of the rules that the action mask leaves out.
    """

    def __init__(
        self,
        emulator: Emulator,
        rom: RomImage,
        profile: GameProfile,
        *,
        goal: int = -1,
        knowledge: str = "cartridge",
        without_mask_rules: Iterable[str] = (),
    ) -> None:
        self.emulator, self.rom, self.profile = emulator, rom, profile
        self.goal, self.knowledge = goal, knowledge
        self.names = names_with_image(profile, rom.data)
        """Names of the profile, and those in the image for what it does not name."""
        self.cartridge = Cartridge(rom.data, profile)
        """Data of the image."""
        self.reader = StateReader(profile, self.cartridge.damage_rules)
        self.milestones = MilestoneTracker(profile.milestones, profile.errands, emulator)
        self.seen = SeenTiles()
        """Tiles seen in this episode."""
        self._masks = MaskTable(rules_without(without_mask_rules))
        self._details_reader = DetailsReader(profile, self.names, self.cartridge.machines)
        self._details: Details | None = None
        self._progress = ProgressClock()
        self.steps = self.frames = 0
        """Steps and emulated frames of this episode at the latest look."""
        self.pressed = int(Action.NONE)
        """Action that the latest step carried out."""
        self.state: GameState = self.reader.read(emulator)
        self.mask: NDArray[np.int8] = self._masks.mask(self.state)
        """(9,) int8, 1 = allowed now. Shared: do not change it."""

    @cached_property
    def encoded_names(self) -> EncodedNames:
        """Names of items and moves as a list on the screen shows them."""
        return EncodedNames(self.rom.data, self.profile.memory.rom_tables)

    @property
    def game(self) -> Game:
        """The game itself, so that it can be given wherever an environment can."""
        return self

    def begin(self) -> None:
        """Start an episode in the emulator's present state."""
        self.steps = self.frames = 0
        self.pressed = int(Action.NONE)
        self.reader.read(self.emulator)
        self.milestones.begin(self.emulator, self.reader.current_map())
        self._read()
        self.seen.reset()
        self.seen.note(self.state)
        self._progress.reset(self.state)

    def look(self, pressed: int, steps: int, frames: int) -> None:
        """Read the state after a step.

        Args:
            pressed: action that the step carried out.
            steps: steps of this episode.
            frames: emulated frames of this episode.
        """
        self.pressed, self.steps, self.frames = pressed, steps, frames
        self._read()
        self.seen.note(self.state)
        self._progress.note(self.state, steps)

    def read_and_mask(self) -> NDArray[np.int8]:
        """Read the state within a step, without milestones. Return its mask, (9,) int8, 1 = allowed."""
        self.state = self.reader.read(self.emulator, self.milestones.count)
        return self._masks.mask(self.state)

    @property
    def goal_reached(self) -> bool:
        """True if the milestone that ends an episode was reached."""
        return self.goal >= 0 and self.milestones.steps[self.goal] >= 0

    @property
    def steps_since_progress(self) -> int:
        """Steps since a milestone, level, badge, catch or map was new."""
        return self._progress.since(self.steps)

    def details(self) -> Details:
        """Return the details, read on request: bag, Pokedex, event flags, clock, names and more of a battle."""
        if self._details is None:
            self._details = self._details_reader.read(self.emulator, self.state)
        return self._details

    def usable_moves(self) -> frozenset[str]:
        """Return the field moves that a party member knows and the badges allow."""
        known = {move for member in self.state.party.members if not member.egg for move in member.moves}
        return frozenset(
            name
            for name, move in self.profile.field_moves.items()
            if move.move in known and move.badge.holds(self.emulator, self.state.map_id)
        )

    def abilities(self) -> Abilities:
        """Return what the player can do about obstacles now, with event flags and the hour."""
        return Abilities.of(self.usable_moves(), self.set_flags(), self.hour())

    def bag(self) -> Bag:
        """Return the items that are carried now."""
        return Bag.read(self.emulator, self.profile.memory)

    def event_flags(self) -> bytes:
        """Return the bytes of the event flags; empty if the profile does not have them."""
        place = self.profile.memory.fields.get("wEventFlags")
        return self.emulator.read(place.bank, place.address, place.size) if place is not None else b""

    def set_flags(self) -> set[int] | None:
        """Return the numbers of the event flags that are set; None if the profile does not have them."""
        data = self.event_flags()
        if not data:
            return None
        return {index * 8 + bit for index, byte in enumerate(data) if byte for bit in range(8) if byte >> bit & 1}

    def hour(self) -> int | None:
        """Return the hour of the game's clock; None if it has none."""
        return self.details().clock.hour if "hHours" in self.profile.memory else None

    def screen_words(self) -> str:
        """Return the text on the screen, while a window with text is open; empty otherwise."""
        tiles = self.reader.screen_tiles()
        return self.profile.charmap.screen_text(tiles) if tiles else ""

    def save_state(self) -> dict[str, Any]:
        """Return the state of the episode, without the emulator's, as plain values."""
        return {
            "progress": self._progress.save_state(),
            "milestones": self.milestones.save_state(),
            "seen": self.seen.save_state(),
            "reader": self.reader.save_state(),
        }

    def load_state(self, state: Mapping[str, Any], pressed: int, steps: int, frames: int) -> None:
        """Restore a saved state; the emulator is already restored. The counters are those of :meth:`look`."""
        self.pressed, self.steps, self.frames = pressed, steps, frames
        self._progress.load_state(state["progress"])
        self.milestones.load_state(state["milestones"])
        self.seen.load_state(state["seen"])
        self.reader.load_state(state["reader"])
        self.mask = self.read_and_mask()
        self._details = None

    def _read(self) -> None:
        self.mask = self.read_and_mask()
        if self.milestones.update(self.emulator, self.reader.current_map(), self.steps, self.frames):
            self.mask = self.read_and_mask()
        self._details = None
