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

LLM_FILES = (
    *("budget", "cache", "client", "closing", "deadlines", "keys", "loading", "manager", "model_names"),
    *("network", "refusals", "requests", "retry", "service_settings", "transport"),
)

ROOMS = (
    *("plugins/pkmn_anthropic", "plugins/pkmn_dashboard", "plugins/pkmn_decisions", "plugins/pkmn_dqn"),
    *("plugins/pkmn_encoders", "plugins/pkmn_local", "plugins/pkmn_ollama", "plugins/pkmn_openai", "plugins/pkmn_ppo"),
    *("plugins/pkmn_strategies", "plugins/pkmn_tensorboard", "plugins/pkmn_wandb"),
    *("pkmncli/atomic_files.py", "pkmncli/bench", "pkmncli/channel.py", "pkmncli/checkpoint_index.py"),
    *("pkmncli/child_processes.py", "pkmncli/comparison", "pkmncli/core_commands.py", "pkmncli/diagnostics.py"),
    *("pkmncli/errors.py", "pkmncli/learners", "pkmncli/outgoing_text.py", "pkmncli/replay", "pkmncli/run_lock.py"),
    *("pkmncli/runs.py", "pkmncli/standard_streams.py", "pkmncli/testing", "pkmncli/video.py"),
    *("pkmncli/advice", "pkmncli/hybrid", "pkmncli/seeds.py", *map("pkmncli/llm/{}.py".format, LLM_FILES)),
    *("pkmncli/cli.py", "pkmncli/command_table.py", "pkmncli/commands", "pkmncli/config", "pkmncli/experiments"),
    *("pkmncli/exporting.py", "pkmncli/suggestions.py", "pkmncli/tuning", "pkmncli/training/compatibility.py"),
    *("pkmncli/training/from_objects.py", "pkmncli/training/hybrid_trainer.py", "pkmncli/training/run_settings.py"),
    *("benchmarks", "docs", "examples"),
)
"""Folders and files whose words are checked. Widen it when another room is rewritten."""

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
NOT_YET = ("architecture.md", "plugins.md", "reliability.md")
"""Guides that are still being rewritten."""

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


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in NOT_YET], ids=lambda page: page.name)
def test_guides_are_plain(page: Path) -> None:
    prose = NO_PROSE.sub("", page.read_text(encoding="utf-8"))
    assert [match[0] for turn in TURNS for match in re.finditer(turn, prose, re.IGNORECASE)] == []


def test_every_room_exists() -> None:
    assert [room for room in ROOMS if not files(room)] == []
