"""View of a run of a plugin's command, which has no environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.errors import RunError
from pkmncli.training.workers.shared_memory import RECORD_DTYPE
from pkmncli.training.workers.spec import Standing

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CommandScene:
    """Latest decisions and progress, with the members of a worker pool that the live board reads.

    Args:
        num_envs: environments or agents that decisions are of.
    """

    observation_space = SimpleNamespace(spaces={})
    milestone_names: Sequence[str] = ()

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self.progress: list[Mapping[str, float]] = [{} for _ in range(num_envs)]
        """A few named numbers of each environment."""
        self._records: NDArray[Any] = np.zeros(num_envs, RECORD_DTYPE)

    def show(self, environment: int, row: Mapping[str, Any]) -> None:
        """Take in the latest decision of an environment: a row of the table of decisions."""
        for name in RECORD_DTYPE.names or ():
            if name in row:
                value = row[name]
                self._records[name][environment] = value.encode() if isinstance(value, str) else value

    def records(self) -> NDArray[Any]:
        """Return the record of each environment's latest decision, (num_envs,)."""
        return self._records

    def standings(self) -> list[Standing]:
        """Return the progress of each environment."""
        steps = self._records["step"].tolist()
        return [Standing(step, 0, (), (), one, None) for step, one in zip(steps, self.progress, strict=True)]

    def observations(self) -> Mapping[str, NDArray[Any]]:
        """Return nothing: there are no observations."""
        return {}

    def view(self, _index: int) -> None:
        """Return None: there is no picture."""

    def views_onto(self, _path: Path, _shape: tuple[int, ...]) -> Sequence[str]:
        """Return no faults: there is no picture."""
        return ()

    def start_state(self, _index: int) -> bytes | None:
        """Raise RunError: no episode can begin elsewhere."""
        raise RunError("this run has no start states")
