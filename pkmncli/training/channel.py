"""Short messages between the trainer and a worker, without the time that a general pipe takes for them.

A step is two messages of a few bytes, some thousand times a second; here each costs one system call to send and two to
receive. The format is that of :mod:`multiprocessing`'s connections, which carry handles as well.
"""

from __future__ import annotations

import os
import select
import struct
import sys
from multiprocessing.connection import Connection

_LENGTH = struct.Struct("!i")
_CHUNK = 65536


class Channel:
    """One end of a pipe whose two sides take turns, so that at most one message is under way."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._descriptor = connection.fileno()
        self._poll = None if sys.platform == "win32" else select.poll()
        if self._poll is not None:
            self._poll.register(self._descriptor, select.POLLIN)

    def send(self, message: bytes) -> None:
        """Sends a message. Raises OSError when the other side is gone."""
        if self._poll is None or len(message) > _CHUNK - _LENGTH.size:
            self.connection.send_bytes(message)
            return
        whole = _LENGTH.pack(len(message)) + message
        if os.write(self._descriptor, whole) != len(whole):
            raise BrokenPipeError("a message was cut off")

    def wait(self, timeout_s: float) -> bool:
        """Waits until a message, or the end of the other side, can be received. Says whether one can."""
        if self._poll is None:
            return self.connection.poll(timeout_s)
        return bool(self._poll.poll(timeout_s * 1000))

    def receive(self) -> bytes:
        """The next message. Raises EOFError or OSError when the other side is gone."""
        if self._poll is None:
            return self.connection.recv_bytes()
        data = self._read(_CHUNK)
        while len(data) < _LENGTH.size:
            data += self._read(_CHUNK)
        (length,) = _LENGTH.unpack(data[: _LENGTH.size])
        missing = length + _LENGTH.size - len(data)
        if missing == 0:
            return data[_LENGTH.size :]
        parts = [data[_LENGTH.size :]]
        while missing > 0:
            parts.append(self._read(min(missing, 1 << 20)))
            missing -= len(parts[-1])
        return b"".join(parts)

    def _read(self, most: int) -> bytes:
        data = os.read(self._descriptor, most)
        if not data:
            raise EOFError
        return data

    def close(self) -> None:
        """Closes this end, which the other side notices."""
        self.connection.close()
