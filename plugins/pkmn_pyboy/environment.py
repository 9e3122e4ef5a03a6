"""A Pokemon game on an emulated Game Boy Color, as a Gymnasium environment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmn_pyboy.analysis import GameStateAnalysis
from pkmn_pyboy.baselines import baselines
from pkmn_pyboy.buttons import BUTTONS
from pkmn_pyboy.changes import Snapshot
from pkmn_pyboy.context import analyse, describe, splits, take_snapshot
from pkmn_pyboy.emulator import SCREEN_SHAPE, Emulator
from pkmn_pyboy.mask_rules import rules_without
from pkmn_pyboy.masks import ACTION_COUNT, MaskTable
from pkmn_pyboy.milestones import MilestoneTracker
from pkmn_pyboy.observation import copy_rgb, observation_space, pack_screen, write_state_variables
from pkmn_pyboy.rewards.composition import RewardSum
from pkmn_pyboy.saved_state import MAGIC, read_saved_state, write_saved_state
from pkmn_pyboy.seen_tiles import SeenTiles
from pkmn_pyboy.selection import select_game
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.starts import base_start, vary_start
from pkmn_pyboy.state.details import Details
from pkmn_pyboy.state.details_reader import DetailsReader
from pkmn_pyboy.state.game_state import PHASE_NAMES, Facing, GameState, Phase
from pkmn_pyboy.state.name_tables import names_with_image
from pkmn_pyboy.state.reader import StateReader
from pkmn_pyboy.text_map import TextMap
from pkmncli.api import Action, Context, Facts, MilestoneSplit
from pkmncli.errors import ConfigurationError, EmulatorError, EnvironmentSetupError

_NONE = int(Action.NONE)
_NEIGHBOURS = {
    Facing.DOWN: "wTileDown",
    Facing.UP: "wTileUp",
    Facing.LEFT: "wTileLeft",
    Facing.RIGHT: "wTileRight",
}
_FLOOR = 0  # collision of a tile that is nothing but floor

FRAMES_PER_SECOND = 60
"""What a Game Boy draws, rounded up from 59.7."""


class PokemonEnvironment(gymnasium.Env[dict[str, Any], np.int64]):
    """The environment ``pyboy``. One step is one action: a button held, then released, 24 frames in all.

    Observations hold ``action_mask`` int8 (9,) and, by the setting, ``screen`` and ``state_variables``. An action
    that the mask forbids is not pressed: the step waits instead, and ``info["masked"]`` counts it. So whatever is
    pressed, by whoever, was allowed.

    Beside Gymnasium's methods: :meth:`advance` and :meth:`write_observation` make a step without new arrays;
    ``state``, ``mask``, ``profile``, ``emulator`` and ``milestones`` are for pilots.

    Args:
        settings: how the game is set up, seen and scored; defaults without it.

    Raises:
        EnvironmentSetupError: the profile is missing or wrong.
        RomError: the cartridge image is missing, damaged or unknown.
        EmulatorError: the emulator does not start.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": FRAMES_PER_SECOND / 24}  # noqa: RUF012
    observation_space: spaces.Dict
    action_space: spaces.Discrete

    def __init__(self, settings: EnvironmentSettings | None = None) -> None:
        self.settings = settings = settings or EnvironmentSettings()
        self.render_mode = settings.render_mode
        self.profile, self.rom = select_game(settings)
        self.action_frames = settings.action_frames or self.profile.action_frames
        self.hold_frames = settings.hold_frames or min(self.profile.hold_frames, self.action_frames - 1)
        rate = FRAMES_PER_SECOND / (self.action_frames * settings.action_repeat)
        self.metadata = {**self.metadata, "render_fps": rate}
        self.max_steps_per_episode = settings.max_steps_per_episode or self.profile.episode_steps
        self.goal = self._goal_index()
        """Place of the milestone that ends an episode, -1 for none."""
        self.rewards = RewardSum(settings.rewards)
        self.phase_names = PHASE_NAMES
        self.milestone_names = tuple(milestone.key for milestone in self.profile.milestones)
        self.known_names = names_with_image(self.profile, self.rom.data)
        """The profile's names, and those in the image for what it does not name."""
        self.names: dict[str, Any] = {"game": self.profile.title, **self.known_names.as_mapping()}
        self.action_space = spaces.Discrete(ACTION_COUNT)
        self.observation_space = observation_space(settings.observation_type, packed=settings.screen == "packed")
        self._layout: list[tuple[str, tuple[int, ...], Any]] = [
            (name, space.shape or (), space.dtype) for name, space in self.observation_space.spaces.items()
        ]
        self._has_screen = "screen" in self.observation_space.spaces
        self._has_variables = "state_variables" in self.observation_space.spaces
        self._render_frames = self._has_screen or settings.render_mode is not None or not settings.headless
        self._start_state = _read_start_state(settings.start_state)

        self.emulator = Emulator(self.rom, headless=settings.headless, speed=settings.emulation_speed)
        self.reader = StateReader(self.profile, self.rom.data)
        self.milestones = MilestoneTracker(self.profile.milestones)
        self.seen = SeenTiles()
        """The tiles seen in this episode."""
        self._details_reader = DetailsReader(self.profile, self.known_names, self.rom.data)
        self._details: Details | None = None
        self._text_map = TextMap(self.emulator, self.profile, self.known_names)
        self._described: Snapshot | None = None
        self._masks = MaskTable(rules_without(settings.without_mask_rules))
        self.state: GameState = self.reader.read(self.emulator)
        self.mask: NDArray[np.int8] = self._masks.mask(self.state)
        """(9,) int8, 1 = allowed now. Shared: not to be changed."""
        self.steps = 0
        """Steps of this episode."""
        self.frames = 0
        """Emulated frames of this episode, counted from its first step."""
        self.masked = 0
        """Steps of this episode whose action the mask forbade."""
        self.pressed = _NONE
        """The action of the latest step, after the mask and stickiness."""
        self._progress_step = 0
        self._progress_mark = (0, 0, 0, 0)
        self._maps: set[int] = set()
        self._facts: Facts | None = None
        self._running = False
        self.rewards.bind(self)

    # Gymnasium ----------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begins an episode.

        The seed draws how it begins: some idle frames, some steps and turns. The same seed begins the same
        episode, in any process.

        Args:
            seed: of the episode and all that is drawn in it.
            options: ``start_state`` holds bytes to start from: a state of :meth:`save_state`, or one of PyBoy's own.

        Raises:
            EmulatorError: the state does not fit.
            EnvironmentSetupError: the goal is reached already where the episode would begin.
        """
        super().reset(seed=seed)
        start = (options or {}).get("start_state") or self._start_state
        self._load_start(start)
        self.reader.reset()
        vary_start(
            self.emulator,
            self.np_random,
            self.settings.seed_noops,
            self.settings.seed_presses,
            lambda: self.reader.read(self.emulator),
            self._is_floor,
        )
        self.emulator.run(1, render=True)
        self.steps = self.frames = self.masked = 0
        self.pressed = _NONE
        self.reader.read(self.emulator)
        self.milestones.begin(self.emulator, self.reader.current_map())
        if self.goal >= 0 and self.milestones.steps[self.goal] >= 0:
            raise EnvironmentSetupError(
                f"The goal {self.milestone_names[self.goal]} is reached already where the episode begins: "
                "name another goal, or begin elsewhere"
            )
        self._read_state()
        self.seen.reset()
        self.seen.note(self.state)
        self._described = None
        self._progress_step = 0
        self._progress_mark = self._progress_of(self.state)
        self._maps = {self.state.map_id}
        self.rewards.reset(self.state)
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
        settings = self.settings
        wanted = int(action)
        if settings.sticky_probability and self.np_random.random() < settings.sticky_probability:
            wanted = self.pressed
        if not self.mask[wanted]:
            self.masked += 1
            wanted = _NONE
        previous = self.state
        self._press(wanted)
        self.pressed = wanted
        self.steps += 1
        self._read_state()
        state = self.state
        self.seen.note(state)
        reward = self.rewards.score(previous, wanted, state)
        if self._progress_of(state) != self._progress_mark or state.map_id not in self._maps:
            self._progress_mark = self._progress_of(state)
            self._maps.add(state.map_id)
            self._progress_step = self.steps
        terminated = self.goal >= 0 and self.milestones.steps[self.goal] >= 0
        if terminated:
            reward += self.rewards.finish(state)
        return reward, terminated, self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Writes the observation into arrays of the observation space's shapes and dtypes, such as shared memory."""
        out["action_mask"][:] = self.mask
        if self._has_variables:
            write_state_variables(
                out["state_variables"], self.state, len(self.profile.milestones), self.steps_since_progress
            )
        if self._has_screen:
            screen = self.emulator.screen
            if self.settings.screen == "packed":
                pack_screen(screen, out["screen"])
            else:
                copy_rgb(screen, out["screen"])

    def observation(self) -> dict[str, NDArray[Any]]:
        """The observation of the latest step or reset, in arrays of its own."""
        out: dict[str, NDArray[Any]] = {name: np.empty(shape, dtype) for name, shape, dtype in self._layout}
        self.write_observation(out)
        return out

    # What training needs beside it --------------------------------------------------------------------------

    def facts(self) -> Facts:
        """The state after the latest reset or step, as numbers."""
        if self._facts is None:
            self._facts = self._make_facts()
        return self._facts

    def memory_hash(self) -> int:
        """64 bits (BLAKE2b) over all work RAM: bank 0, then banks 1 to 7."""
        digest = hashlib.blake2b(self.emulator.work_ram(), digest_size=8).digest()
        return int.from_bytes(digest, "little")

    def milestone_steps(self) -> list[int]:
        """For each milestone the step of this episode at which it was reached, 0 at its start, -1 if not yet."""
        return list(self.milestones.steps)

    def milestone_frames(self) -> list[int]:
        """The same in emulated frames of the episode."""
        return list(self.milestones.frames)

    def milestone_splits(self) -> tuple[MilestoneSplit, ...]:
        """The milestones reached in this episode, with the step and the emulated frame of each, in their order."""
        return splits(self)

    @property
    def steps_since_progress(self) -> int:
        """Steps since a milestone, level, badge, catch or map was new."""
        return self.steps - self._progress_step

    def details(self) -> Details:
        """What is not needed at every step: bag, Pokedex, story flags, clock, names and more of a battle."""
        if self._details is None:
            self._details = self._details_reader.read(self.emulator, self.state)
        return self._details

    def analysis(self) -> GameStateAnalysis:
        """What the state means: danger, health, suggestions, and what changed since the latest :meth:`context`."""
        return analyse(self, self._described)

    def reward_totals(self) -> dict[str, float]:
        """What each part of the reward has earned in this episode, weighted, as ``reward.part``."""
        return dict(self.rewards.totals)

    def context(self) -> Context:
        """The state in words. What changed is told from one call to the next."""
        context = describe(self, self._described)
        self._described = take_snapshot(self)
        return context

    def screen_words(self) -> str:
        """The text on the screen, while a window with words is open; empty otherwise."""
        tiles = self.reader.screen_tiles()
        return self.profile.charmap.screen_text(tiles) if tiles else ""

    def text_map(self) -> str:
        """The tiles around the player in letters, while the player can see them; empty otherwise."""
        if self.state.phase not in (Phase.FREE, Phase.MOVING, Phase.DIALOGUE, Phase.CHOICE, Phase.CUTSCENE):
            return ""
        return self._text_map.draw(self.state, self.seen, self.settings.text_map_columns, self.settings.text_map_rows)

    def save_state(self) -> bytes:
        """Everything: emulator, episode, rewards, random state. Going on from it changes nothing."""
        session = {
            "steps": self.steps,
            "frames": self.frames,
            "masked": self.masked,
            "pressed": self.pressed,
            "running": self._running,
            "progress_step": self._progress_step,
            "progress_mark": list(self._progress_mark),
            "maps": sorted(self._maps),
            "milestones": self.milestones.save_state(),
            "seen": self.seen.save_state(),
            "described": self._described.as_dict() if self._described is not None else None,
            "reader": self.reader.save_state(),
            "random": self.np_random.bit_generator.state,
            "rewards": self.rewards.save_state(),
            "reward_totals": self.rewards.totals,
        }
        return write_saved_state(self.emulator.save_state(), session, game=self.profile.name, rom_sha1=self.rom.sha1)

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Goes on from a state of :meth:`save_state`. Returns (observation, info).

        Raises:
            EmulatorError: the state is damaged, or of another version, game or set of rewards.
        """
        saved = read_saved_state(state, game=self.profile.name, rom_sha1=self.rom.sha1)
        session = saved.session
        names = self.rewards.names
        if set(session.get("rewards", {})) != names:
            raise EmulatorError(
                f"The saved state has the rewards {', '.join(sorted(session.get('rewards', {}))) or 'none'}, this "
                f"environment {', '.join(sorted(names)) or 'none'}: use the same ones, or start from it with reset()"
            )
        self.emulator.load_state(saved.emulator, trusted=True)
        try:
            self._load_session(session)
        except (KeyError, TypeError, ValueError) as error:
            raise EmulatorError(f"The saved state's header is damaged ({error}): save it again") from error
        return self.observation(), self._info()

    def baselines(self) -> dict[str, Callable[[int], None]]:
        """The emulation alone, to measure :meth:`step` against, and the reading alone, as each step does it once."""

        def read(action: int) -> None:
            self._masks.mask(self.reader.read(self.emulator))

        return {**baselines(self), "state reader and mask": read}

    # Inner parts --------------------------------------------------------------------------------------------

    def _make_facts(self) -> Facts:
        state = self.state
        battle = state.battle
        opponent = battle.opponent if battle is not None else None
        return Facts(
            state.map_group * 256 + state.map_number,
            state.x,
            state.y,
            int(state.phase),
            battle.kind if battle is not None else 0,
            opponent.species if opponent is not None else 0,
            state.party.hp_share,
            self.milestones.count,
            self.frames,
            self.reader.coarse_hash(),
            self.reader.fine_hash(),
        )

    def _load_session(self, session: Mapping[str, Any]) -> None:
        self.steps = int(session["steps"])
        self.frames = int(session["frames"])
        self.masked = int(session["masked"])
        self.pressed = int(session["pressed"])
        self._running = bool(session["running"])
        self._progress_step = int(session["progress_step"])
        a, b, c, d = session["progress_mark"]
        self._progress_mark = (int(a), int(b), int(c), int(d))
        self._maps = {int(map_id) for map_id in session["maps"]}
        self.milestones.load_state(session["milestones"])
        self.seen.load_state(session["seen"])
        described = session["described"]
        self._described = Snapshot.from_dict(described) if described is not None else None
        self.reader.load_state(session["reader"])
        self.np_random.bit_generator.state = session["random"]
        self.rewards.load_state(session["rewards"])
        self.rewards.totals = {str(part): float(total) for part, total in session["reward_totals"].items()}
        self.state = self.reader.read(self.emulator, self.milestones.count)
        self.mask = self._masks.mask(self.state)
        self._facts = self._details = None

    def _is_floor(self, direction: Facing) -> bool:
        """Whether the game says that the next tile in a direction is plain floor, where nothing happens."""
        field = _NEIGHBOURS[direction]
        memory = self.profile.memory
        return field in memory and memory.read(self.emulator, field) == _FLOOR

    def _load_start(self, start: bytes | None) -> None:
        if start is None:
            self.emulator.load_state(base_start(self.emulator, self.profile), trusted=True)
        elif start[: len(MAGIC)] == MAGIC:
            saved = read_saved_state(start, game=self.profile.name, rom_sha1=self.rom.sha1)
            self.emulator.load_state(saved.emulator, trusted=True)
        else:
            try:
                self.emulator.load_state(start)
            except EmulatorError as error:
                file = self.settings.start_state
                raise EmulatorError(
                    f"{file}: {error}" if file is not None and start is self._start_state else str(error)
                ) from error

    def _press(self, action: int) -> None:
        button = BUTTONS[action]
        for repeat in range(self.settings.action_repeat):
            if repeat:
                # Each press of a repeated action needs its own permission.
                self.state = self.reader.read(self.emulator, self.milestones.count)
                if not self._masks.mask(self.state)[action]:
                    break
            self.emulator.press(button, self.hold_frames, self.action_frames, self._render_frames)
            self.frames += self.action_frames

    def _read_state(self) -> None:
        state = self.reader.read(self.emulator, self.milestones.count)
        if self.milestones.update(self.emulator, self.reader.current_map(), self.steps, self.frames):
            state = self.reader.read(self.emulator, self.milestones.count)
        self.state = state
        self.mask = self._masks.mask(state)
        self._facts = self._details = None

    @staticmethod
    def _progress_of(state: GameState) -> tuple[int, int, int, int]:
        return (state.milestones, state.party.level_sum, state.johto_badges << 8 | state.kanto_badges, state.caught)

    def _info(self) -> dict[str, Any]:
        return {
            "frames": self.frames,
            "milestones": self.milestones.count,
            "masked": self.masked,
            "pressed": self.pressed,
            "reward_parts": self.rewards.parts,
        }

    def _goal_index(self) -> int:
        if self.settings.goal is not None:
            return self.profile.milestone_index(self.settings.goal)
        required = [index for index, milestone in enumerate(self.profile.milestones) if not milestone.optional]
        return required[-1] if required else -1


def make_environment(**settings: Any) -> PokemonEnvironment:
    """Builds the environment from settings given as keywords, for ``gymnasium.make``."""
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        return PokemonEnvironment(EnvironmentSettings(**settings))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"Setting {key or 'of the environment'}: {first['msg']}") from None


def _read_start_state(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.expanduser().read_bytes()
    except OSError as error:
        raise EnvironmentSetupError(f"The start state {path} can't be read: {error.strerror}; check the path") from None
