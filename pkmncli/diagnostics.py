"""How problems are told on standard error: one line each, without secrets, with a traceback only when debugging."""

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
    """Whether tracebacks are wanted: ``--debug``, or ``PKMN_DEBUG`` set to anything but 0."""
    return os.environ.get(DEBUG_VARIABLE, "0") not in {"", "0"}


def enable_debug() -> None:
    """Turns tracebacks on, in this process and in those that it starts."""
    os.environ[DEBUG_VARIABLE] = "1"


def text_of(error: BaseException) -> str:
    """Return what an exception says; nothing where its own way to say it fails."""
    try:
        return str(error)
    except Exception:  # whatever a plugin's exception does there
        return ""


def one_line(error: BaseException) -> str:
    """An exception's kind and text on one line."""
    text = " ".join(text_of(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def say(message: str) -> None:
    """Write a message to standard error, secrets blanked out. Say nothing where there is no standard error."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # a script's that is closed or can't show a character
            sys.stderr.write(printable(redact(message)).rstrip("\n") + "\n")


def warn(message: str) -> None:
    """Says a message, also where a training is quiet, and keeps it in the run's log."""
    logging.getLogger(__name__).warning("%s", message)
    say(message)


def prints_aside() -> contextlib.redirect_stdout[Any]:
    """While entered, what is printed goes to standard error: a plugin's words are no part of a command's output."""
    return contextlib.redirect_stdout(sys.stderr)


def tell_result(text: str) -> None:
    """Print how a command ended; on standard error too, where standard output could not be written."""
    print(text, flush=True)
    if standard_streams.lost_output() is not None:
        say(text)


said_once: set[str] = set()
"""What :func:`say_once` has said in the command that runs."""


def say_once(message: str) -> None:
    """Writes a message to standard error, unless the running command has said it before."""
    if message not in said_once:
        said_once.add(message)
        say(message)
