"""Messages on standard error: one line for each problem, without secrets, with a traceback only when debugging."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import Any

from pkmncli import standard_streams
from pkmncli.outgoing_text import printable, redact

DEBUG_VARIABLE = "PKMN_DEBUG"


def debug_enabled() -> bool:
    """Return whether tracebacks are wanted: ``--debug``, or ``PKMN_DEBUG`` set to anything but 0."""
    return os.environ.get(DEBUG_VARIABLE, "0") not in {"", "0"}


def enable_debug() -> None:
    """Turn tracebacks on, in this process and in those that it starts."""
    os.environ[DEBUG_VARIABLE] = "1"


def text_of(error: BaseException) -> str:
    """Return the text of an exception; empty if its ``__str__`` fails."""
    try:
        return str(error)
    except Exception:  # any error of a plugin's exception class
        return ""


def one_line(error: BaseException) -> str:
    """Return an exception's class and text on one line."""
    text = " ".join(text_of(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def say(message: str) -> None:
    """Write a message to standard error without secrets; do nothing if there is no standard error."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # a script's stream that is closed or lacks a character
            sys.stderr.write(printable(redact(message)).rstrip("\n") + "\n")


def warn(message: str) -> None:
    """Write a message, also in a quiet training, and keep it in the run's log."""
    logging.getLogger(__name__).warning("%s", message)
    say(message)


def prints_aside() -> contextlib.redirect_stdout[Any]:
    """Redirect printed text to standard error: a plugin's text is not part of a command's output."""
    return contextlib.redirect_stdout(sys.stderr)


def tell_result(text: str) -> None:
    """Print the result of a command; also on standard error if standard output could not be written."""
    print(text, flush=True)
    if standard_streams.lost_output() is not None:
        say(text)


said_once: set[str] = set()
"""Messages of :func:`say_once` in the running command."""


def say_once(message: str) -> None:
    """Write a message to standard error, unless the running command has written it before."""
    if message not in said_once:
        said_once.add(message)
        say(message)
