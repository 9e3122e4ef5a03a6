"""Common needs of all processes that a training starts: it is its parent's to end, and nothing of the main script's."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing import parent_process, resource_tracker
from types import ModuleType

from pkmncli import standard_streams
from pkmncli.diagnostics import one_line, text_of
from pkmncli.errors import PkmnError

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
"""They ask for an end. They often reach the whole group of processes, and are the parent's to handle."""

_DIES_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """While entered, signals wait; a process started meanwhile is not hit by one before it can ignore them."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # starting a process would start it, and let signals through from then on
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_child() -> None:
    """Settle a process that was started with signals held: it ignores them, and ends with its parent.

    What it prints goes to standard error, since a command's output is its own, and nothing that it can't print ends it.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    _die_with_parent()
    with contextlib.suppress(OSError):  # there is no standard error
        os.dup2(2, 1)
    standard_streams.install()


def _die_with_parent() -> None:
    """Has the system end this process with its parent, however that ends, even where it is in an endless loop.

    Elsewhere than on Linux, it ends when it next looks at the pipe to its parent.
    """
    parent = parent_process()
    if sys.platform != "linux" or parent is None:
        return
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent.pid:  # it ended before it was asked for
        os._exit(1)


def portable(error: BaseException) -> BaseException:
    """Return the error as it can be sent to another process.

    One that can't be pickled, as of a class made in a function or with arguments of its own, becomes what it says, of
    the class of :mod:`pkmncli.errors` that it is one of, with its exit code.
    """
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever a third party's error raises then
        kind = next((one for one in type(error).__mro__ if one.__module__ == PkmnError.__module__), None)
        if not isinstance(error, PkmnError) or kind is None:
            return RuntimeError(one_line(error))
        found: PkmnError = kind(text_of(error) or type(error).__name__)
        found.exit_code = error.exit_code
        return found
    return error


_one_at_a_time = threading.Lock()


@contextlib.contextmanager
def main_module_left_out() -> Iterator[None]:
    """While entered, a process that is started does not run the main script, which it needs nothing of.

    They would run it before anything else, and a script that trains without ``if __name__ == "__main__"`` would train
    in each of them again.
    """
    with _one_at_a_time:  # the learner's thread and the trainer's may both start one
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
