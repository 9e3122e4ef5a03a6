"""A pilot that is saved and loaded continues exactly as without the interruption."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot import notes
from pkmn_pyboy.pilot.memory import MENU, TURN, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import TRAINER_BATTLE, Phase
from pkmn_pyboy.world.records import Place
from pkmncli.api import Advice

MakeEnvironment = Callable[..., PokemonEnvironment]


@pytest.mark.long
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


@pytest.mark.long
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
        doing = "shop" if memory.shop.steps > 5 else ""
        if memory.task is not None and memory.task_steps > 2:
            doing = memory.task.kind
        if memory.battle.plan is not None and memory.battle.plan.kind in ("item", "switch"):
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


def test_the_memory_of_an_earlier_version_is_read() -> None:
    """All fields stood side by side, and lists had values without names."""
    stored = {
        "random": 5, "proposed": 3, "goal": {"kind": "menu", "key": "k", "map_id": 2, "why": "w", "confidence": 0.5},
        "path": [[4, 5, 6]], "healers": [[1, 2, 3, 0]], "place": [7, 8], "interrupted": "words", "legs": 2,
        "blocks": [[1, 2, 3, 99]], "progress": [1, 2, 30], "route": [[1, 2, 3, 4, 5, 6, 7]], "route_key": ["to", 1],
        "no_way": ["to", 3, 50], "avoid": [[1, 2, 3]], "pushes": [[1, 2, 3]], "no_push": [[1, 2, 3, 4, 5]],
        "nemesis": [9, 1], "train_to": 12, "training": {"9/1": {"kind": "train"}}, "catch_wish": [25],
        "hunt": {"25": "1/grass"}, "hunted": {"1/0": 2}, "hunted_for": "25", "supplies": [[18, 4]],
        "shopping": [[18, 4]], "shop_steps": 3, "shopped": {"1": 600}, "shops_far": [1, 60],
        "battle_plan": ["item", 18, 0, "use: HP"], "plan_mark": [1], "battle_failed": ["switch"], "switches": 1,
        "confirmed": {"buy/18": [2, 300, 1]}, "page_still": 4, "question": 77, "answers": {"77": 2},
        "leaving": [3, 1, 2], "forget": [0, 2], "teach": [1, 15, 50], "task": ["teach", 50, 1, 0], "task_steps": 6,
        "task_marked": True, "tuning": [80, 4], "tuning_steps": 9, "tuning_mark": [1, 2, 3], "tuning_over": "it plays",
        "wish": ["go_to", 3, -1, -1, 0.8, 6], "wish_battle": True, "advice_key": "a", "advice_done": 1,
        "presses": [["walk", "UU"]], "pressed": 2, "marks": [1, 2, 3, 4, 5, 6], "stalls": 1, "put_off": ["errand"],
        "aim": ["turn", 0, 1],
    }  # fmt: skip
    memory = PilotMemory.from_json(json.loads(json.dumps(stored)))
    assert (memory.random, memory.proposed, memory.goal) == (5, 3, WalkGoal(MENU, "k", 2, "w", 0.5))
    assert (memory.path, memory.healers, memory.aim) == ([(4, 5, 6)], [(1, 2, 3, 0)], (TURN, 0, 1))
    walk = notes.WalkNotes((7, 8), interrupted=notes.Interruption.TEXT, paths=2, blocks=[notes.Block(1, 2, 3, 99)])
    assert memory.walk == replace(walk, progress=notes.Progress(1, 2, 30))
    leg = notes.RouteLeg(1, 2, 3, 4, 5, 6, 7)
    missing = notes.NoRoute(["to", 3], 50)
    assert memory.route == notes.RouteNotes([leg], ["to", 1], missing, [Place(1, 2, 3)])
    assert memory.pushing == notes.PushNotes([notes.DuePush(1, 2, 3)], failed=[[1, 2, 3, 4, 5]])
    assert memory.strength == notes.StrengthNotes(12, (9, 1), plans={"9/1": {"kind": "train"}})
    assert memory.hunt == notes.HuntNotes([25], {"25": "1/grass"}, {"1/0": 2}, "25")
    shop = notes.ShopNotes({18: 4}, [notes.Purchase(18, 4)], 3, {"1": 600}, notes.NoShop(1, 60))
    assert memory.shop == shop
    plan = notes.BattlePlan("item", 18, 0, "use: HP")
    assert memory.battle == notes.BattleNotes(plan, [1], failed=["switch"], switches=1)
    assert memory.page == notes.PageNotes(still=4, confirmed={"buy/18": notes.Confirmed(2, [300, 1])})
    assert memory.text == notes.TextNotes(77, {"77": 2}, menu=[1, 2], tries=3)
    assert (memory.forget, memory.task_steps) == ((0, 2), 6)
    assert memory.task == notes.MenuTask("teach", 50, 1, 0, move=15, marked=True)
    assert memory.tuning == notes.Tuning(80, 4, steps=9, shown=[1, 2], same=3, outcome="it plays")
    assert memory.advice == notes.AdviceNotes("a", 1, wish=notes.Wish("go_to", 3, -1, -1, 0.8, 6, battle=True))
    runs, marks = [notes.PressRun("walk", "UU")], notes.Marks(1, 2, 3, 4, 5, 6)
    assert memory.stall == notes.StallNotes(runs, 2, marks=marks, count=1, put_off=["errand"])
    assert PilotMemory.from_json(json.loads(json.dumps(memory.to_json()))) == memory
