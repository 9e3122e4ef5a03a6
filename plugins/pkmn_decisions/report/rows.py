"""Rows as a table for people, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from pkmn_decisions.store.names import SOURCE_NAMES

_WIDTH_WITHOUT_TERMINAL = 160
_NARROW = 12
"""Maximum characters of a column that is never broken into lines."""
_FIGURE = re.compile(r"-|[-+]?[\d,.]+(-\d+)?%?")


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


def write(columns: Sequence[str], rows: Sequence[Sequence[Any]], form: Format) -> str:
    """Return rows in a format, without a line break at the end. JSON is a list of objects."""
    if form is Format.JSON:
        return to_json([dict(zip(columns, row, strict=True)) for row in rows])
    if form is Format.CSV:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([["" if value is None else _plain(value) for value in row] for row in rows])
        return text.getvalue().rstrip("\n")
    cells = [[_cell(value) for value in row] for row in rows]
    if form is Format.MARKDOWN:
        lines = [_markdown(columns), _markdown(["---"] * len(columns)), *(_markdown(row) for row in cells)]
        return "\n".join(lines)
    return _table(columns, cells)


def is_figure(cell: str) -> bool:
    """Return True if a cell is a number, an interval, or empty, and so is aligned right."""
    return not cell or bool(_FIGURE.fullmatch(cell))


def to_json(value: Any) -> str:
    """Return JSON of plain values; bytes are written as hexadecimal digits, times in ISO 8601."""
    return json.dumps(value, indent=2, default=_plain, ensure_ascii=False)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from rich import box  # noqa: PLC0415 - only this format needs it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    for index, column in enumerate(columns):
        cells = [row[index] for row in rows]
        figures = bool(cells) and all(is_figure(cell) for cell in cells)
        narrow = max(map(len, [column, *cells])) <= _NARROW
        table.add_column(Text(column), justify="right" if figures else "left", overflow="fold", no_wrap=narrow)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_WITHOUT_TERMINAL
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def _markdown(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


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
