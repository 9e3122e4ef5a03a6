"""The league: past adapters and scripts in the games, their ratings, and an exact resume."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.league import results_of, table
from pkmn_multimodel.population.population import Population
from pkmn_multimodel.ratings import Result, matrix, ratings
from pkmn_multimodel.recording import flat, nested
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training

SMALL = {
    "num_models": 2,
    "model_types": ["qwen3"],
    "base": "tiny",
    "batch_size": 8,
    "learning_rate": 3e-3,
    "league_every": 1,
    "league_share": 0.5,
    "league_size": 2,
    "league_scripts": ["random", "best"],
}


Make = Callable[..., Training]


@pytest.fixture(scope="module")
def make_training() -> Make:
    """Return a function that makes trainings on one base, which is made once."""
    make_game = game_maker("coop-compete", 2, {})
    first = Training(MultiModelConfig(**SMALL), make_game, 0).population
    base, tokenizer = copy.deepcopy(first.model.unload()), first.tokenizer

    def make(**settings: Any) -> Training:
        population = Population(copy.deepcopy(base), tokenizer, ["model_0", "model_1"])
        return Training(MultiModelConfig(**SMALL | settings), make_game, 0, population=population)

    return make


def weights_of(training: Training) -> dict[str, Any]:
    return {name: array.copy() for name, array in flat(training.population.state_dict()["adapters"]).items()}


def results_of_players(strengths: dict[str, float], games: int, seed: int = 0) -> list[Result]:
    """Return results of players whose odds are the ratio of their strengths."""
    random, names, found = np.random.default_rng(seed), list(strengths), []
    for game in range(games):
        one, other = (names[place] for place in random.choice(len(names), 2, replace=False))
        won = random.random() < strengths[one] / (strengths[one] + strengths[other])
        found.append(Result(game, one, other, float(won)))
    return found


def test_ratings_are_the_odds_of_winning() -> None:
    rated = ratings(results_of_players({"weak": 1.0, "fair": 4.0, "strong": 16.0}, 3000))
    lead = 400 * np.log10(4)
    assert rated["fair"].elo - rated["weak"].elo == pytest.approx(lead, abs=40)
    assert rated["strong"].elo - rated["fair"].elo == pytest.approx(lead, abs=40)
    assert all(rating.low < rating.elo < rating.high for rating in rated.values())


def test_more_games_make_narrower_intervals_and_equal_players_are_in_each_others() -> None:
    few = ratings(results_of_players({"one": 1.0, "other": 1.0}, 20))["one"]
    many = ratings(results_of_players({"one": 1.0, "other": 1.0}, 500))["one"]
    assert many.high - many.low < few.high - few.low
    assert few.low < 1500 < few.high
    assert (few.games, many.games) == (20, 500)


def test_a_player_that_never_lost_has_a_finite_rating() -> None:
    rated = ratings([Result(game, "one", "other", 1.0) for game in range(10)])
    assert 1500 < rated["one"].elo < 2500
    assert ratings([]) == {}


def test_the_matrix_says_who_beats_whom() -> None:
    results = [Result(0, "a", "b", 1.0), Result(1, "a", "b", 0.5), Result(2, "b", "c", 0.0)]
    assert matrix(results) == {"a": {"b": 0.75}, "b": {"a": 0.25, "c": 0.0}, "c": {"b": 1.0}}


@pytest.mark.long
def test_past_adapters_play_and_do_not_learn_and_the_oldest_is_replaced(make_training: Make) -> None:
    training = make_training()
    training.batch()
    assert training.league is not None
    assert training.league.names == {"past_0": "model_0-1"}
    kept = {name: array for name, array in weights_of(training).items() if name.startswith("past_0/")}
    seated = {seat for episode in training.batch().episodes for seat in episode.seats.values()}
    assert {"model_0", "model_1"} < seated <= {"model_0", "model_1", "past_0", "random", "best"}
    after = weights_of(training)
    assert kept
    assert all(np.array_equal(array, after[name]) for name, array in kept.items())
    learning = [name.replace("past_0", "model_0") for name in kept]
    assert any(not np.array_equal(kept[past], after[own]) for past, own in zip(kept, learning, strict=True))
    metrics = training.batch().metrics
    assert training.league.names == {"past_1": "model_1-2", "past_0": "model_0-3"}
    assert metrics["league/past"] == 2
    assert {"league/elo/model_0", "league/elo/model_1"} <= set(metrics)


@pytest.mark.long
def test_a_resumed_training_meets_the_same_opponents_and_goes_on_exactly(make_training: Make) -> None:
    first, second = make_training(), make_training()
    for _ in range(3):
        first.batch()
    second.load_state_dict(nested(flat(first.state_dict())))
    batches = [training.batch() for training in (first, second)]
    assert [episode.seats for episode in batches[0].episodes] == [episode.seats for episode in batches[1].episodes]
    assert batches[0].metrics == batches[1].metrics
    ours, theirs = weights_of(first), weights_of(second)
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.long
def test_the_best_script_is_rated_above_models_that_have_not_learned(make_training: Make) -> None:
    training = make_training(training_mode="competitive", league_every=1000, league_share=1.0, learning_rate=1e-9)
    for _ in range(6):
        training.batch()
    shown = table(results_of(nested(flat(training.state_dict()))["league"]))
    assert next(iter(shown["elo"])) == "best"
    assert shown["points_against"]["best"]["model_0"] > 0.6


@pytest.mark.long
def test_trained_models_are_rated_above_an_early_copy(make_training: Make) -> None:
    fast = {"weight_update_strategy": "synchronized", "gamma": 0.5, "batch_size": 32}
    league = {"league_every": 4, "league_size": 8, "league_scripts": ["random"]}
    training = make_training(training_mode="competitive", **fast, **league)
    for _ in range(24):
        training.batch()
    assert training.league is not None
    rated = ratings(training.league.results)
    assert rated["model_0"].low > rated["model_0-4"].elo


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight_update_strategy": "federated"}, "federated changes the shared weights"),
        ({"num_models": 1}, "needs num_models = 2 or more"),
    ],
)
def test_a_league_that_cannot_be_is_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultiModelConfig(**SMALL | settings)
