"""What is appended comes back; files keep their promises about names, steps and half-written parts."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from support.tables import decisions, episodes, metrics

from pkmn_decisions.store.schema import DECISIONS, SCHEMA_VERSION
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.api import STEP_RECORD, Coded, Store
from pkmncli.errors import DecisionValidationError, RunError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def steps(store: DuckDBStore, table: str = "decisions", column: str = "global_step") -> list[int]:
    return [row[column] for row in store.read(table)]


def test_rows_come_back_as_they_were_given(tmp_path: Path) -> None:
    given = decisions(
        1,
        3,
        fine_hash=np.array([2**64 - 1, 0, 7], "u8"),
        reward=np.array([0.5, -1.0, 0.0], "f4"),
        reason=np.array(["walk", "Pokémon".encode()[:4], "quote ' and \\"], dtype=object),
        model=["", "smollm2", ""],
        action=np.array([0, 4095, 65535], "i4"),
        previous_1=np.array([-1, 0, 65535], "i4"),
    )
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", given)
        store.flush()
        rows = store.read("decisions")
    assert [row["fine_hash"] for row in rows] == [2**64 - 1, 0, 7]
    assert [row["reward"] for row in rows] == [0.5, -1.0, 0.0]
    # A reason cut inside a character loses the broken character and nothing else.
    assert [row["reason"] for row in rows] == ["walk", "Pok", "quote ' and \\"]
    assert [(row["action"], row["previous_1"]) for row in rows] == [(0, -1), (4095, 0), (65535, 65535)]
    assert set(rows[0]) == {column.name for column in DECISIONS.columns}


def test_episodes_keep_bytes_and_metrics_keep_names(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        store.append("episodes", episodes(40, presses=[bytes(range(9)) * 8000], milestones=['{"starter": 12}']))
        store.append("metrics", metrics(1, 2, 3))
        store.flush()
        assert store.read("episodes")[0]["presses"] == bytes(range(9)) * 8000
        assert store.read("metrics", "value > ?", [1.5]) == store.read("metrics")[1:]


def test_columns_with_a_default_may_be_left_out(tmp_path: Path) -> None:
    columns = decisions(1, 3, terminated=[False, True, False], truncated=[False, False, True])
    for name in ("done", "model", "previous_1", "memory_hash", "pilot_confidence"):
        del columns[name]
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", columns)
        store.flush()
        rows = store.read("decisions")
    assert [row["done"] for row in rows] == [False, True, True]
    assert [(row["model"], row["previous_1"]) for row in rows] == [("", -1)] * 3


def test_every_field_of_a_step_record_has_a_column() -> None:
    # What is next is the next record's own, and a step's consequence is part of what came of it. What the pilot would
    # press is for the learner: it is worked out anew where a run's episodes are played again.
    of_the_step = {name for name, _ in STEP_RECORD if not name.startswith("next_")} - {"consequence", "pilot_action"}
    assert of_the_step <= {column.name for column in DECISIONS.columns}


def test_the_store_satisfies_its_contract(tmp_path: Path) -> None:
    store: Store = DuckDBStore(tmp_path)
    store.close()
    store.close()
    assert names(tmp_path) == []


def test_each_flush_writes_one_new_file_and_leaves_the_others_alone(tmp_path: Path) -> None:
    folder = tmp_path / "decisions"
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 10))
        store.append("decisions", decisions(11, 20))
        store.flush()
        first = (folder / "000000000001-000000000020.parquet").read_bytes()
        store.append("decisions", decisions(21, 30))
        store.flush()
        store.flush()
        assert names(folder) == ["000000000001-000000000020.parquet", "000000000021-000000000030.parquet"]
        assert (folder / "000000000001-000000000020.parquet").read_bytes() == first
        assert steps(store) == list(range(1, 31))
    assert names(tmp_path) == ["decisions", "tables.jsonl"]


@pytest.mark.long
def test_many_rows_are_written_without_being_asked(tmp_path: Path) -> None:
    count = DECISIONS.rows_per_file
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 10))
        store.append("decisions", decisions(11, 2 * count))
        assert len(steps(store)) == 2 * count


def test_files_that_cover_the_same_steps_do_not_replace_each_other(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        for name in ("loss", "return", "speed"):
            store.append("metrics", metrics(500, name=name))
            store.flush()
        assert [row["name"] for row in store.read("metrics")] == ["loss", "return", "speed"]


def test_files_name_their_schema_version_and_compress(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 100))
    file = next((tmp_path / "decisions").iterdir())
    version = duckdb.sql(f"SELECT value FROM parquet_kv_metadata('{file}') WHERE key = 'pkmn_schema'").fetchall()
    codecs = duckdb.sql(f"SELECT DISTINCT compression FROM parquet_metadata('{file}')").fetchall()
    assert version == [(str(SCHEMA_VERSION).encode(),)]
    assert codecs == [("ZSTD",)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": [1, 2, 3]}, "no column colour"),
        ({"reward": np.zeros(2, "f4")}, "differ in length"),
        ({"reward": "abc"}, "must be an array or a list"),
        ({"reward": 1.0}, "must be an array or a list"),
        ({"action": [0.5, 1.0, 2.0]}, "action holds INTEGER"),
        ({"source": [0, 1, 256]}, "source holds 0 to 255"),
        ({"phase": [0, -1, 2]}, "phase holds 0 to 4294967295"),
        ({"reason": [1, "a", None]}, "cannot take NoneType, int"),
        ({"global_step": [3, 2, 1]}, "must rise"),
        ({"global_step": [-1, 0, 1]}, "must not be negative"),
    ],
)
def test_wrong_columns_are_refused_whole(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with DuckDBStore(tmp_path) as store:
        with pytest.raises(DecisionValidationError, match=message):
            store.append("decisions", decisions(1, 3) | change)
        store.append("decisions", decisions(1, 3))
        store.flush()
        assert steps(store) == [1, 2, 3]


def test_a_missing_column_and_an_unknown_table_are_refused(tmp_path: Path) -> None:
    columns = decisions(1, 3)
    del columns["reward"]
    with DuckDBStore(tmp_path) as store:
        with pytest.raises(DecisionValidationError, match="column reward is missing"):
            store.append("decisions", columns)
        with pytest.raises(DecisionValidationError, match="no table rewards; the tables are decisions"):
            store.append("rewards", {})
        with pytest.raises(DecisionValidationError, match="no table rewards"):
            store.read("rewards")


def test_going_on_without_superseding_is_refused(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 100))
    with DuckDBStore(tmp_path) as store:
        with pytest.raises(DecisionValidationError, match="step 51 does not follow step 100"):
            store.append("decisions", decisions(51, 60))
        store.append("decisions", decisions(101, 110))


def test_a_wrong_condition_is_one_clear_line(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 3))
        store.flush()
        with pytest.raises(DecisionValidationError, match=r"Cannot select decisions: .*colour") as error:
            store.read("decisions", "colour = 3")
    assert "\n" not in str(error.value)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "decisions").mkdir()
    (tmp_path / "decisions" / "000000000001-000000000009.parquet").write_bytes(b"not parquet at all")
    with DuckDBStore(tmp_path) as store, pytest.raises(RunError, match="000000000001-000000000009"):
        store.read("decisions")


def test_size_counts_what_is_on_disk(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        assert store.size_bytes() == 0
        store.append("decisions", decisions(1, 100))
        store.append("metrics", metrics(1))
        store.flush()
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert store.size_bytes() == sum(path.stat().st_size for path in files) > 0


def test_few_texts_and_amounts_come_coded(tmp_path: Path) -> None:
    codes = np.array([1, 0, 1, 2], "u2")
    given = decisions(
        1,
        4,
        reason=Coded(codes, ["it's", "walk", "{}"]),
        reward_parts=Coded(codes, [{}, {"progress.level": 0.1, 'a "b"': -2.0}, {"stuck.wall": float(np.float32(0.1))}]),
        value=np.array([1.0, np.nan, 2.0, np.nan], "f4"),
    )
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", given)
        store.append("decisions", decisions(5, 5, reason=["walk"], reward_parts=[{"progress.level": 2}]))
        store.flush()
        rows = store.read("decisions")
        assert store.read("decisions", "reward_parts['progress.level'] > 1") == rows[4:]
    assert [row["reason"] for row in rows] == ["walk", "it's", "walk", "{}", "walk"]
    assert [row["value"] for row in rows] == [1.0, None, 2.0, None, 0.0]
    several = {"progress.level": float(np.float32(0.1)), 'a "b"': -2.0}
    expected = [several, {}, several, {"stuck.wall": float(np.float32(0.1))}, {"progress.level": 2.0}]
    assert [row["reward_parts"] for row in rows] == expected


def test_rows_stay_in_order_whatever_their_texts(tmp_path: Path) -> None:
    count = 5000
    texts = [f"reason {step % 777}" for step in range(count)]
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, count, reason=texts))
        store.flush()
        (path,) = (tmp_path / "decisions").iterdir()
        rows = duckdb.sql(f"SELECT global_step, reason FROM '{path}'").fetchall()
    assert rows == list(zip(range(1, count + 1), texts, strict=True))
