"""Keys of services from the environment or the keyring, with a clear error for characters that no key has."""

from __future__ import annotations

import os
import unicodedata

from pkmncli.errors import ConfigurationError, LLMConnectionError
from pkmncli.llm.stored_keys import take_stored_key

_QUOTES = "\"'`"
_INVISIBLE = frozenset({"Cf", "Cc", "Cn", "Co", "Cs"})


class InvalidKeyError(LLMConnectionError):
    """Environment variable with a value that is not a key."""


def key_from(variable: str) -> str:
    """Return the key in an environment variable, else the stored one, without surrounding white space; else empty.

    Raises:
        InvalidKeyError: it has characters that no key has, such as quotation marks; the message names them. Or a key is
            stored, and the keyring refuses.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        try:
            key = take_stored_key(variable)
        except ConfigurationError as error:
            raise InvalidKeyError(f"The stored key {variable} can't be used: {error}") from error
    problem = problem_of(key)
    if problem:
        raise InvalidKeyError(f"The key in {variable} {problem}: set it again, with nothing but the key")
    return key


def problem_of(key: str) -> str:
    """Return the problem of a key, showing only the wrong character; empty if there is none."""
    for sign in key:
        if sign.isspace():
            return "holds a line break" if sign in "\r\n" else "holds a blank"
        name = unicodedata.name(sign, "a character without a name")
        code = f"U+{ord(sign):04X}"
        if unicodedata.category(sign) in _INVISIBLE:
            return f"holds a character that can't be seen ({code})"
        if "QUOTATION MARK" in name and sign not in _QUOTES:
            return f"holds a typographic quotation mark ({code})"
        if ord(sign) > 126:
            return f"holds {sign} ({code}, {name.lower()}), which no key has"
    if key and (key[0] in _QUOTES or key[-1] in _QUOTES):
        return "stands in quotation marks"
    return ""
