"""Set-up of the server that worker processes are forked from. It imports this module first, then those of the workers.

Output of imports goes to standard error, as in a worker. A server that fails prints nothing: workers then start without
it, and report the error.
"""

from __future__ import annotations

import os
import signal
import sys

from pkmncli.child_processes import SIGNALS, begin_child
from pkmncli.outgoing_text import guard_output


def _undo(standard_output: int) -> None:
    """Undo the set-up in a forked process, which may be one of the user's script. A worker does it again by itself."""
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.dup2(standard_output, 1)


if any("multiprocessing.forkserver" in argument for argument in sys.orig_argv):
    _standard_output = os.dup(1)
    begin_child()
    guard_output()
    sys.excepthook = lambda *_error: None
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the server itself sets it, and restores this in forks
    os.register_at_fork(after_in_child=lambda: _undo(_standard_output))
