"""Gymnasium environment for any Game Boy image: the screen is observed, and new screens are the reward."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.emulation.buttons import BUTTONS
from pkmn_pyboy.emulation.saved_state import NOVELTY, read_session
from pkmn_pyboy.emulation.settings import settings_from
from pkmn_pyboy.environments.emulated import EmulatedEnvironment
from pkmn_pyboy.environments.observation import pack_screen
from pkmn_pyboy.gameboy.novelty import ScreenNovelty
from pkmn_pyboy.gameboy.settings import GameBoySettings
from pkmncli.api import Context, Facts

_EPISODE_STEPS = 2_000


class GameBoyEnvironment(EmulatedEnvironment):
    """Environment ``gameboy``. A step is one action: a button is held, then released, 24 frames in all.

    Observations hold ``screen`` and ``action_mask`` int8 (9,), which is all ones: no press is
    known to be useless. The reward is that of :class:`ScreenNovelty`. Episodes end after a number of steps only.

    Args:
        settings: start, observation and reward of the image; ``rom_path`` is required.

    Raises:
        RomError: the image is not set, missing or damaged.
        ConfigurationError: a goal or state variables are requested, which such a game lacks.
        EmulatorError: the emulator does not start.
    """

    phase_names: Sequence[str] = ("playing",)
    milestone_names: Sequence[str] = ()

    def __init__(self, settings: GameBoySettings | None = None) -> None:
        self.settings = settings = settings or GameBoySettings()
        rom = settings.image()
        title = "".join(letter for letter in rom.header.title if letter.isprintable()).strip()
        self.names: dict[str, Any] = {"game": title or rom.path.stem}
        super().__init__(
            rom,
            settings,
            name=self.names["game"],
            observation_type="screen",
            action_frames=settings.action_frames,
            hold_frames=settings.hold_frames,
        )
        self.max_steps_per_episode = settings.max_steps_per_episode or _EPISODE_STEPS
        # Saved at once: later, a loaded state may be far from power-on.
        self.emulator.run(settings.start_frames)
        self._power_on = self.emulator.save_state()
        self.novelty = ScreenNovelty(settings)
        self._key = 0

    # Gymnasium ----------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Start an episode. The seed decides how many frames pass before its first step.

        Args:
            seed: seed of the episode and all its random choices.
            options: ``start_state`` holds bytes to start from: a state of :meth:`save_state`, or one of PyBoy's own.
        """
        self._begin(seed, options)
        low, high = self.settings.seed_noops
        self.emulator.run(int(self.np_random.integers(low, high + 1)))
        self.emulator.run(1, render=True)
        self._key = self.novelty.key(self.emulator.screen)
        self.novelty.reset(self._key)
        self._running = True
        return self.observation(), self._info()

    # Steps without new arrays -----------------------------------------------------------------------------------

    def advance(self, action: int | np.integer[Any]) -> tuple[float, bool, bool]:
        """Take one action without building an observation. Return (reward, terminated, truncated)."""
        self._check_running()
        sticky = self.settings.sticky_probability
        if not (sticky and self.np_random.random() < sticky):
            self.pressed = int(action)
        self.emulator.press(BUTTONS[self.pressed], self.hold_frames, self.action_frames, True)
        self.frames += self.action_frames
        self.steps += 1
        self._key = self.novelty.key(self.emulator.screen)
        return self.novelty.score(self._key), False, self.steps >= self.max_steps_per_episode

    # For training -----------------------------------------------------------------------------------------------

    def facts(self) -> Facts:
        """Return the step info: frames, the novelty key as coarse hash, the packed screen's hash as fine hash."""
        digest = hashlib.blake2b(pack_screen(self.emulator.screen).tobytes(), digest_size=8).digest()
        return Facts(frames=self.frames, coarse_hash=self._key, fine_hash=int.from_bytes(digest, "little"))

    def milestone_steps(self) -> list[int]:
        """Return an empty list: there are no milestones."""
        return []

    def context(self) -> Context:
        """Return the little that is known, in words."""
        return Context(
            current_goal="Find screens that were not seen before.",
            context_summary=f"{self.names['game']}, step {self.steps}: {self.novelty.count} screens seen.",
        )

    # Private ----------------------------------------------------------------------------------------------------

    def _first_state(self) -> bytes:
        return self._power_on

    def _session(self) -> dict[str, Any]:
        return {NOVELTY: self.novelty.save_state()}

    @staticmethod
    def describe_state(state: bytes) -> dict[str, Any] | None:
        """Return game and step of a saved state; None for another's state."""
        found = read_session(state)
        if found is None or NOVELTY not in found[1]:
            return None
        return {"game": found[0], "step": found[1].get("steps"), "milestone": None}

    def _load_session(self, session: Mapping[str, Any]) -> None:
        self.novelty.load_state(session[NOVELTY])
        self._key = self.novelty.key(self.emulator.screen)

    def _info(self) -> dict[str, Any]:
        return {"frames": self.frames, "screens": self.novelty.count, "pressed": self.pressed}


def make_game_boy(**settings: Any) -> GameBoyEnvironment:
    """Build the environment from settings given as keywords, for ``gymnasium.make``."""
    return GameBoyEnvironment(settings_from(GameBoySettings, settings))
