"""Engines: what every engine promises, and what the one on Ray adds."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch
from support.commands import run_here

from pkmn_multimodel.engines import parts_of
from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.players import RandomPlayer, ScriptedPlayer
from pkmn_multimodel.recording import flat, nested
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training

SMALL = {
    "num_models": 2,
    "model_types": ["qwen3"],
    "base": "tiny",
    "batch_size": 4,
    "max_episodes": 100_000,
    "learning_rate": 3e-3,
}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "synchronized": {"weight_update_strategy": "synchronized"},
    "two parts, a league and a player of a service": {
        "model_types": ["qwen3", "openai"],
        "actors": 2,
        "league_every": 1,
        "league_share": 0.8,
        "league_scripts": ["random", "best"],
    },
    "federated": {"weight_update_strategy": "federated", "algorithm": "ppo", "actors": 2},
}


def make_training(**settings: Any) -> Training:
    return Training(MultiModelConfig(**SMALL | settings), game_maker("coop-compete", 2, {}), 3)


def state_after(training: Training, batches: int = 3) -> dict[str, Any]:
    """Train. Return all that the training knows, with arrays as bytes."""
    for _ in range(batches):
        training.batch()
    state = flat(training.state_dict())
    return {name: value.tobytes() if hasattr(value, "tobytes") else value for name, value in state.items()}


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_parts_have_random_numbers_of_their_own_and_a_single_part_those_of_the_training() -> None:
    generator, players = torch.Generator().manual_seed(1), {"random": RandomPlayer(1), "best": ScriptedPlayer(1.0, 1)}
    (whole,) = parts_of(1, range(5), [{}] * 5, generator, players)
    assert whole.generator is generator and whole.players is players
    parts = parts_of(2, range(5), [{}] * 5, generator, players)
    assert [list(part.seeds) for part in parts] == [[0, 1], [2, 3, 4]]
    sampled = [torch.rand(1, generator=part.generator).item() for part in parts]
    chosen = [part.players["random"].replies([""] * 9, [range(99)] * 9) for part in parts]
    assert sampled[0] != sampled[1] and chosen[0] != chosen[1]
    assert len(parts_of(8, range(2), [{}] * 2, generator, players)) == 2, "no part is empty"


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS)
def test_all_engines_lead_to_the_same_state(variant: str, ray: Any) -> None:
    with closing(make_training(**VARIANTS[variant])) as training:
        expected = state_after(training)
    with closing(make_training(**VARIANTS[variant], engine="ray")) as training:
        assert state_after(training) == expected


@pytest.mark.long
def test_a_lost_actor_is_replaced_and_a_training_resumes_on_another_engine(ray: Any) -> None:
    told: list[str] = []
    settings = MultiModelConfig(**SMALL, actors=2)
    with closing(Training(settings, game_maker("coop-compete", 2, {}), 3)) as training:
        expected = state_after(training, 4)
    settings.engine = "ray"
    with closing(Training(settings, game_maker("coop-compete", 2, {}), 3, told.append)) as training:
        training.batch()
        for process_id in training.actor_processes:
            os.kill(process_id, signal.SIGKILL)
        training.batch()
        state = nested(flat(training.state_dict()))
    assert told.count("An actor of Ray was lost; another one does its work again.") >= 1
    settings.engine = "in-process"
    with closing(Training(settings, game_maker("coop-compete", 2, {}), 3)) as training:
        training.load_state_dict(state)
        assert state_after(training, 2) == expected


@pytest.mark.long
def test_a_job_is_lost_once_where_all_actors_are_lost_together(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    settings = MultiModelConfig(**SMALL, actors=3, engine="ray")
    with closing(Training(settings, game_maker("coop-compete", 2, {}), 3, told.append)) as training:
        training.start()
        while len(training.actor_processes) < settings.actors:
            training.play(range(settings.actors))
        monkeypatch.setattr("pkmn_multimodel.ray_engine.MOST_LOSSES", 1)
        for process_id in training.actor_processes:
            os.kill(process_id, signal.SIGKILL)
        assert len(training.play([1])) == 1
    assert told == ["An actor of Ray was lost; another one does its work again."]


@pytest.mark.long
def test_an_error_while_an_actor_loads_ends_the_training_with_it(ray: Any) -> None:
    trainer, make_game = os.getpid(), game_maker("coop-compete", 2, {})

    def make_game_here() -> Any:
        if os.getpid() != trainer:
            raise OSError("the disk is full")
        return make_game()

    with closing(Training(MultiModelConfig(**SMALL, engine="ray"), make_game_here, 3)) as training:
        training.start()
        with pytest.raises(OSError, match="the disk is full"):
            training.play([1])


@pytest.mark.long
def test_more_than_a_cluster_has_is_refused_in_one_line_and_leaves_no_run(ray: Any, tmp_path: Path) -> None:
    own = ("--models", "2", "--base", "tiny", "--engine", "ray", "--set", "multimodel.gpus_per_actor=64")
    refused = run_here("multimodel", "train", *own, "--save-dir", str(tmp_path))
    assert refused.code == 2, refused.err
    assert refused.err.count("engine = ray: the Ray cluster has too few resources: 3 CPU and ") == 1
    assert not list(tmp_path.iterdir())
