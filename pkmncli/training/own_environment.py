"""An environment beside those of a training, for episodes that are none of its own. Started when it is first needed."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from pkmncli.training.worker_spec import WorkerSpec
from pkmncli.training.workers import WorkerPool


class OwnEnvironment:
    """Holds one while it is entered.

    Args:
        spec: how to build it, and which seeds its episodes have.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        self._spec = spec
        self._pool: WorkerPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.__exit__(kind, value, trace)
            self._pool = None

    @property
    def pool(self) -> WorkerPool:
        """The environment, started."""
        if self._pool is None:
            self._pool = WorkerPool(self._spec).__enter__()
        return self._pool
