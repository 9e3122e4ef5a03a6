"""Use of memory only while it is valid. Each trap of the game's memory has its test."""

from __future__ import annotations

import pytest
from support.pyboy_fakes import IN_CONTROL, FakeMemory, battle_record, party_record

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.damage import DamageRules
from pkmn_pyboy.rules_gen2.records import MoveData
from pkmn_pyboy.rules_gen2.status import StatusCondition
from pkmn_pyboy.state.game_state import Facing, GameState, Movement, Phase
from pkmn_pyboy.state.reader import StateReader


@pytest.fixture
def reader(crystal: GameProfile) -> StateReader:
    return StateReader(crystal)


def read(reader: StateReader, memory: FakeMemory, **values: int | bytes) -> GameState:
    return reader.read(memory.set(**IN_CONTROL).set(**values))


def test_place_and_facing(reader: StateReader, memory: FakeMemory) -> None:
    state = read(reader, memory, wPlayerDirection=0x0C)
    assert (state.map_group, state.map_number, state.x, state.y) == (24, 4, 13, 6)
    assert state.map_id == 24 * 256 + 4
    assert state.facing is Facing.RIGHT
    assert state.phase is Phase.FREE


def test_place_is_kept_while_a_map_is_set_up(reader: StateReader, memory: FakeMemory) -> None:
    read(reader, memory)
    state = reader.read(memory.set(wMapStatus=1, wMapNumber=5, wXCoord=200, wYCoord=99))
    assert state.position == (24 * 256 + 4, 13, 6)
    assert state.phase is Phase.TRANSITION
    state = reader.read(memory.set(wMapStatus=2, wXCoord=4, wYCoord=11))
    assert state.position == (24 * 256 + 5, 4, 11)


def test_kept_place_survives_saving(crystal: GameProfile, reader: StateReader, memory: FakeMemory) -> None:
    read(reader, memory)
    reader.read(memory.set(wMapStatus=1, wMapNumber=5))
    other = StateReader(crystal)
    other.load_state(reader.save_state())
    assert other.read(memory).position == (24 * 256 + 4, 13, 6)


def test_only_bank_one_is_read(reader: StateReader, memory: FakeMemory) -> None:
    memory.put(0, 0xDCD7, b"\x03")
    memory.put(5, 0xDCD7, b"\x02")
    assert read(reader, memory).party.count == 0


def test_money_is_plain_binary_and_big_endian(reader: StateReader, memory: FakeMemory) -> None:
    assert read(reader, memory, wMoney=b"\x00\x0b\xb8").money == 3000
    assert reader.read(memory.set(wMoney=b"\x0f\x42\x3f")).money == 999_999
    assert reader.read(memory.set(wMoney=b"\xff\xff\xff")).money == 999_999


def test_party_in_big_endian(reader: StateReader, memory: FakeMemory) -> None:
    state = read(
        reader,
        memory,
        wPartyCount=2,
        wPartySpecies=bytes((158, 16, 0xFF, 0, 0, 0)),
        wPartyMon1=party_record(level=12, hp=300, max_hp=400, pp=b"\xc5\x1e\0\0"),
        wPartyMon2=party_record(species=16, level=3, hp=0, max_hp=100),
    )
    lead = state.party.lead
    assert lead is not None
    assert (lead.species, lead.level, lead.hp, lead.max_hp) == (158, 12, 300, 400)
    assert lead.pp == (5, 30, 0, 0), "the upper two bits count PP Ups"
    assert state.party.level_sum == 15
    assert state.party.hp_share == pytest.approx(300 / 500)


def test_an_egg_is_listed_but_not_counted(reader: StateReader, memory: FakeMemory) -> None:
    state = read(
        reader,
        memory,
        wPartyCount=2,
        wPartySpecies=bytes((253, 158, 0xFF, 0, 0, 0)),
        wPartyMon1=party_record(species=175, level=5, hp=0, max_hp=0),
        wPartyMon2=party_record(level=6),
    )
    assert state.party.count == 2
    assert state.party.members[0].egg
    assert state.party.lead is state.party.members[1]
    assert state.party.level_sum == 6


def test_slots_beyond_the_count_are_not_read(reader: StateReader, memory: FakeMemory) -> None:
    values = {
        "wPartySpecies": bytes((158, 0xFF, 0, 0, 0, 0)),
        "wPartyMon1": party_record(),
        "wPartyMon2": party_record(),
    }
    assert read(reader, memory, wPartyCount=1, **values).party.count == 1
    assert reader.read(memory.set(wPartyCount=0xFF)).party.count == 0, "noise before a game is loaded"


def test_dex_counts_only_species(reader: StateReader, memory: FakeMemory) -> None:
    state = read(reader, memory, wPokedexCaught=b"\x03" + bytes(31), wPokedexSeen=b"\xff" * 32)
    assert (state.caught, state.seen) == (2, 251)


def test_balls_are_added_up_to_the_count(reader: StateReader, memory: FakeMemory) -> None:
    state = read(reader, memory, wNumBalls=2, wBalls=bytes((5, 7, 4, 2, 0xFF)) + bytes(20))
    assert state.balls == 9
    assert reader.read(memory.set(wNumBalls=0)).balls == 0


def test_last_opponent_is_forgotten_after_the_battle(reader: StateReader, memory: FakeMemory) -> None:
    state = read(reader, memory, wEnemyMon=battle_record(), wBattleMon=battle_record(species=158))
    assert state.battle is None
    battle = reader.read(memory.set(wBattleMode=1)).battle
    assert battle is not None
    assert battle.opponent is not None
    assert (battle.opponent.species, battle.opponent.level, battle.opponent.hp) == (161, 2, 13)


def test_a_trainers_last_opponent_is_stale_until_one_is_out(reader: StateReader, memory: FakeMemory) -> None:
    battle = read(reader, memory, wBattleMode=2, wEnemyMon=battle_record(), wCurOTMon=0xFF).battle
    assert battle is not None
    assert battle.opponent is None
    battle = reader.read(memory.set(wCurOTMon=0)).battle
    assert battle is not None
    assert battle.opponent is not None


def test_own_battler_is_none_until_it_is_out(reader: StateReader, memory: FakeMemory) -> None:
    battle = read(reader, memory, wBattleMode=1, wBattleMon=bytes(32)).battle
    assert battle is not None
    assert battle.own is None


def test_battle_menus(reader: StateReader, memory: FakeMemory) -> None:
    assert read(reader, memory, wBattleMode=1, wScriptRunning=255).phase is Phase.BATTLE
    menu = {"w2DMenuNumRows": 2, "w2DMenuNumCols": 2, "w2DMenuCursorInitY": 14, "w2DMenuCursorInitX": 9}
    assert reader.read(memory.set(wWindowStackSize=1, **menu)).phase is Phase.BATTLE_MENU
    moves = {"w2DMenuNumRows": 4, "w2DMenuNumCols": 1, "w2DMenuCursorInitY": 13, "w2DMenuCursorInitX": 5}
    memory.set(wWindowStackSize=0, **moves)
    assert reader.read(memory).phase is Phase.BATTLE, "the bytes stay after the list has closed"
    assert reader.read(memory.cursor(13, 5)).phase is Phase.BATTLE_MOVES


@pytest.mark.parametrize(
    ("values", "phase"),
    [
        ({"wPlayerStepFlags": 0x20}, Phase.MOVING),
        ({"wScriptRunning": 9}, Phase.MOVING),
        ({"wScriptRunning": 5}, Phase.TRANSITION),
        ({"wScriptRunning": 255}, Phase.CUTSCENE),
        ({"wInputType": 255}, Phase.CUTSCENE),
        ({"wJoypadDisable": 0x40}, Phase.CUTSCENE),
        ({"wScriptRunning": 255, "wSpriteUpdatesEnabled": 0}, Phase.MENU),
        ({"wScriptRunning": 255, "wWindowStackSize": 1, "wStateFlags": 0x40}, Phase.MENU),
    ],
)
def test_phases_outside_of_battle(
    reader: StateReader, memory: FakeMemory, values: dict[str, int], phase: Phase
) -> None:
    assert read(reader, memory, **values).phase is phase


def test_a_message_is_a_dialogue_and_with_a_cursor_a_choice(reader: StateReader, memory: FakeMemory) -> None:
    state = read(reader, memory.message_box(), wScriptRunning=255, wStateFlags=0x40, wTextboxFlags=3)
    assert state.phase is Phase.DIALOGUE
    assert state.message_box
    assert state.printing
    assert reader.read(memory.cursor(8, 15)).phase is Phase.CHOICE
    assert reader.read(memory.cursor(8, 15, code=0x7F)).phase is Phase.DIALOGUE, "the pointer outlives the cursor"


def test_free_control_outweighs_what_old_menus_left(reader: StateReader, memory: FakeMemory) -> None:
    assert read(reader, memory.cursor(3, 12), w2DMenuNumRows=5).phase is Phase.FREE


def test_a_trainers_battle_being_prepared_is_no_menu(reader: StateReader, memory: FakeMemory) -> None:
    """For up to 24 frames the sprites are off before battle mode is set, but the trainer's class is known."""
    off = {"wScriptRunning": 1, "wStateFlags": 0x40, "wSpriteUpdatesEnabled": 0}
    assert read(reader, memory, wOtherTrainerClass=24, **off).phase is Phase.CUTSCENE
    assert reader.read(memory.set(wOtherTrainerClass=0)).phase is Phase.MENU
    assert reader.read(memory.set(wOtherTrainerClass=24, wBattleMode=2)).phase is Phase.BATTLE


def test_a_step_over_the_maps_edge_is_not_a_place(reader: StateReader, memory: FakeMemory) -> None:
    read(reader, memory, wXCoord=0, wMapWidth=10, wMapHeight=9)
    assert reader.read(memory.set(wXCoord=255)).position == (24 * 256 + 4, 0, 6), "-1, just before the next map"
    assert reader.read(memory.set(wXCoord=19)).x == 19
    assert reader.read(memory.set(wXCoord=20)).x == 19


def test_no_place_before_a_game_is_loaded(reader: StateReader, memory: FakeMemory) -> None:
    state = read(reader, memory, wMapGroup=0, wXCoord=77)
    assert state.position == (0, 0, 0)
    assert state.phase is not Phase.FREE


def test_an_opponent_is_none_while_it_is_being_written(reader: StateReader, memory: FakeMemory) -> None:
    """Hit points are written last; later, with the player's Pokemon out, 0 means fainted."""
    battle = read(reader, memory, wBattleMode=1, wEnemyMon=battle_record(hp=0)).battle
    assert battle is not None
    assert battle.opponent is None
    battle = reader.read(memory.set(wBattleMon=battle_record(species=158))).battle
    assert battle is not None
    assert battle.opponent is not None
    assert battle.opponent.hp == 0


def test_the_own_level_is_written_before_the_own_pokemon_is_out(reader: StateReader, memory: FakeMemory) -> None:
    battle = read(reader, memory, wBattleMode=1, wBattleMon=battle_record(species=0, level=5)).battle
    assert battle is not None
    assert battle.own is None


def test_stages_and_stats_of_both_sides(reader: StateReader, memory: FakeMemory) -> None:
    stats = b"".join(number.to_bytes(2, "big") for number in (10, 300, 12, 13, 14))
    record = battle_record(species=158)[:0x14] + stats + b"\x15\x15"
    battle = read(
        reader,
        memory,
        wBattleMode=1,
        wEnemyMon=battle_record(),
        wBattleMon=record,
        wPlayerStatLevels=bytes((8, 7, 7, 7, 7, 7, 7)),
        wEnemyStatLevels=bytes((7, 5, 7, 7, 7, 6, 7)),
    ).battle
    assert battle is not None
    assert battle.own is not None
    assert battle.opponent is not None
    assert battle.own.stats == (10, 300, 12, 13, 14)
    assert battle.own.stages == (1, 0, 0, 0, 0, 0, 0)
    assert battle.opponent.stages == (0, -2, 0, 0, 0, -1, 0)


def test_a_battle_is_read_anew_when_any_byte_of_it_changes(reader: StateReader, memory: FakeMemory) -> None:
    values = {"wEnemyMon": battle_record(), "wBattleMon": battle_record(species=158)}
    first = read(reader, memory, wBattleMode=1, **values).battle
    assert reader.read(memory).battle is first
    poisoned = battle_record(species=158)[:0x0E] + b"\x08" + battle_record(species=158)[0x0F:]
    second = reader.read(memory.set(wBattleMon=poisoned)).battle
    assert second is not None
    assert second.own is not None
    assert second.own.status_condition is StatusCondition.POISONED


def test_members_have_ailments_raised_points_and_stats(reader: StateReader, memory: FakeMemory) -> None:
    record = bytearray(party_record(pp=b"\xc5\x5e\0\0"))
    record[0x20], record[0x1B] = 0b0100_0000, 70
    record[0x26:0x30] = bytes((0, 11, 0, 12, 1, 0, 0, 14, 0, 15))
    values = {"wPartyCount": 1, "wPartySpecies": bytes((158, 0xFF, 0, 0, 0, 0)), "wPartyMon1": bytes(record)}
    (member,) = read(reader, memory, **values).party.members
    assert member.status_condition is StatusCondition.PARALYSED
    assert (member.pp, member.pp_ups) == ((5, 30, 0, 0), (3, 1, 0, 0))
    assert member.stats == (11, 12, 256, 14, 15)
    assert member.happiness == 70


def test_a_party_of_eggs_has_no_lead(reader: StateReader, memory: FakeMemory) -> None:
    values = {
        "wPartyCount": 1,
        "wPartySpecies": bytes((253, 0xFF, 0, 0, 0, 0)),
        "wPartyMon1": party_record(species=175),
    }
    party = read(reader, memory, **values).party
    assert (party.lead, party.level_sum, party.hp_share) == (None, 0, 0.0)


@pytest.mark.parametrize(
    ("number", "movement"),
    [
        (0, Movement.FOOT),
        (1, Movement.BICYCLE),
        (4, Movement.SURFING),
        (8, Movement.SURFING_PIKACHU),
        (77, Movement.FOOT),
    ],
)
def test_ways_of_moving(reader: StateReader, memory: FakeMemory, number: int, movement: Movement) -> None:
    assert read(reader, memory, wPlayerState=number).way_of_moving is movement


def test_printing_says_nothing_of_a_box_being_there(reader: StateReader, memory: FakeMemory) -> None:
    state = read(reader, memory, wTextboxFlags=3)
    assert state.printing
    assert not state.message_box
    assert state.phase is Phase.FREE


def test_one_reader_can_look_at_another_memory(crystal: GameProfile, reader: StateReader, memory: FakeMemory) -> None:
    values = {"wPartyCount": 1, "wPartySpecies": bytes((158, 0xFF, 0, 0, 0, 0))}
    read(reader, memory, wPartyMon1=party_record(level=5), **values)
    other = FakeMemory(crystal.memory)
    assert read(reader, other, wPartyMon1=party_record(level=9), **values).party.level_sum == 9


def test_words_have_whole_letters_and_no_bars(crystal: GameProfile) -> None:
    tiles = bytearray([0x7F] * 360)
    tiles[20:27] = bytes((0xED, 0xE1, 0xE2, 0x7F, 0x70, 0x70, 0x71))
    assert crystal.charmap.screen_text(bytes(tiles)) == "▶PKMN"


def test_fine_hash_sees_what_matters_and_nothing_else(reader: StateReader, memory: FakeMemory) -> None:
    read(reader, memory)
    first = reader.fine_hash()
    reader.read(memory.set(wEnemyMon=battle_record(level=9), wGameTimeFrames=44))
    assert reader.fine_hash() == first, "a past opponent and the clock change no decision"
    reader.read(memory.set(wEventFlags=b"\x01" + bytes(255)))
    assert reader.fine_hash() != first


def test_fine_hash_sees_what_opens_the_way(reader: StateReader, memory: FakeMemory) -> None:
    read(reader, memory, wTileUp=0x12)
    seen = {reader.fine_hash()}
    reader.read(memory.set(wTMsHMs=bytes(50) + b"\x01" + bytes(6)))
    seen.add(reader.fine_hash())
    reader.read(memory.set(wBikeFlags=1))
    seen.add(reader.fine_hash())
    reader.read(memory.set(wTileUp=0))  # the tree ahead is cut
    seen.add(reader.fine_hash())
    assert len(seen) == 4


def test_fine_hash_sees_what_the_radio_plays(reader: StateReader, memory: FakeMemory) -> None:
    read(reader, memory)
    seen = {reader.fine_hash()}
    for field, value in (("wRadioTuningKnob", 78), ("wMapMusic", 0x40)):
        reader.read(memory.set(**{field: value}))
        seen.add(reader.fine_hash())
    assert len(seen) == 3


def test_hashes_see_the_words_on_screen(reader: StateReader, memory: FakeMemory) -> None:
    read(reader, memory.message_box(), wScriptRunning=255, wStateFlags=0x40)
    first, place = reader.fine_hash(), reader.coarse_hash()
    memory.tile(14, 1, 0x80)
    reader.read(memory)
    assert reader.fine_hash() != first
    assert reader.coarse_hash() == place


def test_hashes_are_the_same_in_every_process(reader: StateReader, memory: FakeMemory) -> None:
    read(reader, memory)
    assert reader.coarse_hash() == 0xE8EB6271345649E1
    assert reader.fine_hash() == 0xCF21BD72841D19DE


def test_effectiveness_of_the_best_move_with_points_left() -> None:
    water, grass, fire, normal = 21, 22, 20, 0
    powers = {55: (40, water), 10: (40, normal), 39: (0, normal)}
    moves = {number: MoveData(number, "", 0, power, kind, 255, 10, 0) for number, (power, kind) in powers.items()}
    rules = DamageRules(moves, {(water, fire): 2.0, (water, grass): 0.5})
    assert rules.best_factor((55, 10, 39, 0), (25, 35, 30, 0), (fire, fire)) == 2.0
    assert rules.best_factor((55, 10, 39, 0), (0, 35, 30, 0), (fire, fire)) == 1.0
    assert rules.best_factor((55, 39, 0, 0), (25, 30, 0, 0), (grass, grass)) == 0.5
    assert rules.best_factor((39, 0, 0, 0), (30, 0, 0, 0), (fire, fire)) == 0.0


def test_hashes_are_the_same_in_every_version(reader: StateReader, memory: FakeMemory) -> None:
    """Recorded runs are compared by them. If this fails on purpose, note the change in the changelog."""
    read(reader, memory, wPlayerDirection=0x0C)
    assert (reader.coarse_hash(), reader.fine_hash()) == (16783616674675182049, 9835761141151127662)
    read(reader, memory, wXCoord=14, wMoney=3000)
    assert (reader.coarse_hash(), reader.fine_hash()) == (9635488954518292053, 16410629106162394906)
