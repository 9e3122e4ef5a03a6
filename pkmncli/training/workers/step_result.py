"""Result of steps: the records of all environments, and the columns of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pkmncli.training.workers.spec import StepNews


class StepColumns(NamedTuple):
    """Consecutive steps of one environment: fields of their records as plain values."""

    actions: Sequence[Any]
    """Numbers; controls (dimensions,) of continuous actions."""
    sources: bytes
    """A Source for each action."""
    rewards: Sequence[float]
    fine_hashes: Sequence[int]
    memory_hashes: Sequence[int]

    @classmethod
    def of(cls, record: np.void) -> StepColumns:
        """Return the columns of a single step."""
        action, reward, fine_hash, memory_hash = (
            [record[name].item()] for name in ("action", "reward", "fine_hash", "memory_hash")
        )
        return cls(action, bytes([record["source"]]), reward, fine_hash, memory_hash)

    @classmethod
    def of_each(cls, records: NDArray[Any]) -> list[StepColumns]:
        """Return the columns of each environment from records (steps, num_envs)."""
        actions, rewards, fine_hashes, memory_hashes = (
            records[name].T.tolist() for name in ("action", "reward", "fine_hash", "memory_hash")
        )
        sources = [column.tobytes() for column in records["source"].T]
        return list(map(cls, actions, sources, rewards, fine_hashes, memory_hashes))

    def part(self, first: int, last: int) -> StepColumns:
        """Return the steps from the place ``first`` up to ``last``, which is not included."""
        places = slice(first, last)
        return StepColumns(
            self.actions[places],
            self.sources[places],
            self.rewards[places],
            self.fine_hashes[places],
            self.memory_hashes[places],
        )


@dataclass(frozen=True)
class StepResult:
    """Result of a step of every environment, or of several. Views: valid until the step after the next.

    ``observations`` is what was acted on, ``rows`` a copy of the step records, shape (steps, num_envs).
    """

    observations: Mapping[str, NDArray[Any]]
    rows: NDArray[Any]
    columns: Sequence[StepColumns]
    """Some of their fields for each environment."""
    news: Sequence[tuple[int, int, StepNews]]
    """Place of the step, environment, and what is new there, in this order."""
    begun: Mapping[str, NDArray[Any]]
    """Observations to act on next; of an ended episode, the first one of the next."""
    terminal: Mapping[str, NDArray[Any]]
    """Last observations of the ended episodes; overwritten by the next step."""
    controls: NDArray[np.float32] | None = None
    """Actions of a continuous space, (num_envs, dimensions), as they were carried out; None in another."""

    @property
    def records(self) -> NDArray[Any]:
        """Records of the latest step, (num_envs,)."""
        records: NDArray[Any] = self.rows[-1]
        return records

    @cached_property
    def ended(self) -> Sequence[int]:
        """Environments whose episode ended with the latest step."""
        last = len(self.rows) - 1
        return [index for step, index, news in self.news if step == last and news.end is not None]

    @cached_property
    def next_observations(self) -> Mapping[str, NDArray[Any]]:
        """Observations that followed the actions: of an ended episode, its last one. Read before the next step."""
        if not self.ended:
            return self.begun
        after = {name: array.copy() for name, array in self.begun.items()}
        for name, array in after.items():
            array[self.ended] = self.terminal[name][self.ended]
        return after
