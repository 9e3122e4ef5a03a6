"""Processes of ``pkmn`` that begin with its imports done, which take two seconds of the processor each time.

A server, one for each process of tests, has made the imports and forks. What it forks is an ordinary process of Python:
signals, exit code, standard streams, environment and working directory are those of ``python -m pkmncli``.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

PKMN = "pkmncli"
IMPORTS = ("duckdb", "pkmncli.commands.train", "pkmncli.training.session", "pkmn_dqn.learner",
           "pkmn_decisions.store.store", "pkmn_pyboy.environment", "tensorboardX")  # fmt: skip

_asking = threading.Lock()


class WarmProcess:
    """A process of ``pkmn``, with the members of :class:`subprocess.Popen` that tests use.

    Args:
        arguments: those of ``pkmn``, or of the script.
        cwd: its working directory.
        script: a file to run in place of ``pkmn``.
        env: its environment, by default that of this process.
        to: a file that takes its standard output and error, in place of pipes.
    """

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        script: Path | None = None,
        env: dict[str, str] | None = None,
        to: tuple[IO[bytes] | None, IO[bytes] | None] = (None, None),
    ) -> None:
        self.returncode: int | None = None
        request = {
            "argv": [str(script or PKMN), *arguments],
            "script": script is not None,
            "cwd": str(cwd),
            "env": dict(os.environ if env is None else env),
        }
        (out, their_out), (error, their_error), (self._ended, their_end) = os.pipe(), os.pipe(), os.pipe()
        theirs = [their_out, their_error, their_end]
        streams = [pipe if file is None else file.fileno() for pipe, file in zip(theirs, to, strict=False)]
        with _asking:
            server = _server()
            socket.send_fds(server, [json.dumps(request).encode()], [*streams, their_end])
            self.pid = int(server.recv(32))
        for descriptor in theirs:
            os.close(descriptor)
        self.stdout: IO[str] = os.fdopen(out, encoding="utf-8", errors="replace")
        self.stderr: IO[str] = os.fdopen(error, encoding="utf-8", errors="replace")

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, negative for a signal. Raise subprocess.TimeoutExpired after ``timeout`` seconds."""
        if self.returncode is None:
            found, _, _ = select.select([self._ended], [], [], timeout)
            if not found:
                raise subprocess.TimeoutExpired(PKMN, timeout or 0)
            self.returncode = int(os.read(self._ended, 32))
            os.close(self._ended)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return what it writes until its end, to standard output and to standard error."""
        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.append(self.stderr.read()))
        reader.start()
        out = self.stdout.read()
        reader.join()
        self.stdout.close()
        self.stderr.close()
        self.wait(timeout)
        return out, errors[0]

    def __enter__(self) -> WarmProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stderr.close()
        self.wait()


@functools.cache
def _server() -> socket.socket:
    """Start the server of this process; it ends with its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-B", __file__, str(theirs.fileno())]
        server = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )

    @atexit.register
    def end() -> None:
        ours.close()
        server.wait()

    return ours


def _serve(asked: socket.socket) -> dict[str, Any] | None:
    """Fork for each request. Return the request in the forked process, and None in the server at its end."""
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ends: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([asked, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            for process_id in list(ends):
                found, status = os.waitpid(process_id, os.WNOHANG)
                if found:
                    end = ends.pop(process_id)
                    os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
                    os.close(end)
        if asked in ready:
            message, descriptors, _, _ = socket.recv_fds(asked, 1 << 18, 3)
            if not message:
                return None
            out, error, end = descriptors
            process_id = os.fork()
            if process_id:
                os.close(out)
                os.close(error)
                ends[process_id] = end
                asked.send(str(process_id).encode())
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.dup2(out, 1)
            os.dup2(error, 2)
            for descriptor in (*ends.values(), *descriptors):
                os.close(descriptor)
            for one in (asked, woken, waker):
                one.close()
            request: dict[str, Any] = json.loads(message)
            return request


if __name__ == "__main__":
    for name in IMPORTS:
        __import__(name)
    begun = _serve(socket.socket(fileno=int(sys.argv[1])))
    if begun is not None:
        os.environ.clear()
        os.environ.update(begun["env"])
        os.chdir(begun["cwd"])
        sys.argv = begun["argv"]
        path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[1:1] = [folder for folder in path if folder and folder not in sys.path]
        if begun["script"]:
            sys.path[0] = str(Path(sys.argv[0]).parent)
            runpy.run_path(sys.argv[0], run_name="__main__")
        else:
            sys.path[0] = begun["cwd"]
            runpy.run_module(PKMN, run_name="__main__", alter_sys=True)
