"""The games: PettingZoo's contract, seeds, the known optimum, chance, and names that are wrong."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

import pkmn_multimodel
from pkmn_multimodel.games.catalog import GAMES, game_maker
from pkmn_multimodel.games.team_battle import damage
from pkmn_multimodel.games.text_game import TextGame
from pkmn_multimodel.players import ScriptedPlayer
from pkmncli.errors import ConfigurationError

VARIANTS: list[tuple[str, int, dict[str, Any]]] = [
    ("coop-compete", 2, {"cooperation_level": 1}),
    ("coop-compete", 4, {"cooperation_level": 0}),
    ("resources", 2, {"level": 1}),
    ("resources", 3, {"level": 3}),
    ("team-battle", 4, {}),
    ("staged", 2, {}),
    ("staged", 5, {}),
    ("maze", 1, {"complexity": "easy"}),
    ("maze", 3, {"complexity": "hard"}),
    ("social", 2, {"scenario": "prisoners-dilemma"}),
    ("social", 3, {"scenario": "stag_hunt"}),
    ("social", 4, {"scenario": "chicken"}),
    ("social", 4, {"scenario": "volunteer"}),
    ("negotiation", 2, {}),
    ("negotiation", 5, {}),
]


def game_of(variant: tuple[str, int, dict[str, Any]]) -> TextGame:
    return game_maker(*variant)()


def played(game: TextGame, seed: int, strength: float) -> tuple[float, list[Any]]:
    player, told = ScriptedPlayer(strength, seed), []
    prompts, _ = game.reset(seed=seed)
    while game.agents:
        told.append(prompts)
        prompts, *rest = game.step({agent: player.choose(game, agent) for agent in game.agents})
        told.append(rest)
    return game.score(), told


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_game_keeps_the_contract_of_pettingzoo(variant: tuple[str, int, dict[str, Any]]) -> None:
    game = game_of(variant)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(game, num_cycles=40)
    prompts, _ = game.reset(seed=3)
    assert all(game.observation_space(agent).contains(prompt) for agent, prompt in prompts.items())
    assert all(set(game.options(agent)) <= set(game.vocabulary) for agent in game.agents)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_best_player_reaches_the_optimum_and_random_ones_do_not(variant: tuple[str, int, dict[str, Any]]) -> None:
    game = game_of(variant)
    best = [played(game, seed, 1.0)[0] for seed in range(20)]
    random = [played(game, seed, 0.0)[0] for seed in range(20)]
    assert best == pytest.approx([1.0] * 20)
    assert all(0 <= score <= 1 for score in random)
    assert np.mean(random) < 0.9


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_same_seed_is_the_same_game(variant: tuple[str, int, dict[str, Any]]) -> None:
    game = game_of(variant)
    first = played(game, 7, 0.5)
    assert played(game.again(), 7, 0.5) == first
    played(game, 8, 0.5)
    assert played(game, 7, 0.5) == first


@pytest.mark.long
def test_two_agents_play_the_bundled_game_and_the_same_seed_is_the_same_game() -> None:
    game = game_maker("quillwood", 2, {"rounds": 9})()
    parallel_api_test(game, num_cycles=3)
    best = played(game, 1, 1.0)
    assert best[0] == 1.0
    assert sum(rest[0]["model_0"] for rest in best[1][1::2]) == 6
    game.close()
    assert played(game, 1, 1.0) == best
    assert "Fern Trail" in best[1][4]["model_0"]
    assert game.roles() == {"model_0": "navigator", "model_1": "fighter"}
    game.close()


@pytest.mark.long
def test_the_words_of_both_agents_decide_in_the_bundled_game() -> None:
    game = game_maker("quillwood", 2, {"rounds": 4})()
    reached = {}
    for words in (("story", "fight"), ("story", "flee"), ("train", "fight")):
        game.reset(seed=1)
        while game.agents:
            game.step(dict(zip(game.agents, words, strict=True)))
        reached[words] = game.score()
    game.close()
    assert reached["story", "fight"] == max(reached.values())
    assert len(set(reached.values())) > 1
    with pytest.raises(ConfigurationError, match="needs 2 models, a navigator and a fighter: 4"):
        game_maker("quillwood", 4, {})


def test_every_game_has_a_variant_here_or_a_test_beside() -> None:
    assert {name for name, *_ in VARIANTS} | {"quillwood"} == set(GAMES)


def test_the_strength_of_a_scripted_player_is_in_its_score() -> None:
    game = game_maker("negotiation", 3, {})()
    means = [np.mean([played(game, seed, strength)[0] for seed in range(40)]) for strength in (0.0, 0.5, 1.0)]
    assert means[0] < means[1] < means[2]


def test_types_decide_what_a_move_takes() -> None:
    assert damage("wave", "flame") > damage("spark", "flame") > damage("flame", "wave")


def test_a_stock_that_is_emptied_does_not_grow_again() -> None:
    game = game_maker("resources", 2, {"level": 3, "rounds": 8})()
    game.reset(seed=0)
    gains = []
    while game.agents:
        *_, infos = game.step(dict.fromkeys(game.agents, "much"))
        gains.append(sum(info["gain"] for info in infos.values()))
    assert gains[0] == 6
    assert gains[-1] == 0


def test_a_contested_item_goes_to_nobody() -> None:
    game = game_maker("negotiation", 2, {})()
    game.reset(seed=0)
    prompts, *_, infos = game.step({"model_0": "book", "model_1": "book"})
    assert [info["gain"] for info in infos.values()] == [0, 0]
    assert "Claims: book, book" in prompts["model_0"]
    prompts, *_, infos = game.step({"model_0": "book", "model_1": "coin"})
    assert all(info["gain"] > 0 for info in infos.values())
    assert not game.agents


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (("mase", 2, {}), "there is no game 'mase'; did you mean 'maze'?"),
        (("maze", 2, {"complexity": "hrd"}), "there is no complexity 'hrd'; did you mean 'hard'?"),
        (("social", 2, {"scenario": "chiken"}), "there is no scenario 'chiken'; did you mean 'chicken'?"),
        (("team-battle", 3, {}), "needs an even number of models: 3"),
        (("negotiation", 9, {}), "needs 2 to 8 models: 9"),
        (("resources", 2, {"level": 4}), "level must be 1, 2 or 3: 4"),
        (("staged", 2, {"stages": 9}), "stages must be 1 to 3: 9"),
        (("staged", 2, {"stage": 1}), "unexpected keyword argument 'stage'"),
    ],
)
def test_a_wrong_name_or_argument_is_one_line(variant: tuple[str, int, dict[str, Any]], message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        game_of(variant)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_functions_return_games_that_a_trainer_takes() -> None:
    made = [
        pkmn_multimodel.create_multi_model_coop_compete_env(num_models=8, cooperation_level=0.7),
        pkmn_multimodel.create_multi_model_team_battle(),
        pkmn_multimodel.create_multi_model_staged_env(num_models=3),
        pkmn_multimodel.create_maze_training_env(complexity="medium"),
        pkmn_multimodel.create_social_training_env(scenario="chicken", num_models=2),
    ]
    assert [len(game.possible_agents) for game in made] == [8, 4, 3, 4, 2]
    assert all(isinstance(game, pkmn_multimodel.MultiModelTrainingEnvironment) for game in made)
    with pytest.raises(ValueError, match="did you mean 'medium'"):
        pkmn_multimodel.create_maze_training_env("medum")
