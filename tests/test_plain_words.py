"""Docstrings, comments and guides are plain English, for readers of other tongues: see docs/glossary.md."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ROOMS = ("pkmncli", "plugins", "benchmarks", "docs", "examples")
"""Folders whose words are checked."""

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

NO_PROSE = re.compile(r"<!-- begin: .*?<!-- end -->|^```.*?^```$|^ *\|.*?$|`[^`\n]+`", re.DOTALL | re.MULTILINE)

OPENING = re.compile(
    r"(what|whether|who|whom|whose|where|which|how|those|that|one|as many|so many|the one|of those)\b", re.IGNORECASE
)
"""Openings that hide what a docstring's object is or does."""

TURNS = {
    r"\b(is|are|was|were|be|been|being) told\b": "is reported, is given",
    r"\b(stand|stands|stood)\b(?! for|-in)": "is, are",
    r"\b(lies|lie|lay) (at|beside|in|on|there|under)\b": "is in",
    r"\bfor want of\b": "without",
    r"\bsave that\b": "except that",
    r"\bof (its|their|one's|his|her) own\b": "own, separate",
    r"\b(go|goes|going|went) on\b": "continue, resume",
    r"\ball the same\b": "still",
    r"(?<!do )\bnothing if\b": "None if, empty if",
    r"\banew\b": "again",
    r"\bforetell?(s|ing)?\b|\bforetold\b": "predict",
    r"\blets? go of\b": "release",
    r"\bput aside\b|\bputs aside\b": "keep",
    r"\bheld against\b": "compared with",
    r"\bso long as\b|\bas yet\b": "while, yet",
}
"""Turns that a reader stumbles over, with a plain form of each."""


def files(room: str) -> list[Path]:
    path = ROOT / room
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring: of modules, classes, functions, attributes and constants."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield statement.lineno, value.value.strip()


def comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_open_with_a_verb_or_a_noun(room: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in files(room)
        for line, text in docstrings(path.read_text(encoding="utf-8"))
        if OPENING.match(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("room", ROOMS)
def test_words_are_plain(room: str) -> None:
    found = []
    for path in files(room):
        source = path.read_text(encoding="utf-8")
        for line, text in (*docstrings(source), *comments(source)):
            for turn, plain in TURNS.items():
                if match := re.search(turn, text, re.IGNORECASE):
                    found.append(f"{path.relative_to(ROOT)}:{line}: '{match[0]}' (plainer: {plain})")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_guides_are_plain(page: Path) -> None:
    prose = NO_PROSE.sub("", page.read_text(encoding="utf-8"))
    assert [match[0] for turn in TURNS for match in re.finditer(turn, prose, re.IGNORECASE)] == []


def test_every_room_exists() -> None:
    assert [room for room in ROOMS if not files(room)] == []
