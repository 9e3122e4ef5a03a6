"""Environments beside those of a training, for episodes that are none of its own, started when first needed."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import WorkerSpec


class LazyWorkerPool:
    """A pool while it is entered, if anybody asks for one.

    Args:
        spec: how to build the environments, and which seeds their episodes have.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        self.spec = spec
        self._pool: WorkerPool | None = None

    @property
    def pool(self) -> WorkerPool:
        """The environments, started."""
        if self._pool is None:
            self._pool = WorkerPool(self.spec).__enter__()
        return self._pool

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.__exit__(kind, value, trace)
            self._pool = None
