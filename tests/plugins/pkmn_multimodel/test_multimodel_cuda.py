"""Training on a graphics card, and the sampling that keeps the vocabulary on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.population.generation import token_at
from pkmn_multimodel.recording import flat, nested
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training

needs_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")


def make_training(**settings: Any) -> Training:
    own = {"num_models": 2, "model_types": ["qwen3"], "base": "tiny", "batch_size": 32, "learning_rate": 3e-3}
    return Training(
        MultiModelConfig(**own | {"gamma": 0.5, "weight_update_strategy": "synchronized", **settings}),
        game_maker("coop-compete", 2, {}),
        3,
    )


def test_marks_spread_evenly_draw_each_token_by_its_probability() -> None:
    chances = torch.tensor([[0.0, 0.25, 0.0, 0.7, 0.05], [1.0, 0.0, 0.0, 0.0, 0.0]])
    marks = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    for row, wanted in zip(chances, ([0, 250, 0, 700, 50], [1000, 0, 0, 0, 0]), strict=True):
        drawn = token_at(row.log().expand(1000, -1), marks[:, None])
        assert torch.bincount(drawn, minlength=5).tolist() == wanted
    assert token_at(chances.log(), torch.tensor([[0.0], [0.0]], dtype=torch.float64)).tolist() == [1, 0]


@needs_card
def test_a_training_on_a_card_learns_and_resumes_exactly() -> None:
    first = make_training(training_mode="cooperative", device="cuda")
    assert first.population.device.startswith("cuda")
    for _ in range(5):
        found = first.batch().metrics
        assert found["model_0/sampler_gap"] < 1e-3
    second = make_training(training_mode="cooperative", device="cuda")
    second.load_state_dict(nested(flat(first.state_dict())))
    scores = [[training.batch().metrics["score"] for _ in range(20)] for training in (first, second)]
    assert scores[0] == scores[1]
    assert np.mean([episode.score for episode in first.evaluate(20)]) >= 0.9


@needs_card
def test_a_base_in_bfloat16_is_sampled_from_and_learned_on(tmp_path: Path) -> None:
    tiny = make_training(device="cpu").population
    tiny.model.unload().save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    training = make_training(base=str(tmp_path), device="cuda")
    assert training.population.base.dtype == torch.bfloat16
    before = flat(training.population.state_dict()["adapters"])
    assert training.batch().metrics["valid_replies"] > 0.8
    after = flat(training.population.state_dict()["adapters"])
    assert any(not np.array_equal(before[name], after[name]) for name in before)
