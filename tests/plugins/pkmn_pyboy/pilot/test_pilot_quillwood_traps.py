"""The pilot passes each trap of the bundled maps in the running game, from just before it, in few steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.leg_player import LEGS, begin, read_legs

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Phase
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]
GoOn = Callable[..., tuple[PokemonEnvironment, RulesPilot]]

IRON, HIGHCAIRN, LOBBY = 0x509, 0x501, 0x507
LEVEL, POINTS, MEMBER = 0x1F, 0x22, 48
BEFORE = {
    "the goat": "road_reached",
    "the slab": "cave_reached",
    "the levers": "slab_lifted",
    "the part that fell shut": "brass_key",
    "the porch": "tarn_crossed",
    "the league": "told_home",
}


@pytest.fixture(scope="module")
def states() -> dict[str, bytes]:
    """Return the game after each of the goals that precede a trap."""
    environments: list[PokemonEnvironment] = []

    def build(**settings: object) -> PokemonEnvironment:
        environments.append(PokemonEnvironment(EnvironmentSettings(**settings)))  # type: ignore[arg-type]
        return environments[-1]

    player = begin(build)
    environment, found = player.environment, {}
    for leg in read_legs(LEGS)[0]:
        player.play(leg)
        if leg.milestone in BEFORE.values():
            found[str(leg.milestone)] = environment.save_state()
        if leg.milestone == "told_home":
            break
    environment.close()
    return found


def write(environment: PokemonEnvironment, field: str, offset: int, data: bytes) -> None:
    place = environment.profile.memory[field]
    for at, byte in enumerate(data, place.address + offset):
        environment.emulator.memory[place.bank, at] = byte


def strengthen(environment: PokemonEnvironment) -> None:
    """Make the first member stronger than any opponent."""
    write(environment, "wPartyMon1", LEVEL, bytes([50]))
    write(environment, "wPartyMon1", POINTS, b"\x01\x00" * 7)


@pytest.fixture
def go_on(make: MakeEnvironment, states: dict[str, bytes]) -> Iterator[GoOn]:
    """Return a function that starts the pilot just before a trap, with a first member that wins every battle."""

    def begin_before(trap: str, goal: str | None = None) -> tuple[PokemonEnvironment, RulesPilot]:
        environment = make(observation_type="state", max_steps_per_episode=50_000, goal=goal)
        environment.reset(seed=1)
        environment.load_state(states[BEFORE[trap]])
        strengthen(environment)
        environment.advance(int(Action.NONE))
        pilot = RulesPilot(environment)
        pilot.reset(1)
        return environment, pilot

    yield begin_before


def reached(environment: PokemonEnvironment, key: str) -> bool:
    return environment.milestones.steps[list(environment.milestone_names).index(key)] >= 0


def play_to(environment: PokemonEnvironment, pilot: RulesPilot, key: str, most: int) -> None:
    """Play until a goal is reached."""
    start = environment.steps
    assert not reached(environment, key)
    while not reached(environment, key):
        environment.advance(pilot.act().action)
        assert environment.steps - start < most, (environment.state.position, pilot.memory.goal)


@pytest.mark.long
@pytest.mark.parametrize(
    ("trap", "goals"),
    [
        ("the goat", {"stray_home": 150, "shear_got": 60}),
        ("the slab", {"slab_lifted": 200}),
        ("the levers", {"brass_key": 120, "grate_open": 40}),
        ("the part that fell shut", {"grate_open": 40, "echo_heard": 30, "iron_key": 40, "gate_open": 300}),
        ("the porch", {"porch_passed": 80}),
    ],
)
def test_a_trap_is_passed(go_on: GoOn, trap: str, goals: dict[str, int]) -> None:
    environment, pilot = go_on(trap)
    for goal, most in goals.items():
        play_to(environment, pilot, goal, most)
    assert environment.masked == 0


@pytest.mark.long
def test_a_loss_in_the_second_room_begins_the_league_with_the_first(
    go_on: GoOn,
) -> None:
    environment, pilot = go_on("the league", "league_won")
    losses, start = pilot.memory.strength.losses, environment.steps
    oak_beaten = environment.profile.errands["oak_beaten"].evidence[0]
    seen: list[tuple[int, bool]] = []
    while not reached(environment, "league_won"):
        state = environment.state
        if pilot.memory.strength.losses == losses and state.map_id == IRON and state.phase in BATTLE_PHASES:
            for member in range(state.party.count):
                if state.party.members[member].hp > 0:
                    write(environment, "wPartyMon1", MEMBER * member + POINTS, b"\0\1")
            if state.party.hp_share > 0:
                write(environment, "wBattleMonHP", 0, b"\0\1")
                write(environment, "wEnemyMonHP", 0, b"\0\xff")
        if state.phase is Phase.FREE and (not seen or seen[-1][0] != state.map_id):
            seen.append((state.map_id, oak_beaten.holds(environment.emulator, state.map_id)))
        environment.advance(pilot.act().action)
        assert environment.steps - start < 2000, (environment.state.position, pilot.memory.goal)
    assert pilot.memory.strength.losses == losses + 1
    after = seen[next(at for at, (map_id, _) in enumerate(seen) if map_id == IRON) + 1 :]
    assert after[0] == (HIGHCAIRN, True), "the first room still counts as beaten there"
    assert (LOBBY, False) in after
    assert after.index((LOBBY, False)) < next(at for at, (map_id, _) in enumerate(after) if map_id == IRON)
