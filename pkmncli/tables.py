"""Tables and paragraphs that commands print: as wide as the terminal, or unwrapped for files and other programs."""

from __future__ import annotations

import csv
import io
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

Rows = Sequence[Sequence[str]]

_NUMBER = r"[-+<>~$]*[\d,.]+(?:e[-+]?\d+)?(?: ?(?:%|[kMGT]?i?B|[mµ]?s|min|h))?"
_FIGURE = re.compile(rf"-|{_NUMBER}(?:(?:-| to | of ){_NUMBER})?")


class Format(StrEnum):
    """Format of a command's result."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def markdown(headings: Sequence[str], rows: Rows) -> str:
    """Return a table in Markdown, without a final line break."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(map(_markdown_cell, line)) + " |" for line in lines)


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV, without a final line break. None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")


def is_figure(cell: str) -> bool:
    """Return True if a cell is a number, an interval, or empty: it is aligned to the right and never divided."""
    return not cell or bool(_FIGURE.fullmatch(cell))


def terminal_columns() -> int | None:
    """Return the columns of the terminal that standard output is; None if it is a file or another program."""
    try:
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    except (AttributeError, ValueError):  # a script's own stream, or a closed one
        return None


def prose(text: str, *, indent: str = "", width: int | None = None) -> str:
    """Return a text wrapped between words at the terminal's edge; unwrapped if there is no terminal.

    Args:
        text: paragraphs, with a line break between two.
        indent: beginning of each line after the first one of a paragraph.
        width: columns of the screen; None for those of the terminal.
    """
    columns = width or terminal_columns()
    if columns is None:
        return text
    first, rest = columns, max(columns - len(indent), 1)
    lines = []
    for paragraph in text.split("\n"):
        start = paragraph[: len(paragraph) - len(paragraph.lstrip())]
        found = _wrapped(paragraph.lstrip(), first - len(start), rest)
        lines += [start + found[0], *(indent + line for line in found[1:])]
    return "\n".join(lines)


def commands_to_copy(steps: Sequence[tuple[str, str]], *, width: int | None = None) -> str:
    """Return commands with their purposes, a line each; no command is divided, so that it can be copied.

    Purposes are aligned behind the commands. If the screen is too narrow, each is below its command, wrapped at words.

    Args:
        steps: command and purpose.
        width: columns of the screen; None for those of the terminal.
    """
    columns, longest = width or terminal_columns(), max(_columns(command) for command, _ in steps)
    lines = [f"  {_padded(command, longest, False)}  {purpose}" for command, purpose in steps]
    if columns is not None and max(map(_columns, lines)) > columns:
        below = [prose(f"      {purpose}", indent=" " * 6, width=columns) for _, purpose in steps]
        lines = [f"  {command}\n{purpose}" for (command, _), purpose in zip(steps, below, strict=True)]
    return "\n".join(lines)


def table(
    headings: Sequence[str],
    rows: Rows,
    *,
    text: Collection[str] = (),
    drop: Sequence[str] = (),
    width: int | None = None,
) -> str:
    """Return a table for people, without a final line break.

    No number is divided, and words are wrapped between words. If the screen is too narrow, the columns of ``drop`` are
    left out one by one, and a line below names them. If it is too narrow even then, each row is a paragraph.

    Args:
        headings: of the columns.
        rows: cells.
        text: headings of columns whose cells are text even if they look like numbers, such as names of runs.
        drop: headings of the columns to leave out, the first one first.
        width: columns of the screen; None for those of the terminal, or as many as needed if there is none.
    """
    columns = width or terminal_columns()
    cells = [[heading, *(" ".join(row[index].split("\n")) for row in rows)] for index, heading in enumerate(headings)]
    figures = _figures(cells, text)
    shown = _fitting(cells, figures, drop, columns)
    if shown is None:
        return _paragraphs(headings, rows, columns or 1)
    lines = _drawn([cells[index] for index in shown], [figures[index] for index in shown], columns)
    named = dict.fromkeys(heading for index, heading in enumerate(headings) if heading and index not in shown)
    note = [prose(f"Left out, for lack of room: {', '.join(named)}.", width=columns)] if named else []
    return "\n".join([*lines, *note])


def headings_left_out(
    headings: Sequence[str], rows: Rows, *, text: Collection[str] = (), drop: Sequence[str] = ()
) -> set[str]:
    """Return the headings of the columns that :func:`table` leaves out on the terminal, by the same arguments."""
    cells = [[heading, *(row[index] for row in rows)] for index, heading in enumerate(headings)]
    shown = _fitting(cells, _figures(cells, text), drop, terminal_columns())
    return set(headings) - ({headings[index] for index in shown} if shown is not None else set(headings))


def _figures(columns: Sequence[Sequence[str]], text: Collection[str]) -> list[bool]:
    """Return for each column, its heading first, if it has figures only."""
    return [heading not in text and bool(cells) and all(map(is_figure, cells)) for heading, *cells in columns]


def _fitting(
    columns: Sequence[Sequence[str]], figures: Sequence[bool], drop: Sequence[str], room: int | None
) -> list[int] | None:
    """Return the indices of the columns to show; None if there is too little room without those of ``drop`` too."""
    least = [_least(column, figure) for column, figure in zip(columns, figures, strict=True)]
    shown, order = list(range(len(columns))), list(drop)
    while room is not None and sum(least[index] + 1 for index in shown) - 1 > room:
        if not order:
            return None
        leaving = order.pop(0)
        shown = [index for index in shown if columns[index][0] != leaving or index == 0]
    return shown


def _drawn(columns: Sequence[Sequence[str]], figures: Sequence[bool], room: int | None) -> list[str]:
    """Return the lines of columns, each with its heading first."""
    least = [_least(column, figure) for column, figure in zip(columns, figures, strict=True)]
    widths = [max(map(_columns, column)) for column in columns]
    gap = "  "
    if room is not None and sum(widths) + len(gap) * (len(widths) - 1) > room:
        gap, whole = " ", widths
        widths = list(least)
        for _ in range(room - sum(least) - (len(least) - 1)):  # the room that is left, to the narrowest first
            growing = [index for index in range(len(widths)) if widths[index] < whole[index]]
            if growing:
                widths[min(growing, key=widths.__getitem__)] += 1
    lines = []
    for number, row in enumerate(zip(*columns, strict=True)):
        parts = [_wrapped(cell, size, size) for cell, size in zip(row, widths, strict=True)]
        for place in range(max(map(len, parts))):
            line = [part[place] if place < len(part) else "" for part in parts]
            padded = (_padded(*cell) for cell in zip(line, widths, figures, strict=True))
            lines.append(gap.join(padded).rstrip())
        if not number:
            lines.append("─" * (sum(widths) + len(gap) * (len(widths) - 1)))
    return lines


def _paragraphs(headings: Sequence[str], rows: Rows, columns: int) -> str:
    """Return each row as its first cell, and below it a line for each other cell that has something."""
    paragraphs = []
    for first, *cells in rows:
        lines = [f"  {heading}: {cell}" for heading, cell in zip(headings[1:], cells, strict=True) if cell]
        paragraphs += [prose(line, indent="    ", width=columns) for line in [first, *lines]]
    return "\n".join(paragraphs)


def _wrapped(text: str, first: int, rest: int) -> list[str]:
    """Return the lines of a text: the first of at most ``first`` columns, the others of ``rest``, unless a word is."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and _columns(longer) > (rest if len(lines) > 1 else first):
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _least(column: Sequence[str], figure: bool) -> int:
    """Return the columns of the longest word; of the longest cell if the cells are figures."""
    heading, *cells = column
    parts = heading.split() + (cells if figure else [word for cell in cells for word in cell.split()])
    return max(map(_columns, parts), default=0)


def _padded(cell: str, size: int, figure: bool) -> str:
    space = " " * (size - _columns(cell))
    return space + cell if figure else cell + space


def _columns(text: str) -> int:
    """Return the columns that a text takes on a screen."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - rarely needed

    return cell_len(text)


def _markdown_cell(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
