"""Layers of a Gymnasium environment: its wrappers from the outside, and the environment itself last."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_STANDARD = frozenset(kind.__name__ for kind in (OrderEnforcing, PassiveEnvChecker, TimeLimit))
"""Wrappers of every registered environment, which change nothing."""
_STATE_METHODS = (("save_state", "load_state"), ("get_state", "set_state"))


def layers_of(environment: Any) -> Iterator[Any]:
    """Yield the wrappers from the outside, and the environment last."""
    while isinstance(environment, gymnasium.Wrapper):
        yield environment
        environment = environment.env
    yield environment


def member_of(environment: Any, name: str, default: Any = None) -> Any:
    """Return a member of the outermost layer that has it."""
    return next((getattr(layer, name) for layer in layers_of(environment) if hasattr(layer, name)), default)


def method_of(environment: Any, name: str) -> Any:
    """Return a method of the outermost layer that has a member of that name; None if that is no method."""
    found = member_of(environment, name)
    return found if callable(found) else None


def state_methods_of(environment: Any) -> tuple[Any, Any] | None:
    """Return the methods that save and restore the whole state; None if wrappers or overriding methods hide some.

    A wrapper's own methods keep what is inside, too. A ``step`` or ``reset`` that overrides those of the class with the
    state methods may have further state.
    """
    while isinstance(environment, OrderEnforcing | PassiveEnvChecker):
        environment = environment.env
    for save, load in _STATE_METHODS:
        if callable(getattr(environment, save, None)) and callable(getattr(environment, load, None)):
            kind = type(environment)
            if depth(kind, save) <= min(depth(kind, "step"), depth(kind, "reset")):
                return getattr(environment, save), getattr(environment, load)
    return None


def arguments_and_wrappers(environment: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    """Return the arguments that an environment was made with, its wrappers and theirs, as plain values.

    The arguments of a wrapper are known if it keeps them, as Gymnasium's own do.
    """
    kept = {} if environment.spec is None else environment.spec.kwargs
    arguments = {key: _stable_repr(value) for key, value in kept.items() if key != "render_mode"}
    wrappers = [layer for layer in layers_of(environment) if isinstance(layer, gymnasium.Wrapper)]
    wrappers = [layer for layer in wrappers if type(layer).__name__ not in _STANDARD]
    own = [_arguments_of(layer) for layer in wrappers]
    parts: dict[str, Any] = {"arguments": arguments, "wrappers": [type(layer).__name__ for layer in wrappers]}
    parts["wrapper_arguments"] = own if any(own) else []
    return {name: part for name, part in parts.items() if part}


def depth(kind: type, name: str) -> int:
    """Return the place of the class that defines a method in the order of inheritance, 0 for the class itself.

    A method that no class defines, such as one of an instance, has the place behind all.
    """
    return next((place for place, one in enumerate(kind.__mro__) if name in vars(one)), len(kind.__mro__))


def _arguments_of(wrapper: Any) -> dict[str, str]:
    kept = getattr(wrapper, "_saved_kwargs", None)
    return {str(key): _stable_repr(value) for key, value in kept.items()} if isinstance(kept, Mapping) else {}


def _stable_repr(value: Any) -> str:
    """Return ``repr`` as it is in every process: functions and objects without their address."""
    return _ADDRESS.sub("", repr(value))
