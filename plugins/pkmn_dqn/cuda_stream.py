"""Streams of a GPU; on a CPU all work is done at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TypeAlias

import torch
from torch import Tensor

Mark: TypeAlias = torch.cuda.Event | None
"""A point in a stream's queue of work; None on a CPU."""


class SideStream:
    """Work for a device in parallel with the thread's current stream, without waiting for it.

    Args:
        device: a GPU, or the CPU: then each piece of work ends before the next line runs.
    """

    def __init__(self, device: torch.device) -> None:
        self.stream: torch.cuda.Stream | None = None
        if device.type == "cuda":
            self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def open(self, after: Mark = None) -> Iterator[None]:
        """Send the thread's work to the side stream while the context is open.

        It begins after a mark, or after all work queued on the thread's current stream; so both can be captured
        together.
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
        """Make later work of the thread's current stream begin after all work of the side stream."""
        if self.stream is not None:
            torch.cuda.current_stream(self.stream.device).wait_stream(self.stream)

    def finish(self) -> None:
        """Wait until all work is done."""
        if self.stream is not None:
            self.stream.synchronize()


def mark(device: torch.device) -> Mark:
    """Return the point after all work queued so far on the thread's current stream."""
    return torch.cuda.current_stream(device).record_event() if device.type == "cuda" else None


def wait_until(mark: Mark) -> None:
    """Wait until the GPU has reached a mark."""
    if mark is not None:
        mark.synchronize()


def finish_all(device: torch.device) -> None:
    """Wait until a device has done all its work, on every stream."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def host_memory(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return zeros in ordinary memory that a device can copy from and to asynchronously."""
    return torch.zeros(shape, dtype=dtype, pin_memory=device.type == "cuda")
