"""Environment objects of a script: sent to worker processes when a run starts, and kept in no file."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError

_build: list[Callable[[Any], Any]] = []
"""Builder of the environments inside of the object that is being unpacked, in a worker process."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ScriptObject:
    """Environment object of a script."""

    packed: bytes
    """The object, as :func:`pack` returns it."""


_known: WeakValueDictionary[str, ScriptObject] = WeakValueDictionary()
"""Objects by their names in settings, as long as a trainer has them."""
_instead: ContextVar[tuple[str, ScriptObject | None]] = ContextVar("_instead", default=("", None))
"""Name and object of the run that is trained."""


def keep(name: str, found: ScriptObject) -> tuple[str, ScriptObject]:
    """Make an object known in this process, as long as the returned one is in use.

    Returns:
        Its name in settings, with a number if another object has it, and the object or an equal one before it.
    """
    chosen, number = name, 1
    while (kept := _known.setdefault(chosen, found)) != found:
        number += 1
        chosen = f"{name} {number}"
    return chosen, kept


@contextmanager
def known_as(name: str, found: ScriptObject) -> Iterator[None]:
    """Make an object known under a name while entered, in the place of any other: a run has its own names."""
    token = _instead.set((name, found))
    try:
        yield
    finally:
        _instead.reset(token)


def digest_of(environment: Any, rebuilt: Callable[[Any], bool]) -> str:
    """Return a digest of the classes and plain attributes of an environment and its wrappers.

    Args:
        environment: as for :func:`pack`.
        rebuilt: as for :func:`pack`; only the class of such an environment counts.
    """
    layers: list[Any] = []
    seen: list[Any] = []
    layer = environment
    while layer is not None and not any(layer is one for one in seen):
        seen.append(layer)
        own = {} if rebuilt(layer) else getattr(layer, "__dict__", {})
        plain = {name: text for name, value in own.items() if (text := _plain_text(value)) is not None}
        layers.append([type(layer).__qualname__, plain])
        layer = own.get("env")
    return hashlib.sha256(json.dumps(layers, sort_keys=True).encode()).hexdigest()[:16]


def _plain_text(value: Any) -> str | None:
    """Return a plain value as text; None for any other value."""
    try:
        return json.dumps(value.item() if isinstance(value, np.generic) else value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None


def object_named(name: str) -> ScriptObject:
    """Return an object that a script of this process has given.

    Raises:
        ConfigurationError: it has given none of that name.
    """
    own_name, own = _instead.get()
    found = own if name == own_name else _known.get(name)
    if found is None:
        raise ConfigurationError(
            f"setting 'env_object' = {name!r}: the environment is an object of the script that began the run, and only "
            "that script has it: give it to HybridLLMRLTrainer there, and call load_checkpoint(RUN) and train()"
        )
    return found


def pack(environment: Any, rebuilt: Callable[[Any], bool]) -> bytes:
    """Return an object as bytes for another process, with classes and functions of the script in them.

    Args:
        environment: an environment, perhaps in wrappers.
        rebuilt: True for an environment that the other process builds again from the run's settings.

    Raises:
        ConfigurationError: something in it cannot be sent.
    """
    import cloudpickle  # type: ignore[import-untyped]  # noqa: PLC0415 - only scripts need it

    class Packer(cloudpickle.Pickler):  # type: ignore[misc]
        """Pickler that leaves out what is built again."""

        def reducer_override(self, obj: Any) -> Any:
            """Return how an object is restored."""
            return (_inside, (type(obj),)) if rebuilt(obj) else super().reducer_override(obj)

    file = io.BytesIO()
    try:
        Packer(file).dump(environment)
    except Exception as error:  # whatever a third party's object raises
        raise ConfigurationError(
            f"the environment {environment} cannot be sent to another process ({one_line(error)}): register it with a "
            "plugin, or with gymnasium.register in a module, and name it as gym:module:Id-v0"
        ) from error
    return file.getvalue()


def unpacked(packed: bytes, build: Callable[[Any], Any]) -> Any:
    """Return the object of :func:`pack`. ``build`` builds an environment inside of it, given the class."""
    _build.append(build)
    try:
        return pickle.loads(packed)
    finally:
        _build.pop()


def _inside(kind: Any) -> Any:
    return _build[-1](kind)
