"""Traps of such games, on the bundled one: guards, lists that only B closes, white-outs, thickets, water."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Phase
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.records import WorldMap
from pkmncli.api import Action, Advice

MakeEnvironment = Callable[..., PokemonEnvironment]

REST_HOUSE = 261
LODGE, WALL = 769, 0x07
LAST_HIT_POINT = bytes([0, 1])


def begin(make: MakeEnvironment, seed: int, steps: int) -> tuple[PokemonEnvironment, RulesPilot]:
    environment = make(observation_type="state", max_steps_per_episode=steps)
    pilot = RulesPilot(environment)
    environment.reset(seed=seed)
    pilot.reset(seed)
    return environment, pilot


def play_to(environment: PokemonEnvironment, pilot: RulesPilot, milestone: str) -> None:
    wanted = list(environment.milestone_names).index(milestone)
    while environment.milestones.steps[wanted] < 0 or environment.state.phase is not Phase.FREE:
        environment.advance(pilot.act().action)
        assert environment.steps < environment.max_steps_per_episode


def test_a_guard_who_pushes_back_is_given_up(make: MakeEnvironment) -> None:
    environment, pilot = begin(make, 1, 600)
    play_to(environment, pilot, "outside")
    pushed = 0
    advice = Advice("west", skill="go_to", arguments={"map": "Fern Trail"})
    for _ in range(250):
        before = environment.state
        decision = pilot.act(advice)
        environment.advance(decision.action)
        pushed += before.phase is Phase.DIALOGUE
        if decision.advice_over:
            break
    assert pushed > 0
    assert environment.state.map_id != 513
    play_to(environment, pilot, "starter")


def test_a_list_that_only_b_closes_is_left_without_spending_money(make: MakeEnvironment) -> None:
    environment, pilot = begin(make, 1, 900)
    play_to(environment, pilot, "starter")
    money = environment.state.money
    advice, lists = Advice("look", skill="talk_to", arguments={"map": "Rest House", "x": 6, "y": 1}), 0
    for _ in range(250):
        decision = pilot.act(advice)
        environment.advance(decision.action)
        lists += "BUY" in environment.screen_words()
        if decision.advice_over and lists:
            break
    for _ in range(120):
        if environment.state.phase is Phase.FREE:
            break
        environment.advance(pilot.act().action)
    assert lists > 0
    assert environment.state.phase is Phase.FREE
    assert environment.state.money <= money


@pytest.mark.long
def test_the_pilot_continues_after_a_white_out(make: MakeEnvironment) -> None:
    environment, pilot = begin(make, 2, 3000)
    play_to(environment, pilot, "parcel_delivered")
    while environment.state.battle is None or environment.state.battle.kind != 2:
        environment.advance(pilot.act().action)
        assert environment.steps < 1500
    place, own = environment.profile.memory["wPartyMon1"], environment.profile.memory["wBattleMonHP"]
    losses = pilot.memory.strength.losses
    while pilot.memory.strength.losses == losses:
        # Held at one HP, it can only lose.
        for address in (place.address + 0x22, own.address):
            bank = place.bank if address > 0xD000 else own.bank
            for offset, byte in enumerate(LAST_HIT_POINT):
                if environment.state.phase in BATTLE_PHASES and environment.state.party.hp_share > 0:
                    environment.emulator.memory[bank, address + offset] = byte
        environment.advance(pilot.act().action)
        assert environment.steps < 1500
    # The player wakes up healed at the last healer, and continues until the badge is won.
    assert environment.state.phase is Phase.FREE
    assert environment.state.party.hp_share == 1.0
    play_to(environment, pilot, "thorn_badge")


@pytest.mark.long
def test_a_route_that_only_the_story_opens_is_found_by_going_there(
    make: MakeEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The image has a wall across the lodge that is no longer there in the game."""
    read = CartridgeWorld.map

    def walled(world: CartridgeWorld, map_id: int) -> WorldMap | None:
        here = read(world, map_id)
        if map_id != LODGE or here is None:
            return here
        tiles = bytearray(here.grid.tiles)
        row = slice(here.grid.cell(0, 5), here.grid.cell(here.grid.width, 5))
        tiles[row] = bytes([WALL]) * here.grid.width
        return dataclasses.replace(here, grid=dataclasses.replace(here.grid, tiles=bytes(tiles)))

    monkeypatch.setattr(CartridgeWorld, "map", walled)
    environment, pilot = begin(make, 5, 900)
    play_to(environment, pilot, "thorn_badge")
    assert [key for key in pilot.save_state()["changed_maps"] if key.isdigit()] == [str(LODGE)]


def test_a_press_that_only_turns_is_made_again(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=400, action_frames=16, hold_frames=4)
    pilot = RulesPilot(environment)
    environment.reset(seed=1)
    pilot.reset(1)
    turns = 0
    while environment.state.party.count == 0:
        before = environment.state
        environment.advance(pilot.act().action)
        after = environment.state
        turns += before.position == after.position and before.facing != after.facing
        assert environment.steps < 400
    assert turns > 5


@pytest.mark.long
def test_plays_to_the_boulder_with_all_three_lessons(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=9000, goal="boulder_pushed")
    pilot = RulesPilot(environment)
    environment.reset(seed=5)
    pilot.reset(5)
    done = terminated = False
    swam = cut = 0
    while not done:
        decision = pilot.act()
        swam += environment.state.movement == 4
        cut += decision.action == Action.A and pilot.memory.walk.using
        _, terminated, truncated = environment.advance(decision.action)
        done = terminated or truncated
    assert terminated
    assert swam > 3
    assert cut > 0
    steps = dict(zip(environment.milestone_names, environment.milestone_steps(), strict=True))
    story = ["thorn_badge", "tide_badge", "hedge_passed", "cairn_badge", "tarn_crossed", "boulder_pushed"]
    assert [steps[key] for key in story] == sorted(steps[key] for key in story)
    assert environment.masked == 0
    known = {move for member in environment.state.party.members for move in member.moves}
    assert {move.move for move in environment.profile.field_moves.values()} <= known
