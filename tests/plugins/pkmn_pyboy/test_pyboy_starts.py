"""Starts: played once from power-on, then kept; a damaged cache is played again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pkmn_pyboy import starts
from pkmn_pyboy.emulator import Emulator
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.rom import load_rom
from pkmn_pyboy.starts import base_start, play_recipe, vary_start
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.errors import EnvironmentSetupError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(starts, "_kept", {})
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
    starts._kept.clear()
    written = file.stat().st_mtime_ns
    assert start(rom_path, quillwood) == first
    assert file.stat().st_mtime_ns == written


@pytest.mark.parametrize("damage", [b"", b"PKMNSTAT", b"x" * 1000])
def test_damaged_cache_is_played_again(cache: Path, rom_path: Path, quillwood: GameProfile, damage: bytes) -> None:
    first = start(rom_path, quillwood)
    (file,) = cache.iterdir()
    file.write_bytes(damage)
    starts._kept.clear()
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
    monkeypatch.setattr(starts, "_kept", {})
    make(observation_type="state").reset(seed=1)


def test_recipe_that_leads_nowhere_is_told(rom_path: Path, quillwood: GameProfile) -> None:
    nowhere = replace(quillwood.start[-1], until_control=True, until_map=(99, 99), times=5)
    emulator = Emulator(load_rom(rom_path))
    with pytest.raises(EnvironmentSetupError, match=r"start\.steps\.0: no control after"):
        play_recipe(emulator, replace(quillwood, start=(nowhere,)))
    emulator.close()


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
