"""State variables have the meaning of their table, and a packed screen is the picture."""

from __future__ import annotations

import numpy as np
import pytest
from support.pyboy_fakes import IN_CONTROL, FakeMemory, battle_record, party_record

from pkmn_pyboy.environments.observation import PACKED_SHAPE, copy_rgb, pack_screen, unpack_screens
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.reader import StateReader
from pkmn_pyboy.state.variables import STATE_SIZE, STATE_VARIABLES, write_state_variables

ORDER = [
    "map_group",
    "map_number",
    "x",
    "y",
    "facing",
    "movement",
    "phase",
    "party_size",
    "lead_level",
    "lead_hp",
    "party_levels",
    "party_hp",
    "johto_badges",
    "kanto_badges",
    "money",
    "caught",
    "seen",
    "milestones",
    "battle",
    "enemy_level",
    "enemy_hp",
    "battler_hp",
    "effectiveness",
    "balls",
    "idle_steps",
]


def variables(crystal: GameProfile, memory: FakeMemory, idle: int = 0, milestones: int = 0) -> dict[str, float]:
    out = np.full(STATE_SIZE, np.nan, dtype=np.float32)
    state = StateReader(crystal).read(memory, milestones)
    write_state_variables(out, state, 58, idle)
    assert np.all((out >= 0) & (out <= 1))
    return dict(zip((variable.name for variable in STATE_VARIABLES), out.tolist(), strict=True))


def test_order_names_and_units() -> None:
    assert [variable.name for variable in STATE_VARIABLES] == ORDER
    assert all(variable.unit and variable.meaning and variable.scale > 0 for variable in STATE_VARIABLES)


def test_values_of_a_battle(crystal: GameProfile, memory: FakeMemory) -> None:
    memory.set(**IN_CONTROL).set(
        wPlayerDirection=0x0C,
        wPlayerState=4,
        wPartyCount=2,
        wPartySpecies=bytes((158, 16, 255, 0, 0, 0)),
        wPartyMon1=party_record(level=20, hp=30, max_hp=60),
        wPartyMon2=party_record(level=10, hp=20, max_hp=40),
        wJohtoBadges=0b11,
        wKantoBadges=0b1,
        wMoney=b"\x0f\x42\x3f",
        wPokedexCaught=b"\x01" + bytes(31),
        wPokedexSeen=b"\x03" + bytes(31),
        wNumBalls=1,
        wBalls=bytes((5, 10, 255)) + bytes(22),
        wBattleMode=2,
        wEnemyMon=battle_record(level=30, hp=5, max_hp=20),
        wBattleMon=battle_record(species=158, hp=30, max_hp=60),
    )
    values = variables(crystal, memory, idle=250, milestones=29)
    expected = {
        "map_group": 24 / 32, "map_number": 4 / 128, "x": 13 / 128, "y": 6 / 128, "facing": 1.0, "movement": 0.5,
        "phase": 5 / 9, "party_size": 2 / 6, "lead_level": 0.2, "lead_hp": 0.5, "party_levels": 0.05,
        "party_hp": 0.5, "johto_badges": 0.25, "kanto_badges": 0.125, "money": 1.0, "caught": 1 / 251,
        "seen": 2 / 251, "milestones": 0.5, "battle": 1.0, "enemy_level": 0.3, "enemy_hp": 0.25,
        "battler_hp": 0.5, "effectiveness": 0.0, "balls": 0.5, "idle_steps": 0.25,
    }  # fmt: skip
    assert values == pytest.approx(expected, abs=1e-6)


def test_an_empty_game_is_all_zero_but_its_phase(crystal: GameProfile, memory: FakeMemory) -> None:
    values = variables(crystal, memory.set(wSpriteUpdatesEnabled=1))
    assert {name for name, value in values.items() if value} == {"phase"}


def test_values_beyond_the_scale_are_cut(crystal: GameProfile, memory: FakeMemory) -> None:
    memory.set(**IN_CONTROL).set(wXCoord=255, wMapGroup=99)
    values = variables(crystal, memory, idle=10**6)
    assert (values["x"], values["map_group"], values["idle_steps"]) == (1.0, 1.0, 1.0)


def test_packing_keeps_every_second_pixel_in_four_bits() -> None:
    screen = np.random.default_rng(0).integers(0, 256, (144, 160, 4), dtype=np.uint8)
    packed = pack_screen(screen)
    assert packed.shape == PACKED_SHAPE
    assert packed.dtype == np.uint8
    np.testing.assert_array_equal(unpack_screens(packed), screen[::2, ::2, 1] >> 4)
    out = np.zeros(PACKED_SHAPE, dtype=np.uint8)
    assert pack_screen(screen, out) is out
    np.testing.assert_array_equal(out, packed)


def test_rgb_copy_is_exact() -> None:
    screen = np.random.default_rng(2).integers(0, 256, (144, 160, 4), dtype=np.uint8)
    out = np.zeros((144, 160, 3), dtype=np.uint8)
    copy_rgb(screen, out)
    np.testing.assert_array_equal(out, screen[:, :, :3])


def test_unpacking_a_batch() -> None:
    batch = np.random.default_rng(1).integers(0, 256, (3, 2, *PACKED_SHAPE), dtype=np.uint8)
    unpacked = unpack_screens(batch)
    assert unpacked.shape == (3, 2, 72, 80)
    assert unpacked.max() < 16
    np.testing.assert_array_equal(unpacked[1, 0, :, ::2], batch[1, 0] >> 4)
