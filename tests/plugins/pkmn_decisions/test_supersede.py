"""Rows past a checkpoint are set aside, whole, whatever moment the process is killed at."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.tables import decisions, episodes, metrics
from support.variants import long_after

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store import store as store_module
from pkmn_decisions.store.store import DuckDBStore

TABLES = {"decisions": "global_step", "episodes": "last_step", "metrics": "global_step"}


def write_run(folder: Path) -> None:
    """30 decisions in three files, episodes that end at 8, 16, 24 and 30, a metric every 5 steps."""
    with DuckDBStore(folder) as store:
        for first in (1, 11, 21):
            store.append("decisions", decisions(first, first + 9))
            store.append("metrics", metrics(first + 4, first + 9))
            store.flush()
        store.append("episodes", episodes(8, 16))
        store.flush()
        store.append("episodes", episodes(24, 30))


def live(folder: Path) -> dict[str, list[int]]:
    with DuckDBStore(folder) as store:
        return {table: [row[column] for row in store.read(table)] for table, column in TABLES.items()}


def kept_to(step: int) -> dict[str, list[int]]:
    return {
        "decisions": list(range(1, step + 1)),
        "episodes": [end for end in (8, 16, 24, 30) if end <= step],
        "metrics": [at for at in (5, 10, 15, 20, 25, 30) if at <= step],
    }


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("step", long_after(1, [0, 1, 10, 11, 15, 29, 30, 31]))
def test_only_rows_up_to_the_step_stay(tmp_path: Path, step: int) -> None:
    write_run(tmp_path)
    before = kept_to(30)
    with DuckDBStore(tmp_path) as store:
        expected = sum(len(rows) - len(kept_to(min(step, 30))[table]) for table, rows in before.items())
        assert store.supersede(step) == expected
        assert store.supersede(step) == 0
    assert live(tmp_path) == kept_to(min(step, 30))


def test_files_are_moved_or_split_and_named_by_what_they_hold(tmp_path: Path) -> None:
    write_run(tmp_path)
    with DuckDBStore(tmp_path) as store:
        store.supersede(15)
    assert [name for name in files(tmp_path) if "decisions" in name] == [
        "decisions/000000000001-000000000010.parquet",
        "decisions/000000000011-000000000015.parquet",
        "superseded/decisions/000000000011-000000000020.parquet",
        "superseded/decisions/000000000021-000000000030.parquet",
    ]


def test_a_run_goes_on_after_superseding_and_can_do_so_again(tmp_path: Path) -> None:
    write_run(tmp_path)
    for _ in range(2):
        with DuckDBStore(tmp_path) as store:
            store.supersede(15)
            store.append("decisions", decisions(16, 30))
            store.append("metrics", metrics(20, 25, 30))
            store.append("episodes", episodes(16, 24, 30))
    assert live(tmp_path) == kept_to(30)
    superseded = duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/superseded/decisions/*.parquet'").fetchall()
    assert superseded == [(10 + 10 + 15,)]


def test_rows_not_flushed_yet_are_superseded_too(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 20))
        assert store.supersede(12) == 8
        store.append("decisions", decisions(13, 14))
    assert live(tmp_path)["decisions"] == list(range(1, 15))


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def killer(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes the n-th change of a file or folder, counted from 0, the process's last act, just before it is done."""

    def arm(after: int) -> None:
        left = [after]

        def fatal(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **options: Any) -> Any:
                if left[0] <= 0:
                    raise Killed
                left[0] -= 1
                return real(*arguments, **options)

            return call

        monkeypatch.setattr(Path, "replace", fatal(Path.replace))
        monkeypatch.setattr(Path, "mkdir", fatal(Path.mkdir))
        monkeypatch.setattr(os, "link", fatal(os.link))
        monkeypatch.setattr(store_module, "force_to_disk", fatal(store_module.force_to_disk))
        # A killed process tidies nothing up.
        monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)

    return arm


@pytest.mark.long
@pytest.mark.parametrize(("step", "links"), [(15, True), (15, False), (9, True)])
def test_killed_at_any_point_no_row_is_lost_or_doubled(
    tmp_path: Path, step: int, links: bool, killer: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    template = tmp_path / "template"
    write_run(template)
    for after in range(60):
        folder = tmp_path / str(after)
        shutil.copytree(template, folder)
        if not links:
            monkeypatch.setattr(os, "link", _no_links)
        killer(after)
        try:
            DuckDBStore(folder).supersede(step)
            finished = True
        except Killed:
            finished = False
        monkeypatch.undo()
        for table, rows in live(folder).items():
            everything = kept_to(30)[table]
            # Between untouched and done: no gap, no double, nothing lost that must stay.
            assert rows == everything[: len(rows)]
            assert len(rows) >= len(kept_to(step)[table])
        with DuckDBStore(folder) as again:
            again.supersede(step)
            again.append("decisions", decisions(step + 1, step + 1))
        assert live(folder) == {**kept_to(step), "decisions": list(range(1, step + 2))}
        assert not list(folder.rglob("*.tmp"))
        if finished:
            assert after > 10
            return
    raise AssertionError("the process was killed every time")


def _no_links(*_: object) -> None:
    raise OSError("no links here")


@pytest.mark.parametrize("left", [True, False])
def test_what_was_set_aside_is_in_no_analysis(left: bool, tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        for first in (1, 21):
            store.append("decisions", decisions(first, first + 19))
            store.flush()
        store.supersede(25)
        store.append("decisions", decisions(26, 40))
    if not left:
        shutil.rmtree(tmp_path / "decisions")
    analyzer = DecisionHistoryAnalyzer(tmp_path)
    assert sum(int(one["frequency"]) for one in analyzer.analyze_patterns(1)) == (40 if left else 0)
    analyzer.close()


def test_a_tables_folder_is_on_disk_like_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[int] = set()
    fsync = os.fsync

    def noting(descriptor: int) -> None:
        fsync(descriptor)
        synced.add(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", noting)
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 10))
        store.flush()
        assert (tmp_path / "decisions").stat().st_ino in synced
