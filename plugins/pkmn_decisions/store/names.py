"""Names for the numbers in recorded decisions: maps, species, phases, actions, sources and outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pkmncli.api import REMEMBERED_ACTIONS, Consequence, Source, default_action_names

NAMES_FILE = "names.json"
"""File of a run: ``{"maps": {"6148": "New Bark Town"}, "species": {"158": "Totodile"}, "phases": ["..."]}``; also
``actions`` and ``battles``."""

DEFAULT_ACTIONS = dict(enumerate(default_action_names().names))
"""Names of actions in a recording that names none: by hand, or by an earlier version."""
SOURCE_NAMES = {int(source): source.name.lower() for source in Source}
OUTCOME_NAMES = {int(outcome): outcome.name.lower() for outcome in Consequence}
SOURCES_IN_WORDS = {"rl": "the learner", "explore": "exploration", "rule": "the rules", "llm": "the language model"}
"""Names of the sources of decisions, in a sentence."""

_NO_BATTLE = {0: "none"}
_DEFAULT_BATTLES = {**_NO_BATTLE, 1: "wild", 2: "trainer"}
"""Kinds of battle in a run with the default actions that names none."""

_FILE_KEYS = {"maps": "map", "species": "opponent", "phases": "phase", "actions": "action", "battles": "battle"}
_MAPS_PER_GROUP = 256


@dataclass(frozen=True, slots=True)
class Names:
    """Names of values for each kind of number (map, opponent, phase, battle, action, source)."""

    kinds: Mapping[str, Mapping[int, str]] = field(
        default_factory=lambda: {
            "action": DEFAULT_ACTIONS,
            "source": SOURCE_NAMES,
            "battle": _DEFAULT_BATTLES,
            "outcome": OUTCOME_NAMES,
        }
    )

    def of(self, kind: str, number: int) -> str:
        """Return the name of a number; without one, a map is ``group.number``, an action ``action_5``, others ``5``."""
        if kind == "previous":
            return "nothing yet" if number < 0 else self.of("action", number)
        known = self.kinds.get(kind, {})
        if number in known:
            return known[number]
        if kind == "action":
            return f"action_{number}"
        grouped = kind == "map" and number >= _MAPS_PER_GROUP
        return f"{number // _MAPS_PER_GROUP}.{number % _MAPS_PER_GROUP}" if grouped else str(number)

    def number(self, kind: str, name: str) -> int | None:
        """Return the number with this name, in any case; None if there is none."""
        wanted = name.casefold()
        return next((number for number, known in self.kinds.get(kind, {}).items() if known.casefold() == wanted), None)


_COLUMNS = {
    **{name: name for name in ("action", "source", "outcome", "phase", "battle", "opponent")},
    **{f"previous_{back}": "previous" for back in range(1, REMEMBERED_ACTIONS + 1)},
    "map_id": "map",
    "alternative": "action",
}
"""Columns of the tables whose numbers have names, with their kind."""


def with_names_of_numbers(
    columns: Sequence[str], rows: Sequence[tuple[Any, ...]], names: Names
) -> list[tuple[Any, ...]]:
    """Return rows of a query with names in place of the numbers in columns of the tables, such as ``source``."""
    kinds = [_COLUMNS.get(column) for column in columns]
    return [
        tuple(
            names.of(kind, value) if kind and isinstance(value, int) and not isinstance(value, bool) else value
            for kind, value in zip(kinds, row, strict=True)
        )
        for row in rows
    ]


def load_names(folders: Iterable[Path]) -> Names:
    """Return the names in the folders of these runs. If two runs differ about a number, it has no name."""
    kinds: dict[str, dict[int, str]] = {kind: {} for kind in _FILE_KEYS.values()}
    disputed: set[tuple[str, int]] = set()
    for folder in folders:
        for kind, known in _read(folder / NAMES_FILE).items():
            for number, name in known.items():
                if kinds[kind].setdefault(number, name) != name:
                    disputed.add((kind, number))
    for kind, number in disputed:
        del kinds[kind][number]
    return Names({**Names().kinds, **kinds})


def _read(path: Path) -> dict[str, dict[int, str]]:
    # Names only make a report readable: without them, or with damaged ones, it shows numbers.
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}  # a pipe never ends
    except (OSError, ValueError, RecursionError):
        content = {}
    found: dict[str, dict[int, str]] = {}
    for key, kind in _FILE_KEYS.items():
        entries = content.get(key) if isinstance(content, dict) else None
        if isinstance(entries, list):
            entries = dict(enumerate(entries))
        if isinstance(entries, dict):
            found[kind] = {int(number): str(name) for number, name in entries.items() if str(number).isdecimal()}
    actions = found.setdefault("action", DEFAULT_ACTIONS)
    found.setdefault("battle", _DEFAULT_BATTLES if actions == DEFAULT_ACTIONS else _NO_BATTLE)
    return found
