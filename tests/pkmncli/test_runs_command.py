"""Command `pkmn runs`: what it lists, tags, new names under which all still find a run, and what it deletes."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.atomic_files import write_json
from pkmncli.errors import RunError
from pkmncli.experiments.plan import read_plan
from pkmncli.experiments.standing import State, prepare
from pkmncli.plugins import get_registry
from pkmncli.runs import Run, create_run, open_run

Pkmn = Callable[..., Any]


@pytest.fixture
def runs(tmp_path: Path, shared_run: Callable[..., Path]) -> Path:
    """A folder with the runs ``old`` and ``new``, each with several checkpoints."""
    folder = tmp_path / "runs"
    for age, name in ((1_000_000, "old"), (100, "new")):
        run = Run(shutil.copytree(shared_run(), folder / name))
        write_json(run.versions_file, {**run.read_versions(), "created": time.time() - age})
        for path in run.folder.iterdir():
            os.utime(path, (time.time() - age, time.time() - age))
    return folder


def listed(pkmn: Pkmn, *options: str) -> dict[str, dict[str, Any]]:
    result = pkmn("runs", "--json", *options)
    assert (result.code, result.err) == (0, "")
    return {one["name"]: one for one in json.loads(result.out)}


def test_the_list_has_the_newest_run_first_and_what_is_known_of_each(pkmn: Pkmn, runs: Path) -> None:
    found = listed(pkmn)
    assert list(found) == ["new", "old"]
    new = found["new"]
    assert (new["who"], new["what"], new["state"], new["steps"]) == ("dqn", "Quillwood", "finished", 240)
    assert new["bytes"] == sum(path.lstat().st_size for path in (runs / "new").rglob("*"))
    assert new["created"] > found["old"]["created"] and new["last_used"] > found["old"]["last_used"]
    table = pkmn("runs").out.splitlines()
    assert table[2].split()[:6] == ["new", "dqn", "on", "Quillwood", "finished", "240"]
    rows = list(csv.DictReader(pkmn("runs", "--format=csv").out.splitlines()))
    assert [row["run"] for row in rows] == ["new", "old"] and rows[0]["steps"] == "240"
    assert "| new | dqn on Quillwood | finished | 240 |" in pkmn("runs", "--format=markdown").out


def test_the_best_evaluation_is_the_one_that_reached_most(pkmn: Pkmn, runs: Path) -> None:
    for name, reached, reward in (("a", 2, 1.0), ("b", 7, 30.5), ("c", 5, 99.0)):
        folder = runs / "new" / "evaluations" / name
        folder.mkdir(parents=True)
        content = {"mode": "rl-only", "avg_reward": reward, "goal": "first", "reached": reached, "episodes": 10}
        write_json(folder / "result.json", content)
    assert listed(pkmn)["new"]["best_evaluation"] == {"reward": 30.5, "reached": 7, "episodes": 10}
    assert "30.5, goal in 7 of 10" in pkmn("runs").out


def test_states_are_told_apart(pkmn: Pkmn, runs: Path) -> None:
    create_run(runs, "quillwood", "dqn", name="failed")
    summary = Run(runs / "old").read_summary()
    Run(runs / "old").write_summary({**summary, "total_steps": 100})
    with Run(runs / "new").locked():
        states = {name: one["state"] for name, one in listed(pkmn).items()}
    assert states == {"failed": "not begun", "new": "running", "old": "interrupted"}


def test_damaged_files_do_not_end_the_list(pkmn: Pkmn, runs: Path) -> None:
    for name in ("config.toml", "summary.json", "names.json", "labels.json"):
        (runs / "new" / name).write_text("{")
    assert listed(pkmn)["new"]["steps"] == 240, "the tables are whole"
    shutil.rmtree(runs / "new" / "decisions")
    (runs / "new" / "tables.jsonl").write_text("{")
    assert listed(pkmn)["new"]["steps"] == 0
    (runs / "new" / "config.toml").write_text("decision_db_path = 5\n")
    assert listed(pkmn)["new"]["steps"] == 0


def test_steps_since_the_latest_checkpoint_are_counted(pkmn: Pkmn, runs: Path) -> None:
    run = Run(runs / "new")
    run.write_summary({**run.read_summary(), "total_steps": 0})
    assert listed(pkmn)["new"]["steps"] == 240
    elsewhere = runs.parent / "tables"
    elsewhere.mkdir()
    for path in ("tables.jsonl", "decisions", "episodes", "metrics"):
        (run.folder / path).rename(elsewhere / path)
    run.config_file.write_text(f'decision_db_path = "{elsewhere}"\n{run.config_file.read_text()}')
    assert listed(pkmn)["new"]["steps"] == 240


def test_no_run_is_said_with_the_folder(pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("runs").out == f"No run in {tmp_path / 'runs'}.\n"
    assert pkmn("runs", "--json").out == "[]\n"


def test_tags_are_given_listed_and_taken(pkmn: Pkmn, runs: Path) -> None:
    assert pkmn("runs", "tag", "old", "good", "keep", "good").out == "old: good, keep\n"
    assert listed(pkmn, "--tag=good")["old"]["tags"] == ["good", "keep"]
    assert list(listed(pkmn, "--tag=good")) == ["old"]
    assert pkmn("runs", "untag", "old", "good").out == "old: keep\n"
    wrong = pkmn("runs", "untag", "old", "good")
    assert (wrong.code, wrong.err) == (2, "run old has no tag 'good': it has keep\n")
    assert pkmn("runs", "tag", "old", "a b").code == 2
    (runs / "old" / "labels.json").write_text("{")
    damaged = pkmn("runs", "tag", "old", "good")
    assert damaged.code == 5 and "labels.json is damaged: delete it" in damaged.err


@pytest.mark.long
def test_a_renamed_run_is_found_by_its_old_name_and_resumes(pkmn: Pkmn, runs: Path) -> None:
    assert pkmn("runs", "rename", "new", "best").out == "new is now best.\n"
    assert open_run("new", runs) == open_run(runs / "new") == open_run("best", runs) == Run(runs / "best")
    resumed = pkmn("train", "--resume", "new", "--steps=300", "--quiet")
    assert resumed.code == 0, resumed.err
    assert listed(pkmn)["best"]["steps"] == 300
    assert pkmn("runs", "rename", "best", "third").code == 0
    assert open_run("new", runs).name == open_run("best", runs).name == "third"


def test_a_new_run_may_have_the_old_name_of_another(runs: Path, pkmn: Pkmn) -> None:
    pkmn("runs", "rename", "new", "best")
    create_run(runs, "quillwood", "dqn", name="new")
    assert open_run("new", runs).folder == runs / "new"


def test_a_run_keeps_its_name_while_it_is_written_or_if_the_new_one_is_taken(pkmn: Pkmn, runs: Path) -> None:
    with Run(runs / "new").locked():
        refused = pkmn("runs", "rename", "new", "best")
        assert refused.code == 5 and "is in use by process" in refused.err
    taken = pkmn("runs", "rename", "new", "old")
    assert taken.code == 5 and "exists already" in taken.err
    assert pkmn("runs", "rename", "new", "../best").code == 2
    assert sorted(path.name for path in runs.iterdir()) == ["new", "old"]


def test_an_experiment_knows_its_renamed_run(
    pkmn: Pkmn, tmp_path: Path, shared_run: Callable[..., Path], small_training: list[str]
) -> None:
    settings = [option.removeprefix("--set=").removeprefix("--").partition("=") for option in small_training]
    lines = [f"{name.replace('-', '_')} = {value}" for name, _, value in settings]
    plan_file = tmp_path / "plan.toml"
    plan_file.write_text("\n".join(['[experiment]\nname = "it"\nseeds = 1\n[settings]\nenvs = 1', *lines]))
    plan = read_plan(plan_file)
    run = shutil.copytree(shared_run(), tmp_path / "it" / plan.runs[0].name)
    assert pkmn("runs", "rename", str(run), "other").code == 0
    (found,) = prepare(plan, tmp_path, get_registry())
    assert found.run.name == "other" and found.state is State.FINISHED


def test_size_says_what_uses_the_disk(pkmn: Pkmn, runs: Path) -> None:
    of_one = json.loads(pkmn("runs", "size", "new", "--json").out)
    assert next(iter(of_one["parts"])) == "checkpoints"
    of_all = json.loads(pkmn("runs", "size", "--json").out)
    assert set(of_all["parts"]) == {"new", "old"}
    assert of_all["total"] == sum(of_all["parts"].values()) and of_all["parts"]["new"] == of_one["total"]
    assert pkmn("runs", "size").out.splitlines()[-1].startswith("all")


@pytest.mark.long
def test_pruning_keeps_the_newest_and_the_best_checkpoint(pkmn: Pkmn, runs: Path) -> None:
    checkpoints = Run(runs / "new").checkpoints
    checkpoints.mark_best("80")
    names = checkpoints.names()
    assert len(names) > 2
    before = pkmn("runs", "prune", "new", "--keep-milestones", "--yes")
    assert before.code == 0
    assert set(checkpoints.names()) == {"step-000000080", names[-1], *checkpoints.index().milestones.values()}
    assert pkmn("runs", "prune", "new", "--yes").code == 0
    assert checkpoints.names() == ["step-000000080", names[-1]]
    assert pkmn("runs", "prune", "new", "--yes").out == "There is nothing to delete.\n"
    assert len(Run(runs / "old").checkpoints.names()) == len(names)
    assert pkmn("train", "--resume", "new", "--steps=300", "--quiet").code == 0


def test_nothing_is_deleted_without_an_answer(pkmn: Pkmn, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    refused = pkmn("runs", "prune", "--keep=0")
    assert refused.out.endswith("Nothing was deleted.\n") and "old" in refused.out and "the whole run" in refused.out
    unanswered = pkmn("runs", "prune", "--keep=0")
    assert unanswered.code == 2 and "give --yes" in unanswered.err
    assert len(listed(pkmn)) == 2
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert pkmn("runs", "prune", "--keep=1").code == 0
    assert list(listed(pkmn)) == ["new"]


@pytest.mark.parametrize("option", ["--tag=other", "--json", "--format=csv"])
def test_an_option_of_the_list_does_not_go_unheard_before_a_subcommand(pkmn: Pkmn, runs: Path, option: str) -> None:
    refused = pkmn("runs", option, "prune", "--keep=0", "--yes")
    name = option.partition("=")[0]
    assert (refused.code, refused.err) == (2, f"{name} before 'prune': it is for the list of runs, leave it out\n")
    assert list(listed(pkmn)) == ["new", "old"]


def test_runs_are_deleted_by_age_and_number_together(pkmn: Pkmn, runs: Path) -> None:
    assert pkmn("runs", "prune", "--older-than=1d", "--keep=2", "--yes").out == "There is nothing to delete.\n"
    assert pkmn("runs", "prune", "--older-than=20d", "--yes").out == "There is nothing to delete.\n"
    assert pkmn("runs", "prune", "--older-than=10d", "--yes").code == 0
    assert list(listed(pkmn)) == ["new"]
    wrong = pkmn("runs", "prune", "--older-than=soon")
    assert (wrong.code, wrong.err) == (2, "--older-than 'soon': give hours, days or weeks, as 12h, 30d or 8w\n")


def test_a_running_run_and_a_kept_one_are_never_deleted(pkmn: Pkmn, runs: Path) -> None:
    pkmn("runs", "tag", "old", "keep")
    with Run(runs / "new").locked():
        result = pkmn("runs", "prune", "--keep=0", "--yes")
        assert (result.out, result.err) == (
            "There is nothing to delete.\n",
            "new is running, and stays as it is.\n",
        )
        assert pkmn("runs", "prune", "--yes").out == "There is nothing to delete.\n"
    assert len(listed(pkmn)) == 2


@pytest.mark.parametrize("options", [["--keep=1"], []])
@pytest.mark.parametrize("content", ["{", '{"tags": "keep", "former_names": []}'])
def test_a_run_whose_tags_are_damaged_is_not_deleted(pkmn: Pkmn, runs: Path, content: str, options: list[str]) -> None:
    (runs / "old" / "labels.json").write_text(content)
    before = Run(runs / "old").checkpoints.names()
    refused = pkmn("runs", "prune", *options, "--yes")
    assert refused.code == 5 and "labels.json is damaged: delete it" in refused.err
    assert Run(runs / "old").checkpoints.names() == before


def test_a_failed_start_is_not_the_latest_run_and_is_pruned(pkmn: Pkmn, runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    failed = pkmn("train", "--steps=60", "--run-name=failed", "--set=decision_db_path=file")
    assert failed.code != 0
    run = Run(runs / "failed")
    assert run.folder.exists() and not run.has_begun
    assert open_run(None, runs).name == "new"
    write_json(run.versions_file, {**run.read_versions(), "created": time.time() - 100})
    for name in ("old", "new"):
        pkmn("runs", "tag", name, "keep")
    assert pkmn("runs", "prune", "--yes").code == 0
    assert not run.folder.exists() and len(listed(pkmn)) == 2


def test_failed_starts_alone_are_no_run(tmp_path: Path) -> None:
    create_run(tmp_path, "quillwood", "dqn", name="failed")
    with pytest.raises(RunError, match=r"no run yet in .*, only 1 that failed at the start: make one with"):
        open_run(None, tmp_path)
