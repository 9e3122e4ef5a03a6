"""Set-up of all processes that a training starts: how they begin, and that they end with their parent."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import wait
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pkmncli import standard_streams
from pkmncli.diagnostics import one_line, text_of
from pkmncli.errors import PkmnError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGBREAK")
SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""Signals that request the end. They often reach the whole process group; only the parent handles them."""

NAME_PREFIX = "pkmn-"
"""Beginning of the names of processes that :func:`start_forked` starts."""


def start_forked(
    target: Callable[..., object], arguments: tuple[Any, ...], *, name: str, preload: Sequence[str]
) -> BaseProcess:
    """Start a daemon process, on Linux as a fork of a server that has imported the modules of ``preload`` once.

    On other systems, where a fork is not safe, it is a new interpreter; so it is if the server cannot start or cannot
    import the modules. The first call in a process decides what the server imports.

    Raises:
        OSError: the system allows no further process or file.
    """
    if sys.platform == "linux":
        context = get_context("forkserver")
        context.set_forkserver_preload(["pkmncli.fork_server", *preload])
        process = context.Process(target=target, args=arguments, name=name, daemon=True)
        with contextlib.suppress(OSError, EOFError), signals_held(), main_module_left_out():
            process.start()
            return process
    spawned = get_context("spawn").Process(target=target, args=arguments, name=name, daemon=True)
    with signals_held(), main_module_left_out():
        spawned.start()
    return spawned


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
    sys.excepthook = sys.__excepthook__


def _die_with_parent() -> None:
    """Let the system end this process with its parent, in any case, even in an endless loop.

    On systems other than Linux, it ends when it next reads the pipe to its parent.
    """
    parent = parent_process()
    if sys.platform != "linux" or parent is None:
        return
    import fcntl  # noqa: PLC0415 - not everywhere

    # The kernel sends a signal when the other end of this pipe closes; PR_SET_PDEATHSIG would wait for the fork server.
    sentinel = parent.sentinel
    with contextlib.suppress(OSError):  # another kernel that calls itself Linux
        fcntl.fcntl(sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([sentinel], 0):  # the parent ended before
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
