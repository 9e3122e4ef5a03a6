"""Single rules: repeated questions, moves, running, naming, and advice."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.battle.fighter import Fighter
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.screens import dialogue
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import Battle, Battler, Phase
from pkmncli.api import Action, Advice

MakeEnvironment = Callable[..., PokemonEnvironment]


def screen(words: str, battle: Battle | None = None) -> Any:
    """Return an environment whose message box shows some words, as far as the pilot reads it."""
    letters = bytes(0x80 + ord(letter) - ord("A") if letter.isalpha() else 0x7F for letter in words.upper())
    tiles = bytes([0x7F] * 280) + letters.ljust(80, b"\x7f")
    return SimpleNamespace(
        reader=SimpleNamespace(screen_tiles=lambda: tiles),
        screen_words=lambda: words,
        state=SimpleNamespace(battle=battle),
    )


def test_a_question_that_comes_again_is_not_always_answered_alike() -> None:
    memory, settings = PilotMemory(), PilotSettings()
    answers = [dialogue.answer(screen("which day is it"), memory, settings).action for _ in range(8)]
    assert answers[:3] == [Action.A, Action.A, Action.A]
    assert answers[3] == Action.B
    assert Action.DOWN in answers


def test_another_question_begins_anew() -> None:
    memory, settings = PilotMemory(), PilotSettings()
    for _ in range(6):
        dialogue.answer(screen("one"), memory, settings)
    assert dialogue.answer(screen("two"), memory, settings).action == Action.A


def test_the_same_question_after_a_walk_begins_anew() -> None:
    memory, settings = PilotMemory(), PilotSettings()
    for _ in range(6):
        dialogue.answer(screen("heal"), memory, settings)
    memory.walk.walked = 50
    assert dialogue.answer(screen("heal"), memory, settings).action == Action.A


def test_a_nickname_is_refused() -> None:
    assert dialogue.answer(screen("a nickname for it"), PilotMemory(), PilotSettings()).action == Action.B


def test_the_member_that_is_out_stays_but_other_changes_are_accepted() -> None:
    question, settings = "will you change it", PilotSettings()
    battle = Battle(2, 0, 1, None, None, 1.0)
    assert dialogue.answer(screen(question, battle), PilotMemory(), settings).action == Action.B
    assert dialogue.answer(screen(question), PilotMemory(), settings).action == Action.A


def test_naming_is_ended_by_start_then_a(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    row = b"".join(bytes((0x7F, 0x80 + letter)) for letter in range(10))
    keyboard = SimpleNamespace(reader=SimpleNamespace(screen_tiles=lambda: row * 18))
    menu = environment.state.menu._replace(full_screen=True)
    state = environment.state._replace(phase=Phase.MENU, menu=menu)
    presses = [dialogue.leave_menu(keyboard, state, PilotMemory(phase_steps=turn)).action for turn in range(2)]
    assert presses == [Action.START, Action.A]


def battler(species: int, level: int, hp: int, types: tuple[int, int], moves: tuple[int, ...], pp: int) -> Battler:
    padded = (*moves, 0, 0, 0, 0)[:4]
    return Battler(species, level, hp, 20, 0, types, padded, tuple(pp if move else 0 for move in padded))


@pytest.fixture
def fighter(make: MakeEnvironment) -> Fighter:
    return Fighter(make(observation_type="state").game, PilotSettings())


# In the bundled game: 1 BUMP (normal), 2 GRUMBLE (no damage), 6 SPLOOSH (water), fire 20, water 21, normal 0.
def test_the_move_that_hurts_most_comes_first(fighter: Fighter) -> None:
    own = battler(3, 8, 20, (21, 21), (2, 1, 6), 10)
    foe = battler(2, 8, 20, (20, 20), (1,), 10)
    assert fighter.ranked_moves(Battle(1, 0, 0, foe, own, 2.0)) == [2, 1, 0]


def test_moves_without_pp_are_left_out(fighter: Fighter) -> None:
    own = dataclasses.replace(battler(3, 8, 20, (21, 21), (1, 6), 10), pp=(10, 0, 0, 0))
    assert fighter.ranked_moves(Battle(1, 0, 0, None, own, 1.0)) == [0]


def test_runs_from_the_wild_when_weak_but_never_from_a_trainer(make: MakeEnvironment, fighter: Fighter) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    menu = environment.state.menu._replace(rows=2, columns=2, cursor_row=2, cursor_column=2)
    own, foe = battler(1, 5, 2, (22, 22), (1,), 10), battler(4, 3, 10, (0, 0), (1,), 10)
    for kind, expected in ((1, Action.A), (2, Action.UP)):
        battle = Battle(kind, 0, 0, foe, own, 1.0)
        state = environment.state._replace(phase=Phase.BATTLE_MENU, menu=menu, battle=battle)
        assert fighter.choose_action(state, PilotMemory()).action == expected


def test_a_move_that_changes_nothing_is_given_up(make: MakeEnvironment, fighter: Fighter) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    own, foe = battler(3, 8, 20, (21, 21), (1, 6), 10), battler(2, 8, 20, (20, 20), (1,), 10)
    memory = PilotMemory()
    chosen = []
    row = 1
    for _ in range(12):
        menu = environment.state.menu._replace(cursor_row=row)
        state = environment.state._replace(menu=menu, battle=Battle(1, 0, 0, foe, own, 1.0))
        action = fighter.choose_move(state, memory).action
        row += {Action.DOWN: 1, Action.UP: -1}.get(Action(action), 0)
        if action == Action.A:
            chosen.append(row)
    assert set(chosen) == {1, 2}


def test_presses_of_advice_come_in_their_order(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    pilot = RulesPilot(environment)
    # SELECT is never allowed, so it is skipped.
    advice = Advice("turn", presses=(int(Action.LEFT), int(Action.SELECT), int(Action.RIGHT)), confidence=0.4)
    pressed = []
    for _ in range(2):
        decision = pilot.act(advice)
        assert decision.reason == "advice: turn"
        assert decision.advised
        assert decision.confidence == 0.4
        pressed.append(decision.action)
        environment.advance(decision.action)
    assert pressed == [Action.LEFT, Action.RIGHT]
    assert not pilot.act(advice).reason.startswith("advice")


def test_a_press_that_someone_else_overrode_is_still_due(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    pilot = RulesPilot(environment)
    advice = Advice("turn", skill="press", arguments={"buttons": ["left", "right"]})
    assert pilot.act(advice).action == Action.LEFT
    environment.advance(int(Action.NONE))
    assert pilot.act(advice).action == Action.LEFT


def test_goes_where_advice_says(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    pilot = RulesPilot(environment)
    advice = Advice("the corner", skill="go_to", arguments={"x": 6, "y": 4})
    for _ in range(12):
        decision = pilot.act(advice)
        if not decision.reason.startswith("advice"):
            break
        environment.advance(decision.action)
    assert (environment.state.x, environment.state.y) == (6, 4)


@pytest.mark.parametrize("advice", [Advice("fly", skill="fly"), Advice("go", skill="go_to", arguments={"x": "far"})])
def test_advice_that_means_nothing_is_left_to_the_rules(make: MakeEnvironment, advice: Advice) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    assert RulesPilot(environment).act(advice).reason == "goal downstairs"
