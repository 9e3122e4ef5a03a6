"""Base class of environments on the emulator, for any game: pictures, starts, saved states."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmn_pyboy.emulation.bare_emulation import baselines
from pkmn_pyboy.emulation.battery import read_battery_save
from pkmn_pyboy.emulation.buttons import ACTION_NAMES, FRAMES_PER_SECOND
from pkmn_pyboy.emulation.emulator import SCREEN_SHAPE, Emulator
from pkmn_pyboy.emulation.rom import RomImage
from pkmn_pyboy.emulation.saved_state import MAGIC, read_saved_state, write_saved_state
from pkmn_pyboy.emulation.settings import EmulationSettings
from pkmn_pyboy.environments.observation import copy_rgb, observation_space, pack_screen
from pkmncli.api import Action, expand_home, read_given
from pkmncli.errors import EmulatorError, EnvironmentSetupError

VIEWED_STEPS = 600
"""Steps that are drawn after a view, if they would not be; a viewer asks again before they are over."""

_EVERY_ACTION = np.ones(len(ACTION_NAMES.names), np.int8)
_EVERY_ACTION.setflags(write=False)


class EmulatedEnvironment(gymnasium.Env[dict[str, Any], np.int64], ABC):
    """Emulated game whose steps are presses of one length.

    Besides Gymnasium's methods, :meth:`advance` and :meth:`write_observation` make a step without new arrays.

    Args:
        rom: the checked image.
        settings: emulation, observation and start.
        name: name of the game, in saved states and their errors.
        observation_type: multi_modal, screen, state, goal or goal_screen.
        action_frames: frames of an action.
        hold_frames: frames of it that a button is held.
        action_repeat: actions of a step.
        local_map: True to observe goals with the map around the player.

    Raises:
        EnvironmentSetupError: the start state or the battery save cannot be read.
        EmulatorError: the emulator does not start.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": round(FRAMES_PER_SECOND) / 24}  # noqa: RUF012
    observation_space: spaces.Dict
    action_space: spaces.Discrete
    action_names = ACTION_NAMES
    frames_per_second = FRAMES_PER_SECOND

    def __init__(
        self,
        rom: RomImage,
        settings: EmulationSettings,
        *,
        name: str,
        observation_type: str,
        action_frames: int,
        hold_frames: int,
        action_repeat: int = 1,
        local_map: bool = True,
    ) -> None:
        self.rom = rom
        self.render_mode = settings.render_mode
        self.action_frames, self.hold_frames = action_frames, hold_frames
        self.metadata = {**self.metadata, "render_fps": round(FRAMES_PER_SECOND) / (action_frames * action_repeat)}
        self.action_space = spaces.Discrete(len(Action))
        self._packed = settings.screen == "packed"
        self.observation_space = observation_space(observation_type, packed=self._packed, local_map=local_map)
        self._layout: list[tuple[str, tuple[int, ...], Any]] = [
            (part, space.shape or (), space.dtype) for part, space in self.observation_space.spaces.items()
        ]
        self._has_screen = "screen" in self.observation_space.spaces
        self._render_frames = self._has_screen or settings.render_mode is not None or not settings.headless
        self._drawn = False
        """True if the latest step was drawn."""
        self._drawn_until = -1
        """Step up to which steps are drawn for a viewer, if they would not be."""
        self._name = name
        self._start_file = settings.start_state
        self._start_state = _read_start_state(settings.start_state)
        self._battery_save = None if settings.cartridge is None else read_battery_save(settings.cartridge, rom)
        if self._battery_save is not None and self._start_state is not None:
            raise EnvironmentSetupError("A start state and a battery save exclude each other: leave one out")
        self.emulator = Emulator(
            rom,
            headless=settings.headless,
            speed=settings.emulation_speed,
            cartridge_ram=None if self._battery_save is None else self._battery_save.ram,
        )
        self.steps = 0
        """Steps of this episode."""
        self.frames = 0
        """Emulated frames of this episode, counted from its first step."""
        self.pressed = int(Action.NONE)
        """Action that the latest step carried out."""
        self.identity = {
            "image": rom.sha1,
            "action_frames": action_frames,
            "hold_frames": hold_frames,
            "action_repeat": action_repeat,
        }
        """Values that a recorded press depends on, by name."""
        self._running = self.closed = False

    @property
    def mask(self) -> NDArray[np.int8]:
        """(9,) int8, 1 = allowed now; all are. Shared and read-only."""
        return _EVERY_ACTION

    # Gymnasium ----------------------------------------------------------------------------------------------

    def step(self, action: int | np.integer[Any]) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Take one action. Return (observation, reward, terminated, truncated, info).

        Raises:
            EnvironmentSetupError: the action does not exist, or no episode is running.
        """
        if not self.action_space.contains(action):
            raise EnvironmentSetupError(f"Action {action!r} does not exist: use 0 to {len(Action) - 1}")
        reward, terminated, truncated = self.advance(action)
        return self.observation(), reward, terminated, truncated, self._info()

    def render(self) -> Any:
        """Return the picture, (144, 160, 3) uint8, with ``render_mode="rgb_array"``; None otherwise."""
        if self.render_mode is None:
            return None
        picture = np.empty((*SCREEN_SHAPE, 3), np.uint8)
        copy_rgb(self.emulator.screen, picture)
        return picture

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the allowed actions, (9,) bool, under the name that libraries with masked learners use."""
        return self.mask.astype(np.bool_)

    def view(self) -> NDArray[np.uint8] | None:
        """Return the picture of the latest step, (144, 160, 3) uint8.

        If steps are not drawn, the first view draws one extra frame, and later steps are drawn while views continue.
        """
        picture = np.empty((*SCREEN_SHAPE, 3), np.uint8)
        self._drawn_until = self.steps + VIEWED_STEPS
        copy_rgb(self.emulator.screen if self._render_frames or self._drawn else self.emulator.peek(), picture)
        return picture

    def close(self) -> None:
        """Stop the emulator. Nothing is written."""
        self._running, self.closed = False, True
        self.emulator.close()

    # Step without new arrays --------------------------------------------------------------------------------

    @abstractmethod
    def advance(self, action: int | np.integer[Any]) -> tuple[float, bool, bool]:
        """Take one action without building an observation. Return (reward, terminated, truncated).

        Raises:
            EnvironmentSetupError: no episode is running.
        """

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Write the observation into arrays of the observation space's shapes and dtypes, such as shared memory."""
        out["action_mask"][:] = self.mask
        if self._has_screen:
            if self._packed:
                pack_screen(self.emulator.screen, out["screen"])
            else:
                copy_rgb(self.emulator.screen, out["screen"])

    def observation(self) -> dict[str, NDArray[Any]]:
        """Return the observation of the latest step or reset, in new arrays."""
        out: dict[str, NDArray[Any]] = {name: np.empty(shape, dtype) for name, shape, dtype in self._layout}
        self.write_observation(out)
        return out

    # Other methods for training -----------------------------------------------------------------------------

    def memory_hash(self) -> int:
        """Return 64 bits (BLAKE2b) over all work RAM: bank 0, then banks 1 to 7."""
        digest = hashlib.blake2b(self.emulator.work_ram(), digest_size=8).digest()
        return int.from_bytes(digest, "little")

    def save_state(self) -> bytes:
        """Return the whole state: emulator, episode, random state. Resuming from it changes nothing."""
        session = {
            "steps": self.steps,
            "frames": self.frames,
            "pressed": self.pressed,
            "running": self._running,
            "random": self.np_random.bit_generator.state,
            **self._session(),
        }
        return write_saved_state(self.emulator.save_state(), session, game=self._name, rom_sha1=self.rom.sha1)

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Resume from a state of :meth:`save_state`. Return (observation, info).

        Raises:
            EmulatorError: the state is damaged, or of another version, image or setup.
        """
        saved = read_saved_state(state, game=self._name, rom_sha1=self.rom.sha1)
        session = saved.session
        self._check_session(session)
        self._drawn, self._drawn_until = False, -1
        self._running = False  # a damaged state leaves no running episode
        self.emulator.load_state(saved.emulator, trusted=True)
        try:
            self.steps = int(session["steps"])
            self.frames = int(session["frames"])
            self.pressed = int(session["pressed"])
            self.np_random.bit_generator.state = session["random"]
            self._load_session(session)
            self._running = bool(session["running"])
        except (KeyError, TypeError, ValueError) as error:
            raise EmulatorError(f"The saved state's header is damaged ({error}): save it again") from error
        return self.observation(), self._info()

    def baselines(self) -> dict[str, Callable[[int], None]]:
        """Return functions to compare :meth:`step` with: the emulation alone."""
        return baselines(self)

    # Methods for subclasses ---------------------------------------------------------------------------------

    @abstractmethod
    def _first_state(self) -> bytes:
        """Return the emulator's state in which episodes start by default."""

    @abstractmethod
    def _session(self) -> dict[str, Any]:
        """Return the environment's state of the episode, except its counters, as plain values."""

    @abstractmethod
    def _load_session(self, session: Mapping[str, Any]) -> None:
        """Restore the values of :meth:`_session`; emulator and counters are already restored."""

    @abstractmethod
    def _info(self) -> dict[str, Any]:
        """Return the info of the latest step."""

    def _check_session(self, session: Mapping[str, Any]) -> None:
        """Refuse a state that does not fit the setup, before anything has changed."""

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Start an episode in the state that options or settings give, with counters at 0."""
        if self.closed:
            raise EnvironmentSetupError("The environment is closed: create another one")
        self._running = False  # until the episode has begun
        super().reset(seed=seed)
        options = options or {}
        unknown = sorted(set(options) - {"start_state"})
        if unknown:
            raise EnvironmentSetupError(f"Option {unknown[0]!r} of reset() is unknown: it takes start_state")
        start = options.get("start_state")
        if start is None:
            start = self._start_state
        elif not isinstance(start, bytes):
            raise EnvironmentSetupError(f"Option start_state of reset() is {type(start).__name__}: give bytes")
        self._load_start(start)
        self.steps = self.frames = 0
        self._drawn, self._drawn_until = False, -1
        self.pressed = int(Action.NONE)

    def _is_drawn(self) -> bool:
        """Return True if the starting step is drawn, and remember it."""
        self._drawn = self._render_frames or self.steps < self._drawn_until
        return self._drawn

    def _check_running(self) -> None:
        if not self._running:  # also after close()
            raise EnvironmentSetupError("No episode is running: call reset() before step()")

    def _load_start(self, start: bytes | None) -> None:
        if start is None:
            self.emulator.load_state(self._first_state(), trusted=True)
            return
        try:
            if start[: len(MAGIC)] == MAGIC:
                saved = read_saved_state(start, game=self._name, rom_sha1=self.rom.sha1)
                self.emulator.load_state(saved.emulator, trusted=True)
            else:
                self.emulator.load_state(start)
        except EmulatorError as error:
            named = self._start_file is not None and start is self._start_state
            raise EmulatorError(f"{self._start_file}: {error}" if named else str(error)) from error


def _read_start_state(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return read_given(expand_home(path))
    except OSError as error:
        raise EnvironmentSetupError(
            f"The start state {path} cannot be read: {error.strerror}; check the path"
        ) from None
