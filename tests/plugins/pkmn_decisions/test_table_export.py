"""A table as one file: every row once and in order, exact, whole, and while another process records."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pytest
from support.tables import decisions, episodes, metrics

from pkmn_decisions.store import export as table_export
from pkmn_decisions.store.schema import DECISIONS, SCHEMA_VERSION, Table
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.api import ExportingStore
from pkmncli.errors import DecisionValidationError, RunError


def test_rows_are_exact_in_parquet(tmp_path: Path) -> None:
    target = tmp_path / "decisions.parquet"
    with DuckDBStore(tmp_path / "run") as store:
        exporting: ExportingStore = store
        store.append("decisions", decisions(1, 2, fine_hash=np.array([2**64 - 1, 7], "u8")))
        store.flush()
        store.append("decisions", decisions(3, 4))
        store.flush()
        assert exporting.export("decisions", target, "parquet") == 4
        rows = store.read("decisions")
    found = duckdb.read_parquet(str(target))
    assert found.columns == [column.name for column in DECISIONS.columns]
    assert [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()] == rows
    version = f"SELECT value FROM parquet_kv_metadata('{target}') WHERE key = 'pkmn_schema'"
    assert duckdb.sql(version).fetchall() == [(str(SCHEMA_VERSION).encode(),)]
    assert [path.name for path in target.parent.iterdir() if path.is_file()] == ["decisions.parquet"]


def test_csv_has_names_quotes_what_needs_it_and_bytes_as_digits(tmp_path: Path) -> None:
    target = tmp_path / "it's" / "episodes.csv"
    target.parent.mkdir()
    with DuckDBStore(tmp_path) as store:
        store.append(
            "episodes", episodes(40, presses=[bytes([0, 8, 255])], outcome=['a "goal", or so'], seed=[2**64 - 1])
        )
        store.flush()
        assert store.export("episodes", target, "csv") == 1
    (row,) = duckdb.read_csv(str(target)).project("presses, outcome, seed, last_step").fetchall()
    assert row == ("0008ff", 'a "goal", or so', 2**64 - 1, 40)


def test_an_sqlite_file_takes_one_table_after_another(tmp_path: Path) -> None:
    target = tmp_path / "tables.sqlite"
    with DuckDBStore(tmp_path / "run") as store:
        store.append("decisions", decisions(1, 4, fine_hash=np.array([2**64 - 1, 7, 8, 9], "u8")))
        store.append("metrics", metrics(1, 2))
        store.append("episodes", episodes(40, presses=[bytes([0, 8, 255])]))
        store.flush()
        counts = [store.export(table, target, "sqlite") for table in ("decisions", "metrics", "episodes", "metrics")]
        rows = store.read("decisions")
    with closing(sqlite3.connect(target)) as database:
        database.row_factory = sqlite3.Row
        found = [dict(row) for row in database.execute("SELECT * FROM decisions ORDER BY global_step")]
        assert [len(database.execute(f"SELECT * FROM {name}").fetchall()) for name in ("metrics", "episodes")] == [
            *counts[1:3]
        ]
        assert database.execute("SELECT presses FROM episodes").fetchone()[0] == bytes([0, 8, 255])
    assert counts[0] == 4
    assert found[0]["fine_hash"] == str(2**64 - 1)
    assert list(found[0]) == list(rows[0])
    for name in ("global_step", "action", "reward", "reason", "terminated"):
        assert [row[name] for row in found] == [row[name] for row in rows]


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "run") as store:
        assert store.export("metrics", tmp_path / "metrics.csv", "csv") == 0
    assert (tmp_path / "metrics.csv").read_text().strip() == "global_step,time,name,value"


def test_another_store_may_record_meanwhile(tmp_path: Path) -> None:
    """What was flushed is there, what was not is missing, and half-written files are passed over."""
    target = tmp_path / "metrics.parquet"
    with DuckDBStore(tmp_path / "run") as writer, DuckDBStore(tmp_path / "run") as reader:
        writer.append("metrics", metrics(1, 2))
        writer.flush()
        writer.append("metrics", metrics(3))
        (tmp_path / "run" / "metrics" / "000000000003-000000000003.parquet.tmp").write_bytes(b"half")
        assert reader.export("metrics", target, "parquet") == 2
        writer.flush()
        assert reader.export("metrics", target, "parquet") == 3


def test_a_run_that_goes_back_may_move_files_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with DuckDBStore(tmp_path / "run") as store:
        for step in (1, 2):
            store.append("metrics", metrics(step))
            store.flush()
        recorded_files, gone = table_export.recorded_files, []

        def list_and_go_back(folder: Path, table: Table) -> list[table_export.TableFile]:
            files = recorded_files(folder, table)
            if not gone:
                gone.append(store.supersede(1))
            return files

        monkeypatch.setattr(table_export, "recorded_files", list_and_go_back)
        assert store.export("metrics", tmp_path / "metrics.parquet", "parquet") == 1
    assert gone == [1]


def test_what_cannot_be_written_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "run") as store:
        store.append("metrics", metrics(1))
        store.flush()
        with pytest.raises(RunError, match=r"Cannot export the metrics of .* to .*metrics\.csv: "):
            store.export("metrics", tmp_path / "missing" / "metrics.csv", "csv")
        with pytest.raises(DecisionValidationError, match="no format xlsx; the formats are csv, parquet"):
            store.export("metrics", tmp_path / "metrics.xlsx", "xlsx")
        (file,) = (tmp_path / "run" / "metrics").iterdir()
        file.write_bytes(b"damaged")
        (tmp_path / "metrics.csv").write_text("an earlier export")
        with pytest.raises(RunError, match=str(file)):
            store.export("metrics", tmp_path / "metrics.csv", "csv")
    assert (tmp_path / "metrics.csv").read_text() == "an earlier export"
    assert not list(tmp_path.glob("*.tmp"))
