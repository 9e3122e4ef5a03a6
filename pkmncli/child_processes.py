"""Set-up of all processes that a training starts: they end with their parent, and do not run the main script."""

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
"""Signals that request the end. They often reach the whole process group; only the parent handles them."""

_DIES_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Hold signals back, so that a process started meanwhile does not get one before it can ignore it."""
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
    """Set up a process that was started with signals held: it ignores them, and ends with its parent.

    Its output goes to standard error, because standard output belongs to the command. Failing to print never ends it.
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
    """Let the system end this process with its parent, in any case, even in an endless loop.

    On systems other than Linux, it ends when it next reads the pipe to its parent.
    """
    parent = parent_process()
    if sys.platform != "linux" or parent is None:
        return
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent.pid:  # the parent ended before this call
        os._exit(1)


def portable(error: BaseException) -> BaseException:
    """Return an error in a form that can be sent to another process.

    An error that cannot be pickled, for example of a class made in a function or with special arguments, is replaced by
    one with its text and exit code, of the class of :mod:`pkmncli.errors` from which it is derived.
    """
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # any error of a third party's class
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
    """Prevent processes that are started meanwhile from running the main script, which they do not need.

    Otherwise they would run it first, and a script that trains without ``if __name__ == "__main__"`` would train again
    in each of them.
    """
    with _one_at_a_time:  # the learner's thread and the trainer's may both start one
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
