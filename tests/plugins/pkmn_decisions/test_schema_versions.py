"""Files of earlier versions of the schema are read with the defaults of what they lack, alone and beside newer ones."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from support.tables import PREVIOUS, decisions

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store.files import list_files, schema_version
from pkmn_decisions.store.schema import DECISIONS, SCHEMA_VERSION
from pkmn_decisions.store.store import DuckDBStore

NEW = [column.name for column in DECISIONS.columns if column.since > 1]


def write_first_version(folder: Path, first: int, last: int) -> None:
    """Rows as version 1 wrote them."""
    with DuckDBStore(folder / "new") as store:
        store.append("decisions", decisions(first, last, near_return=[7.0] * (last - first + 1)))
    (path,) = (folder / "new" / "decisions").iterdir()
    (folder / "decisions").mkdir(exist_ok=True)
    duckdb.sql(
        f"COPY (SELECT * EXCLUDE ({', '.join(NEW)}), 15::UINTEGER AS previous_actions FROM '{path}') "
        f"TO '{folder / 'decisions' / path.name}' (FORMAT parquet, KV_METADATA {{pkmn_schema: '1'}})"
    )
    path.unlink()


@pytest.fixture
def begun_with_the_first(tmp_path: Path) -> Path:
    """A run whose first 20 rows are of version 1, and whose next ten are not."""
    for first in (1, 11):
        write_first_version(tmp_path, first, first + 9)
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(21, 30, reward_parts=[{"progress.level": 0.5}] * 10, value=[1.5] * 10))
    return tmp_path


def test_a_file_says_its_version(begun_with_the_first: Path) -> None:
    files = list_files(begun_with_the_first / "decisions")
    assert [schema_version(file.path) for file in files] == [1, 1, SCHEMA_VERSION]


def test_what_a_file_lacks_has_its_default(tmp_path: Path) -> None:
    write_first_version(tmp_path, 1, 10)
    with DuckDBStore(tmp_path) as store:
        row = store.read("decisions")[3]
    assert set(row) == {column.name for column in DECISIONS.columns}
    assert {name: row[name] for name in NEW} == {
        **dict(zip(PREVIOUS, [4, 0, -1, -1, -1, -1], strict=True)),
        "opponent_health": 0.0,
        "alternative": -1,
        "value": None,
        "alternative_value": None,
        "latency_s": 0.0,
        "reward_parts": {},
        "near_return": None,
        "outcome": 0,
    }


def test_a_run_that_began_with_the_first_version_is_read_as_one(begun_with_the_first: Path, tmp_path: Path) -> None:
    with DuckDBStore(begun_with_the_first) as store:
        rows = store.read("decisions")
        assert store.export("decisions", tmp_path / "all.parquet", "parquet") == 30
    assert [row["global_step"] for row in rows] == list(range(1, 31))
    assert [row["value"] for row in rows] == [None] * 20 + [1.5] * 10
    assert rows[-1]["reward_parts"] == {"progress.level": 0.5}
    with DecisionHistoryAnalyzer(begun_with_the_first) as analyzer:
        assert sum(pattern["frequency"] for pattern in analyzer.analyze_patterns(1)) == 30


def test_a_part_of_a_file_that_stays_is_written_in_the_present_version(begun_with_the_first: Path) -> None:
    with DuckDBStore(begun_with_the_first) as store:
        assert store.supersede(15) == 15
        files = list_files(begun_with_the_first / "decisions")
        assert [schema_version(file.path) for file in files] == [1, SCHEMA_VERSION]
        store.append("decisions", decisions(16, 20))
        store.flush()
        assert [row["global_step"] for row in store.read("decisions")] == list(range(1, 21))


def test_decisions_alone_can_be_set_aside(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 10))
        store.append("metrics", {"global_step": [9], "time": [0.0], "name": ["loss"], "value": [1.0]})
        assert store.supersede(4, ("decisions",)) == 6
        assert len(store.read("decisions")) == 4
        assert len(store.read("metrics")) == 1
