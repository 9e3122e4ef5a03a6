"""Reports of the pilots of a run: a file for each, and the reading of them."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pkmncli.atomic_files import read_json, reason, write_json
from pkmncli.diagnostics import one_line
from pkmncli.errors import RunError
from pkmncli.outgoing_text import redacted
from pkmncli.version import __version__

MOST_REPORTS = 200
"""Files of a run."""
TELL_EVERY = 50
"""Reports, from one line that counts them to the next."""
MOST_BYTES = 256 * 1024
"""Maximum size of a report; a larger one is left out."""

_NAME = re.compile(r"environment-(\d+)-episode-(\d+)-(\d+)\.json")

logger = logging.getLogger(__name__)


class ReportWriter:
    """Writer of reports into a folder, whole or not at all.

    A report is known by its environment, its episode and its number: a later state of it replaces the earlier one, so a
    run that resumes from a checkpoint, or plays an episode again, writes the same files.

    Args:
        folder: made with the first report.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.count = 0
        """Reports that there were when one was last written, those of earlier trainings included."""
        self.full = False
        """True if a report was left out because the run has its maximum number."""

    def write(self, environment: int, episode: int, report: Mapping[str, Any]) -> bool:
        """Write a report, unless it is too large or there are too many: the first ones stay.

        Args:
            environment: which one it is of.
            episode: number of its episode.
            report: plain values, with its ``number`` in the episode.

        Returns:
            Whether it is one that was not there before, and kept.
        """
        path = self._folder / f"environment-{environment}-episode-{episode}-{int(report.get('number', 0))}.json"
        content = {"pkmncli": __version__, "environment": environment, "episode": episode, **redacted(report)}
        size = len(json.dumps(content, default=str))
        if size > MOST_BYTES:
            logger.warning("a report of %d bytes is left out: %s", size, path.name)
            return False
        self._folder.mkdir(exist_ok=True)
        new, self.count = not path.exists(), len(list(self._folder.glob("*.json")))
        if new and self.count >= MOST_REPORTS:
            self.full = True
            return False
        write_json(path, content)
        self.count += new
        return new


class ReportKeeper:
    """Keeper of pilots' reports, which says so: at the first one, then seldom, and where no more are kept.

    Reports that can't be written are mentioned once, and end no training.

    Args:
        folder: where they are kept.
        tell: says a line.
        how_to_read: the command that shows them.
    """

    def __init__(self, folder: Path, tell: Callable[[str], None], how_to_read: str) -> None:
        self._writer = ReportWriter(folder)
        self._tell, self._how_to_read = tell, how_to_read
        self._told: set[str] = set()

    def keep(self, environment: int, episode: int, report: Mapping[str, Any]) -> None:
        """Take in a report; see :meth:`ReportWriter.write`."""
        try:
            new = self._writer.write(environment, episode, report)
        except (OSError, RunError) as error:
            logger.warning("a report was not kept: %s", one_line(error))
            self._tell_once("failed", f"What pilots report can't be kept, and the training goes on without: {error}")
            return
        if new:
            self._tell_once(
                "first", f"Environment {environment}'s pilot reports where it stands; read it with: {self._how_to_read}"
            )
            if self._writer.count % TELL_EVERY == 0:
                self._tell(f"Pilots have made {self._writer.count} reports; read the latest with: {self._how_to_read}")
        if self._writer.full:
            self._tell_once("full", f"Pilots report more, and no more than {MOST_REPORTS} of a run are kept.")

    def _tell_once(self, which: str, text: str) -> None:
        if which not in self._told:
            self._told.add(which)
            self._tell(text)


def read_reports(folder: Path) -> list[dict[str, Any]]:
    """Return the reports in a folder, by environment, episode and number; empty without any.

    Raises:
        RunError: one of them is damaged, or can't be read.
    """
    found = []
    for path in _files(folder):
        name = _NAME.fullmatch(path.name)
        if name is not None:
            found.append(([int(part) for part in name.groups()], {**_read(path), "file": str(path)}))
    return [content for _, content in sorted(found, key=lambda one: one[0])]


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"{folder} can't be read: {error.strerror}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
    except OSError as error:
        raise RunError(f"{path} can't be read: {reason(error)}") from None
    except ValueError:
        raise RunError(f"{path} is damaged") from None
    if not _is_report(content):
        raise RunError(f"{path} is damaged")
    return content


def _is_report(content: Any) -> bool:
    """Return whether a report has the required entries."""
    if not isinstance(content, dict):
        return False
    numbers = (content.get("environment"), content.get("episode"), content.get("number", 0))
    words, tried, helped = content.get("words", []), content.get("tried", []), content.get("helped")
    return (
        all(isinstance(number, int) for number in numbers)
        and isinstance(words, list)
        and all(isinstance(line, str) for line in words)
        and isinstance(tried, list)
        and all(
            isinstance(one, dict) and isinstance(one.get("remedy"), str) and isinstance(one.get("step"), int)
            for one in tried
        )
        and (helped is None or isinstance(helped, str))
    )
