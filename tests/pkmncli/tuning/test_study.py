"""The study in its folder: samples are the same each time, and survive the process that asked for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pkmncli.errors import ConfigurationError
from pkmncli.tuning.objective import Objective
from pkmncli.tuning.plan import TuningPlan
from pkmncli.tuning.space import Choice, Range, combinations, key_of
from pkmncli.tuning.study import STUDY_FILE, Study

PLAN = TuningPlan(
    name="it",
    trials=20,
    seeds=(0, 1),
    processes=1,
    objective=Objective("episode/reward", 10, maximize=True),
    steps=1000,
    interval=100,
    pruner="median",
    startup_trials=2,
    sampler_seed=3,
    settings={"steps": 1000},
    space={
        "dqn.learning_rate": Range(1e-5, 1e-3, True, 0, whole=False),
        "dqn.n_step": Range(1, 8, False, 0, whole=True),
        "dqn.double": Choice((True, False)),
    },
)


def figure(values: dict[str, object]) -> float:
    """Return a figure that is best with a step size of 1e-4."""
    rate = values["dqn.learning_rate"]
    assert isinstance(rate, float)
    return -abs(rate - 1e-4) * 1e4


def searched(folder: Path, *, reopen: bool, trials: int = 8) -> list[dict[str, object]]:
    folder.mkdir()
    study, drawn = Study(folder, PLAN, 1), []
    for _ in range(trials):
        if reopen:
            study = Study(folder, PLAN, 1)
        trial = study.ask()
        assert trial is not None
        assert {type(value) for value in trial.values.values()} == {float, int, bool}
        drawn.append(dict(trial.values))
        trial.keep([1.0, 2.0], "")
        study.tell(trial, "complete", figure(trial.values))
    return drawn


def test_what_is_drawn_depends_on_nothing_but_what_was_found(tmp_path: Path) -> None:
    unbroken = searched(tmp_path / "one", reopen=False)
    assert searched(tmp_path / "other", reopen=True) == unbroken
    assert len({values["dqn.learning_rate"] for values in unbroken}) == 8


def test_the_sampler_learns(tmp_path: Path) -> None:
    """After the random trials it samples nearer to the best: their mean figure is above that of the first."""
    drawn = [figure(values) for values in searched(tmp_path / "it", reopen=False, trials=30)]
    assert sum(drawn[20:]) / 10 > sum(drawn[:10]) / 10
    importances = Study(tmp_path / "it", PLAN, 1).importances()
    assert max(importances, key=lambda name: importances[name]) == "dqn.learning_rate"
    assert sum(importances.values()) == pytest.approx(1)


@pytest.mark.parametrize("pruner", ["median", "halving", "hyperband"])
def test_a_trial_that_was_cut_off_is_there_again_with_what_it_reported(pruner: str, tmp_path: Path) -> None:
    plan = replace(PLAN, pruner=pruner)
    study = Study(tmp_path, plan, 1)
    for number in range(3):
        trial = study.ask()
        assert trial is not None
        assert not trial.report(1, 10.0 + number)
        study.tell(trial, "complete", 10.0 + number)
    cut_off = study.ask()
    assert cut_off is not None
    assert cut_off.report(1, 0.5), "it falls behind the others"
    with (tmp_path / STUDY_FILE).open("ab") as file:
        file.write(b'{"op_code": 4, "wor')  # killed while writing
    (tmp_path / f"{STUDY_FILE}.lock").touch()

    again = Study(tmp_path, plan, 1)
    (begun,) = again.begun()
    assert (begun.number, begun.values, begun.figure_at(1)) == (3, cut_off.values, 0.5)
    assert begun.report(1, 99.0), "what was reported stands, and the decision with it"
    begun.keep([0.5], "stopped")
    again.tell(begun, "pruned")
    last = Study(tmp_path, plan, 1)
    assert last.begun() == []
    assert [(one.number, one.state) for one in last.results()] == [*((n, "complete") for n in range(3)), (3, "pruned")]
    assert (last.results()[3].figures, last.results()[3].why) == ((0.5,), "stopped")
    best = last.best()
    assert best is not None and (best.number, best.value) == (2, 12.0)


def test_what_was_not_drawn_before_a_kill_is_drawn_as_it_would_have_been(tmp_path: Path) -> None:
    for name in ("unbroken", "killed"):
        (tmp_path / name).mkdir()
    unbroken = Study(tmp_path / "unbroken", PLAN, 1).ask()
    assert unbroken is not None
    Study(tmp_path / "killed", PLAN, 1).ask()
    log = tmp_path / "killed" / STUDY_FILE
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-2]))  # the last two of its three values are missing
    (begun,) = Study(tmp_path / "killed", PLAN, 1).begun()
    assert begun.values == unbroken.values


def test_the_median_is_that_of_the_same_look(tmp_path: Path) -> None:
    """A trial is judged by its current value, not by its best one."""
    study = Study(tmp_path, PLAN, 1)
    for number in range(3):
        trial = study.ask()
        assert trial is not None
        assert not any(trial.report(look, 10.0 * look + number) for look in range(3))
        study.tell(trial, "complete", 20.0 + number)
    late, worse = study.ask(), study.ask()
    assert late is not None and worse is not None
    assert [late.report(look, value) for look, value in enumerate((1.0, 11.0, 20.5))] == [False, False, True]
    assert [worse.report(look, value) for look, value in enumerate((50.0, 10.5))] == [False, True]


@pytest.mark.parametrize(
    ("pruner", "stopped"),
    [
        ("median", dict.fromkeys(range(2, 12), 0)),
        ("halving", dict.fromkeys(range(1, 12), 1)),
        ("hyperband", dict.fromkeys((1, 2, 3, 5, 7, 9), 1) | dict.fromkeys((8, 10), 3) | {11: 9}),
        ("none", {}),
    ],
)
def test_who_is_stopped_where_each_is_worse_than_the_one_before(
    pruner: str, stopped: dict[int, int], tmp_path: Path
) -> None:
    """Expected is the look at which each trial is stopped, by its number."""
    study, found = Study(tmp_path, replace(PLAN, pruner=pruner), 1), {}
    for number in range(12):
        trial = study.ask()
        assert trial is not None
        behind = next((look for look in range(20) if trial.report(look, 100.0 - number)), None)
        if behind is not None:
            found[number] = behind
        study.tell(trial, "complete" if behind is None else "pruned", 100.0 - number)
    assert found == stopped


def test_where_lower_is_better(tmp_path: Path) -> None:
    study = Study(tmp_path, replace(PLAN, objective=Objective("episode/length", 1, maximize=False)), 1)
    for value in (3.0, 1.0, 1.0):
        study.tell(study.ask(), "complete", value)
    best = study.best()
    assert best is not None and (best.number, best.value) == (1, 1.0)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seeds": (0, 2)}, "seeds"),
        ({"settings": {"steps": 500}}, r"\[settings\]"),
        ({"space": {"dqn.n_step": Range(1, 9, False, 0, whole=True)}}, r"\[space\]"),
        ({"objective": Objective("episode/length", 10, maximize=True)}, "objective"),
        ({"sampler_seed": 4}, "sampler_seed"),
    ],
)
def test_a_tuning_does_not_go_on_as_another(change: dict[str, object], named: str, tmp_path: Path) -> None:
    Study(tmp_path, PLAN, 1)
    Study(tmp_path, replace(PLAN, trials=30, processes=4), 4)
    with pytest.raises(ConfigurationError, match=f"was begun with other {named}: give this one another name"):
        Study(tmp_path, replace(PLAN, **change), 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("space", "count"),
    [
        ({"dqn.learning_rate": Choice((1e-4, 3e-4))}, 2),
        ({"dqn.n_step": Range(1, 3, False, 0, whole=True), "dqn.double": Choice((True, False))}, 6),
        ({"dqn.gamma": Range(0.9, 0.99, False, 0.03, whole=False)}, 4),
        ({"dqn.n_step": Range(2, 8, False, 3, whole=True)}, 3),
        ({"dqn.encoder": Choice(("a",))}, 1),
        ({"dqn.n_step": Range(1, 4, True, 0, whole=True)}, 4),
    ],
)
def test_no_combination_is_tried_twice(space: dict[str, Any], count: int, tmp_path: Path) -> None:
    """Also by a tuning that is opened again after each trial; all combinations come before it ends."""
    plan = replace(PLAN, space=space, trials=count + 5)
    assert len(combinations(space) or ()) == count
    seen = []
    for _ in range(count):
        study = Study(tmp_path, plan, 1)
        trial = study.ask()
        assert trial is not None
        seen.append(key_of(trial.values))
        study.tell(trial, "complete" if len(seen) % 2 else "failed", float(len(seen)))
    assert len(set(seen)) == count == len(Study(tmp_path, plan, 1).results())
    assert Study(tmp_path, plan, 1).ask() is None


def test_a_space_without_end_has_no_list_of_combinations() -> None:
    assert combinations(PLAN.space) is None
    assert combinations({"a": Range(1, 10**6, False, 0, whole=True)}) is None
    assert combinations({name: Range(1, 100, False, 0, whole=True) for name in "abc"}) is None
