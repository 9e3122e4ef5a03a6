"""Names for the numbers in recorded decisions: maps, species, phases, actions, sources and outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pkmncli.api import Action, Consequence, Source

NAMES_FILE = "names.json"
"""File of a run: ``{"maps": {"6148": "New Bark Town"}, "species": {"158": "Totodile"}, "phases": ["..."]}``."""

ACTION_NAMES = {int(action): action.name.lower() for action in Action}
SOURCE_NAMES = {int(source): source.name.lower() for source in Source}
OUTCOME_NAMES = {int(outcome): outcome.name.lower() for outcome in Consequence}
SOURCES_IN_WORDS = {"rl": "the learner", "explore": "exploration", "rule": "the rules", "llm": "the language model"}
"""Names of the sources of decisions, in a sentence."""

BATTLE_NAMES = {0: "none", 1: "wild", 2: "trainer"}

_FILE_KEYS = {"maps": "map", "species": "opponent", "phases": "phase"}
_MAPS_PER_GROUP = 256


@dataclass(frozen=True, slots=True)
class Names:
    """Names of values for each kind of number (map, opponent, phase, battle, action, source)."""

    kinds: Mapping[str, Mapping[int, str]] = field(
        default_factory=lambda: {
            "action": ACTION_NAMES,
            "source": SOURCE_NAMES,
            "battle": BATTLE_NAMES,
            "outcome": OUTCOME_NAMES,
        }
    )

    def of(self, kind: str, number: int) -> str:
        """Return the name of a number. A map without a name is written as group.number, others as the number."""
        if kind == "previous":
            return ACTION_NAMES.get(number - 1, "nothing yet")
        known = self.kinds.get(kind, {})
        if number in known:
            return known[number]
        return f"{number // _MAPS_PER_GROUP}.{number % _MAPS_PER_GROUP}" if kind == "map" else str(number)

    def number(self, kind: str, name: str) -> int | None:
        """Return the number with this name, in any case; None if there is none."""
        wanted = name.casefold()
        return next((number for number, known in self.kinds.get(kind, {}).items() if known.casefold() == wanted), None)


def load_names(folders: Iterable[Path]) -> Names:
    """Return the names in the folders of these runs. If two runs differ about a number, it has no name."""
    kinds: dict[str, dict[int, str]] = {"map": {}, "opponent": {}, "phase": {}}
    disputed: set[tuple[str, int]] = set()
    for folder in folders:
        for kind, number, name in _read(folder / NAMES_FILE):
            if kinds[kind].setdefault(number, name) != name:
                disputed.add((kind, number))
    for kind, number in disputed:
        del kinds[kind][number]
    return Names({**Names().kinds, **kinds})


def _read(path: Path) -> Iterable[tuple[str, int, str]]:
    # Names only make a report readable: without them, or with damaged ones, it shows numbers.
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None  # a pipe never ends
    except (OSError, ValueError, RecursionError):
        return
    for key, kind in _FILE_KEYS.items():
        entries = content.get(key) if isinstance(content, dict) else None
        if isinstance(entries, list):
            entries = dict(enumerate(entries))
        for number, name in entries.items() if isinstance(entries, dict) else ():
            if str(number).isdecimal():
                yield kind, int(number), str(name)
