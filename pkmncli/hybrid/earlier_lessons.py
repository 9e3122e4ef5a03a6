"""Lessons of earlier runs, from the file that `pkmn analyze-patterns --show advice --format json` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pkmncli.api.data_text import parse_json
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.lessons import Situation

VERSION = 1
"""Of the file. Newer ones are refused."""

_KNOWN = ("map", "phase", "battle", "opponent")
"""What tells situations apart here; lessons about anything finer, such as a tile, are not told."""

_TOLD = 4
"""Most lessons of one situation that a prompt has room for."""


class EarlierLessons:
    """What analysis found worth telling a language model, by situation."""

    def __init__(self, lines: Sequence[tuple[Mapping[str, int], str]] = ()) -> None:
        """Takes pairs of a situation's known parts and the line that is told there."""
        self._lines = list(lines)

    @classmethod
    def load(cls, path: Path) -> EarlierLessons:
        """Reads the file.

        Raises:
            ConfigurationError: it is missing, or not such a file.
        """
        try:
            content: Any = parse_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigurationError(f"The lessons {path} can't be read: {error.strerror}") from error
        except ValueError as error:
            raise ConfigurationError(f"The lessons {path} are no JSON: {error}. {_HOW}") from error
        version = content.get("version") if isinstance(content, dict) else None
        if not isinstance(version, int) or version > VERSION or not isinstance(content.get("advice"), list):
            raise ConfigurationError(f"The lessons {path} are not advice of this version. {_HOW}")
        return cls([line for one in content["advice"] if (line := _line(one)) is not None])

    def lines(self, situation: Situation) -> list[str]:
        """What is told of a situation."""
        here = {
            "map": situation.map_id,
            "phase": situation.phase,
            "battle": situation.battle,
            "opponent": situation.opponent,
        }
        return [text for parts, text in self._lines if all(here[part] == number for part, number in parts.items())][
            :_TOLD
        ]


_HOW = "Write them with: pkmn analyze-patterns RUN --show advice --format json > FILE"


def _line(entry: Any) -> tuple[dict[str, int], str] | None:
    """A line for the prompt; None for one that is for others, or about something finer than a situation."""
    if not isinstance(entry, dict) or entry.get("for") != "prompt" or not isinstance(entry.get("context"), dict):
        return None
    parts = {key: number for key, number in entry["context"].items() if isinstance(number, int)}
    if not parts or not set(parts) <= set(_KNOWN):
        return None
    return parts, f"{entry.get('text', '')} ({entry.get('evidence', '')})"
