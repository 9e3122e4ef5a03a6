"""Log of a run: what the core sends to its loggers during the run, in a file of the run."""

from __future__ import annotations

import contextlib
import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import WatchedFileHandler

from pkmncli.atomic_files import reason
from pkmncli.diagnostics import say
from pkmncli.outgoing_text import printable, redact
from pkmncli.runs import Run


class _RunLog(WatchedFileHandler):
    """Handler that drops lines on a full disk without a report of each, and reopens its file where it was deleted."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, if there is a folder for it."""
        with contextlib.suppress(OSError):
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Say nothing: checkpoints and tables report a full disk."""


class _LogFormatter(logging.Formatter):
    """Formatter of log records without secrets, tracebacks included. What looks like another record is indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, and what else there is of it below."""
        return printable(redact(super().format(record))).replace("\n", "\n    ")


@contextmanager
def log_to(run: Run, level: str) -> Iterator[None]:
    """Write the log while entered, from a level on. If it can't be written, there is a message and no log."""
    root = logging.getLogger("pkmncli")
    try:
        if run.log_file.exists() and not run.log_file.is_file():
            raise OSError(errno.EINVAL, "Not a regular file")  # a pipe would wait for a reader
        handler: logging.Handler = _RunLog(run.log_file, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        say(f"{run.log_file} can't be written: {reason(error)}; this training has no log")
        handler = logging.NullHandler()
    handler.setFormatter(_LogFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    previous = root.level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(previous)
        with contextlib.suppress(OSError):  # a full disk is reported by what matters more than the log
            handler.close()
