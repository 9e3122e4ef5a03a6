"""Invariants of every game at every moment: in recordings of a running one, and in live play of the bundled one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from support.recordings import RECORDINGS, TRAINER, Stretch, play_recordings

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.slots import MONEY_MOST, PARTY_SLOTS, SPECIES_COUNT
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Battler, Facing, GameState, Phase
from pkmn_pyboy.state.reader import StateReader

LIVE = "live"
LIVE_STEPS, LIVE_SEED, SAMPLE_FRAMES = 500, 5, 8

ON_FOOT = {Phase.FREE, Phase.MOVING}
WINDOWS = {Phase.DIALOGUE, Phase.CHOICE, Phase.MENU}
BY_ITSELF = {Phase.TRANSITION, Phase.CUTSCENE}
LAWFUL_NEXT = {
    Phase.FREE: {*ON_FOOT, *WINDOWS, *BY_ITSELF},
    Phase.MOVING: {*ON_FOOT, *WINDOWS, *BY_ITSELF},
    Phase.DIALOGUE: {*ON_FOOT, *WINDOWS, *BY_ITSELF, Phase.BATTLE},
    Phase.CHOICE: {*ON_FOOT, *WINDOWS, *BY_ITSELF},
    Phase.MENU: {*ON_FOOT, *WINDOWS, *BY_ITSELF},
    Phase.BATTLE: {*BATTLE_PHASES, *WINDOWS, *BY_ITSELF},
    Phase.BATTLE_MENU: set(BATTLE_PHASES),
    Phase.BATTLE_MOVES: set(BATTLE_PHASES),
    Phase.TRANSITION: {*ON_FOOT, *BY_ITSELF, Phase.DIALOGUE},
    Phase.CUTSCENE: {*ON_FOOT, *WINDOWS, *BY_ITSELF, Phase.BATTLE},
}
"""Phases allowed after each phase. A battle follows neither free play nor a step, and does not start at its menu."""
DIRECTIONS = {(0, 1): Facing.DOWN, (0, -1): Facing.UP, (-1, 0): Facing.LEFT, (1, 0): Facing.RIGHT}


def play_live() -> Stretch:
    """Let the pilot play the bundled game; sample its state within each action, as often as in a recording."""
    environment = PokemonEnvironment(EnvironmentSettings(observation_type="state"))
    emulator, press = environment.emulator, environment.emulator.press
    pilot = RulesPilot(environment)
    stretch = Stretch()
    try:
        environment.reset(seed=LIVE_SEED)
        pilot.reset(LIVE_SEED)
        reader = StateReader(environment.profile, environment.game.cartridge.damage_rules)
        stretch.states.append(reader.read(emulator))

        def press_in_parts(button: str | None, hold_frames: int, action_frames: int, render: bool = True) -> None:
            press(button, hold_frames, SAMPLE_FRAMES, render)
            stretch.states.append(reader.read(emulator))
            for _ in range(action_frames // SAMPLE_FRAMES - 1):
                emulator.run(SAMPLE_FRAMES, render)
                stretch.states.append(reader.read(emulator))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(emulator, "press", press_in_parts)
            for _ in range(LIVE_STEPS):
                _, terminated, truncated = environment.advance(pilot.act(None).action)
                if terminated or truncated:
                    break
        stretch.note_milestones(environment.profile.milestones, environment.milestone_steps())
    finally:
        environment.close()
    return stretch


@pytest.fixture(scope="module", params=[*RECORDINGS, LIVE])
def stretch(request: pytest.FixtureRequest, crystal: GameProfile) -> Stretch:
    return play_live() if request.param == LIVE else play_recordings(crystal, request.param)


def pairs(stretch: Stretch) -> Iterator[tuple[GameState, GameState]]:
    return pairwise(stretch.states)


def step_between(before: GameState, after: GameState) -> tuple[int, int]:
    """Return columns and rows moved on one map; 0 if the map changed."""
    if before.map_id != after.map_id:
        return (0, 0)
    return (after.x - before.x, after.y - before.y)


def battles(stretch: Stretch) -> list[list[GameState]]:
    """Return the samples of each battle."""
    found: list[list[GameState]] = []
    under_way = False
    for state in stretch.states:
        if state.battle is not None:
            if not under_way:
                found.append([])
            found[-1].append(state)
        under_way = state.battle is not None
    return found


def opponents(samples: Sequence[GameState]) -> list[Battler]:
    return [state.battle.opponent for state in samples if state.battle and state.battle.opponent]


# Invariants ------------------------------------------------------------------------------------------------------


def test_phases_follow_each_other_lawfully(stretch: Stretch) -> None:
    seen = {(before.phase, after.phase) for before, after in pairs(stretch) if before.phase is not after.phase}
    unlawful = {(before.name, after.name) for before, after in seen if after not in LAWFUL_NEXT[before]}
    assert not unlawful


def test_the_player_moves_tile_by_tile_and_only_while_moving(stretch: Stretch) -> None:
    for before, after in pairs(stretch):
        across, down = step_between(before, after)
        assert abs(across) + abs(down) <= 1, (before, after)
        if (across, down) != (0, 0):
            # A scene, too, may lead the player.
            assert {before.phase, after.phase} & {Phase.MOVING, Phase.TRANSITION, Phase.CUTSCENE}, (before, after)


def test_a_step_goes_where_the_player_faces(stretch: Stretch) -> None:
    for before, after in pairs(stretch):
        moved = step_between(before, after)
        if moved != (0, 0) and {before.phase, after.phase} <= ON_FOOT:
            assert after.facing is DIRECTIONS[moved], (before, after)


def test_a_map_is_entered_while_moving_or_while_it_is_set_up(stretch: Stretch) -> None:
    for before, after in pairs(stretch):
        if before.map_id != after.map_id:
            assert {before.phase, after.phase} & {Phase.MOVING, Phase.TRANSITION}, (before, after)
            assert min(after.map_group, after.map_number) > 0


def test_a_battle_is_there_exactly_while_one_is_fought(stretch: Stretch) -> None:
    for state in stretch.states:
        assert (state.battle is not None) == (state.phase in BATTLE_PHASES)
        if state.battle is None:
            continue
        assert state.battle.kind in (1, TRAINER)
        assert (state.battle.trainer_class > 0) >= (state.battle.kind == TRAINER)
        for battler in (state.battle.opponent, state.battle.own):
            if battler is not None:
                assert 1 <= battler.species <= SPECIES_COUNT
                assert 1 <= battler.level <= 100
                assert 0 <= battler.hp <= battler.max_hp
                assert battler.max_hp > 0
        if state.phase is not Phase.BATTLE:
            assert state.battle.opponent is not None, "the player is asked before anyone is out"
            assert state.battle.own is not None


def test_an_opponent_is_never_one_of_an_earlier_battle(stretch: Stretch) -> None:
    for samples in battles(stretch)[0 if stretch.states[0].battle is None else 1 :]:
        seen = opponents(samples)
        # A Pokemon is unhurt when it comes out; a beaten one before it has no hit points.
        assert not seen or seen[0].hp == seen[0].max_hp, samples[0]


def test_own_battlers_are_of_the_party(stretch: Stretch) -> None:
    for state in stretch.states:
        if state.battle is not None and state.battle.own is not None:
            assert state.battle.own.species in {member.species for member in state.party.members}


def test_the_party_is_within_its_bounds(stretch: Stretch) -> None:
    for state in stretch.states:
        assert 0 <= state.party.count <= PARTY_SLOTS
        assert 0.0 <= state.party.hp_share <= 1.0
        for member in state.party.members:
            assert 1 <= member.species <= SPECIES_COUNT
            assert 1 <= member.level <= 100
            assert 0 <= member.hp <= member.max_hp


def test_what_is_learnt_is_not_lost(stretch: Stretch) -> None:
    for before, after in pairs(stretch):
        assert before.party.count <= after.party.count
        assert before.party.level_sum <= after.party.level_sum
        assert before.caught <= after.caught
        assert before.seen <= after.seen
        assert before.badges <= after.badges


def test_money_and_counts_are_within_their_bounds(stretch: Stretch) -> None:
    for state in stretch.states:
        assert 0 <= state.money <= MONEY_MOST
        assert 0 <= state.caught <= state.seen <= SPECIES_COUNT
        assert 0 <= state.badges <= 16
        assert 0 <= state.balls <= 12 * 99


# Facts of each recording -----------------------------------------------------------------------------------------

Place = tuple[int, int, int, int]


@dataclass(frozen=True)
class Known:
    """Facts of a recording: places as group, number, column and row; battles as kind, trainer class, opponents."""

    start: Place
    end: Place
    last_phase: Phase
    levels: tuple[int, int]
    money: tuple[int, int] = (3000, 3000)
    battles: tuple[tuple[int, int, tuple[tuple[int, int, int], ...]], ...] = ()
    before: str = ""
    reached: tuple[str, ...] = ()


KNOWN = {
    "stairs": Known((24, 7, 3, 3), (24, 6, 9, 1), Phase.FREE, (0, 0)),
    "pokegear": Known((24, 6, 9, 1), (24, 4, 13, 6), Phase.FREE, (0, 0)),
    "laboratory": Known((24, 4, 13, 6), (24, 5, 4, 4), Phase.FREE, (0, 0), before="outside", reached=("enter_lab",)),
    "starter": Known((24, 5, 4, 4), (24, 5, 5, 3), Phase.FREE, (0, 5), before="pokegear"),
    "potion": Known((24, 5, 5, 3), (24, 4, 6, 4), Phase.MOVING, (5, 5), before="starter"),
    "map_edge": Known((24, 4, 6, 4), (24, 3, 59, 8), Phase.FREE, (5, 5), before="starter"),
    "grass": Known(
        (24, 3, 59, 8), (24, 3, 45, 10), Phase.BATTLE, (5, 5), battles=((1, 0, ((161, 2, 13),)),), before="starter"
    ),
    "wild_battle": Known(
        (24, 3, 45, 10), (24, 3, 45, 10), Phase.TRANSITION, (5, 5), battles=((1, 0, ((161, 2, 13),)),), before="starter"
    ),
    "healing": Known((26, 5, 3, 7), (26, 5, 3, 3), Phase.FREE, (5, 5), before="cherrygrove"),
    "route_30_south": Known(
        (26, 1, 17, 6),
        (26, 3, 17, 0),
        Phase.FREE,
        (6, 7),
        battles=(
            (1, 0, ((187, 4, 17),)),
            (1, 0, ((10, 3, 16),)),
            (1, 0, ((16, 3, 15),)),
            (1, 0, ((13, 3, 15),)),
        ),
        before="rival_armed",
    ),
    "route_30_north": Known(
        (26, 1, 7, 53),
        (26, 2, 26, 17),
        Phase.FREE,
        (8, 10),
        money=(3300, 3412),
        battles=(
            (1, 0, ((10, 3, 16),)),
            (1, 0, ((13, 3, 15),)),
            (TRAINER, 22, ((16, 2, 13), (19, 4, 17))),
            (1, 0, ((10, 3, 16),)),
            (TRAINER, 36, ((10, 3, 16),)),
        ),
        before="pokedex",
    ),
    "bag": Known((3, 52, 5, 29), (3, 52, 8, 26), Phase.DIALOGUE, (23, 23), money=(3698, 3698), before="azalea"),
    "continue_page": Known(
        (0, 0, 0, 0), (24, 4, 13, 6), Phase.FREE, (77, 77), money=(29731, 29731), before="rising_badge"
    ),
    "gym": Known(
        (10, 7, 4, 15),
        (10, 5, 31, 26),
        Phase.FREE,
        (10, 11),
        money=(3412, 1850),
        battles=(
            (TRAINER, 24, ((21, 9, 27),)),
            (TRAINER, 24, ((16, 7, 23),)),
            (TRAINER, 1, ((16, 7, 24),)),
        ),
        before="enter_violet_gym",
    ),
}


def place(state: GameState) -> Place:
    return (state.map_group, state.map_number, state.x, state.y)


def fought(samples: Sequence[GameState]) -> tuple[int, int, tuple[tuple[int, int, int], ...]]:
    first = samples[0].battle
    assert first is not None
    kinds = dict.fromkeys((one.species, one.level, one.max_hp) for one in opponents(samples))
    return (first.kind, first.trainer_class, tuple(kinds))


def test_every_recording_is_known() -> None:
    assert sorted(KNOWN) == RECORDINGS


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_of_a_recording_is_read(crystal: GameProfile, name: str) -> None:
    known, stretch = KNOWN[name], play_recordings(crystal, name)
    first, last = stretch.states[0], stretch.states[-1]
    assert (place(first), place(last)) == (known.start, known.end)
    assert last.phase is known.last_phase
    assert (first.party.level_sum, last.party.level_sum) == known.levels
    assert (first.money, last.money) == known.money
    assert tuple(map(fought, battles(stretch))) == known.battles
    assert (stretch.before[-1] if stretch.before else "") == known.before
    assert tuple(stretch.reached) == known.reached


def test_the_starter_is_the_one_in_the_middle(crystal: GameProfile) -> None:
    states = play_recordings(crystal, "starter").states
    assert states[0].party.lead is None
    counts = [state.party.count for state in states]
    assert sorted(set(counts)) == [0, 1]
    for state in states[counts.index(1) :]:
        lead = state.party.lead
        assert lead is not None
        assert (lead.species, lead.level, lead.hp, lead.max_hp) == (158, 5, 20, 20)
    assert states[-1].caught == states[0].caught + 1


def test_a_wild_battle_is_fought_to_the_end(crystal: GameProfile) -> None:
    states = play_recordings(crystal, "wild_battle").states
    hit_points = [one.hp for one in opponents(states)]
    assert hit_points == sorted(hit_points, reverse=True)
    assert (hit_points[0], hit_points[-1]) == (13, 0)
    assert Phase.BATTLE_MENU in {state.phase for state in states}
    first, last = states[0].party.lead, states[-1].party.lead
    assert first is not None
    assert last is not None
    assert last.experience > first.experience


def test_a_nurse_heals(crystal: GameProfile) -> None:
    states = play_recordings(crystal, "healing").states
    assert states[0].party.hp_share < states[-1].party.hp_share == 1.0
    assert Phase.DIALOGUE in {state.phase for state in states}


@pytest.mark.parametrize(("name", "trainers"), [("route_30_north", 2), ("gym", 3)])
def test_a_trainers_first_is_awaited_although_memory_holds_another(
    crystal: GameProfile, name: str, trainers: int
) -> None:
    stretch = play_recordings(crystal, name)
    started = [samples for samples in battles(stretch) if samples[0].battle and samples[0].battle.kind == TRAINER]
    assert len(started) == trainers
    assert stretch.stale_opponents >= trainers
    for samples in started:
        assert samples[0].battle is not None
        assert samples[0].battle.opponent is None


def test_a_lost_battle_costs_half_the_money_and_heals(crystal: GameProfile) -> None:
    states = play_recordings(crystal, "gym").states
    losing = next(i for i, (before, after) in enumerate(pairwise(states)) if after.money < before.money)
    assert states[losing + 1].money == states[losing].money // 2
    assert states[-1].party.hp_share == 1.0
    assert states[-1].badges == 0


def test_milestones_are_reached_in_their_order_from_the_bedroom_on(crystal: GameProfile) -> None:
    # Event flags are in no recording: 54 is set in the bedroom, 26 when Elm lets a player with a Pokemon leave.
    road = ("stairs", "pokegear", "laboratory", "starter", "potion", "map_edge", "grass", "wild_battle", "healing")
    stretch = play_recordings(crystal, *road, flags={"stairs": 54, "potion": 26})
    assert stretch.before == ["game_started"]
    assert stretch.reached == [
        "downstairs",
        "pokegear",
        "outside",
        "enter_lab",
        "starter",
        "starter_done",
        "potion",
        "route_29",
        "cherrygrove",
    ]


# Minimum content of the live stretch, so that the invariants are tested --------------------------------------------


@pytest.mark.long
def test_the_live_stretch_is_worth_looking_at(quillwood: GameProfile) -> None:
    stretch = play_live()
    phases = {state.phase for state in stretch.states}
    assert phases >= {*ON_FOOT, *BATTLE_PHASES, Phase.DIALOGUE, Phase.TRANSITION}
    assert len({state.map_id for state in stretch.states}) >= 4
    assert stretch.states[0].party.count == 0
    assert stretch.states[-1].party.count >= 1
    required = [one.key for one in quillwood.milestones if not one.optional]
    reached = [key for key in stretch.before + stretch.reached if key in required]
    assert reached == required[: len(reached)]
    assert {"starter", "ranger_met"} <= set(reached)
