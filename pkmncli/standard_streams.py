"""Standard output and error that may be lost: a closed pipe, a full disk or a terminal that is gone ends nothing.

All that is printed, by whatever library, goes through the two streams that are put in their places here. A write that
fails is dropped and remembered, and the next one is tried again; a character that the terminal can't show is replaced.
"""

from __future__ import annotations

import errno
import io
import os
import sys

TYPE_CHECKING = False  # typing and contextlib would take as long to import as ``pkmn --version`` takes for all else
if TYPE_CHECKING:
    from typing import Any, TextIO

_ASCII = "ascii"
_SAMPLE = "Pokémon │ 中 \U0001f600 \udc80\ud83d"
"""An encoding that gets through this, errors handled, gets through all."""


class _LastingFile(io.RawIOBase):
    """Writes to a file descriptor, and claims to have written what it could not. It never closes the descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.lost: OSError | None = None
        """Why something could not be written, the first time."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: Any) -> int:
        """Writes all of it, as a stream without a buffer expects. Returns its length in bytes."""
        rest = memoryview(data).cast("B")
        length = len(rest)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:  # whoever gave us this end of the pipe set it so
                from select import select  # noqa: PLC0415 - hardly ever needed

                select([], [self._descriptor], [])
            except OSError as error:
                self.lost = self.lost or error
                break
        return length


class _Text(io.TextIOWrapper):
    """Text that stays open: what a plugin does to its standard output is no matter to what is printed later."""

    def close(self) -> None:
        flush(self)

    def detach(self) -> Any:
        raise io.UnsupportedOperation("a standard stream of pkmn stays whole")


class _AsciiText(_Text):
    """Text for a terminal with ASCII only. It hides its buffer, into which click would write UTF-8 instead."""

    buffer = property()  # without a getter, as if there were none


class LastingStreams:
    """The two streams while they are in their places.

    A stream that is not one of Python's own over a file descriptor, such as a notebook's, is left as it is.
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
        encoding, errors = _for_printing(stream.encoding, stream.errors or "strict")
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
        """Why standard output could not be written; None where it could."""
        if self._output is None:
            return None
        flush(self._streams[0])
        return self._output.lost

    def close(self) -> None:
        """Writes out what is left, and puts the streams back that were there before."""
        for stream in self._streams:
            flush(stream)
        if (sys.stdout, sys.stderr) == self._streams:
            sys.stdout, sys.stderr = self._before


_streams: LastingStreams | None = None
_output_is_extra = False


def install() -> LastingStreams:
    """Puts lasting streams in the places of standard output and error, for the rest of the process."""
    global _streams  # noqa: PLW0603 - a process has one standard output
    _fill_gaps()
    _streams = LastingStreams()
    return _streams


class Installed:
    """While entered, standard output and error last, for a script that trains. Where they do already, all stays."""

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
    """Notes that what this command is for is kept elsewhere: output that is lost is no failure of it."""
    global _output_is_extra  # noqa: PLW0603 - a process runs one command
    _output_is_extra = True


def lost_output() -> OSError | None:
    """Why standard output could not be written since the streams are in place; None where all was written."""
    return None if _streams is None else _streams.lost


def lost_result() -> str:
    """What to say of a result that could not be printed; empty where there is nothing to say."""
    error = lost_output()
    if error is None or _output_is_extra or is_closed_pipe(error):
        return ""
    return f"standard output could not be written, and a part of the result is lost: {error.strerror}"


def is_closed_pipe(error: OSError) -> bool:
    """Whether the reader went away, as that of ``pkmn ... | head`` does."""
    return error.errno == errno.EPIPE


def flush(stream: Any) -> None:
    """Writes out what a stream holds, as far as it can be written."""
    try:  # noqa: SIM105 - see the imports
        stream.flush()
    except (AttributeError, OSError, ValueError):  # none, lost or closed
        pass


def _fill_gaps() -> None:
    """Opens the null device in the place of a standard stream that is closed.

    The next file that is opened would get its number, and what is printed would end up in it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free is this one


def _for_printing(encoding: str, errors: str) -> tuple[str, str]:
    """The encoding and what is done about errors, such that nothing that is printed raises any."""
    from codecs import lookup  # noqa: PLC0415 - loaded by Python itself

    wanted = "replace" if errors in {"strict", "surrogateescape"} else errors
    for handler in (wanted, "replace"):
        try:
            _SAMPLE.encode(encoding, handler)
            return (_ASCII if lookup(encoding).name == _ASCII else encoding), handler
        except (UnicodeError, LookupError):
            continue
    return _ASCII, "replace"  # idna and the like
