"""A pilot that is saved and loaded continues exactly as without the interruption."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import TRAINER_BATTLE, Phase
from pkmncli.api import Advice

MakeEnvironment = Callable[..., PokemonEnvironment]


@pytest.mark.parametrize("knowledge", ["cartridge", "seen"])
def test_goes_on_exactly_from_json(make: MakeEnvironment, knowledge: str) -> None:
    settings = {"observation_type": "state", "max_steps_per_episode": 600, "knowledge": knowledge}
    environment, other = (make(**settings) for _ in range(2))
    pilot = RulesPilot(environment)
    environment.reset(seed=7)
    pilot.reset(7)
    kept: dict[int, tuple[bytes, str]] = {}
    decisions = []
    for step in range(400):
        decision = pilot.act(None)
        decisions.append(decision)
        environment.advance(decision.action)
        # In the bedroom, in a text, on the way through town, in the grass and in a battle.
        if step in (3, 44, 88, 112, 125, 200, 290):
            kept[step + 1] = (environment.save_state(), json.dumps(pilot.save_state()))
    for step, (game, memory) in kept.items():
        other.load_state(game)
        resumed = RulesPilot(other)
        resumed.load_state(json.loads(memory))
        for expected in decisions[step : step + 100]:
            assert resumed.act(None) == expected
            other.advance(expected.action)


def leave_few_hit_points(environment: PokemonEnvironment) -> bool:
    """Reduce the HP of the member that is out in a trainer's battle until an item is needed."""
    battle = environment.state.battle
    if battle is None or battle.kind != TRAINER_BATTLE or battle.own is None or battle.own.hp < 10:
        return False
    place = environment.profile.memory["wBattleMon"]
    environment.emulator.memory[place.address + 0x10] = 0
    environment.emulator.memory[place.address + 0x11] = 4
    environment.load_state(environment.save_state())  # reads memory again
    return True


def test_goes_on_exactly_in_the_middle_of_tasks(make: MakeEnvironment) -> None:
    environment, other = (make(observation_type="state", max_steps_per_episode=4000) for _ in range(2))
    pilot = RulesPilot(environment, PilotSettings(shop="always"))
    environment.reset(seed=3)
    pilot.reset(3)
    kept: dict[str, tuple[int, bytes, str]] = {}
    decisions = []
    hurt = False
    while len(kept) < 4 or len(decisions) < max(step for step, _, _ in kept.values()) + 40:
        assert len(decisions) < 3500, f"only {sorted(kept)}"
        memory = pilot.memory
        if (
            not hurt
            and "lead" in kept
            and len(decisions) > kept["lead"][0] + 40
            and environment.state.phase is Phase.BATTLE_MENU
        ):
            hurt = leave_few_hit_points(environment)
        doing = memory.task[0] if memory.task and memory.task_steps > 2 else "shop" if memory.shop_steps > 5 else ""
        if memory.battle_plan and memory.battle_plan[0] in ("item", "switch"):
            doing = "in battle"
        if doing and doing not in kept:
            kept[doing] = (len(decisions), environment.save_state(), json.dumps(pilot.save_state()))
        decision = pilot.act(None)
        decisions.append(decision)
        environment.advance(decision.action)
    for step, game, memory_text in kept.values():
        other.load_state(game)
        resumed = RulesPilot(other, PilotSettings(shop="always"))
        resumed.load_state(json.loads(memory_text))
        for expected in decisions[step : step + 40]:
            assert resumed.act(None) == expected
            other.advance(expected.action)


def test_advice_goes_on_too(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    pilot = RulesPilot(environment)
    advice = Advice("look around", presses=(6, 7, 5, 6))
    for _ in range(2):
        environment.advance(pilot.act(advice).action)
    resumed = RulesPilot(environment)
    resumed.load_state(json.loads(json.dumps(pilot.save_state())))
    # In another process the advice is another object with the same content.
    again = Advice("look around", presses=(6, 7, 5, 6))
    pressed = []
    for _ in range(2):
        decision = resumed.act(again)
        assert decision.reason.startswith("advice")
        pressed.append(decision.action)
        environment.advance(decision.action)
    assert pressed == [5, 6]
    assert not resumed.act(again).reason.startswith("advice")


def test_memory_draws_the_same_numbers_for_the_same_seed() -> None:
    first, second, other = PilotMemory(random=5), PilotMemory(random=5), PilotMemory(random=6)
    numbers = [first.draw(1000) for _ in range(20)]
    assert numbers == [second.draw(1000) for _ in range(20)]
    assert numbers != [other.draw(1000) for _ in range(20)]
    assert all(0 <= number < 1000 for number in numbers)
