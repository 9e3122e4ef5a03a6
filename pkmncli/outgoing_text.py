"""Outgoing text of a process: without secrets, and without characters that a terminal executes as commands.

This applies to the standard streams, logs and reports. The text may come from a game, a profile, a model or an
untrusted run folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_SHORTEST_SECRET = 8  # a shorter value is a placeholder, and removing it would damage ordinary words
_SHORTEST_KEY = 16
_QUOTES = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb"

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEYS?|ACCESS_KEY(?:_ID)?|SECRET_KEY|PRIVATE_KEY|AUTH_KEY|SECRETS?|TOKEN|PASSWORD|PASSWD|CREDENTIALS?)$",
    re.IGNORECASE,
)
"""Names of environment variables whose value is a secret."""

_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@'\"<>]+:[^\s/@'\"<>]*@")
"""Name and password in an address."""
_IN_QUERY = re.compile(
    r"(://[^\s'\"<>]*?[?&](?:api[-_]?key|key|access[-_]?token|auth|secret|password|sig|signature)=)[^\s&#'\"<>]+",
    re.IGNORECASE,
)
_IN_HEADER = re.compile(
    r"(\b(?:bearer|basic)\s+|\b(?:x-api-key|api-key|authorization)['\"]?\s*[:=]\s*(?:b?['\"])?(?:bearer\s+|basic\s+)?)"
    r"(?=[\w.~+/=-]*\d)[\w.~+/=-]{12,}",
    re.IGNORECASE,
)
_KNOWN_SHAPES = re.compile(r"\b(?:sk-[\w-]{20,}|hf_\w{20,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|AIza[\w-]{30,})")
"""Keys of services that are recognised by their beginning, even if no variable holds them."""

BLANK = "<secret>"


def redact(text: str) -> str:
    """Return the text with secrets replaced.

    Secrets are the values of environment variables with a secret's name (``*_API_KEY``, ``*_TOKEN``, ...), unchanged
    and in the forms of URLs, JSON and headers; and parts with the place or form of a key in an address, a header or a
    text.
    """
    text = redact_values(text)
    if "://" in text:
        text = _IN_ADDRESS.sub(f"{BLANK}@", _IN_QUERY.sub(rf"\1{BLANK}", text))
    return _KNOWN_SHAPES.sub(BLANK, _IN_HEADER.sub(rf"\1{BLANK}", text))


def redact_values(text: str) -> str:
    """Return the text without the values of secret environment variables, otherwise unchanged."""
    for variable, value in _own_secrets():
        if any(form in text for form in _beginnings(value)):
            for form in _forms(value):
                text = text.replace(form, f"<{variable}>")
    return text


def redacted(value: Any) -> Any:
    """Return a JSON value with its texts redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {name: redacted(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(one) for one in value]
    return value


def secret_in(text: str) -> str | None:
    """Return the name of the environment variable whose secret value is in a text, or None.

    A value shorter than a key is ignored: it may be there by chance.
    """
    found = _own_secrets()
    return next((name for name, value in found if len(value) >= _SHORTEST_KEY and value in text), None)


class _Known:
    """Secrets of this process, and the encoded environment in which they were found."""

    environment: Any = None
    secrets: Sequence[tuple[str, str]] = ()


def _own_secrets() -> Sequence[tuple[str, str]]:
    """Return the secrets of the current environment of this process. Most of the time it is the latest one."""
    environment = getattr(os.environ, "_data", None)  # to decode all variables takes most of the time of a line
    if environment is None or environment != _Known.environment:
        _Known.secrets, _Known.environment = secrets_of(os.environ), dict(environment or ())
    return _Known.secrets


def secrets_of(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return name and value of each secret in the environment, the longest value first.

    A variable with a list has several; the password in the address of a proxy or a service is one, too.
    """
    found = []
    for variable, text in environ.items():
        if _SECRET_NAME.search(variable):
            parts = [text.strip(), text.strip().strip(_QUOTES).strip(), *re.split(r"[,;\s]+", text)]
            found += [(variable, part) for part in parts]
        elif "://" in text and "@" in text:
            password = text.partition("://")[2].rpartition("@")[0].partition(":")[2]
            found.append((variable, password))
    unique = dict.fromkeys((variable, value) for variable, value in found if len(value) >= _SHORTEST_SECRET)
    return sorted(unique, key=lambda one: -len(one[1]))


def _beginnings(value: str) -> tuple[str, ...]:
    """Return short beginnings of all forms of a secret: most texts have none of them, and need no full search."""
    from binascii import b2a_base64  # noqa: PLC0415

    plain = value[:4]
    encoded = b2a_base64(value[:3].encode("utf-8", "surrogateescape")[:3]).decode().strip()
    return (plain, encoded) if plain.isalnum() else (plain, encoded, "%", "\\")


def _forms(value: str) -> tuple[str, ...]:
    import json  # noqa: PLC0415 - as rarely as a secret turns up
    from base64 import b64encode  # noqa: PLC0415
    from urllib.parse import quote, quote_plus  # noqa: PLC0415

    data = value.encode("utf-8", "surrogateescape")
    escaped = (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1])
    encoded = b64encode(data).decode()
    addressed = (quote(data, safe=""), quote_plus(data), quote(data))
    return tuple(dict.fromkeys((value, *addressed, *escaped, encoded, encoded.rstrip("="))))


_COMMANDS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
"""Control characters except tabs and line breaks, and those that change the writing direction."""
_BUT_COLOURS = re.compile(rf"(?!\x1b\[[\d;]*m)(?:{_COMMANDS.pattern})")
"""The same, except for colour codes."""


def printable(text: str) -> str:
    """Return the text with control characters made visible, such as ``\\x1b``."""
    return _COMMANDS.sub(_in_sight, text)


def _in_sight(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class _OutgoingStream:
    """Text stream that removes secrets. It hides its byte stream, with which a writer could bypass it.

    Args:
        stream: destination.
        drawing: true to pass commands to the terminal.
    """

    def __init__(self, stream: Any, *, drawing: bool = False) -> None:
        self._stream = stream
        self._drawing = drawing

    def write(self, text: str) -> int:
        """Write a text. Return its length, as a stream does."""
        shown = redact(text)
        self._stream.write(shown if self._drawing else _BUT_COLOURS.sub(_in_sight, shown))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of the lines."""
        for line in lines:
            self.write(line)

    @property
    def rich_proxied_file(self) -> _OutgoingStream:
        """Stream for programs that draw; rich uses it by this name."""
        return self if self._drawing else _OutgoingStream(self._stream, drawing=True)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self._stream, name)


class _DrawingStream:
    """Standard output or error as it is at each use, without the stream that rich puts in its place while it draws."""

    def __init__(self, *, error: bool) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        stream = sys.stderr if self._error else sys.stdout
        return getattr(getattr(stream, "rich_proxied_file", stream), name)


def drawing_stream(*, error: bool = False) -> Any:
    """Return standard output, or standard error, as a stream that passes commands to the terminal on.

    Give it to a console of rich that draws: while it does, rich puts its own streams in their place, and would take the
    ones that show commands as text.
    """
    return _DrawingStream(error=error)


@contextlib.contextmanager
def guarded_output() -> Iterator[None]:
    """Remove secrets and terminal commands from the standard streams while entered."""
    before = sys.stdout, sys.stderr
    guard_output()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def guard_output() -> None:
    """Remove secrets and terminal commands from the standard streams from now on."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _OutgoingStream):
            setattr(sys, name, _OutgoingStream(stream))
