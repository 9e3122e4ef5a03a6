"""Changes of maps by the story, which the pilot knows at once, in the running bundled game."""

from __future__ import annotations

import json
from collections.abc import Callable

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.notes import Interruption, RouteLeg
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.profile.story_blocks import Block, StoryBlocks
from pkmn_pyboy.state.game_state import Phase

MakeEnvironment = Callable[..., PokemonEnvironment]
TRAIL, WOOD = 0x201, 0x203
BORDER = 3
OPENED = 250


def on_the_trail(make: MakeEnvironment) -> tuple[PokemonEnvironment, RulesPilot]:
    """Return the game once the pilot walks on the first route."""
    environment = make(observation_type="state")
    pilot = RulesPilot(environment)
    environment.reset(seed=1)
    pilot.reset(1)
    while environment.state.map_id != TRAIL or environment.state.phase is not Phase.FREE:
        environment.advance(pilot.act().action)
        assert environment.steps < 600
    pilot.act()
    return environment, pilot


def loaded_block(environment: PokemonEnvironment, x: int, y: int) -> int:
    """Return the address of a block of the loaded map, by its column and row in blocks."""
    memory = environment.profile.memory
    width = int(memory.read(environment.emulator, "wMapWidth"))
    return memory["wOverworldMapBlocks"].address + (y + BORDER) * (width + 2 * BORDER) + x + BORDER


def changed_maps(pilot: RulesPilot) -> list[int]:
    state = json.loads(json.dumps(pilot.save_state()))["changed_maps"]
    return [int(key) for key in state if key.isdigit()]


def test_a_changed_block_near_the_player_is_noted_and_the_route_planned_anew(
    make: MakeEnvironment,
) -> None:
    environment, pilot = on_the_trail(make)
    memory = environment.emulator.memory
    assert changed_maps(pilot) == []
    here = environment.game.cartridge.world.map(TRAIL)
    assert here is not None
    kinds = {}
    for x in range(here.width // 2):
        for y in range(here.height // 2):
            number = memory[loaded_block(environment, x, y)]
            cells = [here.grid.cell(2 * x + dx, 2 * y + dy) for dy in (0, 1) for dx in (0, 1)]
            kinds[bytes(here.grid.tiles[cell] for cell in cells)] = number
    first = bytes(here.grid.tiles[here.grid.cell(dx, dy)] for dy in (0, 1) for dx in (0, 1))
    other = next(number for tiles, number in kinds.items() if tiles != first)
    stale = ["stale"]
    pilot.memory.route.legs, pilot.memory.route.key = [RouteLeg(TRAIL, 0, 0, 0, 0, 0, -1)], list(stale)
    memory[loaded_block(environment, 0, 0)] = other
    pilot.memory.walk.interrupted = Interruption.TEXT  # as after a text that a script follows
    pilot.act()
    assert changed_maps(pilot) == [TRAIL]
    assert pilot.memory.route.key != stale

    again = RulesPilot(environment)
    again.load_state(json.loads(json.dumps(pilot.save_state())))
    assert again.save_state() == pilot.save_state()


def test_a_flag_set_here_opens_a_route_on_another_map(make: MakeEnvironment) -> None:
    environment, pilot = on_the_trail(make)
    world = environment.game.cartridge.world
    world.story_blocks = {WOOD: StoryBlocks(WOOD, (), {OPENED: (Block(8, 8, 1),)})}
    pilot = RulesPilot(environment)
    pilot.act()
    assert pilot.save_state()["changed_maps"]["events"] == ""
    flags = environment.profile.memory["wEventFlags"]
    address = flags.address + (OPENED >> 3)
    environment.emulator.memory[1, address] = environment.emulator.memory[1, address] | 1 << (OPENED & 7)
    pilot.memory.walk.interrupted = Interruption.TEXT
    pilot.memory.path = []
    pilot.act()
    assert pilot.save_state()["changed_maps"]["events"] == str(OPENED)
