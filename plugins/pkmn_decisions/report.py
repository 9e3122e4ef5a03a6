"""Writes rows, and patterns as rows, as a table for people, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from pkmn_decisions.names import Names
from pkmn_decisions.patterns import Pattern

_WIDTH_WITHOUT_TERMINAL = 160
_NARROW = 12
"""A column of at most so many characters is never broken into lines."""
_FIGURE = re.compile(r"-|[-+]?[\d,.]+(-\d+)?%?")


class Format(StrEnum):
    """How a result is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def pattern_table(patterns: Sequence[Pattern], names: Names) -> tuple[list[str], list[list[str]]]:
    """Patterns in words: headings and cells. The situation comes first, then the action and its figures."""
    keys = list(patterns[0].situation) if patterns else []
    shown = [key for key in keys if key not in ("x", "y")]
    if "x" in keys:
        shown.insert(shown.index("map") + 1, "tile")
    headings = [*shown, "action", "times", "success", "95%", "lift", "return", "mostly"]
    rows = []
    for pattern in patterns:
        situation = pattern.situation
        cells = [
            f"{situation['x']},{situation['y']}" if key == "tile" else names.of(key, situation[key]) for key in shown
        ]
        interval = pattern.interval
        rows.append(
            [
                *cells,
                names.of("action", pattern.action),
                f"{pattern.frequency:,}",
                "-" if pattern.success_rate is None else f"{pattern.success_rate:.0%}",
                "-" if interval is None else f"{interval[0] * 100:.0f}-{interval[1]:.0%}",
                "-" if pattern.lift is None else f"{pattern.lift:.2f}",
                "-" if pattern.mean_return is None else f"{pattern.mean_return:+.3f}",
                max(pattern.sources, key=lambda name: pattern.sources[name]),
            ]
        )
    return headings, rows


def flat_patterns(patterns: Sequence[Pattern], names: Names) -> tuple[list[str], list[list[Any]]]:
    """Patterns as one flat row each, figures unrounded, for programs."""
    rows: list[dict[str, Any]] = []
    for pattern in patterns:
        row = pattern.as_dict(names)
        context, sources, interval = row.pop("context"), row.pop("sources"), row.pop("interval") or (None, None)
        row |= {"interval_low": interval[0], "interval_high": interval[1]}
        rows.append(
            {**context, **row, **{f"by_{name}": sources.get(name, 0) for name in names.kinds["source"].values()}}
        )
    return list(rows[0]) if rows else [], [list(row.values()) for row in rows]


def write(columns: Sequence[str], rows: Sequence[Sequence[Any]], form: Format) -> str:
    """Rows in a format, without a line break at the end. JSON is a list of objects."""
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


def to_json(value: Any) -> str:
    """JSON of plain values; bytes are written as hexadecimal digits, times in ISO 8601."""
    return json.dumps(value, indent=2, default=_plain, ensure_ascii=False)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from rich import box  # noqa: PLC0415 - only this format needs it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    for index, column in enumerate(columns):
        cells = [row[index] for row in rows]
        figures = bool(cells) and all(_FIGURE.fullmatch(cell) for cell in cells)
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
