"""Labels of a run: the tags that a user gave it, and the names that it had before, in ``labels.json`` of its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from pkmncli.atomic_files import read_json, reason, write_json
from pkmncli.errors import RunError

LABELS_FILE = "labels.json"


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of a run, each in the order in which they were given."""

    tags: tuple[str, ...] = ()
    former_names: tuple[str, ...] = ()


def read_labels(folder: Path) -> Labels:
    """Return the labels of the run in a folder; none if it has no file.

    Raises:
        RunError: the file is damaged.
    """
    path = folder / LABELS_FILE
    try:
        content = read_json(path)
        lists = content["tags"], content["former_names"]
        if not all(isinstance(one, list) and all(isinstance(label, str) for label in one) for one in lists):
            raise TypeError("no list of texts")
    except FileNotFoundError:
        return Labels()
    except OSError as error:
        raise RunError(f"{path} can't be read: {reason(error)}") from None
    except (ValueError, KeyError, TypeError):
        raise RunError(f"{path} is damaged: delete it, and give the run its tags again") from None
    return Labels(*map(tuple, lists))


def change_labels(folder: Path, change: Callable[[Labels], Labels]) -> Labels:
    """Replace the labels of the run in a folder by what ``change`` makes of them, and return them.

    Raises:
        RunError: the file is damaged, or cannot be written.
    """
    labels = change(read_labels(folder))
    write_json(folder / LABELS_FILE, asdict(labels))
    return labels
