"""The bundled game from power-on to its last house, by a list of legs, with each goal's evidence in memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.leg_player import LEGS, begin, play_until, read_legs

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.milestones import Milestone
from pkmn_pyboy.state.game_state import Phase
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]


def lasting_evidence(environment: PokemonEnvironment, milestone: Milestone) -> list[bool]:
    map_id = environment.state.map_id
    return [one.holds(environment.emulator, map_id) for one in milestone.evidence if one.lasting]


@pytest.mark.long
def test_every_goal_is_reached_and_stands_in_memory(make: MakeEnvironment) -> None:
    player = begin(make)
    environment = player.environment
    milestones = {milestone.key: milestone for milestone in environment.profile.milestones}
    visited = {environment.state.map_id}
    advance = environment.advance

    def advance_and_look(action: int) -> tuple[float, bool, bool]:
        result = advance(action)
        visited.add(environment.state.map_id)
        return result

    environment.advance = advance_and_look  # type: ignore[method-assign, assignment]
    last = -1
    for leg in read_legs(LEGS)[0]:
        player.play(leg)
        if leg.milestone is None:
            continue
        reached = environment.milestone_steps()[list(milestones).index(leg.milestone)]
        assert reached >= 0, f"{leg.milestone} is not reached"
        milestone = milestones[leg.milestone]
        places = {one.map_id for one in milestone.evidence if not one.lasting}
        evidence = lasting_evidence(environment, milestone)
        assert all(evidence), leg.milestone
        assert places <= visited, f"{leg.milestone}: it was never there"
        assert evidence or places, f"{leg.milestone} is reached by nothing"
        last = max(last, reached)
    missing = [
        key
        for key, step in zip(milestones, environment.milestone_steps(), strict=True)
        if step < 0 and not milestones[key].optional
    ]
    assert missing == []
    assert environment.masked == 0
    while environment.state.phase is not Phase.FREE:
        environment.advance(int(Action.A if environment.steps % 2 else Action.B))
    state = environment.state
    assert state.johto_badges == 0b111
    assert len(state.party.members) >= 2
    assert state.caught >= 2
    assert state.seen > 8
    assert environment.state.map_id == 0x101, "at home, after the credits of the league"
    assert player.reached("league_won")
    # the parcel was handed over, the keys are in their gates
    assert environment.emulator.read(1, environment.profile.memory["wNumKeyItems"].address, 2) == b"\x00\xff"


@pytest.mark.long
def test_equal_presses_give_equal_games(make: MakeEnvironment) -> None:
    first, second = begin(make, 3), begin(make, 3)
    for player in (first, second):
        play_until(player, "parcel_delivered")
    assert first.environment.steps == second.environment.steps
    assert first.environment.emulator.work_ram() == second.environment.emulator.work_ram()


@pytest.mark.long
def test_a_state_in_the_middle_of_the_story_goes_on_alike(make: MakeEnvironment) -> None:
    player = begin(make)
    environment = player.environment
    play_until(player, "glade_reached")
    state = environment.save_state()
    presses = [Action.UP, Action.A, Action.START, Action.DOWN, Action.A, Action.B, Action.B, Action.RIGHT] * 12

    def go_on() -> bytes:
        for press in presses:
            environment.advance(int(press if environment.mask[press] else Action.NONE))
        return environment.emulator.work_ram()

    once = go_on()
    environment.load_state(state)
    assert go_on() == once
