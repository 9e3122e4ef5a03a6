"""Giving up what the game refuses: switches, items and moves for the battle, tasks and purchases for a while."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.battle.tactics import ITEM, MOVE, SWITCH, TRAINER, Situation, Tactician
from pkmn_pyboy.pilot.memory import MENU, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.notes import BattleNotes, BattlePlan, MenuTask, Purchase
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.screens import pages
from pkmn_pyboy.pilot.screens.menu_tasks import USE, MenuTasks
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Phase
from pkmncli.api import Action, Advice

MakeEnvironment = Callable[..., PokemonEnvironment]

SALVE, MOST_OF_ONE = 2, 99
HOLDS_FAST = 0x80
MOST_STEPS = 60
"""Maximum steps until a refused plan is given up and the battle menu is back."""


def in_battle(
    make: MakeEnvironment, *, members: int = 1, trainer: bool = False
) -> tuple[PokemonEnvironment, RulesPilot]:
    """Return the first battle at its menu, with this many party members."""
    environment = make(observation_type="state", max_steps_per_episode=4000)
    pilot = RulesPilot(environment)
    environment.reset(seed=3)
    pilot.reset(3)
    while True:
        state = environment.state
        fits = state.battle is not None and (state.battle.kind == TRAINER or not trainer)
        if state.phase is Phase.BATTLE_MENU and state.party.count >= members and fits:
            break
        environment.advance(pilot.act().action)
        assert environment.steps < 3900
    return environment, pilot


def play_out(environment: PokemonEnvironment, pilot: RulesPilot) -> dict[str, int]:
    """Play the battle to its end; return how often each reason was given."""
    reasons: dict[str, int] = {}
    first = environment.steps
    while environment.state.phase in BATTLE_PHASES:
        decision = pilot.act()
        reasons[decision.reason] = reasons.get(decision.reason, 0) + 1
        environment.advance(decision.action)
        assert environment.steps - first < 400, reasons
    return reasons


def fill_bag(environment: PokemonEnvironment, salves: int) -> None:
    """Fill the bag with only this many of one healing item."""
    for name, data in (("wNumItems", bytes([1])), ("wItems", bytes([SALVE, salves, 0xFF]))):
        field = environment.profile.memory[name]
        for offset, byte in enumerate(data):
            environment.emulator.memory[field.bank, field.address + offset] = byte
    environment.game.look(environment.pressed, environment.steps, environment.frames)


def insist(monkeypatch: pytest.MonkeyPatch, plan: BattlePlan) -> None:
    """Make the pilot plan the same until its kind has failed."""
    choose = Tactician.plan

    def insisting(self: Tactician, situation: Situation) -> BattlePlan:
        return choose(self, situation) if plan.kind in situation.failed else plan

    monkeypatch.setattr(Tactician, "plan", insisting)


def test_a_refused_switch_is_given_up_for_the_battle(make: MakeEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    """The member that is out can't be sent out: the game says so and shows the list again, as with any refusal."""
    environment, pilot = in_battle(make)
    insist(monkeypatch, BattlePlan(SWITCH, 0, why="switch"))
    pilot.memory.battle.plan = None
    for _ in range(MOST_STEPS):
        environment.advance(pilot.act().action)
        if SWITCH in pilot.memory.battle.failed:
            break
    assert pilot.memory.battle.failed == [SWITCH]
    assert pilot.memory.battle.switches <= pilot.settings.confirm_tries
    reasons = play_out(environment, pilot)
    assert reasons.get("switch", 0) == 0


@pytest.mark.long
def test_the_next_member_is_sent_out_although_switches_have_failed(make: MakeEnvironment) -> None:
    """After a faint the list insists on a choice: nothing is given up there."""
    environment, pilot = in_battle(make, members=2, trainer=True)
    places = environment.profile.memory
    pilot.memory.battle.failed = [SWITCH]
    first, fell = environment.steps, False
    own = environment.state.battle.own if environment.state.battle else None
    assert own is not None
    out = own.species
    while True:
        state = environment.state
        if state.battle is not None and state.battle.own is not None:
            if state.battle.own.species != out:
                break
            fell = fell or state.battle.own.hp == 0
        if state.phase is Phase.BATTLE_MENU:
            # Held at one HP, the member that is out faints at the first hit; the other one survives.
            for name, offset, value in (("wBattleMonHP", 0, 1), ("wEnemyMon", 0x10, 200)):
                for place, byte in enumerate((0, value)):
                    environment.emulator.memory[places[name].bank, places[name].address + offset + place] = byte
        environment.advance(pilot.act().action)
        assert environment.steps - first < 200
    assert fell


def test_an_item_without_effect_is_given_up_for_the_battle(
    make: MakeEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, pilot = in_battle(make)
    fill_bag(environment, 3)
    assert environment.state.party.hp_share == 1.0
    insist(monkeypatch, BattlePlan(ITEM, SALVE, 0, "use"))
    pilot.memory.battle.plan = None
    used = 0
    for _ in range(MOST_STEPS // 2):
        decision = pilot.act()
        used += decision.action == Action.A and decision.reason == "use"
        environment.advance(decision.action)
        if ITEM in pilot.memory.battle.failed:
            break
    assert used > 0
    assert pilot.memory.battle.failed == [ITEM]
    play_out(environment, pilot)


def test_a_move_that_the_game_refuses_is_given_up_for_the_battle(
    make: MakeEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game shows the list again: here for a move without PP, as with a disabled one."""
    environment, pilot = in_battle(make)
    battle = environment.state.battle
    assert battle is not None and battle.own is not None
    assert sum(move > 0 for move in battle.own.moves) >= 2
    monkeypatch.setattr(Tactician, "ranked", lambda self, own, foe: [0, 1])
    insist(monkeypatch, BattlePlan(MOVE, 0, why="fight"))
    pilot.memory.battle.plan = None
    points = environment.profile.memory["wBattleMonPP"]
    environment.emulator.memory[points.bank, points.address] = 0
    environment.game.look(environment.pressed, environment.steps, environment.frames)
    refused = f"{MOVE}/{battle.own.moves[0]}"
    for _ in range(MOST_STEPS):
        environment.advance(pilot.act().action)
        if refused in pilot.memory.battle.failed:
            break
    assert refused in pilot.memory.battle.failed
    play_out(environment, pilot)


def test_a_move_that_only_missed_is_not_given_up() -> None:
    """Unchanged PP and HP after a turn are not a refusal; the immediate return of the list is."""
    memory, settings = PilotMemory(), PilotSettings(confirm_tries=2)
    seen = [pages.in_vain(memory, settings, "move/1", [10, 20, 20]) for _ in range(2)]
    memory.page.confirmed.clear()
    seen += [pages.in_vain(memory, settings, "move/1", [10, 20, 20]) for _ in range(2)]
    assert not any(seen)
    assert pages.in_vain(memory, settings, "move/1", [10, 20, 20])


def test_a_refused_task_is_left_and_not_retried_at_once(environment: PokemonEnvironment) -> None:
    """The game says that the healing item has no effect, because the member is healthy."""
    pilot = RulesPilot(environment)
    fill_bag(environment, 3)
    memory = pilot.memory
    environment.advance(Action.START)
    state = environment.state
    MenuTasks(environment.game).begin(USE, SALVE, 0, state, memory)
    memory.path = []
    memory.goal = WalkGoal(MENU, "use it", state.map_id, "use it", 0.9)
    first, used = environment.steps, 0
    while memory.task:
        decision = pilot.act()
        used += decision.reason == "party slot 1"
        environment.advance(decision.action)
        assert environment.steps - first < 2 * MOST_STEPS
    assert used > 0
    assert memory.tries["use it"] >= pilot.settings.goal_tries
    while environment.state.phase is not Phase.FREE:
        environment.advance(pilot.act().action)
        assert environment.steps - first < 3 * MOST_STEPS


def test_a_screen_that_never_changes_is_left_by_any_button() -> None:
    settings = PilotSettings(page_steps=20)
    memory = PilotMemory(task=MenuTask(USE, 1, 0, 1), goal=WalkGoal(MENU, "job", 1, "job", 0.9))
    memory.shop.purchases = [Purchase(1, 2)]
    memory.page.still = settings.page_steps
    pressed = []
    for _ in range(40):
        pressed.append(pages.leave(memory, settings).action)
        memory.page.still += 1
    assert (memory.task, memory.shop.purchases) == (None, [])
    assert memory.tries["job"] == settings.goal_tries
    assert pressed[0] == Action.B
    assert len(set(pressed)) > 3


def test_a_purchase_that_the_clerk_refuses_is_given_up(environment: PokemonEnvironment) -> None:
    """The bag already holds the maximum of an item: the clerk says so, and shows the list again."""
    pilot = RulesPilot(environment)
    fill_bag(environment, MOST_OF_ONE)
    advice = Advice("look", skill="talk_to", arguments={"map": "Rest House", "x": 6, "y": 1})
    while "BUY" not in environment.screen_words():
        environment.advance(pilot.act(advice).action)
        assert environment.steps < 400
    money, first = environment.state.money, environment.steps
    pilot.memory.advice.wish = None
    pilot.memory.shop.purchases, pilot.memory.shop.steps = [Purchase(SALVE, 2 * MOST_OF_ONE)], 0
    tried = 0
    while environment.state.phase is not Phase.FREE:
        before = environment.screen_words()
        decision = pilot.act()
        tried += decision.reason == "buy" and decision.action == Action.A and "SALVE" in before
        environment.advance(decision.action)
        assert environment.steps - first < MOST_STEPS
    assert 0 < tried <= 2 * pilot.settings.confirm_tries
    assert environment.state.money == money


@pytest.mark.parametrize("turn", long_after(1, range(8)))
def test_a_screen_without_a_cursor_is_left_and_not_opened_again(environment: PokemonEnvironment, turn: int) -> None:
    """The player's card, opened by others at any step of the menu: B closes it, and the menu below it."""
    pilot = RulesPilot(environment)
    environment.advance(Action.START)
    while "▶CARD" not in environment.screen_words():
        environment.advance(Action.DOWN)
        assert environment.steps < 4000
    environment.advance(Action.A)
    assert environment.state.page_opens
    pilot.memory.phase, pilot.memory.phase_steps = int(Phase.MENU), turn
    for _ in range(pilot.settings.page_wait_steps + 4):
        environment.advance(pilot.act().action)
    assert environment.state.phase in (Phase.FREE, Phase.MOVING)


@pytest.mark.long
def test_a_list_of_the_party_that_nobody_planned_is_left_after_a_refusal(make: MakeEnvironment) -> None:
    """The list was opened by others while the foe's hold prevents a switch."""
    environment, pilot = in_battle(make, members=2, trainer=True)
    status = environment.profile.memory["wEnemySubStatus1"]
    environment.emulator.memory[status.bank, status.address + 4] |= HOLDS_FAST
    while environment.state.menu.cursor_column != 2:
        environment.advance(Action.RIGHT)
    while environment.state.menu.cursor_row != 1:
        environment.advance(Action.UP)
    environment.advance(Action.A)
    pilot.memory.battle = BattleNotes()
    refused = 0
    for _ in range(MOST_STEPS):
        environment.advance(pilot.act().action)
        refused += "is held" in environment.screen_words()
        if environment.state.phase is Phase.BATTLE_MENU:
            break
    assert refused > 0
    assert environment.state.phase is Phase.BATTLE_MENU
