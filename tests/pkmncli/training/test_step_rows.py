"""Steps wait until it is known what came of them, and leave once each, in order, whatever the rhythm."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pkmncli.api import DECISION_HORIZON, Coded
from pkmncli.training.recording.decision_rows import StepRows, compare, judge, previous_from
from pkmncli.training.workers.shared_memory import RECORD_DTYPE

NAMES = ["progress.milestone", "exploration.new_tile", "other"]
TIMED = {"time"}


def course(num_envs: int, steps: int, seed: int = 0) -> list[np.ndarray[Any, Any]]:
    """Steps of several environments, with episodes that end here and there."""
    random = np.random.default_rng(seed)
    records = np.zeros((steps, num_envs), RECORD_DTYPE)
    records["reward"] = random.normal(size=records.shape)
    records["consequence"] = random.choice(8, size=records.shape, p=[0.65] + [0.05] * 7)
    records["action"] = random.integers(0, 9, records.shape)
    records["terminated"] = random.random(records.shape) < 0.05
    records["truncated"] = random.random(records.shape) < 0.02
    records["reason"] = random.choice([b"", b"walk", "Pokémon".encode()[:4]], size=records.shape)
    records["reward_parts"][..., 1] = np.where(random.random(records.shape) < 0.3, 0.25, 0)
    return list(records)


def expected(records: Sequence[np.ndarray[Any, Any]], step: int, environment: int) -> tuple[float, int]:
    """The return and outcome of a step, word by word; no return where it is not known what came."""
    total, outcome = 0.0, 0
    for record in records[step : step + DECISION_HORIZON]:
        total += float(record[environment]["reward"])
        outcome = max(outcome, int(record[environment]["consequence"]))
        if record[environment]["terminated"] or record[environment]["truncated"]:
            return total, outcome
    return total if step + DECISION_HORIZON <= len(records) else math.nan, outcome


def add(rows: StepRows, records: np.ndarray[Any, Any], step: int) -> None:
    count = len(records)
    values = np.arange(9 * count, dtype=np.float32).reshape(count, 9) + step
    rows.add(step * count, float(step), records[None], ["m"] * count, [0.5] * count, values)


def joined(taken: list[dict[str, Any]]) -> dict[str, list[Any]]:
    whole: dict[str, list[Any]] = {name: [] for name in taken[0]}
    for columns in taken:
        for name, column in columns.items():
            whole[name] += (column.decoded() if isinstance(column, Coded) else column).tolist()
    return whole


@pytest.mark.parametrize("num_envs", [1, 3])
@pytest.mark.parametrize("rhythm", [1, 5, 17, 1000])
def test_every_step_leaves_once_and_with_what_came_of_it(num_envs: int, rhythm: int) -> None:
    records = course(num_envs, 100)
    rows, taken = StepRows(num_envs, 4096, NAMES), []
    for step, record in enumerate(records):
        add(rows, record, step)
        if step % rhythm == rhythm - 1:
            taken.append(rows.take())
    taken.append(rows.take(all_of_them=True))
    assert rows.take(all_of_them=True) is None
    whole = joined([columns for columns in taken if columns is not None])
    assert whole["global_step"] == list(range(1, 100 * num_envs + 1))
    assert whole["environment"] == list(range(num_envs)) * 100
    wanted = [expected(records, step, index) for step in range(100) for index in range(num_envs)]
    assert np.array_equal(whole["near_return"], np.float32([total for total, _ in wanted]), equal_nan=True)
    assert np.isnan(whole["near_return"][-num_envs:]).any()
    assert whole["outcome"] == [outcome for _, outcome in wanted]
    parts = [record["reward_parts"] for step in records for record in step]
    assert whole["reward_parts"] == [{"exploration.new_tile": 0.25} if part[1] else {} for part in parts]


def test_nothing_leaves_before_it_is_known() -> None:
    rows = StepRows(2, 4096)
    records = np.zeros(2, RECORD_DTYPE)
    for step in range(DECISION_HORIZON):
        assert rows.take() is None
        assert rows.first_held == (1 if step else None)
        add(rows, records, step)
    first = rows.take()
    assert first is not None
    assert first["global_step"].tolist() == [1, 2]
    records["truncated"] = True
    add(rows, records, DECISION_HORIZON)
    rest = rows.take()
    assert rest is not None
    assert rest["global_step"].tolist() == list(range(3, 2 * DECISION_HORIZON + 3))
    assert rows.first_held is None


def test_what_waits_goes_through_a_checkpoint() -> None:
    records = course(2, 60, seed=3)
    unbroken, broken = StepRows(2, 4096, NAMES), StepRows(2, 4096, NAMES)
    taken = []
    for step, record in enumerate(records):
        add(unbroken, record, step)
        add(broken, record, step)
        if step % 7 == 0:
            taken.append(broken.take())
            state = copy.deepcopy(broken.state_dict())
            broken = StepRows(2, 4096, NAMES)
            broken.load_state_dict(state)
    taken.append(broken.take(all_of_them=True))
    whole, again = unbroken.take(all_of_them=True), joined([columns for columns in taken if columns is not None])
    assert whole is not None
    once = joined([whole])
    assert np.array_equal(again.pop("near_return"), once.pop("near_return"), equal_nan=True)
    assert again == once


def test_the_actions_before_a_decision_are_columns() -> None:
    rows, record = StepRows(1, 4096), np.zeros(1, RECORD_DTYPE)
    rows.previous = np.array([[4095, 65_535, -1, -1, -1, -1]], np.int32)
    rows.add(0, 0.0, record[None])
    columns = rows.take(all_of_them=True)
    assert columns is not None
    assert [columns[f"previous_{back}"].tolist() for back in (1, 2, 3, 6)] == [[4095], [65_535], [-1], [-1]]


@pytest.mark.parametrize("rhythm", [1, 5, 1000])
def test_the_actions_before_a_decision_are_those_of_its_episode(rhythm: int) -> None:
    records = course(2, 100)
    rows, taken = StepRows(2, 4096), []
    for step, record in enumerate(records):
        add(rows, record, step)
        if step % rhythm == 0:
            taken.append(rows.take())
    taken.append(rows.take(all_of_them=True))
    whole = joined([columns for columns in taken if columns is not None])
    before: list[list[int]] = [[], []]
    wanted = []
    for one in (record for step in records for record in step):
        earlier = before[len(wanted) % 2]
        wanted.append([*earlier, *[-1] * 6][:6])
        earlier.insert(0, int(one["action"]))
        if one["terminated"] or one["truncated"]:
            earlier.clear()
    assert [list(row) for row in zip(*(whole[f"previous_{back}"] for back in range(1, 7)), strict=True)] == wanted
    assert rows.previous.tolist() == [[*earlier, *[-1] * 6][:6] for earlier in before]


@pytest.mark.parametrize("steps", [0, 1, 2, 6])
def test_the_actions_before_a_decision_are_read_from_a_checkpoint_of_an_earlier_version(steps: int) -> None:
    shape = (steps, 6, 6)
    earlier = previous_from(np.full((steps, 6), 19, np.uint32), shape)
    assert earlier.shape == shape
    assert (earlier == [8, 0, -1, -1, -1, -1]).all()
    assert previous_from(earlier, shape).tolist() == earlier.tolist()
    assert previous_from([19, 0], (2, 6)).tolist() == [[8, 0, -1, -1, -1, -1], [-1] * 6]


def test_steps_that_are_not_known_count_what_there_is() -> None:
    returns, outcomes, known = judge(np.array([0.5]), np.array([False]), np.array([3], np.uint8))
    assert (returns.tolist(), outcomes.tolist(), known.tolist()) == ([0.5], [3], [False])


def test_the_alternative_is_the_best_of_what_was_not_pressed() -> None:
    inf = np.inf
    values = np.array([[1, 5, 3], [1, 5, 3], [-inf, 5, -inf], [np.nan] * 3, [2, -inf, 2]], np.float32)
    found = compare(np.array([1, 2, 1, 0, 1], np.int8), values)
    assert found["alternative"].tolist() == [2, 1, -1, -1, 0]
    np.testing.assert_array_equal(found["value"], np.array([5, 3, 5, np.nan, np.nan], np.float32))
    np.testing.assert_array_equal(found["alternative_value"], np.array([3, 5, np.nan, np.nan, 2], np.float32))
    unknown = compare(np.array([1], np.int8), None)
    assert unknown["alternative"].tolist() == [-1]
    assert np.isnan(unknown["value"]).all()


def test_parts_beyond_the_room_are_called_other() -> None:
    rows = StepRows(1, 64, [f"part.{number}" for number in range(40)])
    record = np.zeros(1, RECORD_DTYPE)
    record["reward_parts"][0, [0, 31]] = 1.0, 2.0
    rows.add(0, 0.0, record[None])
    columns = rows.take(all_of_them=True)
    assert columns is not None
    assert columns["reward_parts"].decoded().tolist() == [{"part.0": 1.0, "other": 2.0}]
