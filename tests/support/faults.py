"""Everything that a service can do wrong, as the fault server does it, and what must come of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pkmncli.api import LLMFault
from support.fault_server import Behaviour, endless, half, hang_up, never, slow_body, slowly_from_the_start

BuildBackend = Callable[..., Any]
"""Builds a backend by its name: its server's address, a model, and settings by keyword."""

KEY = "sk-never-to-be-seen-0123456789"
"""The key that the tests set; it must be found nowhere."""

ADVICE = {"goal": "walk on", "skill": "press", "presses": ["up"], "map": None, "x": None, "y": None}
GOOD = json.dumps(ADVICE | {"confidence": 0.5, "reason": "a test"})
_QUIET = GOOD.replace("up", "none")
"""Good but for what a test changes: no word of it could be read as prose."""
_PAGE = b"<!DOCTYPE html><html><body><h1>It works!</h1></body></html>"
_SLOW_S = 0.4
_ENOUGH_S = 60.0


@dataclass(frozen=True)
class Case:
    """A behaviour and its consequence: a fault, or a reply whose reading is for the core to judge."""

    name: str
    behaviour: Behaviour
    fault: LLMFault | None
    timeout_s: float = _ENOUGH_S
    retry_after_s: float | None = None


def _status(status: int, fault: LLMFault, message: str = "it went wrong") -> Case:
    return Case(str(status), Behaviour(status=status, message=message), fault)


FAILURES = (
    Case("never answers", Behaviour(send=never), LLMFault.TIMEOUT, _SLOW_S),
    Case("a byte now and then", Behaviour(send=slowly_from_the_start), LLMFault.TIMEOUT, _SLOW_S),
    Case("a body byte by byte", Behaviour(send=slow_body), LLMFault.TIMEOUT, _SLOW_S),
    Case("hangs up", Behaviour(send=hang_up), LLMFault.UNREACHABLE),
    Case("closes in the middle", Behaviour(text="long " * 100, send=half), LLMFault.UNREACHABLE),
    _status(400, LLMFault.REFUSED),
    _status(401, LLMFault.AUTHENTICATION, f"Incorrect API key provided: {KEY}"),
    _status(402, LLMFault.AUTHENTICATION),
    _status(403, LLMFault.AUTHENTICATION),
    _status(404, LLMFault.NO_MODEL, "model 'tiny' not found"),
    _status(408, LLMFault.TIMEOUT),
    _status(413, LLMFault.TOO_LONG),
    Case("400 too long", Behaviour(status=400, message="maximum context length is 512 tokens"), LLMFault.TOO_LONG),
    _status(418, LLMFault.REFUSED, f"you sent {KEY}, did you?"),
    _status(429, LLMFault.OVERLOADED),
    Case(
        "429 with a time",
        Behaviour(status=429, headers={"retry-after": "17"}),
        LLMFault.OVERLOADED,
        retry_after_s=17.0,
    ),
    Case("429 with nonsense", Behaviour(status=429, headers={"retry-after": "soon"}), LLMFault.OVERLOADED),
    Case("429 with a year", Behaviour(status=429, headers={"retry-after": "1e9"}), LLMFault.OVERLOADED, _ENOUGH_S, 600),
    _status(500, LLMFault.BROKEN),
    _status(503, LLMFault.OVERLOADED),
    _status(504, LLMFault.TIMEOUT),
    _status(529, LLMFault.OVERLOADED),
    Case("500 as a page", Behaviour(status=500, body=_PAGE, content_type="text/html"), LLMFault.BROKEN),
    Case("502 that is no object", Behaviour(status=502, body=b"[1]"), LLMFault.BROKEN),
    Case("a page", Behaviour(body=_PAGE, content_type="text/html"), LLMFault.BROKEN),
    Case("a page called JSON", Behaviour(body=_PAGE), LLMFault.BROKEN),
    Case("{}", Behaviour(body=b"{}"), LLMFault.BROKEN),
    Case("[]", Behaviour(body=b"[]"), LLMFault.BROKEN),
    Case("null", Behaviour(body=b"null"), LLMFault.BROKEN),
    Case("nothing", Behaviour(body=b""), LLMFault.BROKEN),
    Case("half JSON", Behaviour(body=b'{"model": "tiny", "message": {"content": "he'), LLMFault.BROKEN),
    Case("no UTF-8", Behaviour(body=b'{"model": "\xff\xfe"}'), LLMFault.BROKEN),
    Case("deep JSON", Behaviour(body=b"[" * 100_000), LLMFault.BROKEN),
    Case("JSON without end", Behaviour(send=endless), LLMFault.BROKEN),
    Case("10 MB", Behaviour(text="x" * 10_000_000), LLMFault.BROKEN),
    Case("packed", Behaviour(headers={"content-encoding": "gzip"}), LLMFault.BROKEN),
    Case("a number as text", Behaviour(text=5), LLMFault.BROKEN),
    Case("a list as text", Behaviour(text=["up"]), LLMFault.BROKEN),
    Case("sent round in circles", Behaviour(status=307, headers={"location": "/v1/elsewhere"}), LLMFault.BROKEN),
)
"""What no reply comes of."""

READINGS = {
    "good": (GOOD, "schema"),
    "fenced": (f"Sure!\n```json\n{GOOD}\n```", "schema"),
    "thought before": (f'<think>{{"skill": "fight"}} or not?</think>\n{GOOD}', "schema"),
    "prose": ("You should go north.", "prose"),
    "another schema": ('{"move": "up"}', "nothing"),
    "action out of range": (json.dumps({"presses": ["jump"], "confidence": 0.5}), "nothing"),
    "action by number": (json.dumps({"presses": [12], "confidence": 0.5}), "nothing"),
    "wrong types": (json.dumps({"skill": 3, "presses": "upwards", "confidence": "high"}), "nothing"),
    "sure beyond measure": (_QUIET.replace("0.5", "1e15"), "nothing"),
    "sure as no number": (_QUIET.replace("0.5", "NaN"), "nothing"),
    "sure by 5,000 digits": (_QUIET.replace("0.5", "9" * 5000), "nothing"),
    "sure by 400 digits": (_QUIET.replace("0.5", "9" * 400), "nothing"),
    "empty": ("", "nothing"),
    "half": (GOOD[:20], "nothing"),
    "halves of characters": ('{"goal": "\\ud800", "presses": ["jump"], "reason": "\\udfff"}', "nothing"),
}
"""Texts of replies that do come, and how they are read."""
