"""Actions of any discrete space as one number, those of a continuous one as numbers between bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api.vocabulary import ActionNames
from pkmncli.errors import EnvironmentSetupError

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray

MASK = "action_mask"
"""Key of the action mask in an observation."""

MOST_ACTIONS = 65_536
"""Maximum number of actions of an environment."""


@dataclass(frozen=True, slots=True)
class FlatActions:
    """Numbers, from 0, for the actions of a Discrete, MultiDiscrete or MultiBinary space; controls for those of a Box.

    The components of an action are the digits of its number in a mixed radix, the first component most significant:
    with the sizes (3, 2) the number of the action (2, 1) is 2 * 2 + 1 = 5. The components of a MultiBinary space are
    its bits in the order of their array. A Discrete space has one component.

    A Box of floats is continuous: its actions all have the number 0, and an action is its controls, float32
    (dimensions,), in the order of the Box's array.

    Attributes:
        sizes: number of values of each component.
        starts: lowest value of each component.
        shape: shape of an action's array; None if an action is one number.
        dtype: data type of an action.
        low: lowest value of each control; empty if the space is not continuous.
        high: highest value of each control.
    """

    sizes: tuple[int, ...]
    starts: tuple[int, ...]
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @classmethod
    def of(cls, space: gymnasium.Space[Any]) -> FlatActions:
        """Return the flat actions of a space.

        Raises:
            EnvironmentSetupError: the space is of another kind, or has more than :data:`MOST_ACTIONS` actions.
        """
        from gymnasium import spaces  # noqa: PLC0415 - importing this module must stay cheap

        if isinstance(space, spaces.Discrete):
            flat = cls((int(space.n),), (int(space.start),), None, np.dtype(space.dtype))
        elif isinstance(space, spaces.MultiDiscrete):
            sizes, starts = space.nvec.ravel().tolist(), space.start.ravel().tolist()
            flat = cls(tuple(sizes), tuple(starts), space.nvec.shape, np.dtype(space.dtype))
        elif isinstance(space, spaces.MultiBinary):
            count = prod(space.shape)
            flat = cls((2,) * count, (0,) * count, space.shape, np.dtype(space.dtype))
        elif isinstance(space, spaces.Box):
            with np.errstate(over="ignore"):
                finite = np.isfinite(np.subtract(space.high, space.low, dtype=np.float32)).all()
            if space.dtype is None or space.dtype.kind != "f" or not finite or not prod(space.shape):
                raise EnvironmentSetupError(
                    f"the action space {space} is no Box of floats between bounds: give it bounds, for example with a "
                    "wrapper, or offer a few chosen actions"
                )
            low, high = (tuple(bound.ravel().astype(np.float32).tolist()) for bound in (space.low, space.high))
            flat = cls((1,), (0,), space.shape, np.dtype(space.dtype), low, high)
        else:
            raise EnvironmentSetupError(
                f"the action space {space} is no Discrete, MultiDiscrete, MultiBinary or Box space"
            )
        if flat.count > MOST_ACTIONS:
            raise EnvironmentSetupError(
                f"the action space {space} has more than {MOST_ACTIONS:,} actions: offer fewer, or choose one "
                "component at each step"
            )
        return flat

    @property
    def count(self) -> int:
        """Number of actions; 1 if the space is continuous."""
        return prod(self.sizes)

    @property
    def dimensions(self) -> int:
        """Number of controls of a continuous action; 0 if the space is not continuous."""
        return len(self.low)

    @property
    def space(self) -> gymnasium.Space[Any]:
        """Space of the actions as learners see them: Discrete from 0, or a Box of controls (dimensions,)."""
        from gymnasium import spaces  # noqa: PLC0415 - importing this module must stay cheap

        if self.dimensions:
            return spaces.Box(np.array(self.low, np.float32), np.array(self.high, np.float32), dtype=np.float32)
        return spaces.Discrete(self.count)

    @property
    def trivial(self) -> bool:
        """True if actions are in this form already: a Discrete space from 0, or a Box of float32 (dimensions,)."""
        if self.dimensions:
            return self.shape == (self.dimensions,) and self.dtype == np.float32
        return self.shape is None and self.starts == (0,)

    def number(self, action: Any) -> int:
        """Return the number of an action of the space.

        Raises:
            ValueError: it is no action of the space.
        """
        if self.dimensions:
            return 0
        number = 0
        values = np.asarray(action).ravel().tolist()
        for value, size, start in zip(values, self.sizes, self.starts, strict=True):
            if not 0 <= value - start < size:
                raise ValueError(f"{action} is no action of the space: {value} is not in {start}..{start + size - 1}")
            number = number * size + int(value - start)
        return number

    def action(self, number: int | NDArray[np.float32]) -> Any:
        """Return the action with a number, as the space has it: a number, or an array of the space's shape.

        Args:
            number: of the action; in a continuous space its controls (dimensions,), which are clipped to the bounds, or
                0 for the middle of the space.
        """
        if isinstance(number, np.ndarray):
            return np.clip(number, self.low, self.high).astype(self.dtype).reshape(self.shape or ())
        if self.dimensions:
            return self.action((np.array(self.low, np.float32) + np.array(self.high, np.float32)) / np.float32(2))
        values = self._values(number)
        if self.shape is None:
            return values[0]
        return np.array(values, self.dtype).reshape(self.shape)

    def names(self, names: Sequence[Sequence[str]] | None = None) -> tuple[str, ...]:
        """Return a name for each action.

        Args:
            names: for each component the names of its values, such as ``[["left", "right"], ["wait", "jump"]]``, which
                are joined to ``left_wait``; without them actions are ``action_2_1``, by the values of the components.

        Raises:
            EnvironmentSetupError: a component does not have a name for each of its values.
        """
        if self.dimensions:
            return ("controls",)
        if names is None:
            values = (self._values(number) for number in range(self.count))
            return tuple("_".join(["action", *map(str, value)]) for value in values)
        if tuple(map(len, names)) != self.sizes:
            raise EnvironmentSetupError(
                f"names for components of {list(map(len, names))} values are given, and those of the action space have "
                f"{list(self.sizes)}"
            )
        return tuple(
            "_".join(names[place][value - self.starts[place]] for place, value in enumerate(self._values(number)))
            for number in range(self.count)
        )

    def declared_names(self, declared: Any) -> ActionNames | Sequence[str] | None:
        """Return the names of the actions from ``action_names`` of an environment, which may be None.

        They are the declared ones, with those of components joined; otherwise :meth:`names`, and None for a Discrete
        space from 0, whose actions have default names.

        Raises:
            EnvironmentSetupError: a component does not have a name for each of its values.
        """
        if declared is None:
            return None if self.trivial and not self.dimensions else self.names()
        if isinstance(declared, ActionNames) or all(isinstance(name, str) for name in declared):
            return declared  # type: ignore[no-any-return]
        return self.names(declared)

    def mask(self, allowed: Any) -> NDArray[np.int8]:
        """Return which actions are allowed, (count,) int8, 1 = allowed.

        Args:
            allowed: one entry for each action, (count,); or one for each value of each component, concatenated, (sum of
                sizes,), or as a sequence of arrays, one for each component: then an action is allowed if each of its
                components is. An array that could be either is read as one for each value of each component.

        Raises:
            EnvironmentSetupError: it has another number of entries.
        """
        parts = [allowed] if isinstance(allowed, np.ndarray) else list(allowed)
        given = np.concatenate([np.atleast_1d(part) for part in parts]) != 0
        if len(self.sizes) > 1 and len(given) == sum(self.sizes):
            whole = np.ones(1, np.bool_)
            for part in np.split(given, np.cumsum(self.sizes)[:-1]):
                whole = (whole[:, None] & part).ravel()
        elif len(given) == self.count:
            whole = given
        else:
            raise EnvironmentSetupError(
                f"the action mask has {len(given)} entries; needed is one for each of the {self.count} actions"
                + (f", or for each of the {sum(self.sizes)} values of the components" if len(self.sizes) > 1 else "")
            )
        return whole.astype(np.int8)

    def _values(self, number: int) -> list[int]:
        if not 0 <= number < self.count:
            raise ValueError(f"there is no action {number}: actions are numbered from 0 to {self.count - 1}")
        values = []
        for size, start in zip(reversed(self.sizes), reversed(self.starts), strict=True):
            number, value = divmod(number, size)
            values.append(start + value)
        return values[::-1]
