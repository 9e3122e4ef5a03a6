"""Values of a learner's actions, checked against the contract before they are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.errors import TrainingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.api import Algorithm


class ActionValues:
    """Values of a learner's actions, if it has any; see :class:`pkmncli.api.ValuingAlgorithm`."""

    def __init__(self, learner: Algorithm, num_envs: int, num_actions: int) -> None:
        self._learner = learner
        self._shape = (num_envs, num_actions)
        self._ask: Any = getattr(learner, "action_values", None)
        self._checked = False

    def latest(self) -> NDArray[np.float32] | None:
        """Return the values of the latest act, (num_envs, num_actions); None if the learner has none.

        Raises:
            TrainingError: the first values are no array of numbers of this shape.
        """
        if self._ask is None:
            return None
        values: NDArray[np.float32] | None = self._ask() if callable(self._ask) else self._ask
        if values is not None and not self._checked:
            self._check(values)
            self._checked = True
        return values

    def _check(self, values: Any) -> None:
        if isinstance(values, np.ndarray):
            found = f"{values.dtype} of shape {values.shape}"
            if values.dtype.kind == "f" and values.shape == self._shape:
                return
        else:
            found = f"a {type(values).__name__}"
        kind = type(self._learner)
        raise TrainingError(
            f"the learner {kind.__module__}.{kind.__qualname__} breaks its contract: action_values() must give floats "
            f"of shape {self._shape} or None, and gave {found}."
        )
