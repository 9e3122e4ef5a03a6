"""The tutorial is true: its commands run one after the other, and write what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.commands import run_here

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(text)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def shape(line: str) -> str:
    """Return a line without its amounts, which depend on the machine, and without spaces."""
    return re.sub(r"[+-]?\d[\d,.]*|\s+|-(?= |$)", "", line.partition(" for ")[0] if "steps/s" in line else line)


@pytest.mark.long
def test_the_tutorial_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written: set[str] = set()
    shown = 0
    for kind, content in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind:
            missing = [line for line in content.splitlines() if shape(line) not in written]
            assert missing == [], f"not written by the commands before: {missing}"
            shown += 1
            written = set()
            continue
        for command in content.splitlines():
            result = run_here(*command.split()[1:])
            assert result.code == 0, result.err
            written |= {shape(line) for line in (result.out + result.err).splitlines()}
    assert shown == 7
    assert {path.name for path in tmp_path.iterdir()} >= {"runs", "plot.html", "first.zip"}
