"""Runs ``pkmn`` and kills it at an exact moment: ``python crash.py EVENT PATH COUNT -- ARGUMENTS``.

EVENT is one of Python's audit events on files (``os.mkdir``, ``os.rename``, ``shutil.rmtree``, ``open``); the process
dies just before it does that for the COUNT-th time to something with PATH in its name. Rows go to disk every few
steps, so that there are always some past the last checkpoint.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

STEPS_BETWEEN_FLUSHES = 15
LEARN_IN_A_PROCESS = "TEST_LEARN_IN_A_PROCESS"


def die_at(event: str, path: str, count: int) -> None:
    left = count

    def watch(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if name == event and any(path in str(argument) for argument in arguments):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def flush_often() -> None:
    from pkmncli.training.recording.recorder import Recorder  # noqa: PLC0415

    calls = 0

    def begin_flush(recorder: Recorder) -> None:
        nonlocal calls
        calls += 1
        if calls % STEPS_BETWEEN_FLUSHES == 0:
            recorder.flush()

    Recorder.flush_is_due = True  # type: ignore[assignment, method-assign]
    Recorder.begin_flush = begin_flush  # type: ignore[method-assign]


def learn_in_a_process() -> None:
    """From the second update on, waiting until the process has started."""
    from pkmncli.learners import learning_process  # noqa: PLC0415

    ready = learning_process.LearningProcess.ready

    def waits(process: Any) -> bool:
        process.connection.poll(None)
        return ready(process)

    learning_process.MOVES_AFTER_SECONDS = 0.0
    learning_process.LearningProcess.ready = waits  # type: ignore[method-assign]


if __name__ == "__main__":
    from pkmncli import cli

    flush_often()
    if os.environ.get(LEARN_IN_A_PROCESS):
        learn_in_a_process()
    die_at(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.exit(cli.run(sys.argv[5:]))
