"""Where episodes begin: from power-on to control by the profile's recipe, in a new game or in one that a cartridge
holds; kept for the next time, varied by seed."""

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
"""Without a recipe an episode begins this long after power-on."""

TURN_HOLD_FRAMES = 4
STEP_HOLD_FRAMES = 10
PRESS_FRAMES = 24
"""A press, held for one of these two, with what the game makes of it."""

_NEIGHBOURS = {
    Facing.DOWN: "wTileDown",
    Facing.UP: "wTileUp",
    Facing.LEFT: "wTileLeft",
    Facing.RIGHT: "wTileRight",
}
_FLOOR = 0  # collision of a tile that is nothing but floor

_kept: dict[str, bytes] = {}


def base_start(emulator: Emulator, profile: GameProfile) -> bytes:
    """The emulator's state where the profile's recipe ends.

    It is played once for each image, recipe and version of PyBoy, then taken from memory or from the user's cache
    folder. A cache that can't be read or written is done without.

    Raises:
        EnvironmentSetupError: the recipe does not get where it should.
    """

    def play() -> bytes:
        # This emulator may be anywhere, as where a run goes on or is evaluated; the recipe begins at power-on.
        with contextlib.closing(Emulator(emulator.rom)) as fresh:
            play_recipe(fresh, profile)
            return fresh.save_state()

    return _kept_state(_key(emulator, profile.start), emulator, profile, play)


def continued_start(emulator: Emulator, profile: GameProfile, save: BatterySave) -> bytes:
    """The emulator's state with control in a saved game, kept like :func:`base_start`'s, for each save.

    Raises:
        EnvironmentSetupError: there is no saved game of this one in the save, or it was not continued.
    """

    def play() -> bytes:
        with contextlib.closing(Emulator(emulator.rom, cartridge_ram=save.ram)) as fresh:
            continue_game(fresh, profile, save)
            return fresh.save_state()

    recipe = check_saved_game(profile, save)[0]
    return _kept_state(_key(emulator, recipe.steps, save.digest), emulator, profile, play)


def _kept_state(key: str, emulator: Emulator, profile: GameProfile, play: Callable[[], bytes]) -> bytes:
    """The state of a key; it is played where it is not kept."""
    state = _kept.get(key)
    if state is None:
        path = _cache_path(key)
        state = _read_cache(path, emulator, profile)
        if state is None:
            state = play()
            _write_cache(path, write_saved_state(state, {}, game=profile.name, rom_sha1=emulator.rom.sha1))
        _kept[key] = state
    return state


def play_recipe(emulator: Emulator, profile: GameProfile) -> int:
    """Plays the recipe on an emulator that was just switched on. Returns the frames it took.

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
    """What tells the saved game in a cartridge's RAM from another player's; None where there is none."""
    for copy in recipe.copies:
        if all(ram[place : place + 1] == bytes([value]) for place, value in copy.marks):
            return ram[copy.same : copy.same + recipe.same.size]
    return None


def check_saved_game(profile: GameProfile, save: BatterySave) -> tuple[ContinueRecipe, bytes]:
    """How a save's game is continued, and what tells it from another player's.

    Raises:
        EnvironmentSetupError: there is no saved game in it, or the profile does not say how one is continued.
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
    """Continues the saved game on an emulator that was just switched on with it. Returns the frames it took.

    Raises:
        EnvironmentSetupError: there is none, or the game did not go on with it.
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
    """Makes a seed's start its own: some idle frames, then some presses of directions where the player has control.

    A press towards plain floor is a step; any other is too short for one and only turns. So nothing is entered, left,
    spoken to or met.

    Args:
        emulator: stands at the start.
        random: draws what is done.
        noops: least and most idle frames.
        most_presses: most presses.
        read: gives the state now.
        is_floor: whether the next tile in a direction is plain floor; without it there are turns only.

    Returns:
        Frames that it took.
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
    """Whether the game says that the next tile in a direction is plain floor, where nothing happens."""
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
