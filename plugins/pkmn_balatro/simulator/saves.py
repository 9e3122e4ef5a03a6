"""Saved runs: JSON with a version, so that a save of another program is refused in one line."""

from __future__ import annotations

import base64
import binascii
import json
import random
import struct
from dataclasses import astuple, fields
from operator import attrgetter
from typing import Any, Final

from pkmn_balatro.simulator.blinds import BOSSES
from pkmn_balatro.simulator.consumables import CONSUMABLES
from pkmn_balatro.simulator.decks import DECKS
from pkmn_balatro.simulator.jokers import JOKERS
from pkmn_balatro.simulator.run import HANDS, Joker, Offer, Phase, Run
from pkmn_balatro.simulator.stakes import STAKES

VERSION: Final = 1
_WORDS: Final = struct.Struct("<625I")
_NAMES: Final = tuple(one.name for one in fields(Run) if one.name != "random")
_values_of: Final = attrgetter(*_NAMES)
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode
_OF_OFFERS: Final = ("shop", "shop_vouchers", "shop_packs", "pack")
_MODEL: Final = Run(0)
_HANDS: Final = len(HANDS)
_RANGES: Final = {
    "phase": len(Phase),
    "deck_kind": len(DECKS),
    "stake": len(STAKES),
    "blind": 3,
    "boss": len(BOSSES),
    "last_hand": _HANDS,
}
_LENGTHS: Final = {
    "bosses_met": len(BOSSES),
    "levels": _HANDS,
    "played": _HANDS,
    "played_now": _HANDS,
    "offered_tags": 2,
}


def to_bytes(run: Run) -> bytes:
    """Return a run as bytes."""
    words = run.random.getstate()[1]
    luck = base64.b64encode(_WORDS.pack(*words))  # needs no escapes, which the encoder would look for
    return b'%b,"random":"%b"}}' % (readable_part(run)[:-2], luck)


def readable_part(run: Run) -> bytes:
    """Return a run without the state of its generator as bytes."""
    values: dict[str, Any] = dict(zip(_NAMES, _values_of(run), strict=True))
    values["jokers"] = [astuple(joker) for joker in run.jokers]
    for name in _OF_OFFERS:
        values[name] = [astuple(offer) for offer in values[name]]
    return _encode({"version": VERSION, "run": values}).encode()


def from_bytes(data: bytes) -> Run:
    """Return the run that was saved.

    Raises:
        ValueError: The data are damaged or of another version.
    """
    try:
        saved = json.loads(data)
        version = saved["version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError("the saved Balatro run is damaged.") from error
    if version != VERSION:
        raise ValueError(f"the saved Balatro run has version {version}; this program reads version {VERSION}.")
    try:
        return _run(saved["run"])
    except (ValueError, TypeError, KeyError, AttributeError, struct.error, binascii.Error) as error:
        raise ValueError("the saved Balatro run is damaged.") from error


def _run(values: dict[str, Any]) -> Run:
    if set(values) != {*_NAMES, "random"}:
        raise ValueError("fields")
    run = Run(0, random=random.Random(0))
    for name in _NAMES:
        setattr(run, name, _checked(name, values[name]))
    for name, count in _RANGES.items():
        if not 0 <= getattr(run, name) < count:
            raise ValueError(name)
    if not all(0 <= joker.kind < len(JOKERS) for joker in run.jokers) or not all(
        0 <= item & 0xFF < len(CONSUMABLES) for item in run.consumables
    ):
        raise ValueError("kinds")
    for name, count in _LENGTHS.items():
        if len(getattr(run, name)) != count:
            raise ValueError(name)
    run.random.setstate((3, _WORDS.unpack(base64.b64decode(values["random"])), None))
    return run


def _checked(name: str, value: Any) -> Any:
    """Return a field's value as the run holds it; TypeError if it is of another type."""
    model = getattr(_MODEL, name)
    kind = type(model) if isinstance(model, (bool, list, dict)) else int  # an IntEnum is saved as int
    if type(value).__name__ != kind.__name__:
        raise TypeError(name)
    if name == "jokers":
        return [Joker(*_row(row, Joker)) for row in value]
    if name in _OF_OFFERS:
        return [Offer(*_row(row, Offer)) for row in value]
    numbers = value if kind is list else value.values() if kind is dict else ()
    if not all(type(number) is int for number in numbers):
        raise TypeError(name)
    return value


def _row(row: Any, kind: type[Joker] | type[Offer]) -> list[Any]:
    if len(row) != len(fields(kind)) or not all(type(number) in (int, bool) for number in row):
        raise TypeError(kind.__name__)
    return list(row)
