"""A program in a terminal of its own: what it shows, what is typed, and whether the terminal is as it was."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The program's terminal has to be the one that controls it, so that Ctrl-C reaches it.
_PKMN = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from pkmncli.cli import main
sys.exit(main())
"""
PAGES_WITHOUT_ANSWER = 30
"""A page is drawn for each of some frames, so keys are typed again after about three seconds."""

_PLACED = re.compile(r"\x1b\[\d+;1H")
_CODES = re.compile(r"\x1b[\[O][0-9;?]*[@-~]")


class TerminalSession:
    """``pkmn`` in a terminal of 80 columns and 24 rows."""

    def __init__(self, arguments: list[str], folder: Path, size: tuple[int, int] = (80, 24)) -> None:
        self.master, self.slave = os.openpty()
        self.resize(*size)
        self.mode_before: list[Any] = termios.tcgetattr(self.slave)
        environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "SDL_VIDEODRIVER")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PKMN, *arguments],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        self.output = ""
        self._seen = 0

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        """Types keys. Only what is shown from now on is seen by :meth:`wait_for`."""
        self._read_what_is_there()
        self._seen = len(self.output)
        os.write(self.master, keys.encode())

    def type_until(self, keys: str, pattern: str) -> re.Match[str]:
        """Types keys, and again after some pages without an answer: a title may not listen yet."""
        while True:
            self.type(keys)
            for _page in range(PAGES_WITHOUT_ANSWER):
                found = self._look_for(pattern)
                if found is not None:
                    return found

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Waits until the program shows something: each piece that it puts somewhere is a line, without codes."""
        while True:
            found = self._look_for(pattern)
            if found is not None:
                return found

    def _look_for(self, pattern: str) -> re.Match[str] | None:
        """Looks, and reads on where there is nothing yet. The test's own time is all that limits how often."""
        found = re.search(pattern, self.new_text)
        if found is None and not self._read():
            raise AssertionError(f"never shown: {pattern}; the last was: {self.new_text[-2000:]}")
        return found

    @property
    def new_text(self) -> str:
        return _CODES.sub("", _PLACED.sub("\n", self.output[self._seen :]))

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        """Waits until the program ends, and returns its exit code."""
        while self._read():
            pass
        return self.process.wait()

    def assert_restored(self) -> None:
        """The terminal is in its mode of before, shows its own page and a cursor."""
        assert termios.tcgetattr(self.slave) == self.mode_before
        assert self.output.rindex("\x1b[?1049l") > self.output.rindex("\x1b[?1049h")
        assert self.output.rindex("\x1b[?25h") > self.output.rindex("\x1b[?25l")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for descriptor in (self.master, self.slave):
            os.close(descriptor)

    def _read(self) -> bool:
        """Takes in what was shown. False where nothing will come any more."""
        running = self.process.poll() is None
        if not select.select([self.master], [], [], 0.1 if running else 0.0)[0]:
            return running
        self.output += os.read(self.master, 65536).decode(errors="replace")
        return True

    def _read_what_is_there(self) -> None:
        while select.select([self.master], [], [], 0)[0]:
            self.output += os.read(self.master, 65536).decode(errors="replace")


@contextlib.contextmanager
def terminal_session(arguments: list[str], folder: Path, size: tuple[int, int] = (80, 24)) -> Iterator[TerminalSession]:
    """``pkmn`` with these arguments, ended after the test whatever happened."""
    session = TerminalSession(arguments, folder, size)
    try:
        yield session
    finally:
        session.close()
