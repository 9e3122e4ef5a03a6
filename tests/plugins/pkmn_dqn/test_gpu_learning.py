"""Learning on a GPU is the same learning, and resumes exactly; on the CPU the same code runs without capture."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.learner_stream import assert_equal_states, through_files

import pkmn_dqn.learner
from pkmn_dqn.gpu_learning import READ_AFTER, GpuLearning
from pkmn_dqn.gpu_replay import PackedColumns
from pkmncli.errors import TrainingError

needs_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")

SETTINGS: list[dict[str, Any]] = [
    {},
    {"n_step": 1, "double": False, "dueling": False, "tau": 0.1, "target_update_interval": 1},
    {"priority_exponent": 0.6, "demonstration_priority": 0.5, "gradient_steps": 2},
    {"gradient_steps": 3, "buffer_size": 150},  # the ring wraps around
]


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=needs_card)])
def on_card(
    request: pytest.FixtureRequest, scripted_training: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    monkeypatch.setattr(pkmn_dqn.learner, "learns_on_card", lambda device: True)

    def build(**settings: Any) -> Any:
        return scripted_training(device=request.param, **settings)

    return build


@pytest.fixture
def in_memory(scripted_training: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def build(**settings: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(pkmn_dqn.learner, "learns_on_card", lambda device: False)
            return scripted_training(**settings)

    return build


@pytest.mark.long
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_card_learns_what_the_cpu_learns(on_card: Any, in_memory: Any, settings: dict[str, Any]) -> None:
    card, cpu = on_card(by_rules=0.3, **settings), in_memory(by_rules=0.3, **settings)
    assert isinstance(card.learner.learning, GpuLearning)
    card.run(60)
    cpu.run(60)
    assert [chosen[0] for chosen in card.acted] == [chosen[0] for chosen in cpu.acted]
    found, expected = card.learner.state_dict(), cpu.learner.state_dict()
    assert expected["learning.updates"] == found["learning.updates"] > 20
    for name, value in expected.items():
        if name.startswith(("learning.online", "learning.target", "acting")):
            np.testing.assert_allclose(np.asarray(found[name]), np.asarray(value), rtol=2e-3, atol=2e-4, err_msg=name)


def test_metrics_come_some_windows_later_and_in_order(on_card: Any, in_memory: Any) -> None:
    card, cpu = on_card().run(60).metrics, in_memory().run(60).metrics
    assert all("loss" not in early for early in card[:READ_AFTER])
    assert [one["updates"] for one in card] == [one["updates"] for one in cpu]
    for before, later in zip(cpu, card[READ_AFTER:], strict=False):
        assert later["loss"] == pytest.approx(before["loss"], rel=1e-2, abs=1e-4)


def test_a_loss_that_is_not_finite_ends_the_training(on_card: Any) -> None:
    with pytest.raises(TrainingError, match=r"loss became (nan|inf) at update \d+: lower dqn.learning_rate"):
        on_card(learning_rate=1e30, huber_delta=1e30).run(200)


@pytest.mark.long
@pytest.mark.parametrize("settings", SETTINGS[1:3] + SETTINGS[::3])
def test_a_resumed_training_equals_an_unbroken_one(on_card: Any, tmp_path: Path, settings: dict[str, Any]) -> None:
    unbroken = on_card(**settings).run(120)
    first_half = on_card(**settings).run(60)
    state, segments = through_files(tmp_path, first_half.learner.state_dict(), list(first_half.learner.segments()))
    resumed = on_card(**settings)
    resumed.learner.load_state_dict(state)
    resumed.learner.load_segments(segments)
    resumed.step = 60
    resumed.run(60)
    assert first_half.metrics + resumed.metrics == unbroken.metrics
    assert first_half.acted + resumed.acted == unbroken.acted
    assert_equal_states(resumed.learner.state_dict(), unbroken.learner.state_dict())


def test_a_checkpoint_goes_from_the_cpu_to_the_card_and_back(on_card: Any, in_memory: Any, tmp_path: Path) -> None:
    began = in_memory().run(60)
    state, segments = through_files(tmp_path, began.learner.state_dict(), list(began.learner.segments()))
    card = on_card()
    card.learner.load_state_dict(state)
    card.learner.load_segments(segments)
    card.step = 60
    card.run(10)
    back = in_memory()
    back.learner.load_state_dict(card.learner.state_dict())
    assert back.learner.state_dict()["learning.updates"] > state["learning.updates"]


def test_updates_in_a_thread_give_what_updates_in_place_give(on_card: Any) -> None:
    in_place = on_card().run(100)
    with ThreadPoolExecutor(1) as executor:
        threaded = on_card().run(100, executor)
    assert threaded.metrics == in_place.metrics
    assert_equal_states(threaded.learner.state_dict(), in_place.learner.state_dict())


def test_an_update_is_timed_without_a_trace(on_card: Any) -> None:
    measured, other = on_card().run(60), on_card().run(60)
    assert measured.learner.time_learning() > 0
    assert_equal_states(measured.run(20).learner.state_dict(), other.run(20).learner.state_dict())


def test_packed_columns_come_back_as_they_were() -> None:
    rng = np.random.default_rng(0)
    packed = PackedColumns(
        {
            "screen": ((6, 5), np.uint8),
            "vector": ((3,), np.float32),
            "planes": ((3, 3), np.uint16),
            "empty": ((0,), np.uint8),
        }
    )
    columns = {
        "screen": rng.integers(0, 256, (4, 6, 5), np.uint8),
        "vector": rng.random((4, 3), np.float32),
        "planes": rng.integers(0, 2**16, (4, 3, 3), np.uint16),
        "empty": np.zeros((4, 0), np.uint8),
    }
    rows = np.full((4, packed.row_bytes), 255, np.uint8)
    packed.pack(columns, rows)
    for name, column in packed.unpack(torch.from_numpy(rows)).items():
        np.testing.assert_array_equal(column.numpy(), columns[name], err_msg=name)
