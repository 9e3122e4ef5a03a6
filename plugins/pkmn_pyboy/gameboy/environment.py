"""Any Game Boy image as a Gymnasium environment: the screen is seen, and new screens are the reward."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pydantic import ValidationError

from pkmn_pyboy.baselines import baselines
from pkmn_pyboy.buttons import BUTTONS
from pkmn_pyboy.emulator import SCREEN_SHAPE, Emulator
from pkmn_pyboy.gameboy.novelty import ScreenNovelty
from pkmn_pyboy.gameboy.settings import GameBoySettings
from pkmn_pyboy.observation import copy_rgb, observation_space, pack_screen
from pkmn_pyboy.rom import load_rom
from pkmn_pyboy.saved_state import MAGIC, read_saved_state, write_saved_state
from pkmncli.api import Action, Context, Facts
from pkmncli.errors import ConfigurationError, EmulatorError, EnvironmentSetupError, RomError

_NONE = int(Action.NONE)
_ACTION_COUNT = len(Action)
_EPISODE_STEPS = 2_000
_FRAMES_PER_SECOND = 60


class GameBoyEnvironment(gymnasium.Env[dict[str, Any], np.int64]):
    """The environment ``gameboy``. One step is one action: a button held, then released, 24 frames in all.

    Observations hold ``screen`` and ``action_mask`` int8 (9,), which is all ones: nothing is known of the game that
    could forbid a press. The reward is that of :class:`ScreenNovelty`. Episodes end after a number of steps only.

    Args:
        settings: how the image is set up, seen and scored; ``rom_path`` is needed.

    Raises:
        RomError: no image is named, or it is missing or damaged.
        ConfigurationError: a goal or state variables are asked for, which such a game does not have.
        EmulatorError: the emulator does not start.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": _FRAMES_PER_SECOND / 24}  # noqa: RUF012
    observation_space: spaces.Dict
    action_space: spaces.Discrete
    phase_names: Sequence[str] = ("playing",)
    milestone_names: Sequence[str] = ()

    def __init__(self, settings: GameBoySettings | None = None) -> None:
        self.settings = settings = settings or GameBoySettings()
        _check(settings)
        assert settings.rom_path is not None
        self.rom = load_rom(settings.rom_path)
        self.render_mode = settings.render_mode
        self.action_frames, self.hold_frames = settings.action_frames, settings.hold_frames
        self.metadata = {**self.metadata, "render_fps": _FRAMES_PER_SECOND / self.action_frames}
        self.max_steps_per_episode = settings.max_steps_per_episode or _EPISODE_STEPS
        title = "".join(letter for letter in self.rom.header.title if letter.isprintable()).strip()
        self.names: dict[str, Any] = {"game": title or self.rom.path.stem}
        self.action_space = spaces.Discrete(_ACTION_COUNT)
        self.observation_space = observation_space("screen", packed=settings.screen == "packed")
        self._packed = settings.screen == "packed"
        self._start_state = _read_start_state(settings.start_state)
        self.emulator = Emulator(self.rom, headless=settings.headless, speed=settings.emulation_speed)
        # Taken at once: later, a state may have been loaded that is nothing like power-on.
        self.emulator.run(settings.start_frames)
        self._begin = self.emulator.save_state()
        self.novelty = ScreenNovelty(settings)
        self.mask: NDArray[np.int8] = np.ones(_ACTION_COUNT, np.int8)
        self.mask.setflags(write=False)
        self.steps = self.frames = 0
        self.pressed = _NONE
        self._key = 0
        self._running = False

    # Gymnasium ----------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begins an episode. The seed draws how many frames go by before its first step.

        Args:
            seed: of the episode and all that is drawn in it.
            options: ``start_state`` holds bytes to start from: a state of :meth:`save_state`, or one of PyBoy's own.
        """
        super().reset(seed=seed)
        self._load_start((options or {}).get("start_state") or self._start_state)
        low, high = self.settings.seed_noops
        self.emulator.run(int(self.np_random.integers(low, high + 1)))
        self.emulator.run(1, render=True)
        self.steps = self.frames = 0
        self.pressed = _NONE
        self._key = self.novelty.key(self.emulator.screen)
        self.novelty.reset(self._key)
        self._running = True
        return self.observation(), self._info()

    def step(self, action: int | np.integer[Any]) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Takes one action. Returns (observation, reward, terminated, truncated, info)."""
        reward, terminated, truncated = self.advance(action)
        return self.observation(), reward, terminated, truncated, self._info()

    def render(self) -> Any:
        """The picture, (144, 160, 3) uint8, with ``render_mode="rgb_array"``; nothing otherwise."""
        if self.render_mode is None:
            return None
        picture = np.empty((*SCREEN_SHAPE, 3), np.uint8)
        copy_rgb(self.emulator.screen, picture)
        return picture

    def close(self) -> None:
        """Ends the emulator. Nothing is written."""
        self.emulator.close()

    # A step without new arrays ------------------------------------------------------------------------------

    def advance(self, action: int | np.integer[Any]) -> tuple[float, bool, bool]:
        """Takes one action without building an observation. Returns (reward, terminated, truncated)."""
        if not self._running:
            raise EnvironmentSetupError("No episode is running: call reset() before step()")
        sticky = self.settings.sticky_probability
        if not (sticky and self.np_random.random() < sticky):
            self.pressed = int(action)
        self.emulator.press(BUTTONS[self.pressed], self.hold_frames, self.action_frames, True)
        self.frames += self.action_frames
        self.steps += 1
        self._key = self.novelty.key(self.emulator.screen)
        return self.novelty.score(self._key), False, self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Writes the observation into arrays of the observation space's shapes and dtypes, such as shared memory."""
        out["action_mask"][:] = 1
        if self._packed:
            pack_screen(self.emulator.screen, out["screen"])
        else:
            copy_rgb(self.emulator.screen, out["screen"])

    def observation(self) -> dict[str, NDArray[Any]]:
        """The observation of the latest step or reset, in arrays of its own."""
        parts = self.observation_space.spaces.items()
        out: dict[str, NDArray[Any]] = {name: np.empty(space.shape or (), space.dtype) for name, space in parts}
        self.write_observation(out)
        return out

    # What training needs beside it --------------------------------------------------------------------------

    def facts(self) -> Facts:
        """What is known: frames, the screen's novelty key as coarse hash, and the packed screen's hash as fine one."""
        digest = hashlib.blake2b(pack_screen(self.emulator.screen).tobytes(), digest_size=8).digest()
        return Facts(0, 0, 0, 0, 0, 0, 0.0, 0, self.frames, self._key, int.from_bytes(digest, "little"))

    def memory_hash(self) -> int:
        """64 bits (BLAKE2b) over all work RAM."""
        return int.from_bytes(hashlib.blake2b(self.emulator.work_ram(), digest_size=8).digest(), "little")

    def milestone_steps(self) -> list[int]:
        """There are no milestones."""
        return []

    def context(self) -> Context:
        """The little that is known, in words."""
        return Context(
            current_goal="Find screens that were not seen before.",
            context_summary=f"{self.names['game']}, step {self.steps}: {self.novelty.count} screens seen.",
        )

    def save_state(self) -> bytes:
        """Everything: emulator, episode, screens seen, random state. Going on from it changes nothing."""
        session = {
            "steps": self.steps,
            "frames": self.frames,
            "pressed": self.pressed,
            "running": self._running,
            "novelty": self.novelty.save_state(),
            "random": self.np_random.bit_generator.state,
        }
        return write_saved_state(
            self.emulator.save_state(), session, game=str(self.names["game"]), rom_sha1=self.rom.sha1
        )

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Goes on from a state of :meth:`save_state`. Returns (observation, info).

        Raises:
            EmulatorError: the state is damaged, or of another version or image.
        """
        saved = read_saved_state(state, game=str(self.names["game"]), rom_sha1=self.rom.sha1)
        session = saved.session
        self.emulator.load_state(saved.emulator, trusted=True)
        try:
            self.steps = int(session["steps"])
            self.frames = int(session["frames"])
            self.pressed = int(session["pressed"])
            self._running = bool(session["running"])
            self.novelty.load_state(session["novelty"])
            self.np_random.bit_generator.state = session["random"]
        except (KeyError, TypeError, ValueError) as error:
            raise EmulatorError(f"The saved state's header is damaged ({error}): save it again") from error
        self._key = self.novelty.key(self.emulator.screen)
        return self.observation(), self._info()

    def baselines(self) -> dict[str, Callable[[int], None]]:
        """The emulation alone, to measure :meth:`step` against."""
        return baselines(self)

    # Inner parts --------------------------------------------------------------------------------------------

    def _load_start(self, start: bytes | None) -> None:
        if start is None:
            self.emulator.load_state(self._begin, trusted=True)
        elif start[: len(MAGIC)] == MAGIC:
            saved = read_saved_state(start, game=str(self.names["game"]), rom_sha1=self.rom.sha1)
            self.emulator.load_state(saved.emulator, trusted=True)
        else:
            self.emulator.load_state(start)

    def _info(self) -> dict[str, Any]:
        return {"frames": self.frames, "screens": self.novelty.count, "pressed": self.pressed}


def make_game_boy(**settings: Any) -> GameBoyEnvironment:
    """Builds the environment from settings given as keywords, for ``gymnasium.make``."""
    try:
        return GameBoyEnvironment(GameBoySettings(**settings))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"Setting {key or 'of the environment'}: {first['msg']}") from None


def _check(settings: GameBoySettings) -> None:
    if settings.rom_path is None:
        raise RomError("The environment gameboy plays an image of your own: name it with --rom (rom_path)")
    if settings.goal is not None:
        raise ConfigurationError(
            f"setting 'goal' = {settings.goal!r}: the environment gameboy knows no milestones; leave it out"
        )
    if settings.observation_type == "state":
        raise ConfigurationError(
            "setting 'observation_type' = 'state': the environment gameboy has the screen only; use screen"
        )


def _read_start_state(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.expanduser().read_bytes()
    except OSError as error:
        raise EnvironmentSetupError(f"start_state: {path} can't be read: {error.strerror}; check the path") from None
