"""Lasting standard output and error: a closed pipe, a full disk or a closed terminal ends no program.

Everything that any library prints goes through the two streams that this module installs. A failed write is dropped and
remembered, and the next one is tried again; a character that the terminal lacks is replaced.
"""

from __future__ import annotations

import errno
import io
import os
import sys

TYPE_CHECKING = False  # importing typing and contextlib would double the time of ``pkmn --version``
if TYPE_CHECKING:
    from typing import Any, TextIO

_ASCII = "ascii"
_SAMPLE = "Pokémon │ 中 \U0001f600 \udc80\ud83d"
"""Text that an encoding with its error handler must be able to write."""


class _LastingFile(io.RawIOBase):
    """Raw file that reports failed writes as successful. It never closes its descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.lost: OSError | None = None
        """Error of the first failed write; None if there was none."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: Any) -> int:
        """Write all of it, as an unbuffered stream expects. Return its length in bytes."""
        rest = memoryview(data).cast("B")
        length = len(rest)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:  # the parent made this end of the pipe non-blocking
                from select import select  # noqa: PLC0415 - hardly ever needed

                select([], [self._descriptor], [])
            except OSError as error:
                self.lost = self.lost or error
                break
        return length


class _Text(io.TextIOWrapper):
    """Text stream that stays open: a plugin that closes its standard output does not affect later output."""

    def close(self) -> None:
        flush(self)

    def detach(self) -> Any:
        raise io.UnsupportedOperation("a standard stream of pkmn stays whole")


class _AsciiText(_Text):
    """Text stream for a terminal with ASCII only. It hides its buffer, into which click would write UTF-8."""

    buffer = property()  # without a getter, so it seems missing


class LastingStreams:
    """Both installed streams.

    A stream that is not one of Python's own over a file descriptor, such as a notebook's, is not replaced.
    """

    def __init__(self) -> None:
        self._before = (sys.stdout, sys.stderr)
        self._output: _LastingFile | None = None
        sys.stdout = output = self._in_place_of(sys.stdout, 1)
        sys.stderr = self._in_place_of(sys.stderr, 2)
        self._streams = (output, sys.stderr)

    def _in_place_of(self, stream: TextIO | None, descriptor: int) -> Any:
        if stream is None:  # it was closed when Python started
            return _Text(io.BufferedWriter(_LastingFile(descriptor)), encoding="utf-8", errors="replace")
        if not isinstance(stream, io.TextIOWrapper):
            return stream
        if sys.platform == "win32" and stream.isatty():  # Python writes there without a descriptor, in UTF-16
            stream.reconfigure(errors="replace")
            return stream
        try:
            stream.flush()
            raw = _LastingFile(stream.fileno())
        except (OSError, ValueError):
            return stream
        if descriptor == 1:
            self._output = raw
        encoding, errors = for_printing(stream.encoding, stream.errors or "strict")
        kind = _AsciiText if encoding == _ASCII else _Text
        return kind(
            raw if stream.write_through else io.BufferedWriter(raw),  # type: ignore[arg-type]
            encoding=encoding,
            errors=errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )

    @property
    def lost(self) -> OSError | None:
        """Error for which standard output could not be written; None if there was none."""
        if self._output is None:
            return None
        flush(self._streams[0])
        return self._output.lost

    def close(self) -> None:
        """Flush, and restore the earlier streams."""
        for stream in self._streams:
            flush(stream)
        if (sys.stdout, sys.stderr) == self._streams:
            sys.stdout, sys.stderr = self._before


_streams: LastingStreams | None = None
_output_is_extra = False


def install() -> LastingStreams:
    """Replace standard output and error by lasting streams, for the rest of the process."""
    global _streams  # noqa: PLW0603 - a process has one standard output
    _fill_gaps()
    _streams = LastingStreams()
    return _streams


class Installed:
    """Context manager that installs lasting streams, for a script that trains, unless they are installed already."""

    def __enter__(self) -> None:
        global _streams  # noqa: PLW0603
        self._streams = None if _streams is not None else LastingStreams()
        _streams = _streams or self._streams

    def __exit__(self, *_exception: object) -> None:
        global _streams  # noqa: PLW0603
        if self._streams is not None:
            _streams = None
            self._streams.close()


def output_is_extra() -> None:
    """Note that the command's result is kept elsewhere, so lost output is not a failure."""
    global _output_is_extra  # noqa: PLW0603 - a process runs one command
    _output_is_extra = True


def lost_output() -> OSError | None:
    """Return the error for which standard output could not be written; None if all was written."""
    return None if _streams is None else _streams.lost


def lost_result() -> str:
    """Return the message about a result that could not be printed; empty if none is needed."""
    error = lost_output()
    if error is None or _output_is_extra or is_closed_pipe(error):
        return ""
    return f"standard output could not be written, and a part of the result is lost: {error.strerror}"


def is_closed_pipe(error: OSError) -> bool:
    """Return whether the reader closed the pipe, as in ``pkmn ... | head``."""
    return error.errno == errno.EPIPE


def flush(stream: Any) -> None:
    """Flush a stream, as far as possible."""
    try:  # noqa: SIM105 - see the imports
        stream.flush()
    except (AttributeError, OSError, ValueError):  # missing, lost or closed
        pass


def _fill_gaps() -> None:
    """Open the null device in place of a closed standard stream.

    Otherwise the next opened file would get its number, and printed text would be written to it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number is this one


def for_printing(encoding: str, errors: str) -> tuple[str, str]:
    """Return an encoding and error handler with which printing never raises an encoding error."""
    from codecs import lookup  # noqa: PLC0415 - loaded by Python itself

    wanted = "replace" if errors in {"strict", "surrogateescape"} else errors
    for handler in (wanted, "replace"):
        try:
            _SAMPLE.encode(encoding, handler)
            return (_ASCII if lookup(encoding).name == _ASCII else encoding), handler
        except (UnicodeError, LookupError):
            continue
    return _ASCII, "replace"  # such as idna
