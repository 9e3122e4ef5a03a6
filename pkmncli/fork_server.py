"""Set-up of the server that worker processes are forked from. It imports this module first, then those of the workers.

Output of imports goes to standard error, as in a worker. A server that fails prints nothing: workers then start without
it, and report the error.
"""

from __future__ import annotations

import sys

from pkmncli.child_processes import begin_child
from pkmncli.outgoing_text import guard_output

if any("multiprocessing.forkserver" in argument for argument in sys.orig_argv):
    begin_child()
    guard_output()
    sys.excepthook = lambda *_error: None
