"""A stream of a graphics card, or ordinary memory in its place, where everything is done at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor

Mark = torch.cuda.Event | None
"""A place in what a lane was given to do; none in ordinary memory."""


class Lane:
    """Work for a device in the order in which it is given. The thread that gives it does not wait.

    Args:
        device: a graphics card, or the CPU: then every piece of work ends before the next line runs.
    """

    def __init__(self, device: torch.device) -> None:
        self.stream: torch.cuda.Stream | None = None
        if device.type == "cuda":
            self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Within this, the thread's work goes to the lane."""
        with contextlib.nullcontext() if self.stream is None else torch.cuda.stream(self.stream):
            yield

    @contextlib.contextmanager
    def open_beside(self) -> Iterator[None]:
        """As :meth:`open`, after all that the thread's own stream was given; :meth:`join` is to follow.

        What is given to it so may be captured together with the thread's own stream.
        """
        if self.stream is not None:
            self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))
        with self.open():
            yield

    def join(self) -> None:
        """What the thread's own stream is given from now on begins after all that the lane was given."""
        if self.stream is not None:
            torch.cuda.current_stream(self.stream.device).wait_stream(self.stream)

    def mark(self) -> Mark:
        """The place after all that the lane was given so far."""
        return None if self.stream is None else self.stream.record_event()

    def wait_for(self, mark: Mark) -> None:
        """What the lane is given from now on begins after the mark of another lane."""
        if self.stream is not None and mark is not None:
            self.stream.wait_event(mark)

    def finish(self) -> None:
        """Waits until all is done."""
        if self.stream is not None:
            self.stream.synchronize()


def wait_until(mark: Mark) -> None:
    """Waits until a lane has come to the mark."""
    if mark is not None:
        mark.synchronize()


def finish_all(device: torch.device) -> None:
    """Waits until a device has done all that it was given, on whatever lane."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def host_memory(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Ordinary memory that a device copies from and to without anyone waiting: zeros."""
    return torch.zeros(shape, dtype=dtype, pin_memory=device.type == "cuda")
