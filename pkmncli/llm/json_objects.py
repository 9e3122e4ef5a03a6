"""JSON in a model's words: strict JSON and near forms of it, read or refused as a whole."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

LONGEST = 20_000
"""Maximum number of characters that are searched."""
MOST_LEVELS = 20
"""Maximum nesting of objects and lists; it also keeps the search from quadratic time."""

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|' r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:Infinity|\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])", re.ASCII)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ESCAPE = re.compile(r'\\.|"', re.DOTALL)
_FENCED = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)
_BY_WORD = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None, "NaN": float("nan")}


def whole_value(text: str) -> Any:
    """Return the object or list that a text is, without a fence around it; None if it is anything else.

    A text that is the JSON string of such a text counts as that.
    """
    text = text.strip()
    fenced = _FENCED.fullmatch(text)
    text = fenced[1] if fenced else text
    if len(text) > LONGEST or text[:1] not in ("{", "[", '"'):
        return None
    try:
        reader = _Reader(text, 0)
        value = reader.value()
        if reader.skip() != len(text):
            return None
    except (ValueError, OverflowError):
        return None
    return whole_value(value) if isinstance(value, str) else value


def find_objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the outermost whole objects in a text's last :data:`LONGEST` characters, and the text around them."""
    text = text[-LONGEST:]
    found: list[dict[str, Any]] = []
    around: list[str] = []
    place, begin = 0, text.find("{")
    while begin >= 0:
        reader = _Reader(text, begin)
        try:
            found.append(reader.value())
        except (ValueError, OverflowError):
            begin = text.find("{", begin + 1)
            continue
        around.append(text[place:begin])
        place = reader.place
        begin = text.find("{", place)
    return found, " ".join([*around, text[place:]])


class _Reader:
    """Reader of a value from a position on. Any fault is a ValueError: nothing is left out or made up.

    Beyond JSON it takes single quotes, keys without quotes, a comma before a closing bracket, comments, and Python's
    words; a key that has two values is a fault.
    """

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place

    def value(self, level: int = 0) -> Any:
        self.skip()
        sign = self.text[self.place : self.place + 1]
        if sign in ("{", "["):
            if level >= MOST_LEVELS:
                self._fail()
            self.place += 1
            return self._object(level + 1) if sign == "{" else self._list(level + 1)
        if sign in ('"', "'"):
            return _string(self._take(_STRING))
        if (number := _NUMBER.match(self.text, self.place)) is not None:
            self.place = number.end()
            return int(number[0]) if number[0].lstrip("+-").isdigit() else float(number[0])
        return _BY_WORD[word] if (word := self._take(_WORD)) in _BY_WORD else self._fail()

    def skip(self) -> int:
        """Skip blanks and comments. Return the new position."""
        while True:
            self.place = _SPACE.match(self.text, self.place).end()  # type: ignore[union-attr]
            if self.text.startswith(("//", "#"), self.place):
                self._past("\n")
            elif self.text.startswith("/*", self.place):
                self._past("*/")
            else:
                return self.place

    def _object(self, level: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self._closes("}"):
            quoted = self.text[self.place : self.place + 1] in ('"', "'")
            key = _string(self._take(_STRING)) if quoted else self._take(_WORD)
            if not self._closes(":"):
                self._fail()
            value = self.value(level)
            if (first := found.setdefault(key, value)) is not value and first != value:
                self._fail()
            self._comma("}")
        return found

    def _list(self, level: int) -> list[Any]:
        found: list[Any] = []
        while not self._closes("]"):
            found.append(self.value(level))
            self._comma("]")
        return found

    def _comma(self, end: str) -> None:
        if not self._closes(",") and not self.text.startswith(end, self.place):
            self._fail()

    def _closes(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.skip())
        self.place += found
        return found

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.place)
        if match is None:
            self._fail()
        self.place = match.end()
        return match[0]

    def _past(self, sign: str) -> None:
        end = self.text.find(sign, self.place)
        self.place = len(self.text) if end < 0 else end + len(sign)

    def _fail(self) -> NoReturn:
        raise ValueError(f"no JSON at {self.place}")


def _string(quoted: str) -> str:
    """Return the text of a string in single or double quotes."""
    body = _ESCAPE.sub(lambda match: {"\\'": "'", '"': '\\"'}.get(match[0], match[0]), quoted[1:-1])
    value: str = json.loads(f'"{body}"', strict=False)
    return value
