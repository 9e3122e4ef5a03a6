"""Start states of episodes: from power-on to control by the profile's recipe, in a new or a saved game.

Start states are cached, and varied by the seed of the episode.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from pkmn_pyboy.emulation.battery import BatterySave
from pkmn_pyboy.emulation.emulator import PYBOY_VERSION, Emulator
from pkmn_pyboy.emulation.saved_state import FORMAT, read_saved_state, write_saved_state
from pkmn_pyboy.profile.model import ContinueRecipe, GameProfile, StartStep
from pkmn_pyboy.state.game_state import Facing, GameState, Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.errors import EmulatorError, EnvironmentSetupError

POWER_ON_FRAMES = 60
"""Frames from power-on to the start of an episode without a recipe."""

TURN_HOLD_FRAMES = 4
STEP_HOLD_FRAMES = 10
PRESS_FRAMES = 24
"""Frames that a press is held, to turn or to step, and frames of the whole action."""

_NEIGHBOURS = {
    Facing.DOWN: "wTileDown",
    Facing.UP: "wTileUp",
    Facing.LEFT: "wTileLeft",
    Facing.RIGHT: "wTileRight",
}
_FLOOR = 0  # collision of a tile that is nothing but floor

kept_starts: dict[str, bytes] = {}
"""Start states that this process has made or read, by what they depend on."""


def base_start(emulator: Emulator, profile: GameProfile) -> bytes:
    """Return the emulator's state at the end of the profile's recipe.

    The recipe is played once for each image, recipe and version of PyBoy; then the state comes from memory or from the
    user's cache folder. A cache that can't be read or written is ignored.

    Raises:
        EnvironmentSetupError: the recipe does not lead to control.
    """

    def play() -> bytes:
        # This emulator may be in any state, as in a resumed run; the recipe begins at power-on.
        with contextlib.closing(Emulator(emulator.rom)) as fresh:
            play_recipe(fresh, profile)
            return fresh.save_state()

    return _kept_state(_key(emulator, profile.start), emulator, profile, play)


def continued_start(emulator: Emulator, profile: GameProfile, save: BatterySave) -> bytes:
    """Return the emulator's state with control in a saved game, cached as in :func:`base_start`, for each save.

    Raises:
        EnvironmentSetupError: the save holds no saved game of this profile, or it was not continued.
    """

    def play() -> bytes:
        with contextlib.closing(Emulator(emulator.rom, cartridge_ram=save.ram)) as fresh:
            continue_game(fresh, profile, save)
            return fresh.save_state()

    recipe = check_saved_game(profile, save)[0]
    return _kept_state(_key(emulator, recipe.steps, save.digest), emulator, profile, play)


def _kept_state(key: str, emulator: Emulator, profile: GameProfile, play: Callable[[], bytes]) -> bytes:
    """Return the state of a key, which is played if it is not cached."""
    state = kept_starts.get(key)
    if state is None:
        path = _cache_path(key)
        state = _read_cache(path, emulator, profile)
        if state is None:
            state = play()
            _write_cache(path, write_saved_state(state, {}, game=profile.name, rom_sha1=emulator.rom.sha1))
        kept_starts[key] = state
    return state


def play_recipe(emulator: Emulator, profile: GameProfile) -> int:
    """Play the recipe on an emulator that was just switched on. Return the number of frames.

    Raises:
        EnvironmentSetupError: a step that should lead to control did not.
    """
    if not profile.start:
        emulator.run(POWER_ON_FRAMES)
        return POWER_ON_FRAMES
    try:
        return _play_steps(emulator, profile, profile.start, profile.start_max_frames)
    except _NoControlError as error:
        raise EnvironmentSetupError(
            f"{profile.folder / 'game.toml'}: start.steps.{error.step}: no control after {error.frames:,} frames; "
            "is this the image that the profile describes?"
        ) from None


def find_saved_game(recipe: ContinueRecipe, ram: bytes) -> bytes | None:
    """Return the bytes that identify the player of the saved game in a cartridge's RAM; None if there is none."""
    for copy in recipe.copies:
        if all(ram[place : place + 1] == bytes([value]) for place, value in copy.marks):
            return ram[copy.same : copy.same + recipe.same.size]
    return None


def check_saved_game(profile: GameProfile, save: BatterySave) -> tuple[ContinueRecipe, bytes]:
    """Return the recipe that continues a saved game, and the bytes that identify its player.

    Raises:
        EnvironmentSetupError: there is no saved game in it, or the profile has no recipe to continue one.
    """
    recipe = profile.continuing
    if recipe is None:
        raise EnvironmentSetupError(
            f"{profile.folder / 'game.toml'} does not say how a saved game is continued ([continue]): "
            f"leave out --cartridge {save.path}, or begin in a state of pkmn play with --init-state"
        )
    saved = find_saved_game(recipe, save.ram)
    if saved is not None:
        return recipe, saved
    raise EnvironmentSetupError(
        f"--cartridge: {save.path} holds no saved game of {profile.title}: save in the game first, "
        "or name the battery save of this game"
    )


def continue_game(emulator: Emulator, profile: GameProfile, save: BatterySave) -> int:
    """Continue the saved game on an emulator that was just switched on with it. Returns the frames it took.

    Raises:
        EnvironmentSetupError: there is none, or the game did not continue it.
    """
    recipe, saved = check_saved_game(profile, save)
    try:
        frames = _play_steps(emulator, profile, recipe.steps, recipe.max_frames)
    except _NoControlError as error:
        raise EnvironmentSetupError(
            f"--cartridge: the game saved in {save.path} could not be continued: no control after {error.frames:,} "
            f"frames; it is damaged, or not of {profile.title}"
        ) from None
    same = recipe.same
    if emulator.read(same.bank, same.address, same.size) != saved:
        raise EnvironmentSetupError(
            f"--cartridge: {profile.title} did not go on with the game saved in {save.path} but began a new one: "
            "it is damaged; name another battery save"
        )
    return frames


class _NoControlError(Exception):
    def __init__(self, step: int, frames: int) -> None:
        super().__init__(step, frames)
        self.step, self.frames = step, frames


def _play_steps(emulator: Emulator, profile: GameProfile, steps: Sequence[StartStep], most_frames: int) -> int:
    reader = StateReader(profile)
    frames = 0
    for number, step in enumerate(steps):
        frames += _play_step(emulator, reader, step, number, most_frames - frames)
    return frames


def _play_step(emulator: Emulator, reader: StateReader, step: StartStep, number: int, most_frames: int) -> int:
    if not step.presses:
        emulator.run(step.wait_frames)
        return step.wait_frames
    frames = 0
    for turn in range(step.times):
        action = step.hold_frames + step.wait_frames
        if frames + action > most_frames:
            break
        emulator.press(step.presses[turn % len(step.presses)], step.hold_frames, action, render=False)
        frames += action
        if step.until_control and _in_control(step, reader.read(emulator)):
            return frames
    if not step.until_control:
        return frames
    raise _NoControlError(number, frames)


def _in_control(step: StartStep, state: GameState) -> bool:
    if state.phase is not Phase.FREE:
        return False
    return step.until_map is None or step.until_map == (state.map_group, state.map_number)


def vary_start(
    emulator: Emulator,
    random: np.random.Generator,
    noops: tuple[int, int],
    most_presses: int,
    read: Callable[[], GameState],
    is_floor: Callable[[Facing], bool] = lambda direction: False,
) -> int:
    """Vary a start by random idle frames, then random presses of directions while the player has control.

    A press towards plain floor is a step; any other is too short for a step and only turns. So the player enters,
    leaves and meets nothing.

    Args:
        emulator: in the state of the start.
        random: source of the random numbers.
        noops: minimum and maximum idle frames.
        most_presses: maximum presses.
        read: returns the state now.
        is_floor: returns True if the next tile in a direction is plain floor; by default there are only turns.

    Returns:
        Number of frames.
    """
    frames = int(random.integers(noops[0], noops[1] + 1))
    emulator.run(frames)
    for _ in range(int(random.integers(0, most_presses + 1))):
        direction = Facing(int(random.integers(len(Facing))))
        state = read()
        steps = is_floor(direction)
        # even a short press walks on in the direction that the player faces already
        if state.phase is not Phase.FREE or (state.facing is direction and not steps):
            continue
        hold = STEP_HOLD_FRAMES if steps else TURN_HOLD_FRAMES
        emulator.press(direction.name.lower(), hold, PRESS_FRAMES, render=False)
        frames += PRESS_FRAMES
    return frames


def floor_ahead(emulator: Emulator, profile: GameProfile, direction: Facing) -> bool:
    """Return True if the next tile in a direction is plain floor, according to the game's memory."""
    field = _NEIGHBOURS[direction]
    return field in profile.memory and profile.memory.read(emulator, field) == _FLOOR


def _key(emulator: Emulator, steps: Sequence[StartStep], *more: str) -> str:
    recipe = json.dumps([asdict(step) for step in steps], sort_keys=True)
    text = "\n".join((emulator.rom.sha1, recipe, PYBOY_VERSION, str(FORMAT), *more))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _cache_path(key: str) -> Path | None:
    import platformdirs  # noqa: PLC0415

    try:
        return Path(platformdirs.user_cache_dir("pkmncli", appauthor=False)) / "starts" / f"{key}.state"
    except (OSError, RuntimeError):
        return None


def _read_cache(path: Path | None, emulator: Emulator, profile: GameProfile) -> bytes | None:
    if path is None:
        return None
    try:
        state = read_saved_state(path.read_bytes(), game=profile.name, rom_sha1=emulator.rom.sha1).emulator
        emulator.load_state(state)
    except (OSError, EmulatorError):
        return None
    return state


def _write_cache(path: Path | None, data: bytes) -> None:
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
    except OSError:
        return
