"""The guide shows what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pkmncli import cli

PAGE = Path(__file__).parents[4] / "docs" / "world.md"
SHOWN = re.findall(
    r"^```\n(pkmn world [^\n]*)\n\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize(("line", "shown"), SHOWN, ids=[line for line, _ in SHOWN])
def test_what_is_shown_is_what_is_printed(
    line: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert cli.run(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out == shown


def test_examples_are_found() -> None:
    assert len(SHOWN) == 2
