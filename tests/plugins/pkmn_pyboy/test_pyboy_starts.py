"""Starts: played once from power-on, then kept; a damaged cache is played again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.variants import long_after

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.environments import starts
from pkmn_pyboy.environments.starts import base_start, play_recipe, vary_start
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.errors import EnvironmentSetupError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(starts, "kept_starts", {})
    return tmp_path / "pkmncli" / "starts"


def start(rom_path: Path, profile: GameProfile) -> bytes:
    emulator = Emulator(load_rom(rom_path))
    try:
        emulator.load_state(base_start(emulator, profile))
        return emulator.work_ram()
    finally:
        emulator.close()


def test_recipe_ends_where_the_player_has_control(rom_path: Path, quillwood: GameProfile) -> None:
    emulator = Emulator(load_rom(rom_path))
    frames = play_recipe(emulator, quillwood)
    state = StateReader(quillwood).read(emulator)
    emulator.close()
    assert state.phase is Phase.FREE
    assert state.map_group > 0
    assert 0 < frames <= quillwood.start_max_frames


def test_start_is_kept_between_processes(cache: Path, rom_path: Path, quillwood: GameProfile) -> None:
    first = start(rom_path, quillwood)
    (file,) = cache.iterdir()
    starts.kept_starts.clear()
    written = file.stat().st_mtime_ns
    assert start(rom_path, quillwood) == first
    assert file.stat().st_mtime_ns == written


def test_a_start_is_played_from_power_on_wherever_the_emulator_has_been(
    cache: Path, rom_path: Path, quillwood: GameProfile
) -> None:
    """As where a run goes on with nothing kept: its emulator is in the middle of the game."""
    first = start(rom_path, quillwood)
    for file in cache.iterdir():
        file.unlink()
    starts.kept_starts.clear()
    emulator = Emulator(load_rom(rom_path))
    play_recipe(emulator, quillwood)
    for button in ("down", "right", "right"):
        emulator.press(button, 10, 24)
    emulator.load_state(base_start(emulator, quillwood))
    found = emulator.work_ram()
    emulator.close()
    assert found == first


def forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on nothing may be played from power-on."""

    def refuse(*_arguments: Any) -> int:
        raise AssertionError("the recipe was played again")

    monkeypatch.setattr(starts, "play_recipe", refuse)


def test_a_kept_start_is_not_played_again(
    cache: Path, rom_path: Path, quillwood: GameProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = start(rom_path, quillwood)
    starts.kept_starts.clear()
    forbid(monkeypatch)
    assert start(rom_path, quillwood) == first


def test_another_image_has_another_start(
    cache: Path, tmp_path: Path, rom_path: Path, quillwood: GameProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(rom_path, quillwood)
    changed = bytearray(rom_path.read_bytes())
    changed[-1] ^= 1
    (tmp_path / "changed.gbc").write_bytes(changed)
    start(tmp_path / "changed.gbc", quillwood)
    assert len(list(cache.iterdir())) == 2
    (tmp_path / "elsewhere.gbc").write_bytes(rom_path.read_bytes())
    starts.kept_starts.clear()
    forbid(monkeypatch)
    start(tmp_path / "elsewhere.gbc", quillwood)


def test_one_changed_byte_in_the_cache_is_noticed(cache: Path, rom_path: Path, quillwood: GameProfile) -> None:
    first = start(rom_path, quillwood)
    (file,) = cache.iterdir()
    good = file.read_bytes()
    damaged = bytearray(good)
    damaged[-5000] ^= 0xFF
    file.write_bytes(damaged)
    starts.kept_starts.clear()
    assert start(rom_path, quillwood) == first
    starts.kept_starts.clear()
    assert start(rom_path, quillwood) == first
    assert file.read_bytes() != damaged, "it was written anew"


@pytest.mark.parametrize("refused", long_after(1, ["mkdir", "mkstemp", "replace", "read_bytes"]))
def test_a_cache_that_may_not_be_used_is_done_without(
    refused: str, cache: Path, rom_path: Path, quillwood: GameProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read-only and locked folders; what a test that runs as root could not forbid itself is refused for it."""
    first = start(rom_path, quillwood)
    kept = sorted(path.name for path in cache.iterdir())

    def refuse(*_arguments: Any, **_keywords: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    if refused != "read_bytes":
        for path in cache.iterdir():
            path.unlink()
        kept = []
    image = load_rom(rom_path)
    starts.kept_starts.clear()
    with monkeypatch.context() as patch:
        patch.setattr(*((starts.tempfile, refused) if refused == "mkstemp" else (Path, refused)), refuse)
        emulator = Emulator(image)
        emulator.load_state(base_start(emulator, quillwood))
        ram = emulator.work_ram()
        emulator.close()
    assert ram == first
    assert sorted(path.name for path in cache.iterdir()) == kept, "no leftovers"


@pytest.mark.parametrize("damage", long_after(1, [b"", b"PKMNSTAT", b"x" * 1000]))
def test_damaged_cache_is_played_again(cache: Path, rom_path: Path, quillwood: GameProfile, damage: bytes) -> None:
    first = start(rom_path, quillwood)
    (file,) = cache.iterdir()
    file.write_bytes(damage)
    starts.kept_starts.clear()
    assert start(rom_path, quillwood) == first
    assert file.stat().st_size > 100_000
    assert [path.name for path in cache.iterdir()] == [file.name]


def test_another_recipe_has_another_start(cache: Path, rom_path: Path, quillwood: GameProfile) -> None:
    start(rom_path, quillwood)
    start(rom_path, replace(quillwood, start=()))
    assert len(list(cache.iterdir())) == 2


def test_without_a_cache_folder_all_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[..., PokemonEnvironment]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(starts, "kept_starts", {})
    make(observation_type="state").reset(seed=1)


def test_recipe_that_leads_nowhere_is_told(rom_path: Path, quillwood: GameProfile) -> None:
    nowhere = replace(quillwood.start[-1], until_control=True, until_map=(99, 99), times=5)
    emulator = Emulator(load_rom(rom_path))
    with pytest.raises(EnvironmentSetupError, match=r"start\.steps\.0: no control after"):
        play_recipe(emulator, replace(quillwood, start=(nowhere,)))
    emulator.close()


@pytest.mark.long
def test_variation_turns_on_the_spot_only(rom_path: Path, quillwood: GameProfile) -> None:
    emulator = Emulator(load_rom(rom_path))
    reader = StateReader(quillwood)
    base = base_start(emulator, quillwood)
    emulator.load_state(base)
    place = reader.read(emulator).position
    facings = set()
    for seed in range(12):
        emulator.load_state(base)
        frames = vary_start(emulator, np.random.default_rng(seed), (0, 60), 3, lambda: reader.read(emulator))
        state = reader.read(emulator)
        assert state.position == place
        assert state.phase is Phase.FREE
        assert 0 <= frames <= 60 + 3 * starts.PRESS_FRAMES
        facings.add(state.facing)
    emulator.close()
    assert len(facings) > 1


@pytest.mark.long
def test_seeds_begin_on_many_tiles_and_nowhere_else(make: Callable[..., PokemonEnvironment]) -> None:
    environment = make()
    environment.reset(seed=0)
    home, tiles = environment.state.map_id, set()
    for seed in range(40):
        environment.reset(seed=seed)
        state = environment.state
        assert state.map_id == home
        assert state.phase is Phase.FREE
        assert environment.steps == 0
        tiles.add((state.x, state.y, state.facing))
    assert len(tiles) > 15
