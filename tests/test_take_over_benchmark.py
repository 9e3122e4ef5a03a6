"""The benchmark of taking over reads recorded runs, and its jobs stop in time and resume."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
NAMES = ("pilot", "pinned_jobs", "take_over")


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, Any]]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in NAMES:
            del sys.modules[name]


def test_a_job_that_runs_out_of_time_is_for_the_next_call(modules: dict[str, Any], tmp_path: Path) -> None:
    jobs, file = modules["pinned_jobs"], tmp_path / "found.json"

    def wait(cores: Any) -> None:
        cores.run([sys.executable, "-c", "import time; time.sleep(300)"], tmp_path / "log")
        jobs.keep(file, "waited")

    def quick(cores: Any) -> None:
        printed, seconds = cores.run([sys.executable, "-c", "print(7)"], tmp_path / "log")
        jobs.keep(file, [int(printed), seconds > 0])

    assert jobs.run_jobs([quick], 1, None) is True
    assert jobs.kept(file) == [7, True]
    assert jobs.run_jobs([wait, quick], 1, 0.0) is False
    assert jobs.run_jobs([wait], 1, 1.0) is False
    assert jobs.kept(file) == [7, True]


def test_a_job_that_fails_names_the_log_and_the_others_go_on(modules: dict[str, Any], tmp_path: Path) -> None:
    jobs, ended = modules["pinned_jobs"], []

    def fail(cores: Any) -> None:
        cores.run([sys.executable, "-c", "raise SystemExit(5)"], tmp_path / "its.log")

    with pytest.raises(SystemExit, match=r"ended with 5, see .*its\.log"):
        jobs.run_jobs([fail, lambda cores: ended.append(1)], 1, None)
    assert ended == [1]


def test_steps_are_compared_with_the_pilots_from_the_same_start(modules: dict[str, Any]) -> None:
    take_over = modules["take_over"]
    order = ["outside", "thorn_badge"]
    steps = {
        "default, greedy": [{"thorn_badge": 50}, {"thorn_badge": 400}, {}],
        "pilot": [{"thorn_badge": 100}, {"thorn_badge": 200}, {"outside": 5}],
    }
    played = {
        player: [{"milestones": order, "goal": "thorn_badge", "steps_by_episode": episodes}]
        for player, episodes in steps.items()
    }
    (heads, _, *rows) = [line.split(" | ") for line in take_over.steps_to_badges(played).splitlines()]
    assert rows[0][:4] == ["| thorn_badge", "default, greedy", "2", "1.00"]  # half as many, twice as many
    assert len(heads) == len(rows[0])
    reached = take_over.how_far(played).splitlines()
    assert reached[2].startswith("| outside | 0% (0% to 56%) | 33% ")
    assert reached[3].startswith("| thorn_badge | 67% ") and ", step 225 |" in reached[3]


@pytest.mark.long
def test_the_interval_of_one_ratio_is_that_ratio(modules: dict[str, Any]) -> None:
    import numpy as np  # noqa: PLC0415

    middle, low, high = modules["take_over"].ratio_interval([np.array([0.5, 0.5]), np.array([0.5])])
    assert all(math.isclose(value, 0.5) for value in (middle, low, high))
    middle, low, high = modules["take_over"].ratio_interval([np.array([0.5, 2.0]), np.array([1.0, 1.0])])
    assert low < middle < high and math.isclose(middle, 1.0)


@pytest.mark.parametrize("option", [["--seeds", "x"], ["--setups", "nothing"]])
def test_what_is_asked_wrongly_is_refused_in_a_line(
    option: list[str], modules: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(sys, "argv", ["take_over.py", "--folder", str(tmp_path / "none"), *option])
    with pytest.raises(SystemExit) as ended:
        modules["take_over"].main()
    assert ended.value.code == 2
    assert f"argument {option[0]}: " in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "none").exists()
