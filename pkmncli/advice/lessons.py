"""Lessons for a prompt: results of the same advice before, in this run and in earlier ones.

Lessons of earlier runs come from a file of `pkmn analyze-patterns --show advice --format json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pkmncli.advice.worth import LEAST_TRIES, Results, Situation
from pkmncli.api.data_text import parse_json, read_given_text
from pkmncli.errors import ConfigurationError

VERSION = 1
"""Version of the file format. Newer ones are refused."""

_KNOWN = ("map", "phase", "battle", "opponent")
"""Parts that identify a situation; lessons about anything finer, such as a tile, are ignored."""

_MOST_OWN, _MOST_EARLIER = 3, 4
"""Maximum number of lessons about a situation in a prompt: of a kind from this run, and from earlier runs."""


def lesson_lines(results: Mapping[str, Results]) -> list[str]:
    """Return lessons of this run in words: advice that never brought a reward, then advice that brought most."""
    known = [(key, one) for key, one in results.items() if one.tries >= LEAST_TRIES]
    failed = sorted((pair for pair in known if not pair[1].wins), key=lambda pair: (-pair[1].tries, pair[0]))
    worked = sorted(
        (pair for pair in known if pair[1].wins), key=lambda pair: (-pair[1].reward / pair[1].tries, pair[0])
    )
    return [f"{key}: brought nothing here in {one.tries} tries" for key, one in failed[:_MOST_OWN]] + [
        f"{key}: brought something here in {one.wins} of {one.tries} tries" for key, one in worked[:_MOST_OWN]
    ]


class EarlierLessons:
    """Lessons of an analysis for the language model, by situation."""

    def __init__(self, lines: Sequence[tuple[Mapping[str, int], str]] = ()) -> None:
        """Take pairs of a situation's known parts and the line for its prompt."""
        self._lines = list(lines)

    @classmethod
    def load(cls, path: Path) -> EarlierLessons:
        """Read the file.

        Raises:
            ConfigurationError: it is missing, or is not such a file.
        """
        try:
            content: Any = parse_json(read_given_text(path))
        except OSError as error:
            raise ConfigurationError(f"The lessons {path} can't be read: {error.strerror}") from error
        except ValueError as error:
            raise ConfigurationError(f"The lessons {path} are not JSON: {error}. {_HOW}") from error
        version = content.get("version") if isinstance(content, dict) else None
        if not isinstance(version, int) or version > VERSION or not isinstance(content.get("advice"), list):
            raise ConfigurationError(f"The lessons {path} are not advice of this version. {_HOW}")
        return cls([line for one in content["advice"] if (line := _line(one)) is not None])

    def lines(self, situation: Situation) -> list[str]:
        """Return the lessons about a situation."""
        here = {
            "map": situation.map_id,
            "phase": situation.phase,
            "battle": situation.battle,
            "opponent": situation.opponent,
        }
        return [text for parts, text in self._lines if all(here[part] == number for part, number in parts.items())][
            :_MOST_EARLIER
        ]


_HOW = "Write them with: pkmn analyze-patterns RUN --show advice --format json > FILE"


def _line(entry: Any) -> tuple[dict[str, int], str] | None:
    """Return a line for the prompt; None for an entry that is not for it, or is finer than a situation."""
    if not isinstance(entry, dict) or entry.get("for") != "prompt" or not isinstance(entry.get("context"), dict):
        return None
    parts = {key: number for key, number in entry["context"].items() if isinstance(number, int)}
    if not parts or not set(parts) <= set(_KNOWN):
        return None
    return parts, f"{entry.get('text', '')} ({entry.get('evidence', '')})"
