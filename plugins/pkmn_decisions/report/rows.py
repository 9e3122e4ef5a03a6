"""Rows as a table for people, Markdown, CSV or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from pkmn_decisions.store.names import SOURCE_NAMES
from pkmncli.tables import csv_text, markdown, table


class Format(StrEnum):
    """Format of a result."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"


def flat(records: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return records of one kind as one flat row each, figures unrounded, for programs.

    The parts of a ``context`` become columns, an interval becomes two, and ``sources`` are counts ``by_...``; any other
    list or dictionary is written as JSON.
    """
    rows: list[dict[str, Any]] = []
    for record in records:
        row: dict[str, Any] = {}
        for key, value in record.items():
            if key == "context":
                row |= value
            elif key == "interval":
                row |= dict(zip(("interval_low", "interval_high"), value or (None, None), strict=True))
            elif key == "sources" and isinstance(value, Mapping):
                row |= {f"by_{name}": value.get(name, 0) for name in SOURCE_NAMES.values()}
            else:
                row[key] = json.dumps(value) if isinstance(value, (list, dict)) else value
        rows.append(row)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return columns, [[row.get(column) for column in columns] for row in rows]


def write(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], form: Format, drop: Sequence[str] | None = None
) -> str:
    """Return rows in a format, without a line break at the end. JSON is a list of objects.

    Args:
        columns: headings.
        rows: cells.
        form: format.
        drop: headings of the columns that a narrow terminal lacks room for, the first to leave out first; by default
            the last ones.
    """
    if form is Format.JSON:
        return to_json([dict(zip(columns, row, strict=True)) for row in rows])
    if form is Format.CSV:
        return csv_text(columns, ([None if value is None else _plain(value) for value in row] for row in rows))
    cells = [[_cell(value) for value in row] for row in rows]
    if form is Format.MARKDOWN:
        return markdown(columns, cells)
    return table(columns, cells, drop=list(reversed(columns[1:])) if drop is None else drop)


def to_json(value: Any) -> str:
    """Return JSON of plain values; bytes are written as hexadecimal digits, times in ISO 8601."""
    return json.dumps(value, indent=2, default=_plain, ensure_ascii=False)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return value if isinstance(value, (str, int, float, list, tuple)) else str(value)
