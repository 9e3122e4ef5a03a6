"""docs/decisions.md describes every column, key and option, and its Python runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pkmn_decisions.analysis.conditions import NUMBER_KEYS, TEXT_KEYS
from pkmn_decisions.analysis.situations import DIMENSIONS
from pkmn_decisions.store.schema import TABLES, Table

GUIDE = (Path(__file__).parents[3] / "docs" / "decisions.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_every_column_is_described_as_it_is(table: Table) -> None:
    section = GUIDE.split(f"### {table.name}\n")[1].split("###")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{column.name}` | {column.sql} | {column.meaning} |" for column in table.columns]


def test_every_key_and_dimension_is_named() -> None:
    missing = [key for key in [*NUMBER_KEYS, *TEXT_KEYS, *DIMENSIONS] if f"`{key}`" not in GUIDE]
    assert missing == []


def test_the_python_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, list[dict[str, object]]] = {}
    exec(code, names)
    assert names["patterns"][0]["success_rate"] == 1.0
    assert names["latest"][0]["reasoning"] == "the door is up"
