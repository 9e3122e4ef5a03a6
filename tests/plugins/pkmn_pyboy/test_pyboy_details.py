"""Details read on request: bag, Pokedex, flags, towns, clock, names and more of a battle, each with its traps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.pyboy_fakes import IN_CONTROL, FakeMemory, battle_record, party_record

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.model import GameProfile, Names
from pkmn_pyboy.rules_gen2.status import StatusCondition, conditions_of, sleep_turns, stages_of, status_condition
from pkmn_pyboy.state.details import Details, TimeOfDay
from pkmn_pyboy.state.details_reader import DetailsReader
from pkmn_pyboy.state.event_flags import EventFlags
from pkmn_pyboy.state.game_state import Movement
from pkmn_pyboy.state.name_tables import names_with_image
from pkmn_pyboy.state.named_bag import Machine, Stack
from pkmn_pyboy.state.reader import StateReader

MASTER_BALL, GREAT_BALL, POTION, ANTIDOTE, BICYCLE = 1, 4, 18, 9, 7
CID = b"\x82\xa8\xa3\x50"


def details(crystal: GameProfile, memory: FakeMemory, **values: int | bytes) -> Details:
    memory.set(**IN_CONTROL).set(**values)
    state = StateReader(crystal).read(memory)
    return DetailsReader(crystal, crystal.names).read(memory, state)


def pocket(*pairs: int, size: int) -> bytes:
    return bytes((*pairs, 0xFF)).ljust(size, b"\0")


def test_every_pocket_in_the_games_order(crystal: GameProfile, memory: FakeMemory) -> None:
    machines = bytearray(57)
    machines[0], machines[49], machines[50], machines[56] = 2, 1, 1, 1
    bag = details(
        crystal,
        memory,
        wNumItems=2,
        wItems=pocket(POTION, 3, ANTIDOTE, 1, size=41),
        wNumBalls=1,
        wBalls=pocket(GREAT_BALL, 12, size=25),
        wNumKeyItems=1,
        wKeyItems=pocket(BICYCLE, size=26),
        wTMsHMs=bytes(machines),
    ).bag
    assert bag.items == (Stack(POTION, "Potion", 3), Stack(ANTIDOTE, "Antidote", 1))
    assert bag.balls == (Stack(GREAT_BALL, "Great Ball", 12),)
    assert bag.key_items == (Stack(BICYCLE, "Bicycle", 1),)
    assert [(one.label, one.count) for one in bag.machines] == [("TM01", 2), ("TM50", 1), ("HM01", 1), ("HM07", 1)]
    assert (bag.count(POTION), bag.count(MASTER_BALL)) == (3, 0)
    assert bag.counts()["Great Ball"] == 12


def test_pockets_end_with_their_count_and_with_their_mark(crystal: GameProfile, memory: FakeMemory) -> None:
    old = pocket(POTION, 3, ANTIDOTE, 1, size=41)
    assert len(details(crystal, memory, wNumItems=1, wItems=old).bag.items) == 1, "what was thrown away stays behind"
    assert len(details(crystal, memory, wNumItems=9, wItems=old).bag.items) == 2
    assert details(crystal, memory, wNumItems=0, wItems=old).bag.items == ()
    noise = details(crystal, memory, wNumItems=0xFF, wNumBalls=0xFF, wNumKeyItems=0xFF).bag
    assert (noise.items, noise.balls, noise.key_items) == ((), (), ())


def test_machines_say_what_they_teach_where_the_image_does(crystal: GameProfile, memory: FakeMemory) -> None:
    memory.set(**IN_CONTROL, wTMsHMs=bytes(50) + b"\x01" + bytes(6))
    reader = DetailsReader(crystal, crystal.names, (0,) * 50 + (15,))
    bag = reader.read(memory, StateReader(crystal).read(memory)).bag
    assert bag.machines == (Machine("HM01", 15, "Cut", 1),)
    assert bag.counts() == {"HM01 Cut": 1}


def test_the_pokedex_by_species(crystal: GameProfile, memory: FakeMemory) -> None:
    caught, seen = bytearray(32), bytearray(32)
    caught[0], caught[31] = 0b1, 0b1111_1100
    seen[0], seen[19] = 0b11, 0b10_0000
    pokedex = details(crystal, memory, wPokedexCaught=bytes(caught), wPokedexSeen=bytes(seen)).pokedex
    assert pokedex.caught == {1, 251}, "the last byte has bits of no species"
    assert pokedex.seen == {1, 2, 158}


def test_flags_by_number_and_by_name(crystal: GameProfile, memory: FakeMemory) -> None:
    data = bytearray(256)
    data[0] = 0xFF
    data[26 >> 3] |= 1 << (26 & 7)
    data[1213 >> 3] |= 1 << (1213 & 7)
    flags = details(crystal, memory, wEventFlags=bytes(data)).flags
    assert flags.is_set(26)
    assert flags.is_set("starter_taken")
    assert not flags.is_set("STARTER_FIRE")
    assert [name for name, value in flags.named().items() if value] == ["STARTER_TAKEN", "FALKNER_BEATEN"]
    assert flags.named()["BUGSY_BEATEN"] is False
    with pytest.raises(ValueError, match="did you mean STARTER_TAKEN"):
        flags.is_set("STARTER_TAKE")


@pytest.mark.parametrize("flag", [0, 7, 2048, -1])
def test_flags_that_tell_nothing_are_refused(flag: int) -> None:
    """Refuse the first eight, which are cleared with every map, and numbers beyond the last."""
    flags = EventFlags(bytes([0xFF]) * 256, {})
    with pytest.raises(ValueError, match="is not kept"):
        flags.is_set(flag)


def test_no_profile_names_a_flag_that_every_map_clears(crystal: GameProfile, quillwood: GameProfile) -> None:
    for profile in (crystal, quillwood):
        assert min(profile.names.event_flags) >= 8
        assert len(set(profile.names.event_flags.values())) == len(profile.names.event_flags)


def test_visited_towns_and_badges_by_name(crystal: GameProfile, memory: FakeMemory) -> None:
    found = details(crystal, memory, wVisitedSpawns=b"\x02\xc0\x02\x00", wJohtoBadges=0b101, wKantoBadges=0b1000_0000)
    assert found.visited_towns == ("New Bark Town", "Cherrygrove City"), "bits 1 and 17 are no towns"
    assert found.badges == ("Zephyr", "Plain", "Earth")


def test_who_plays(crystal: GameProfile, memory: FakeMemory) -> None:
    found = details(
        crystal,
        memory,
        wPlayerName=CID + bytes(7),
        wRivalName=b"\xe6\xe6\xe6\x50" + bytes(7),
        wPlayerID=b"\xca\xbb",
        wPlayerGender=0b1,
        wPlayerState=4,
        wCoins=b"\x27\x0f",
        wMomsMoney=b"\x00\x01\x2c",
        wRepelEffect=99,
    )
    assert (found.name, found.rival_name, found.trainer_id, found.girl) == ("Cid", "???", 0xCABB, True)
    assert (found.movement, found.coins, found.savings, found.repel_steps) == (Movement.SURFING, 9999, 300, 99)


def test_nothing_has_a_name_before_a_game_is_loaded(crystal: GameProfile, memory: FakeMemory) -> None:
    noise = {"wMapGroup": 0, "wPlayerName": b"\xff" * 11, "wRivalName": b"\x80" * 11, "wTMsHMs": b"\xff" * 57}
    found = details(crystal, memory, **noise)
    assert (found.name, found.rival_name, found.bag.machines) == ("", "", ())


def test_nicknames_of_those_who_are_there(crystal: GameProfile, memory: FakeMemory) -> None:
    party = {"wPartyCount": 1, "wPartySpecies": b"\x9e\xff\0\0\0\0", "wPartyMon1": party_record()}
    names = CID.ljust(11, b"\0") + CID.ljust(11, b"\0")
    found = details(crystal, memory, **party, wPartyMonNicknames=names.ljust(66, b"\0"))
    assert found.nicknames == ("Cid",)


def test_the_clock_is_not_the_hour_set_at_the_start(crystal: GameProfile, memory: FakeMemory) -> None:
    found = details(crystal, memory, wStartHour=10, hHours=21, hMinutes=5, wCurDay=9, wTimeOfDay=2)
    assert (found.clock.weekday, found.clock.hour, found.clock.minute) == ("Tuesday", 21, 5)
    assert found.clock.time_of_day is TimeOfDay.NIGHT


def test_play_time_is_big_endian(crystal: GameProfile, memory: FakeMemory) -> None:
    found = details(crystal, memory, wGameTimeHours=b"\x01\x02", wGameTimeMinutes=3, wGameTimeSeconds=4)
    assert str(found.play_time) == "258:03:04"


def test_more_of_a_battle(crystal: GameProfile, memory: FakeMemory) -> None:
    team = party_record(species=16, level=7) + party_record(species=17, level=9, hp=0)
    fighting = {
        "wBattleMode": 2,
        "wOtherTrainerClass": 1,
        "wCurOTMon": 0,
        "wEnemyMon": battle_record(),
        "wOTPartyCount": 2,
        "wOTPartySpecies": b"\x10\x11\xff\0\0\0",
        "wOTPartyMons": team.ljust(288, b"\0"),
        "wPlayerSubStatus1": bytes((0, 0, 0x80, 0, 0)),
        "wEnemySubStatus1": bytes((0, 0, 0, 0x80, 1)),
        "wEnemyScreens": 0b1_0000,
        "wBattleWeather": 1,
    }
    battle = details(crystal, memory, **fighting).battle
    assert battle is not None
    assert battle.trainer == crystal.names.trainer_classes[1]
    assert [(one.species, one.level) for one in battle.opponents.members] == [(16, 7), (17, 9)]
    assert battle.own_conditions == ("confused",)
    assert battle.opponent_conditions == ("seeded", "badly poisoned")
    assert (battle.own_screens, battle.opponent_screens, battle.weather) == ((), ("reflect",), "rain")
    wild = details(crystal, memory, wBattleMode=1, wBattleWeather=4).battle
    assert wild is not None
    assert (wild.trainer, wild.opponents.members) == ("", ()), "a trainer's team stays in memory"
    assert wild.weather == "", "the rain is just ending"
    assert details(crystal, memory, wBattleMode=0).battle is None


@pytest.mark.parametrize(
    ("status", "ailment", "turns"),
    [
        (0, StatusCondition.HEALTHY, 0),
        (0b101, StatusCondition.ASLEEP, 5),
        (1 << 3, StatusCondition.POISONED, 0),
        (1 << 4, StatusCondition.BURNED, 0),
        (1 << 5, StatusCondition.FROZEN, 0),
        (1 << 6, StatusCondition.PARALYSED, 0),
    ],
)
def test_ailments(status: int, ailment: StatusCondition, turns: int) -> None:
    assert status_condition(status) is ailment
    assert sleep_turns(status) == turns


def test_stages_are_counted_from_seven_and_none_is_unchanged() -> None:
    assert stages_of(bytes((7, 1, 13, 6, 8, 0, 200))) == (0, -6, 6, -1, 1, 0, 0)
    assert conditions_of(bytes(5)) == ()


def test_names_in_the_image_are_those_of_the_profile(quillwood: GameProfile) -> None:
    """Compare both sources of names, which the bundled game has."""
    assert quillwood.bundled_rom is not None
    image = quillwood.bundled_rom.read_bytes()
    bare = Names(maps=quillwood.names.maps)
    nameless = GameProfile(
        **{name: getattr(quillwood, name) for name in quillwood.__slots__ if name != "names"}, names=bare
    )
    found = names_with_image(nameless, image)
    for kind in ("species", "moves", "items", "trainer_classes", "types"):
        known = getattr(quillwood.names, kind)
        assert {number: getattr(found, kind).get(number) for number in known} == dict(known), kind
    assert names_with_image(quillwood, image).species == quillwood.names.species
    assert names_with_image(nameless, b"").moves == {}


def test_details_are_read_once_a_step_and_anew_after_it(make: Callable[..., PokemonEnvironment]) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    first = environment.details()
    assert environment.details() is first
    assert first.name == "WREN"
    assert first.rival_name == "FINN"
    assert first.flags.is_set("game_started")
    for _ in range(150):
        environment.step(8)
    later = environment.details()
    assert later.play_time.minutes == first.play_time.minutes + 1, "3,600 frames"
    saved = environment.save_state()
    environment.reset(seed=2)
    environment.load_state(saved)
    assert environment.details() == later
