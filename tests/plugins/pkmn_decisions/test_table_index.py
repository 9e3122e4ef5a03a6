"""Changes of a run's table files since they were written are noticed when the tables are read or written."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.tables import decisions, episodes, metrics
from support.variants import long_after

from pkmn_dashboard.tables import Tables
from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store.index import TableIndex
from pkmn_decisions.store.schema import SCHEMA_VERSION
from pkmn_decisions.store.store import DuckDBStore
from pkmncli import diagnostics
from pkmncli.api import TABLES_INDEX, CheckedStore, SourceStore, recorded_steps
from pkmncli.errors import RunError

FIRST, SECOND, THIRD = (f"{first:012d}-{first + 9:012d}.parquet" for first in (1, 11, 21))


@pytest.fixture(autouse=True)
def _a_command_of_its_own() -> None:
    diagnostics.said_once.clear()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three files of ten decisions, an episode, and two metrics of the same steps."""
    return write_run(tmp_path / "run")


def write_run(folder: Path, reward: float = 1.0) -> Path:
    with DuckDBStore(folder) as store:
        for first in (1, 11, 21):
            store.append("decisions", decisions(first, first + 9, reward=[reward] * 10))
            store.flush()
        store.append("episodes", episodes(30))
        for _ in range(2):
            store.append("metrics", metrics(1, 30))
            store.flush()
    return folder


def steps(folder: Path) -> list[int]:
    with DuckDBStore(folder) as store:
        return [row["global_step"] for row in store.read("decisions")]


def readings(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return every way in which decisions are read, by name; each returns how many there are."""

    def read() -> int:
        with DuckDBStore(folder) as store:
            return len(store.read("decisions"))

    def count() -> int:
        with DuckDBStore(folder) as store:
            return sum(row[-1] for row in store.count("decisions", ("map_id",)))

    def export() -> int:
        with DuckDBStore(folder) as store:
            return store.export("decisions", folder / "decisions.csv", "csv")

    def analyze() -> int:
        analyzer = DecisionHistoryAnalyzer(folder)
        try:
            return sum(int(one["frequency"]) for one in analyzer.analyze_patterns(1))
        finally:
            analyzer.close()

    def page() -> int:
        tables = Tables(folder)
        try:
            return sum(row["steps"] for row in tables.maps())
        finally:
            tables.close()

    return {"read": read, "count": count, "export": export, "analyze": analyze, "page": page}


READERS = ("read", "count", "export", "analyze", "page")


def remove(run: Path, other: Path) -> None:
    (run / "decisions" / SECOND).unlink()


def remove_the_last(run: Path, other: Path) -> None:
    (run / "decisions" / THIRD).unlink()


def remove_all(run: Path, other: Path) -> None:
    shutil.rmtree(run / "decisions")


def rename(run: Path, other: Path) -> None:
    (run / "decisions" / SECOND).rename(run / "decisions" / "000000000031-000000000040.parquet")


def copy(run: Path, other: Path) -> None:
    shutil.copy(run / "decisions" / SECOND, run / "decisions" / "000000000031-000000000040.parquet")


def copy_beside(run: Path, other: Path) -> None:
    shutil.copy(run / "decisions" / SECOND, run / "decisions" / "000000000011-000000000020_002.parquet")


def copy_by_a_sync_tool(run: Path, other: Path) -> None:
    shutil.copy(run / "decisions" / SECOND, run / "decisions" / "000000000011-000000000020 (1).parquet")


def add_foreign(run: Path, other: Path) -> None:
    shutil.copy(other / "decisions" / THIRD, run / "decisions" / "000000000031-000000000040.parquet")


def put_foreign(run: Path, other: Path) -> None:
    shutil.copy(other / "decisions" / SECOND, run / "decisions" / SECOND)


def exchange(run: Path, other: Path) -> None:
    shutil.copy(run / "decisions" / THIRD, run / "decisions" / SECOND)


def cut(run: Path, other: Path) -> None:
    path = run / "decisions" / SECOND
    path.write_bytes(path.read_bytes()[:-100])


def empty(run: Path, other: Path) -> None:
    (run / "decisions" / SECOND).write_bytes(b"")


def flip(run: Path, other: Path) -> None:
    path = run / "decisions" / SECOND
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0x10
    path.write_bytes(content)


def damage_the_index(run: Path, other: Path) -> None:
    lines = (run / TABLES_INDEX).read_bytes().splitlines(keepends=True)
    (run / TABLES_INDEX).write_bytes(b"".join([*lines[:2], b'{"file": 7}\n', *lines[3:]]))


def lose_the_index(run: Path, other: Path) -> None:
    (run / TABLES_INDEX).unlink()


LEFT_OUT = [
    (remove, 20, rf"decisions/{SECOND} is missing: 10 rows of decisions, steps 11 to 20, "),
    (remove_the_last, 20, rf"decisions/{THIRD} is missing: 10 rows of decisions, steps 21 to 30, "),
    (remove_all, 0, r"3 files of .*decisions are missing, .* the first: 30 rows of decisions, steps 1 to 30, "),
    (rename, 20, rf"decisions/{SECOND} is missing: 10 rows"),
    (copy, 30, rf"000031-000000000040.parquet is a copy of {SECOND}, and was left out"),
    (copy_beside, 30, rf"_002.parquet is a copy of {SECOND}, and was left out"),
    (copy_by_a_sync_tool, 30, r" \(1\).parquet was not recorded by this run, and was left out"),
    (add_foreign, 30, r"000031-000000000040.parquet was not recorded by this run, and was left out"),
    (damage_the_index, 30, rf"{TABLES_INDEX} has damaged lines"),
    (lose_the_index, 30, rf"{TABLES_INDEX} is missing or damaged"),
]

REFUSED = [
    (put_foreign, "content|bytes"),
    (exchange, "content|bytes"),
    (cut, "bytes"),
    (empty, "0 bytes"),
    (flip, "content"),
]


@pytest.mark.parametrize("reader", long_after(1, READERS))
@pytest.mark.parametrize(
    ("harm", "left", "line"), long_after(1, LEFT_OUT), ids=lambda value: getattr(value, "__name__", "")
)
def test_what_is_missing_or_not_the_runs_is_told_and_left_out(
    harm: Callable[[Path, Path], None],
    left: int,
    line: str,
    reader: str,
    run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    harm(run, write_run(tmp_path / "other", 9.0))
    assert readings(run)[reader]() == left
    told = capsys.readouterr().err
    assert len(told.splitlines()) == (2 if harm is rename else 1)
    assert re.search(line, told)


@pytest.mark.parametrize("reader", long_after(1, READERS))
@pytest.mark.parametrize(("harm", "reason"), long_after(1, REFUSED), ids=lambda value: getattr(value, "__name__", ""))
def test_a_file_that_holds_something_else_is_refused_by_name(
    harm: Callable[[Path, Path], None], reason: str, reader: str, run: Path, tmp_path: Path
) -> None:
    harm(run, write_run(tmp_path / "other", 9.0))
    with pytest.raises(
        RunError, match=rf"{SECOND} is not what was recorded: .*({reason}).*10 rows of decisions"
    ) as told:
        readings(run)[reader]()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "harm", long_after(1, [one[0] for one in (*LEFT_OUT, *REFUSED)]), ids=lambda value: value.__name__
)
def test_a_training_goes_on_whatever_became_of_its_tables(
    harm: Callable[[Path, Path], None], run: Path, tmp_path: Path
) -> None:
    harm(run, write_run(tmp_path / "other", 9.0))
    with DuckDBStore(run) as store:
        checked: CheckedStore = store
        assert len(checked.problems()) == (2 if harm is rename else 1)
        store.supersede(25)
        store.append("decisions", decisions(26, 40))
        store.flush()
        store.append("decisions", decisions(41, 45))
    damaged = harm in [one[0] for one in REFUSED]
    if damaged:
        (run / "decisions" / SECOND).unlink()  # as the line says
    gone = {remove: range(11, 21), rename: range(11, 21), remove_the_last: range(21, 26), remove_all: range(1, 26)}
    lost = set(range(11, 21)) if damaged else set(gone.get(harm, ()))
    assert steps(run) == [step for step in range(1, 46) if step not in lost]
    with DuckDBStore(run) as store:
        assert len([line for line in store.problems() if "missing" in line]) == (1 if lost else 0)


def test_a_healthy_run_has_nothing_to_tell(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {name: reading() for name, reading in readings(run).items()} == dict.fromkeys(READERS, 30)
    with DuckDBStore(run) as store:
        assert store.problems() == []
        source: SourceStore = store
        assert "hive_partitioning = false" in source.source("metrics")
    assert capsys.readouterr().err == ""
    index = TableIndex.read(run)
    assert index is not None
    assert [(entry.file, entry.rows) for entry in index.entries.values()] == [
        *((f"decisions/{name}", 10) for name in (FIRST, SECOND, THIRD)),
        ("episodes/000000000030-000000000030.parquet", 1),
        ("metrics/000000000001-000000000030.parquet", 2),
        ("metrics/000000000001-000000000030_002.parquet", 2),
    ]


@pytest.mark.parametrize("lines", long_after(1, range(1, 7)))
@pytest.mark.parametrize("torn", long_after(1, [False, True]))
def test_files_that_the_index_does_not_list_yet_count(lines: int, torn: bool, run: Path) -> None:
    """As after a kill or a power cut between a file and its line."""
    content = (run / TABLES_INDEX).read_bytes().splitlines(keepends=True)
    assert len(content) == 7
    (run / TABLES_INDEX).write_bytes(b"".join(content[:lines]) + (content[lines][:20] if torn else b""))
    with DuckDBStore(run) as store:
        assert store.problems() == []
    assert steps(run) == list(range(1, 31))
    with DuckDBStore(run) as store:
        store.append("decisions", decisions(31, 40))
    index = TableIndex.read(run)
    assert index is not None
    assert index.complete
    assert sum(entry.rows or 0 for entry in index.entries.values()) == 40 + 1 + 4
    (run / "decisions" / SECOND).unlink()
    with DuckDBStore(run) as store:
        assert len(store.problems()) == 1


def test_the_last_recorded_step_is_read_from_the_end_of_the_index(tmp_path: Path) -> None:
    assert recorded_steps(tmp_path) == 0, "nothing is recorded yet"
    with DuckDBStore(tmp_path) as store:
        for step in range(1, 60):
            store.append("decisions", decisions(step, step))
            store.append("metrics", metrics(step))
            store.flush()
        assert recorded_steps(tmp_path) == 59
        store.supersede(25)
        assert recorded_steps(tmp_path) == 25
    with (tmp_path / TABLES_INDEX).open("a") as index:
        index.write('{"file":"decisions/0000')  # being written
    assert recorded_steps(tmp_path) == 25
    (tmp_path / TABLES_INDEX).unlink()
    os.mkfifo(tmp_path / TABLES_INDEX)
    assert recorded_steps(tmp_path) == 0


def test_equal_rows_that_were_recorded_twice_are_there_twice(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        for _ in range(3):
            store.append("metrics", metrics(1, 2))
            store.flush()
        assert len(store.read("metrics")) == 6


def test_an_earlier_versions_run_reads_as_before_and_is_watched_from_its_next_row_on(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_old(run)
    with DuckDBStore(run) as store:
        assert store.problems() == []
        assert len(store.read("decisions")) == 30
        store.supersede(25)
        store.append("decisions", decisions(26, 30))
    assert steps(run) == list(range(1, 31))
    assert capsys.readouterr().err == ""
    (run / "decisions" / SECOND).unlink()
    with DuckDBStore(run) as store:
        assert [line for line in store.problems() if SECOND in line]


def test_decisions_that_come_twice_or_lack_are_told_of_an_earlier_versions_run(run: Path) -> None:
    make_old(run)
    copy_beside(run, run)
    with DuckDBStore(run) as store:
        (line,) = store.problems()
        assert "_002.parquet holds steps that an earlier file has" in line
        assert len(store.read("decisions")) == 30
    (run / "decisions" / "000000000011-000000000020_002.parquet").unlink()
    remove(run, run)
    with DuckDBStore(run) as store:
        assert store.problems() == [f"{run / 'decisions'} has no decisions of steps 11 to 20"]


def test_a_newer_versions_file_is_refused_by_every_reader(run: Path) -> None:
    path = run / "decisions" / THIRD
    mark = b"pkmn_schema\x18\x01"
    path.write_bytes(path.read_bytes().replace(mark + str(SCHEMA_VERSION).encode(), mark + b"9"))
    (run / TABLES_INDEX).unlink()
    for reading in readings(run).values():
        with pytest.raises(RunError, match=rf"{THIRD} was written by a newer version"):
            reading()


def make_old(run: Path) -> None:
    """Makes of a run what an earlier version would have left: no index, and nothing in the files that says whose."""
    (run / TABLES_INDEX).unlink()
    for path in run.glob("*/*.parquet"):
        path.write_bytes(path.read_bytes().replace(b"pkmn_tables", b"pkmn_nobody"))


def test_the_index_is_written_as_lines_of_json(run: Path) -> None:
    head, *lines = [json.loads(line) for line in (run / TABLES_INDEX).read_text().splitlines()]
    assert set(head) == {"tables", "format", "takes_unmarked"}
    assert {frozenset(line) for line in lines} == {frozenset({"file", "rows", "bytes", "crc32", "schema"})}
