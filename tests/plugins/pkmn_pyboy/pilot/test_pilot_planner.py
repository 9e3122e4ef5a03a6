"""Goals from milestones: missing requirements first, down to what can be done now; and roads that can be walked."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from support.planned_goals import goal, never, plan_for
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import CATCH, TRAIN
from pkmn_pyboy.pilot.goals.tasks import ERRAND, MILESTONE, TEACH
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.screens import dialogue
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.routes import Roads
from pkmn_pyboy.profile.loading import load_profile
from pkmn_pyboy.profile.milestones import Foe, Milestone, Requirements, Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.story.foe_checks import check_foes
from pkmn_pyboy.story.order import story
from pkmn_pyboy.story.road_checks import check_roads
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.goals import on_map
from pkmn_pyboy.world.records import ENTER, Place
from pkmn_pyboy.world.route import Leg
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world_command.command import world as world_command
from pkmncli.api import Action
from pkmncli.errors import EnvironmentSetupError

CRYSTAL_ROM = os.environ.get("PKMN_TEST_CRYSTAL_ROM")


def test_without_a_game_there_are_no_goals() -> None:
    planner = GoalOrientedPlanner()
    assert planner.goals() == ()
    assert planner.current() is None


def test_the_next_milestone_is_the_goal(environment: PokemonEnvironment) -> None:
    planner = GoalOrientedPlanner(environment.game)
    current = planner.current()
    assert current is not None
    assert (current.kind, current.key) == (MILESTONE, "route_reached")
    assert "west" in planner.describe()


def test_errands_come_first_in_their_order(environment: PokemonEnvironment) -> None:
    first, second = goal(environment, "first"), goal(environment, "second", errands=("first",))
    wanted = goal(environment, "wanted", errands=("second",))
    expected = [(MILESTONE, "wanted"), (ERRAND, "second"), (ERRAND, "first")]
    assert plan_for(environment, wanted, first, second) == expected


def test_a_required_item_is_fetched_where_it_is_given(environment: PokemonEnvironment) -> None:
    source = goal(environment, "source", gives=(11,))
    wanted = goal(environment, "wanted", requires=Requirements(items=(11,)))
    assert plan_for(environment, wanted, source) == [(MILESTONE, "wanted"), (ERRAND, "source")]


def test_a_field_move_is_taught_to_a_member_that_can_learn_it(environment: PokemonEnvironment) -> None:
    place = environment.profile.memory["wTMsHMs"]
    cut = environment.profile.field_moves["cut"]
    environment.emulator.memory[place.bank, place.address + cut.machine] = 1
    wanted = goal(environment, "wanted", requires=Requirements(field_moves=("cut",)))
    assert plan_for(environment, wanted) == [(MILESTONE, "wanted"), (TEACH, f"{TEACH}/{cut.machine}")]
    current = GoalOrientedPlanner(environment.game).current()
    assert current is not None
    assert current.member == 0
    assert current.parents == ("wanted",)


def test_without_a_learner_one_is_caught(environment: PokemonEnvironment) -> None:
    place = environment.profile.memory["wTMsHMs"]
    move = dataclasses.replace(environment.profile.field_moves["surf"], machine=49)  # no species learns that one
    environment.game.profile = dataclasses.replace(environment.profile, field_moves={"surf": move})
    environment.emulator.memory[place.bank, place.address + move.machine] = 1
    wanted = goal(environment, "wanted", requires=Requirements(field_moves=("surf",)))
    assert plan_for(environment, wanted)[-1][0] == CATCH


@pytest.mark.parametrize("egg", long_after(1, [False, True]))
def test_an_egg_that_has_inherited_a_field_move_does_not_use_it(egg: bool, environment: PokemonEnvironment) -> None:
    place, cut = environment.profile.memory["wTMsHMs"], environment.profile.field_moves["cut"]
    environment.emulator.memory[place.bank, place.address + cut.machine] = 1
    game = environment.game
    member = dataclasses.replace(game.state.party.members[0], moves=(cut.move, 0, 0, 0), egg=egg)
    game.state = game.state._replace(party=dataclasses.replace(game.state.party, members=(member,)))
    wanted = goal(environment, "wanted", requires=Requirements(field_moves=("cut",)))
    assert (CATCH in {kind for kind, _ in plan_for(environment, wanted)}) is egg


def test_levels_and_foes_ask_for_training(environment: PokemonEnvironment) -> None:
    low = goal(environment, "low", requires=Requirements(min_level=9))
    assert plan_for(environment, low) == [(MILESTONE, "low"), (TRAIN, f"{TRAIN}/9")]
    leader = goal(environment, "leader", requires=Requirements(foes=(Foe(1, 3),)))
    assert plan_for(environment, leader)[-1][0] == TRAIN


# Profiles ---------------------------------------------------------------------------------------------------

TARGET = "target = { map = [9, 9] }"
EVIDENCE = 'evidence_all = [{ kind = "event", index = 8 }]'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'[[milestone]]\nkey = "a"\nname = "A"\n{EVIDENCE}\n{TARGET}\n', "there is no map 9.9"),
        (f'[[milestone]]\nkey = "a"\nname = "A"\n{EVIDENCE}\nneeds_items = [250]\n', "there is no item 250"),
        (f'[[milestone]]\nkey = "a"\nname = "A"\n{EVIDENCE}\nfoes = [[99, 1]]\n', "there is no trainer class 99"),
        (f'[[milestone]]\nkey = "a"\nname = "A"\n{EVIDENCE}\nneeds_field_moves = ["flash"]\n', "no field_moves.flash"),
        (f'[[milestone]]\nkey = "a"\nname = "A"\n{EVIDENCE}\nerrands = ["b"]\n', "there is no errand b"),
        (
            f'[[milestone]]\nkey = "a"\nname = "A"\n{EVIDENCE}\nerrands = ["b"]\n'
            f'[[errand]]\nkey = "b"\nname = "B"\n{EVIDENCE}\nerrands = ["c"]\n'
            f'[[errand]]\nkey = "c"\nname = "C"\n{EVIDENCE}\nerrands = ["b"]\n',
            "it needs itself: b -> c -> b",
        ),
        (
            f'[[milestone]]\nkey = "a"\nname = "A"\n{EVIDENCE}\nneeds_field_moves = ["cut"]\ngives_items = [12]\n',
            "it needs itself: a -> a",
        ),
        ('[[milestone]]\nkey = "a"\nname = "A"\nevidence_all = [{ kind = "event", index = 9999 }]\n', "event 9999"),
    ],
)
def test_a_profile_with_unknown_names_is_refused(
    quillwood: GameProfile, tmp_path: Path, text: str, message: str
) -> None:
    for name in ("game.toml", "names.toml", "tables.toml"):
        (tmp_path / name).write_text((quillwood.folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "milestones.toml").write_text(text, encoding="utf-8")
    with pytest.raises(EnvironmentSetupError) as caught:
        load_profile(tmp_path)
    assert message in str(caught.value)
    assert "milestones.toml" in str(caught.value)


@pytest.mark.long
def test_every_road_of_quillwood_can_be_walked(quillwood: GameProfile) -> None:
    assert quillwood.bundled_rom is not None
    world = CartridgeWorld(quillwood.bundled_rom.read_bytes(), quillwood)
    assert check_roads(quillwood, world) == []
    # Without its lessons the road can't be walked, so the check does test it.
    unequipped = dataclasses.replace(
        quillwood,
        field_moves={},
        milestones=tuple(dataclasses.replace(one, requires=Requirements()) for one in quillwood.milestones),
    )
    barred = [problem.key for problem in check_roads(unequipped, world)]
    assert "tarn_crossed" in barred


@pytest.mark.parametrize(
    ("target", "message"),
    long_after(
        1,
        [
            (Target(518, person=2, push_to=(14, 5)), ""),
            (Target(518, push_to=(6, 5)), ""),
            (Target(518, person=2, push_to=(12, 3)), "no boulder can be pushed to (12,3) of Still Tarn"),
            (Target(518, person=1, push_to=(14, 5)), "person 1 of Still Tarn is not a boulder"),
            (Target(518, person=2, push_to=(40, 5)), "(40,5), where a boulder is to go, is not on Still Tarn"),
        ],
    ),
)
def test_the_check_reports_which_boulders_can_be_pushed_to_their_place(
    quillwood: GameProfile, target: Target, message: str
) -> None:
    assert quillwood.bundled_rom is not None
    world = CartridgeWorld(quillwood.bundled_rom.read_bytes(), quillwood)
    goals = (
        dataclasses.replace(one, target=target) if one.key == "boulder_pushed" else one for one in quillwood.milestones
    )
    changed = dataclasses.replace(quillwood, milestones=tuple(goals))
    problems = [str(problem) for problem in check_roads(changed, world)]
    assert len(problems) == bool(message)
    assert all(problem.startswith(f"boulder_pushed: {message}") for problem in problems)


def test_a_trainer_missing_in_the_image_is_a_problem(quillwood: GameProfile) -> None:
    assert quillwood.bundled_rom is not None
    cartridge = Cartridge(quillwood.bundled_rom.read_bytes(), quillwood)
    assert check_foes(quillwood, cartridge) == []
    fought = next(one for one in quillwood.milestones if one.requires.foes)
    requires = dataclasses.replace(fought.requires, foes=(Foe(1, 99),))
    wrong = dataclasses.replace(quillwood, milestones=(dataclasses.replace(fought, requires=requires),), errands={})
    assert check_foes(wrong, cartridge) == [(fought.key, "the image has no trainer 99 of class 1")]


def test_a_route_that_crosses_a_map_twice_continues_with_its_next_leg(
    make: Callable[..., PokemonEnvironment],
) -> None:
    environment = make()
    here = environment.state.map_id
    legs = (Leg(here, ((0, 0), (1, 0)), leads_to=Place(here, 5, 5)), Leg(here, ((5, 5), (5, 6))))
    roads = Roads(
        environment.game, cast("RoutePlanner", SimpleNamespace(route=lambda *_, **__: SimpleNamespace(legs=legs)))
    )
    memory = PilotMemory()

    def leg_at(x: int, y: int) -> tuple[int, int, int, int] | None:
        return roads.next_leg(("there",), on_map(here), environment.state._replace(x=x, y=y), memory)

    assert [leg_at(x, y) for x, y in ((0, 0), (1, 0))] == [(1, 0, ENTER, here)] * 2
    assert [leg_at(x, y) for x, y in ((5, 5), (5, 6))] == [(5, 6, ENTER, -1)] * 2


@pytest.mark.long
def test_the_roads_are_checked_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    world_command(check=True, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == []
    assert found["goals"] >= 35
    world_command(check=True)
    assert f"{found['goals']} of {found['goals']} milestones and errands" in capsys.readouterr().out


def test_crystals_story_names_what_each_badge_needs(crystal: GameProfile) -> None:
    keys = [one.key for one in story(crystal)]
    assert len(keys) == len(set(keys)) == len(crystal.milestones) + len(crystal.errands)
    badges = [one for one in crystal.milestones if one.key.endswith("_badge")]
    assert len(badges) == 16
    assert all(one.target is not None and one.hint for one in (*badges, *crystal.errands.values()))
    assert keys.index("squirtbottle") < keys.index("sudowoodo") < keys.index("ecruteak")
    assert keys.index("strength") < keys.index("storm_badge")
    assert keys.index("amphy_healed") < keys.index("mineral_badge")
    for badge in badges:
        if badge.key not in ("plain_badge", "rising_badge", "zephyr_badge"):
            assert badge.requires.foes, badge.key


@pytest.mark.parametrize("game", ["crystal", "quillwood"])
def test_the_targets_of_the_story_can_be_reached(game: str, request: pytest.FixtureRequest) -> None:
    profile: GameProfile = request.getfixturevalue(game)
    required = [one for one in profile.milestones[1:] if not one.optional and one.target is None]
    assert [one.key for one in required if not one.requires.field_moves] == []
    for one in story(profile):
        assert one.target is None or one.target.map_id in profile.names.maps, one.key


def test_a_story_that_waits_for_something_without_a_place_is_a_problem(quillwood: GameProfile) -> None:
    assert quillwood.bundled_rom is not None
    world = CartridgeWorld(quillwood.bundled_rom.read_bytes(), quillwood)
    somewhere = quillwood.milestones[6]
    nowhere = dataclasses.replace(somewhere, target=None)
    milestones = (*quillwood.milestones[:6], nowhere, *quillwood.milestones[7:])
    problems = check_roads(dataclasses.replace(quillwood, milestones=milestones), world)
    assert [str(problem) for problem in problems] == [f"{somewhere.key}: it has no target, but the story needs it"]


def test_crystals_errands_come_before_their_milestones(crystal: GameProfile) -> None:
    keys = [one.key for one in story(crystal)]
    for errands in (
        ("dancer_one", "dancer_five", "surf", "cianwood"),
        ("password_one", "password_two", "office_door", "hideout_office", "generator_password", "generator_door",
         "hideout_boss", "electrode_one", "electrode_three", "rocket_hideout", "glacier_badge"),
        ("radio_card", "sailor_told", "sailor_fetched", "girl_found", "ship_left", "vermilion"),
        ("manager_met", "thief_met", "machine_part", "power_restored", "kanto_radio", "snorlax"),
        ("blue_met", "earth_badge", "mt_silver", "red"),
        ("strength", "ice_boulder_one", "ice_boulder_two", "ice_boulder_three", "ice_boulder_four", "waterfall",
         "blackthorn", "gym_boulder_one", "gym_boulder_three", "clair_beaten", "rising_badge"),
    ):  # fmt: skip
        places = [keys.index(key) for key in errands]
        assert places == sorted(places), errands


def test_the_rival_is_the_one_that_fits_the_partner(environment: PokemonEnvironment) -> None:
    memory = environment.profile.memory["wEventFlags"]
    foes = (Foe(1, 3, 240), Foe(99, 1, 241))
    rival = goal(environment, "rival", requires=Requirements(foes=foes))
    assert plan_for(environment, rival) == [(MILESTONE, "rival")]
    for flag, planned in ((240, [MILESTONE, TRAIN]), (241, [MILESTONE])):
        before = environment.emulator.memory[1, memory.address + (flag >> 3)]
        environment.emulator.memory[1, memory.address + (flag >> 3)] = before | 1 << (flag & 7)
        goals = GoalOrientedPlanner(environment.game).goals()
        environment.emulator.memory[1, memory.address + (flag >> 3)] = before
        assert [one.kind for one in goals] == planned
        assert all(one.foes == ((1, 3),) for one in goals[1:])


def test_a_quiz_is_answered_as_its_errand_says(environment: PokemonEnvironment) -> None:
    quiz = Milestone("quiz", "Quiz", never(environment.profile.memory), refuse_words=("flash",))
    plan_for(environment, quiz)
    words = GoalOrientedPlanner(environment.game).refuse_words
    assert words() == ("flash",)

    def answer(question: str) -> int:
        tiles = bytes([0x7F] * 280) + bytes(0x80 + ord(letter) % 26 for letter in question).ljust(80, b"\x7f")
        asked = SimpleNamespace(
            reader=SimpleNamespace(screen_tiles=lambda: tiles),
            screen_words=lambda: question,
            state=SimpleNamespace(battle=None),
        )
        return dialogue.answer(asked, PilotMemory(), PilotSettings(), words).action  # type: ignore[arg-type]

    assert answer("is it FLASH") == Action.B
    assert answer("is it CUT") == Action.A


@pytest.mark.skipif(not CRYSTAL_ROM, reason="set PKMN_TEST_CRYSTAL_ROM to a cartridge image of Pokemon Crystal")
def test_crystals_roads_to_the_first_badge_can_be_walked(crystal: GameProfile) -> None:
    world = CartridgeWorld(Path(CRYSTAL_ROM or "").read_bytes(), crystal)
    problems = {problem.key for problem in check_roads(crystal, world)}
    assert not problems & {one.key for one in crystal.milestones[:29]}
