"""``pkmn export``: tables that a line of Python loads, and a policy that plays as the learner does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from support.variants import long_after

from pkmncli.config import ResolvedSettings
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.assembly import build_learner, environment_spec, open_store
from pkmncli.training.checkpoints.files import read_checkpoint

Pkmn = Callable[..., Any]

TABLES = ("metrics", "episodes", "decisions")


@pytest.fixture
def run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))


@pytest.mark.parametrize("form", long_after(1, ["csv", "parquet"]))
def test_the_line_that_is_printed_loads_the_tables(form: str, pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    with run.locked():  # as while it trains
        result = pkmn("export", "it", f"--format={form}", "--to=out it's")
    assert (result.code, result.err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "out it's").iterdir()) == sorted(f"{n}.{form}" for n in TABLES)
    (line,) = (line for line in result.out.splitlines() if "import duckdb" in line)
    names: dict[str, Any] = {}
    exec(line.strip(), names)
    store = open_store(get_registry(), run.folder)
    for table in TABLES:
        rows = store.read(table)
        loaded = names["tables"][table]
        assert f"{table}.{form}: {len(rows):,} rows." in result.out
        assert loaded.columns == list(rows[0])
        first = dict(zip(loaded.columns, loaded.fetchall()[0], strict=True))
        expected = {name: value for name, value in rows[0].items() if not isinstance(value, bytes | str | float)}
        if form == "csv" and table == "decisions":  # which knows no amounts by name
            first["reward_parts"] = json.loads(first["reward_parts"])
        assert {name: first[name] for name in expected} == expected
        assert len(loaded) == len(rows)
    store.close()


@pytest.mark.long
def test_the_line_that_is_printed_opens_the_sqlite_file(pkmn: Pkmn, run: Run) -> None:
    result = pkmn("export", "it", "--format=sqlite", "--to=out")
    assert (result.code, result.err) == (0, "")
    names: dict[str, Any] = {}
    exec(result.out.splitlines()[-1].strip(), names)
    with closing(names["database"]) as database:
        for table in TABLES:
            (count,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert f"tables.sqlite, table {table}: {count:,} rows." in result.out
            assert count > 0
    assert "has tables.sqlite already" in pkmn("export", "it", "--format=sqlite", "--to=out").err
    assert pkmn("export", "it", "--format=sqlite", "--to=out", "--overwrite").code == 0


@pytest.mark.long
def test_the_policy_plays_as_the_learner_does(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    result = pkmn("export", "it", "--policy", "--no-tables", "--checkpoint=160")
    assert (result.code, result.err) == (0, "")
    folder = tmp_path / "it-export"
    assert sorted(path.name for path in folder.iterdir()) == ["policy.json", "policy.pt2"]
    description = json.loads((folder / "policy.json").read_text())
    assert (description["algorithm"], description["run"], description["checkpoint"]) == ("dqn", "it", "step-000000160")
    assert description["actions"] == ["a", "b", "start", "select", "up", "down", "left", "right", "none"]
    assert description["settings"]["dqn"]["batch_size"] == 8
    policy = torch.export.load(folder / "policy.pt2").module()

    settings = ResolvedSettings.from_run(run.folder, get_registry())
    environment: Any = environment_spec(settings, get_registry()).build()
    spaces: Any = SimpleNamespace(
        observation_space=environment.observation_space, action_space=environment.action_space, num_envs=1
    )
    learner = build_learner(settings, get_registry(), spaces, total_steps=1)
    learner.load_state_dict(read_checkpoint(run.checkpoints.resolve("160")).learner)
    random, observation = np.random.default_rng(0), environment.reset(seed=1)[0]
    for _ in range(20):
        batch = {name: np.asarray(value)[None] for name, value in observation.items()}
        seen = {name: torch.as_tensor(observation[name]) for name in description["observation"]}
        assert policy(seen)["action"] == learner.act(batch, explore=False)[0][0]
        observation = environment.step(int(random.choice(np.flatnonzero(observation["action_mask"]))))[0]
    environment.close()


@pytest.mark.long
def test_an_earlier_export_is_replaced_only_when_asked(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    assert pkmn("export", "it").code == 0
    metrics = tmp_path / "it-export" / "metrics.csv"
    metrics.write_text("mine")
    again = pkmn("export", "it")
    assert (again.code, again.out) == (2, "")
    assert "it-export has metrics.csv, episodes.csv, decisions.csv already" in again.err
    assert metrics.read_text() == "mine"
    assert pkmn("export", "it", "--overwrite").code == 0
    assert metrics.read_text().startswith("global_step,")


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--no-tables"], 2, "nothing to export"),
        (["--policy", "--checkpoint=best"], 5, "latest"),
        (["--format=xlsx"], 2, "csv"),
        (["--to=file/folder"], 5, "file/folder could not be written"),
    ],
)
def test_wrong_usage_is_told(
    arguments: list[str], code: int, expected: str, pkmn: Pkmn, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    result = pkmn("export", "it", *arguments)
    assert (result.code, result.out) == (code, "")
    assert expected in result.err
    assert "Traceback" not in result.err
    assert not (tmp_path / "it-export").exists()


def test_a_run_without_a_learner_has_no_policy(pkmn: Pkmn, run: Run) -> None:
    config = run.config_file.read_text()
    run.config_file.write_text(config.replace('rl = "dqn"', 'rl = "none"').replace('"adaptive"', '"llm-only"', 1))
    result = pkmn("export", "it", "--policy")
    assert (result.code, result.err) == (2, "it was trained without a learner: it has no policy to export\n")


def test_parts_that_cannot_export_are_told(pkmn: Pkmn, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from pkmn_decisions.store.store import DuckDBStore  # noqa: PLC0415
    from pkmn_dqn.learner import DQN  # noqa: PLC0415

    monkeypatch.delattr(DQN, "export_policy")
    result = pkmn("export", "it", "--policy")
    assert (result.code, result.err) == (2, "the learner DQN cannot export its policy: it has no export_policy()\n")
    assert result.out == "", "no half of an export is left"
    assert not list((run.folder.parents[1] / "it-export").glob("*"))
    monkeypatch.delattr(DuckDBStore, "export")
    result = pkmn("export", "it")
    assert (result.code, result.err) == (2, "the store DuckDBStore of this run cannot export: it has no export()\n")
