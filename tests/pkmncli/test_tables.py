"""Tables and paragraphs of commands at every width of a screen, and without a screen."""

from __future__ import annotations

import pytest

from pkmncli.tables import commands_to_copy, csv_text, is_figure, markdown, prose, table

HEADINGS = ["run", "steps", "95% interval", "note"]
ROWS = [
    ["a run with a long name", "1,234,567", "0.15 to 0.6493", "first of all of them"],
    ["second", "89", "-", ""],
]
DROP = ["95% interval", "note"]
FIGURES = {"1,234,567", "89", "0.15 to 0.6493"}


@pytest.mark.parametrize("width", [*range(8, 60, 7), 60, 80, 100, 140])
def test_no_number_and_no_word_is_cut_at_any_width(width: int) -> None:
    shown = table(HEADINGS, ROWS, drop=DROP, width=width)
    left_out = " ".join(shown.partition("Left out")[2].split())
    names = [one for one in HEADINGS if one in left_out]
    expected = {word for row in ROWS for name, cell in zip(HEADINGS, row, strict=True) if name not in names
                for word in cell.split()}  # fmt: skip
    assert expected <= set(shown.split())
    assert all(len(line) <= width for line in shown.splitlines() if width > 20)


def test_columns_are_left_out_in_the_given_order_and_named() -> None:
    shown = [" ".join(table(HEADINGS, ROWS, drop=DROP, width=width).split()) for width in (60, 36, 20)]
    assert [one.partition("Left out, for lack of room: ")[2] for one in shown] == [
        "", "95% interval.", "95% interval, note.",
    ]  # fmt: skip


def test_a_table_that_is_too_wide_without_them_is_paragraphs() -> None:
    assert table(HEADINGS[:2], [row[:2] for row in ROWS], width=12).splitlines() == [
        "a run with a",
        "    long",
        "    name",
        "  steps:",
        "    1,234,567",
        "second",
        "  steps: 89",
    ]
    assert table(HEADINGS[:2], [row[:2] for row in ROWS], width=40).splitlines()[0].split() == HEADINGS[:2]


def test_without_a_terminal_a_row_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 60
    lines = table(["name", "note"], [["one", long.strip()]]).splitlines()
    assert len(lines) == 3 and lines[2] == f"one   {long.strip()}"
    assert prose(long) == long


def test_words_of_a_paragraph_are_whole_and_what_follows_is_indented() -> None:
    shown = prose("Ask less often: with --llm-interval 60 it costs half.\nNext.", indent="  ", width=24)
    assert shown.splitlines() == ["Ask less often: with", "  --llm-interval 60 it", "  costs half.", "Next."]


STEPS = [
    ("pkmn plot runs/discount", "curves of all runs"),
    ("pkmn compare runs/discount --format json", "these tables for other programs"),
]


@pytest.mark.parametrize("width", [30, 60, 72, 73, 80, None])
def test_a_command_to_copy_is_whole_and_its_purpose_is_wrapped_at_words(width: int | None) -> None:
    """Purposes are beside the commands only where all of them fit."""
    lines = commands_to_copy(STEPS, width=width).splitlines()
    commands = [line[2:].partition("  ")[0].rstrip() for line in lines if line.startswith("  pkmn ")]
    assert commands == [command for command, _ in STEPS]
    beside = width is None or width >= 2 + len(STEPS[1][0]) + 2 + len(STEPS[1][1])
    assert (len(lines) == len(STEPS)) is beside
    if beside:
        assert len({line.index(purpose) for line, (_, purpose) in zip(lines, STEPS, strict=True)}) == 1
    else:
        purposes = [line for line in lines if not line.startswith("  pkmn ")]
        assert all(line.startswith(" " * 6) and len(line) <= (width or 0) for line in purposes)
        assert " ".join(" ".join(purposes).split()) == " ".join(purpose for _, purpose in STEPS)


@pytest.mark.parametrize("cell", ["-", "", "1,234", "+0.52", "49% to 94%", "93-100%", "3 of 10", "2.5 MB", "-1e-05"])
def test_figures_are_aligned_to_the_right(cell: str) -> None:
    assert is_figure(cell)
    assert not is_figure(f"run {cell}x")


def test_other_forms() -> None:
    assert csv_text(["a", "b"], [[1, None], ["x,y", 2.5]]) == 'a,b\n1,\n"x,y",2.5'
    assert markdown(["a"], [["x|y"]]) == "| a |\n| --- |\n| x\\|y |"
