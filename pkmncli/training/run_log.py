"""The run's log: what the core tells its loggers while the run goes on, in a file of the run."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from pkmncli.outgoing_text import printable, redact
from pkmncli.runs import Run


class _RunLog(logging.FileHandler):
    """Loses lines when the disk is full, instead of telling about each."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Says nothing: checkpoints and tables report a full disk."""


class _LogFormatter(logging.Formatter):
    """Formats log records without secrets, tracebacks included. What looks like another record is indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, and what else there is of it below."""
        return printable(redact(super().format(record))).replace("\n", "\n    ")


@contextmanager
def log_to(run: Run, level: str) -> Iterator[None]:
    """Writes the log while it is entered, from a level on."""
    root = logging.getLogger("pkmncli")
    handler = _RunLog(run.log_file, encoding="utf-8")
    handler.setFormatter(_LogFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    previous = root.level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(previous)
        with contextlib.suppress(OSError):  # a full disk is told by what matters more than the log
            handler.close()
