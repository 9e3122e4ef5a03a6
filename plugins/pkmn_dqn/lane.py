"""Streams of a graphics card, or ordinary memory in its place, where everything is done at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor

Mark = torch.cuda.Event | None
"""A place in what a stream was given to do; none in ordinary memory."""


class Lane:
    """Work for a device beside the work of the thread's own stream. The thread that gives it does not wait.

    Args:
        device: a graphics card, or the CPU: then every piece of work ends before the next line runs.
    """

    def __init__(self, device: torch.device) -> None:
        self.stream: torch.cuda.Stream | None = None
        if device.type == "cuda":
            self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def open(self, after: Mark = None) -> Iterator[None]:
        """Within this, the thread's work goes to the lane.

        It begins after a mark, or after all that the thread's own stream was given; so it may be captured with that.
        """
        if self.stream is None:
            yield
            return
        if after is None:
            self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))
        else:
            self.stream.wait_event(after)
        with torch.cuda.stream(self.stream):
            yield

    def join(self) -> None:
        """Let what the thread's own stream is given from now on begin after all that the lane was given."""
        if self.stream is not None:
            torch.cuda.current_stream(self.stream.device).wait_stream(self.stream)

    def finish(self) -> None:
        """Wait until all is done."""
        if self.stream is not None:
            self.stream.synchronize()


def mark(device: torch.device) -> Mark:
    """The place after all that the thread's own stream was given so far."""
    return torch.cuda.current_stream(device).record_event() if device.type == "cuda" else None


def wait_until(mark: Mark) -> None:
    """Wait until the card has come to a mark."""
    if mark is not None:
        mark.synchronize()


def finish_all(device: torch.device) -> None:
    """Wait until a device has done all that it was given, on whatever stream."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def host_memory(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Ordinary memory that a device copies from and to without anyone waiting: zeros."""
    return torch.zeros(shape, dtype=dtype, pin_memory=device.type == "cuda")
