"""Plain values as bytes without pickle: what an environment's state may consist of."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping
from typing import Any

import numpy as np

_KIND = "~"
"""Key of the objects that stand for values which JSON lacks."""
_BIT_GENERATORS = ("PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM")
"""Classes of numpy that a state may name."""
_FACTORIES = {"": None} | {kind.__name__: kind for kind in (bool, int, float, str, list, dict, set, tuple)}
"""Default values of a defaultdict that can be restored."""
_SEQUENCES: dict[str, Any] = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
_MAPPINGS: dict[str, Any] = {"mapping": dict, "Counter": Counter, "OrderedDict": OrderedDict}


def state_to_bytes(value: Any) -> bytes:
    """Return a plain value as bytes.

    A mutable object that is reached twice is restored as the same object.

    Args:
        value: None, numbers, texts, bytes, arrays of numbers, random generators of numpy and Python; and lists, tuples,
            sets, deques and mappings of these.

    Raises:
        TypeError: it has a value of another kind, an object that contains itself, or two arrays with common memory.
    """
    return _packed(_Encoder().encoded(value))


def state_from_bytes(state: bytes) -> Any:
    """Return the value of :func:`state_to_bytes`.

    Raises:
        ValueError: the bytes are not from there.
    """
    return _unpacked(state)[1]


def _unpacked(state: bytes) -> tuple[Any, Any]:
    """Return what JSON holds, and the value that it stands for."""
    try:
        encoded = json.loads(state)
        return encoded, _Decoder().decoded(encoded)
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"no plain state: {error}") from error


def attributes_to_bytes(values: Mapping[str, Any]) -> bytes:
    """Return plain values by name as bytes; objects that two of them share are shared when they are restored, too.

    Raises:
        TypeError: as :func:`state_to_bytes`; the first argument is the name, the second one the reason.
    """
    encoder, found = _Encoder(), []
    for name, value in values.items():
        try:
            found.append([name, encoder.encoded(value)])
        except TypeError as error:
            raise TypeError(name, str(error)) from None
    return _packed({_KIND: "attributes", "value": found})


def attributes_from_bytes(state: bytes) -> dict[str, Any]:
    """Return the values of :func:`attributes_to_bytes`, or of an earlier version, which kept each as bytes.

    Raises:
        ValueError: the bytes are not from there.
    """
    encoded, found = _unpacked(state)
    if not isinstance(found, dict):
        raise ValueError("no attributes")
    if encoded[_KIND] == "attributes":
        return found
    return {name: state_from_bytes(value) for name, value in found.items()}


def _packed(encoded: Any) -> bytes:
    return json.dumps(encoded, separators=(",", ":")).encode()


class _Encoder:
    """Encoder of values that may share objects. Mutable objects are numbered in the order in which they are done."""

    def __init__(self) -> None:
        self._numbers: dict[int, int | None] = {}
        """Number of each mutable object by its id; None while its content is being encoded."""
        self._done = 0
        self._kept: list[Any] = []
        """The objects, since the id of a deleted one is used again."""
        self._arrays: dict[int, list[np.ndarray[Any, Any]]] = {}
        """Arrays by the id of the owner of their memory."""
        self._bit_generators: set[int] = set()

    def encoded(self, value: Any) -> Any:
        """Return what JSON can hold of a value."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, bytes):
            return {_KIND: "bytes", "value": base64.b64encode(value).decode()}
        if isinstance(value, np.generic) and value.dtype.kind in "biufc":
            return self._numeric("number", value)
        if type(value) in (tuple, frozenset):
            return self._sequence(value)
        if id(value) in self._numbers:
            number = self._numbers[id(value)]
            if number is None:
                raise TypeError(f"a {type(value).__name__} contains itself")
            return {_KIND: "same", "value": number}
        self._numbers[id(value)] = None
        self._kept.append(value)
        found = self._mutable(value)
        self._numbers[id(value)] = self._done
        self._done += 1
        return found

    def _mutable(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            self._check_memory(value)
            return self._numeric("array", value)
        if isinstance(value, np.random.Generator):
            bits = value.bit_generator
            if id(bits) in self._bit_generators:
                raise TypeError("two random generators have the same bit generator: keep one of them")
            self._bit_generators.add(id(bits))
            if type(bits).__name__ not in _BIT_GENERATORS:
                raise TypeError(f"a bit generator {type(bits).__name__} is no plain value")
            return {_KIND: "generator", "value": self.encoded(bits.state)}
        if type(value) is random.Random:
            return {_KIND: "random", "value": self.encoded(value.getstate())}
        if type(value) is defaultdict:
            factory = value.default_factory
            name = "" if factory is None else getattr(factory, "__name__", "")
            if _FACTORIES.get(name) is not factory:
                raise TypeError("a defaultdict whose default is no built-in type is no plain value")
            return {_KIND: "defaultdict", "default": name, "value": self._items(value)}
        for kind, mapping in _MAPPINGS.items():
            if type(value) is mapping:
                return {_KIND: kind, "value": self._items(value)}
        if type(value) is deque:
            return {_KIND: "deque", "most": value.maxlen, "value": [self.encoded(one) for one in value]}
        if type(value) in (list, set):
            return self._sequence(value)
        raise TypeError(f"a {type(value).__name__} is no plain value")

    def _numeric(self, kind: str, value: Any) -> Any:
        array = np.ascontiguousarray(value)
        content = base64.b64encode(array.tobytes()).decode()
        return {_KIND: kind, "dtype": array.dtype.str, "shape": list(np.shape(value)), "value": content}

    def _sequence(self, value: Any) -> Any:
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return {_KIND: type(value).__name__, "value": [self.encoded(one) for one in items]}

    def _items(self, value: Mapping[Any, Any]) -> Any:
        return [[self.encoded(key), self.encoded(one)] for key, one in value.items()]

    def _check_memory(self, array: np.ndarray[Any, Any]) -> None:
        owner: Any = array
        while getattr(owner, "base", None) is not None:
            owner = owner.base
        others = self._arrays.setdefault(id(owner), [])
        if any(np.shares_memory(array, other) for other in others):
            raise TypeError("it shares memory with another array, which a saved state cannot keep: copy one of them")
        others.append(array)


class _Decoder:
    """Decoder of values that may share objects."""

    def __init__(self) -> None:
        self._mutable: list[Any] = []
        """Mutable objects in the order in which they are done."""

    def decoded(self, found: Any) -> Any:
        """Return the value of what JSON holds."""
        if not isinstance(found, dict):
            return found
        kind, value = found[_KIND], found["value"]
        if kind == "same":
            return self._mutable[value]
        if kind == "bytes":
            return base64.b64decode(value)
        if kind in ("tuple", "frozenset"):
            return _SEQUENCES[kind](self.decoded(one) for one in value)
        if kind == "number":
            return self._array(found)[()]
        if kind == "attributes":
            return {name: self.decoded(one) for name, one in value}
        result = self._decoded_mutable(kind, found, value)
        self._mutable.append(result)
        return result

    def _decoded_mutable(self, kind: str, found: Mapping[str, Any], value: Any) -> Any:
        if kind == "array":
            return self._array(found)
        if kind == "generator":
            state = self.decoded(value)
            if state["bit_generator"] not in _BIT_GENERATORS:
                raise ValueError(f"no plain state: the bit generator {state['bit_generator']}")
            bits = getattr(np.random, state["bit_generator"])()
            bits.state = state
            return np.random.Generator(bits)
        if kind == "random":
            generator = random.Random()
            generator.setstate(self.decoded(value))
            return generator
        if kind in _MAPPINGS:
            return _MAPPINGS[kind]({self.decoded(key): self.decoded(one) for key, one in value})
        if kind == "defaultdict":
            content = {self.decoded(key): self.decoded(one) for key, one in value}
            return defaultdict(_FACTORIES[found["default"]], content)
        items = [self.decoded(one) for one in value]
        return deque(items, found["most"]) if kind == "deque" else _SEQUENCES[kind](items)

    def _array(self, found: Mapping[str, Any]) -> Any:
        content = np.frombuffer(base64.b64decode(found["value"]), np.dtype(found["dtype"]))
        return content.reshape(found["shape"]).copy()
