"""Set-up of the server that worker processes are forked from. It imports this module first, then those of the workers.

Output of imports goes to standard error, as in a worker. A server that fails prints nothing: workers then start without
it, and report the error.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import signal
import socket
import sys
from multiprocessing import current_process
from multiprocessing.util import register_after_fork
from pathlib import Path

from pkmncli.child_processes import NAME_PREFIX, SIGNALS, begin_child
from pkmncli.outgoing_text import guard_output

assert sys.platform != "win32"  # the type checker's: no fork server is started there


def _undo(standard_output: int) -> None:
    """Undo the set-up in a forked process, which may be one of the user's script. A worker does it again by itself.

    Signals stay held back, as in the server, until it is known which of the two it is.
    """
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.dup2(standard_output, 1)


def _let_signals_through(_module: object) -> None:
    """Let signals through to a process of the user's script. A worker first ignores them."""
    if not current_process().name.startswith(NAME_PREFIX):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _remove_listener(address: str) -> None:
    """Remove the server's socket and its folder ``pymp-...``, which a trainer that was killed leaves behind."""
    with contextlib.suppress(OSError):
        Path(address).unlink()
        Path(address).parent.rmdir()


def _remove_listener_at_exit(descriptor: int) -> None:
    """Remove the server's socket when this process, which has it at this file descriptor, ends. Forks have no exit."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as listener:
        if isinstance(address := listener.getsockname(), str):  # an abstract one is no file
            atexit.register(_remove_listener, address)


_started_with = [re.search(r"multiprocessing\.forkserver.*\bmain\((\d+)", argument) for argument in sys.orig_argv]
if server := next(filter(None, _started_with), None):
    _remove_listener_at_exit(int(server[1]))
    _standard_output = os.dup(1)
    begin_child()
    guard_output()
    sys.excepthook = lambda *_error: None
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the server itself sets it, and restores this in forks
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    os.register_at_fork(after_in_child=lambda: _undo(_standard_output))
    register_after_fork(sys.modules[__name__], _let_signals_through)
