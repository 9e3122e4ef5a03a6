"""The page of messages: each is a message of the source, so that a reader who searches for it finds it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
MESSAGES = [line.split("|")[1].strip().strip("`") for line in PAGE.splitlines() if line.startswith("| `")]


@cache
def texts() -> str:
    """Return the texts of the source in lower case, with ``…`` for each value; of files that may have a message."""
    beginnings = [max(message.split("…"), key=len).strip()[:15].lower() for message in MESSAGES]
    found = []
    for folder in ("pkmncli", "plugins"):
        for path in (ROOT / folder).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if not any(beginning in source.lower() for beginning in beginnings):
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
                    found.append("".join(map(str, parts)))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
    return re.sub("…+", "…", "\n".join(found)).lower()


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_of_the_page_is_in_the_source(message: str) -> None:
    assert message.lower() in texts()


def test_the_page_has_messages() -> None:
    assert len(MESSAGES) > 20
