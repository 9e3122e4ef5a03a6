"""Meaning of a state: danger, health, suggestions and changes, from the state variables or a running game."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.state.variables import STATE_SIZE, STATE_VARIABLES
from pkmn_pyboy.words.analysis import STUCK_STEPS, Danger, GameStateAnalysis, natural_values
from pkmn_pyboy.words.changes import Changes, Snapshot, changes_between
from pkmncli.errors import ConfigurationError

Make = Callable[..., PokemonEnvironment]

WALKING: dict[str, Any] = {
    "map_group": 24, "map_number": 3, "x": 5, "y": 9, "facing": 2, "party_size": 2, "lead_level": 6, "lead_hp": 1.0,
    "party_levels": 11, "party_hp": 0.9, "money": 3000, "balls": 4, "caught": 2, "seen": 5,
}  # fmt: skip
FIGHTING = WALKING | {
    "phase": int(Phase.BATTLE_MENU), "battle": 1, "enemy_level": 4, "enemy_hp": 0.5, "battler_hp": 1.0,
    "effectiveness": 1,
}  # fmt: skip


def test_as_the_documents_show_it() -> None:
    """Pass a mapping; get two dictionaries of plain values and a text."""
    analysis = GameStateAnalysis(FIGHTING)
    battle, exploration, summary = (
        analysis.analyze_battle_state(),
        analysis.analyze_exploration_state(),
        analysis.get_summary(),
    )
    assert battle["in_battle"] is True
    assert (battle["kind"], battle["opponent_level"], battle["level_advantage"]) == ("wild", 4, 2)
    assert (exploration["map"], exploration["x"], exploration["facing"]) == ("map 24.3", 5, "left")
    assert summary.startswith("map 24.3, tile (5, 9), facing left; battle menu. A wild battle: the opponent level 4")
    json.dumps([battle, exploration])


def test_nothing_known_is_a_safe_state() -> None:
    analysis = GameStateAnalysis({})
    assert analysis.danger is Danger.NONE
    assert analysis.exploration.health == "none"
    assert not analysis.battle.in_battle
    assert "No Pokemon yet" in analysis.get_summary()


def test_unknown_variables_are_told() -> None:
    with pytest.raises(ConfigurationError, match="'party_hpp'; did you mean 'party_hp'"):
        GameStateAnalysis({"party_hpp": 1})
    with pytest.raises(ConfigurationError, match="25 state variables, not 3"):
        GameStateAnalysis([0, 0, 0])


@pytest.mark.parametrize(
    ("changed", "danger"),
    [
        ({}, Danger.NONE),
        ({"battler_hp": 0.5}, Danger.LOW),
        ({"effectiveness": 0.5}, Danger.LOW),
        ({"enemy_level": 12}, Danger.LOW),
        ({"enemy_level": 12, "battler_hp": 0.5}, Danger.HIGH),
        ({"battler_hp": 0.1}, Danger.HIGH),
        ({"battler_hp": 0.1, "able": 1}, Danger.CRITICAL),
        ({"battler_hp": 0.1, "party_size": 1}, Danger.CRITICAL),
        ({"battler_hp": 0.0, "own": "TOTODILE", "able": 0}, Danger.CRITICAL),
        ({"battler_hp": 0.0, "enemy_level": 0}, Danger.NONE),
    ],
)
def test_danger_in_battle(changed: dict[str, Any], danger: Danger) -> None:
    assert GameStateAnalysis(FIGHTING | changed).danger is danger


@pytest.mark.parametrize(
    ("changed", "health", "danger"),
    [
        ({}, "good", Danger.NONE),
        ({"party_hp": 0.5}, "hurt", Danger.LOW),
        ({"party_hp": 0.2}, "weak", Danger.HIGH),
        ({"lead_hp": 0.1}, "good", Danger.LOW),
        ({"party_size": 0, "party_hp": 0.0}, "none", Danger.NONE),
    ],
)
def test_health_while_walking(changed: dict[str, Any], health: str, danger: Danger) -> None:
    analysis = GameStateAnalysis(WALKING | changed)
    assert (analysis.exploration.health, analysis.danger) == (health, danger)


def test_suggestions_fit_the_situation() -> None:
    def suggested(values: dict[str, Any]) -> str:
        return "; ".join(GameStateAnalysis(values).suggestions)

    assert suggested(WALKING) == ""
    assert "heal" in suggested(WALKING | {"party_hp": 0.1})
    assert "cure" in suggested(WALKING | {"ailing": 1})
    assert "try another way" in suggested(WALKING | {"idle_steps": STUCK_STEPS})
    assert "read on" in suggested(WALKING | {"phase": int(Phase.DIALOGUE)})
    assert "very effective" in suggested(FIGHTING | {"effectiveness": 2})
    assert "ball" in suggested(FIGHTING)
    assert "ball" not in suggested(FIGHTING | {"balls": 0})
    assert "ball" not in suggested(FIGHTING | {"battle": 2}), "a trainer's Pokemon can't be caught"
    assert "run" in suggested(FIGHTING | {"battler_hp": 0.1})
    assert "run" not in suggested(FIGHTING | {"battler_hp": 0.1, "battle": 2}), "nor can one run from a trainer"


def test_an_observation_says_the_same_as_its_values(make: Make) -> None:
    environment = make(observation_type="state")
    observation, _ = environment.reset(seed=1)
    pilot = RulesPilot(environment)
    pilot.reset(1)
    for _ in range(170):
        observation, *_ = environment.step(pilot.act(None).action)
        told = environment.analysis()
        alone = GameStateAnalysis(observation["state_variables"])
        for name in ("x", "y", "facing", "phase", "party_size", "health", "badges", "caught", "balls", "money"):
            assert getattr(alone.exploration, name) == getattr(told.exploration, name), name
        assert alone.battle.kind == told.battle.kind
        assert alone.battle.opponent_level == told.battle.opponent_level
        assert alone.battle.level_advantage == told.battle.level_advantage


def test_values_of_an_observation_are_in_their_units() -> None:
    values = natural_values(np.ones(STATE_SIZE, np.float32))
    assert set(values) == {variable.name for variable in STATE_VARIABLES}
    assert (values["lead_level"], values["money"], values["party_hp"], values["effectiveness"]) == (
        100,
        999_999,
        1.0,
        4,
    )


BEFORE = Snapshot(10, "Town", 5, 1.0, ("A",), 3000, 0, 1, {"Potion": 2, "Ball": 1}, ("first",))


def test_changes_between_two_moments() -> None:
    now = Snapshot(60, "Route", 8, 0.5, ("A", "B"), 2900, 1, 2, {"Potion": 1, "Key": 1}, ("first", "second"))
    changes = changes_between(BEFORE, now)
    assert changes.items == {"Potion": -1, "Ball": -1, "Key": 1}
    assert changes.words() == (
        "went from Town to Route",
        "reached the milestone second",
        "+1 badge",
        "B joined the party",
        "+3 levels",
        "-50% of the party's hit points",
        "+1 species caught",
        "-100 money",
        "-1 Ball",
        "+1 Key",
        "-1 Potion",
    )
    assert "In the last 50 steps: went from Town to Route" in GameStateAnalysis(WALKING, changes=changes).get_summary()


def test_no_change_is_no_word_and_an_exchange_is_one() -> None:
    assert changes_between(BEFORE, BEFORE) == Changes()
    assert Changes(joined=("B",), gone=("A",)).words() == ("B in place of A",)
    assert Changes(gone=("A", "A")).words() == ("A left the party", "A left the party")


def test_a_snapshot_survives_json() -> None:
    assert Snapshot.from_dict(json.loads(json.dumps(BEFORE.as_dict()))) == BEFORE


def test_the_context_tells_what_happened_since_the_one_before(make: Make) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=3)
    pilot = RulesPilot(environment)
    pilot.reset(3)
    first = environment.context()
    assert first.changes == ()
    assert [split.name for split in first.milestones] == ["game_started"]
    while environment.state.party.count == 0 and environment.steps < 300:
        environment.advance(pilot.act(None).action)
    assert environment.analysis().changes.steps == environment.steps
    saved = environment.save_state()
    second = environment.context()
    assert "KINDLYNX joined the party" in second.changes
    assert "reached the milestone enter_lab" in second.changes
    assert environment.context().changes == (), "told once"
    environment.load_state(saved)
    assert environment.context() == second, "what was told before is part of the state"
    environment.reset(seed=4)
    assert environment.context().changes == ()


@pytest.mark.long
def test_splits_have_step_and_frame(make: Make) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=3)
    pilot = RulesPilot(environment)
    pilot.reset(3)
    for _ in range(150):
        environment.advance(pilot.act(None).action)
    splits = environment.context().milestones
    assert len(splits) == environment.milestones.count > 3
    assert [split.step for split in splits] == sorted(split.step for split in splits)
    for split in splits:
        index = environment.profile.milestone_index(split.name)
        assert split.step == environment.milestone_steps()[index]
        assert split.frame == split.step * environment.action_frames


@pytest.mark.long
def test_a_battle_in_words(make: Make) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=3)
    pilot = RulesPilot(environment)
    pilot.reset(3)
    while environment.state.phase is not Phase.BATTLE_MENU and environment.steps < 400:
        environment.advance(pilot.act(None).action)
    context, battle = environment.context(), environment.state.battle
    assert battle is not None
    assert battle.opponent is not None
    opponent = environment.game.names.species[battle.opponent.species]
    assert f"A wild battle: {opponent} level {battle.opponent.level}" in context.context_summary
    assert "has the moves" in context.context_summary
    assert "PP)" in context.context_summary
    assert "Danger" not in context.context_summary, "it stands by itself"
    place, earned = environment.status().split("; reward from ")
    assert place.startswith(environment.game.names.map_name(environment.state.map_id))
    assert earned.startswith(f"milestone {environment.rewards.totals['progress.milestone']:.1f}, first pokemon 100.0")
    assert "In the last" not in context.context_summary
    assert context.danger == environment.analysis().danger.name.lower()
    assert context.text_map == ""
