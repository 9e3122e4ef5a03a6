"""What a battle leaves behind: experience, levels, new moves, and a change of species."""

from __future__ import annotations

import dataclasses

import pytest
from support.battle_bench import SLEEP, BattleBench, Creature, data, move, species

FOE = Creature(("BRACE",), hp=1, status=SLEEP, level=21, stats=(1, 60, 10, 1, 60))
PLENTY = 100_000


def reward(foe: Creature, sharers: int = 1, trainer: bool = False) -> int:
    base = next(row for row in data("creatures")["species"] if row["name"] == foe.species)["exp"]
    amount = base * foe.level // 7
    return (amount + amount // 2 if trainer else amount) // sharers


def level_exp(name: str, level: int) -> int:
    """Experience at which a species reaches a level."""
    growth = next(row for row in data("creatures")["species"] if row["name"] == name).get("growth", "medium")
    cube = level**3
    return {"medium": cube, "fast": cube * 4 // 5, "slow": cube * 5 // 4}[growth]


def near(name: str, level: int, *moves: str) -> Creature:
    """A creature one point below a level."""
    return Creature(moves or ("BUMP",), species=name, level=level - 1, experience=level_exp(name, level) - 1)


def experience(bench: BattleBench, slot: int = 0) -> int:
    return int.from_bytes(bench.read("wPartyMon1", 288)[slot * 48 + 8 : slot * 48 + 11], "big")


def test_a_wild_foe_gives_its_experience(wild: BattleBench) -> None:
    own = Creature(level=60, experience=PLENTY + 116_000, species="RILLET")
    wild.pit(own, FOE)
    words = wild.use().words
    assert experience(wild) == PLENTY + 116_000 + reward(FOE)
    assert f"{reward(FOE)} EXP." in words
    assert (wild.over, wild.result) == (True, 0)


def test_a_trainers_foe_gives_half_as_much_again(trainer: BattleBench) -> None:
    trainer.pit(Creature(level=60, experience=216_000, species="RILLET"), FOE)
    trainer.use()
    assert experience(trainer) == 216_000 + reward(FOE, trainer=True)


def test_all_who_fought_and_stand_share(wild: BattleBench) -> None:
    old = Creature(level=60, experience=216_000, species="RILLET")
    for standing, sharers in ((True, 2), (False, 1)):
        wild.again().pit(old, dataclasses.replace(FOE, hp=200))
        wild.join(1, old)
        wild.join(2, old)
        wild.press("up left . right . a . . . . . . down . a . . . . . .")
        wild.play_on()
        if not standing:
            wild.write("wPartyMon1", [0, 0], 34)
        wild.write("wEnemyMon", [0, 1], 16)
        wild.use()
        gained = [experience(wild, slot) - 216_000 for slot in range(3)]
        each = reward(FOE, sharers)
        assert gained == [each if standing else 0, each, 0]


@pytest.mark.parametrize("name", ["RILLET", "DUSKWING", "BOULDOT"])
def test_a_level_is_reached_by_the_species_curve(wild: BattleBench, name: str) -> None:
    wild.pit(near(name, 30), FOE)
    words = wild.use().words
    lead = wild.state.party.members[0]
    most = max(level for level in range(30, 40) if level_exp(name, level) <= experience(wild))
    assert lead.level == most >= 30
    assert f"at level {most}!" in words
    record = wild.read("wPartyMon1", 48)
    base = next(row for row in data("creatures")["species"] if row["name"] == name)["stats"]
    assert int.from_bytes(record[38:40], "big") == (base[1] + 8) * 2 * most // 100 + 5
    below = dataclasses.replace(near(name, 30), experience=level_exp(name, 30) - 1 - reward(FOE))
    wild.again().pit(below, FOE)
    wild.use()
    assert wild.state.party.members[0].level == 29


def test_a_move_is_learned_into_a_free_place(wild: BattleBench) -> None:
    wild.pit(near("DRIPNEWT", 14, "BUMP", "SPLOOSH"), dataclasses.replace(FOE, level=3))
    assert "BROOK JET now!" in wild.use().words
    assert wild.state.party.members[0].moves == (move("BUMP"), move("SPLOOSH"), move("BROOK JET"), 0)


FOUR = ("BUMP", "SPLOOSH", "DUST PUFF", "BRACE")


def test_a_fifth_move_takes_the_place_that_is_chosen(wild: BattleBench) -> None:
    wild.pit(near("DRIPNEWT", 14, *FOUR), dataclasses.replace(FOE, level=3))
    assert "Forget one of them for it?" in wild.use().words
    wild.press("a . . . . . . . down . a . . .")
    wild.play_on(until="BROOK JET now!")
    wild.play_on()
    moves = wild.state.party.members[0].moves
    assert moves == tuple(map(move, ("BUMP", "BROOK JET", "DUST PUFF", "BRACE")))
    assert wild.state.party.members[0].pp[1] == 15
    assert wild.over


def test_a_fifth_move_is_refused_and_asked_again(wild: BattleBench) -> None:
    wild.pit(near("DRIPNEWT", 14, *FOUR), dataclasses.replace(FOE, level=3))
    wild.use()
    wild.press("b . . .")
    assert "Go on without BROOK JET?" in wild.play_on(until="BROOK JET?")
    wild.press(". . b . . .")
    assert "Forget one of" in wild.play_on(until="them for it?"), "NO to going without asks again"
    wild.press(". . a . . . . . . b . . . . .")
    wild.play_on(until="Go on without BROOK JET?")
    wild.press(". . . a . . .")
    wild.play_on()
    assert wild.state.party.members[0].moves == tuple(map(move, FOUR))
    assert wild.over


def test_a_creature_changes_and_the_foe_stays_the_foe(wild: BattleBench) -> None:
    wild.pit(near("DRIPNEWT", 16, "BUMP"), dataclasses.replace(FOE, level=3))
    wild.press("up left . a . . . a")
    wild.play_on("a", until="is changing!")
    wild.play_on(".", until="FENLURKER now!")
    assert wild.read("wEnemyMon", 1)[0] == species("QUILLET")
    wild.play_on("a")
    lead = wild.state.party.members[0]
    assert (lead.species, lead.level) == (species("FENLURKER"), 16)
    assert wild.over
    # the new species' move of that level
    assert move("BROOK JET") in lead.moves


def test_b_stops_the_change_and_the_next_level_offers_it_again(wild: BattleBench) -> None:
    wild.pit(near("DRIPNEWT", 16, "BUMP"), dataclasses.replace(FOE, level=3))
    wild.press("up left . a . . . a")
    wild.play_on("a", until="is changing!")
    wild.press(". . b . .")
    assert "stays as it was" in wild.play_on(".", until="as it was.")
    wild.play_on()
    assert wild.state.party.members[0].species == species("DRIPNEWT")
    assert wild.over
    wild.again().pit(near("DRIPNEWT", 17, "BUMP"), dataclasses.replace(FOE, level=3))
    wild.press("up left . a . . . a")
    assert "is changing!" in wild.play_on("a", until="is changing!")


def test_a_level_won_before_a_flight_changes_nobody_later(trainer: BattleBench) -> None:
    """The lead grows and falls; the battle is lost; the next victory is another's."""
    trainer.pit(near("DRIPNEWT", 16, "BUMP"), dataclasses.replace(FOE, level=3))
    trainer.foe_joins(1, Creature(("BUMP",), level=30, stats=(400, 60, 90, 60, 60)))
    trainer.use()
    assert trainer.state.party.members[0].level == 16
    trainer.write("wBattleMon", [0, 1], 16)
    trainer.use()
    assert (trainer.over, trainer.result) == (True, 1)
    assert trainer.state.party.members[0].species == species("DRIPNEWT")
