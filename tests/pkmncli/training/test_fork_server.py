"""The server of forks that workers come from serves a script's other processes as Python's own does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux alone")

SCRIPT = """
import multiprocessing, signal, sys, time

from support.worker_pools import make_spec
from pkmncli.training.workers.pool import WorkerPool


def say(event):
    print("on standard output", signal.getsignal(signal.SIGTERM), flush=True)
    event.set()
    time.sleep(600)


if __name__ == "__main__":
    with WorkerPool(make_spec(1)):
        context = multiprocessing.get_context("forkserver")
        event = context.Event()
        process = context.Process(target=say, args=(event,))
        process.start()
        event.wait()
        process.terminate()
        process.join()
        print(process.exitcode)
"""


KILLED = """
import os, signal

from support.worker_pools import make_spec
from pkmncli.training.workers.pool import WorkerPool

if __name__ == "__main__":
    with WorkerPool(make_spec(1)):
        print(*os.listdir(os.environ["TMPDIR"]), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def run_script(content: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script to its end and that of the server, which holds the pipe of its errors."""
    script = folder / "script.py"
    script.write_text(content)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(folder)}
    return subprocess.run([sys.executable, script], capture_output=True, text=True, env=environ, check=False)


@pytest.mark.long
def test_a_killed_trainer_leaves_no_temporary_folder(tmp_path: Path) -> None:
    ended = run_script(KILLED, tmp_path)
    assert (ended.returncode, "pymp-" in ended.stdout) == (-9, True), ended.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "script.py"]


@pytest.mark.long
def test_another_forked_process_of_a_script_prints_and_ends_as_usual(tmp_path: Path) -> None:
    ended = run_script(SCRIPT, tmp_path)
    assert ended.stdout.splitlines() == ["on standard output 0", "-15"], ended.stderr
