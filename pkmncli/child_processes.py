"""What every process that a training starts needs: it is its parent's to end, and nothing of the main script's."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from types import ModuleType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""They often reach the whole group of processes, and are the parent's to handle."""


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


def ignore_signals() -> None:
    """For a process that was started with signals held: ignores them from now on."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


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
