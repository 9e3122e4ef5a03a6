"""States of NumPy random generators as plain values, so that checkpoints need no pickle."""

from __future__ import annotations

from typing import Any

import numpy as np


def generator(seed: int, stream: int) -> np.random.Generator:
    """Return a generator that is independent of those of other streams of the same seed."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, stream))))


def dump_generator(source: np.random.Generator) -> dict[str, Any]:
    """Return the state of a PCG64 generator; integers that may exceed 64 bits are text."""
    state: Any = source.bit_generator.state
    return {
        "state": str(state["state"]["state"]),
        "inc": str(state["state"]["inc"]),
        "has_uint32": int(state["has_uint32"]),
        "uinteger": int(state["uinteger"]),
    }


def restore_generator(target: np.random.Generator, dumped: dict[str, Any]) -> None:
    """Put a PCG64 generator into a state of :func:`dump_generator`."""
    target.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(dumped["state"]), "inc": int(dumped["inc"])},
        "has_uint32": dumped["has_uint32"],
        "uinteger": dumped["uinteger"],
    }
