"""How problems are told on standard error: one line each, without secrets, with a traceback only when debugging."""

from __future__ import annotations

import logging
import os
import sys

from pkmncli.outgoing_text import printable, redact

DEBUG_VARIABLE = "PKMN_DEBUG"


def debug_enabled() -> bool:
    """Whether tracebacks are wanted: ``--debug``, or ``PKMN_DEBUG`` set to anything but 0."""
    return os.environ.get(DEBUG_VARIABLE, "0") not in {"", "0"}


def enable_debug() -> None:
    """Turns tracebacks on, in this process and in those that it starts."""
    os.environ[DEBUG_VARIABLE] = "1"


def one_line(error: BaseException) -> str:
    """An exception's kind and text on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def say(message: str) -> None:
    """Write a message to standard error, secrets blanked out. Say nothing where there is no standard error."""
    if sys.stderr is not None:
        sys.stderr.write(printable(redact(message)).rstrip("\n") + "\n")


def warn(message: str) -> None:
    """Says a message, also where a training is quiet, and keeps it in the run's log."""
    logging.getLogger(__name__).warning("%s", message)
    say(message)
