"""Fast short messages between a process and its child.

A step is two messages of a few bytes, some thousand times a second. Each takes one system call to send and one or two
to receive, fewer than a general pipe. The format is that of :mod:`multiprocessing`'s connections, which carry handles
as well.
"""

from __future__ import annotations

import os
import select
import struct
import sys
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import Pipe, reduction
from typing import NamedTuple

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection as Connection
else:
    from multiprocessing.connection import Connection

__all__ = ["LOOK_SECONDS", "Channel", "Connection", "Ends", "GeneralChannel"]

LOOK_SECONDS = 1.0
"""Seconds without progress of a message after which ``look`` is called."""

_LENGTH = struct.Struct("!i")
_LONG_LENGTH = struct.Struct("!iQ")
_CHUNK = 65536


class Ends(NamedTuple):
    """This end of a connection that carries handles, and of a pipe for messages in each direction.

    A message takes a third of the time of one through the connection, which is a socket: that also wakes its sender
    when it is read.
    """

    connection: Connection
    reader: Connection
    writer: Connection

    @classmethod
    def pair(cls) -> tuple[Ends, Ends]:
        """Return both ends. Raise OSError if the system allows no further file."""
        with ExitStack() as unless_made:
            one, other = map(unless_made.enter_context, Pipe())
            reader, their_writer = map(unless_made.enter_context, Pipe(duplex=False))
            their_reader, writer = map(unless_made.enter_context, Pipe(duplex=False))
            unless_made.pop_all()
            return cls(one, reader, writer), cls(other, their_reader, their_writer)

    def close(self) -> None:
        """Close this end, which the other side notices."""
        for connection in self:
            connection.close()


class GeneralChannel:
    """End of a pipe whose two sides take turns, so at most one message is in transit. It works on every system.

    Args:
        ends: this end; a connection alone carries messages, too.
        look: called each second without progress; it raises to stop waiting. Without it, as in a child, the channel
            waits until the other side is gone.
    """

    def __init__(self, ends: Ends | Connection, look: Callable[[], None] | None = None) -> None:
        self.ends = ends if isinstance(ends, Ends) else Ends(ends, ends, ends)
        self.look = look

    def send(self, message: bytes) -> None:
        """Send a message. Raise OSError if the other side is gone."""
        self.ends.writer.send_bytes(message)

    def send_handle(self, descriptor: int, process_id: int) -> None:
        """Send a handle to the process at the other end."""
        reduction.send_handle(self.ends.connection, descriptor, process_id)

    def wait(self, timeout_s: float) -> bool:
        """Wait until a message, or the end of the other side, can be received. Return whether one can."""
        return self.ends.reader.poll(timeout_s)

    def receive(self) -> bytes:
        """Return the next message. Raise EOFError or OSError if the other side is gone."""
        while self.look is not None and not self.ends.reader.poll(LOOK_SECONDS):
            self.look()
        return self.ends.reader.recv_bytes()

    def close(self) -> None:
        """Close this end, which the other side notices."""
        self.ends.close()


if sys.platform == "win32":
    Channel = GeneralChannel
else:

    class Channel(GeneralChannel):
        """The same, in fewer system calls; and a side that takes no message is noticed, too."""

        def __init__(self, ends: Ends | Connection, look: Callable[[], None] | None = None) -> None:
            super().__init__(ends, look)
            self._reads_at, self._writes_at = self.ends.reader.fileno(), self.ends.writer.fileno()
            self._poll = select.poll()
            self._poll.register(self._reads_at, select.POLLIN)
            # a stopped process takes no message, and a long one would never be sent
            os.set_blocking(self._reads_at, look is None)
            os.set_blocking(self._writes_at, look is None)

        def send(self, message: bytes) -> None:
            """Send a message. Raise OSError if the other side is gone."""
            size = len(message)
            head = _LENGTH.pack(size) if size < 1 << 31 else _LONG_LENGTH.pack(-1, size)
            if size <= _CHUNK:
                self._write(head + message)
            else:
                self._write(head)
                self._write(message)

        def wait(self, timeout_s: float) -> bool:
            """Wait until a message, or the end of the other side, can be received. Return whether one can."""
            return bool(self._poll.poll(timeout_s * 1000))

        def receive(self) -> bytes:
            """Return the next message. Raise EOFError or OSError if the other side is gone."""
            data = self._read(_CHUNK)
            while len(data) < _LENGTH.size:
                data += self._read(_CHUNK)
            (length,) = _LENGTH.unpack_from(data)
            begins = _LENGTH.size
            if length < 0:
                while len(data) < _LONG_LENGTH.size:
                    data += self._read(_CHUNK)
                _, length = _LONG_LENGTH.unpack_from(data)
                begins = _LONG_LENGTH.size
            missing = length + begins - len(data)
            if missing == 0:
                return data[begins:]
            parts = [data[begins:]]
            while missing > 0:
                parts.append(self._read(min(missing, 1 << 20)))
                missing -= len(parts[-1])
            return b"".join(parts)

        def _write(self, message: bytes) -> None:
            rest: bytes | memoryview = message
            while (written := self._write_some(rest)) < len(rest):
                rest = memoryview(rest)[written:]

        def _write_some(self, data: bytes | memoryview) -> int:
            while True:
                try:
                    return os.write(self._writes_at, data)
                except BlockingIOError:
                    self._wait_for(self._writes_at, select.POLLOUT)

        def _read(self, most: int) -> bytes:
            while True:
                try:
                    data = os.read(self._reads_at, most)
                except BlockingIOError:
                    self._wait_for(self._reads_at, select.POLLIN)
                    continue
                if not data:
                    raise EOFError
                return data

        def _wait_for(self, descriptor: int, event: int) -> None:
            poll = select.poll()
            poll.register(descriptor, event)
            while not poll.poll(LOOK_SECONDS * 1000):
                if self.look is not None:
                    self.look()
