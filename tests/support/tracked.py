"""Metrics of a run: as its tables hold them, and as TensorBoard shows them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from pkmncli.plugins import get_registry
from pkmncli.training.assembly import open_store

Points = dict[str, list[tuple[int, float]]]


def stored(run: Path) -> Points:
    """The table of metrics: for each name its steps and values, which TensorBoard keeps as 32-bit numbers."""
    store = open_store(get_registry(), run)
    points: Points = defaultdict(list)
    for row in store.read("metrics"):
        points[row["name"].replace(" ", "_")].append((row["global_step"], float(np.float32(row["value"]))))
    store.close()
    return points


def read_back(run: Path) -> EventAccumulator:
    events = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    return events


def tracked(run: Path) -> Points:
    events = read_back(run)
    return {tag: [(point.step, point.value) for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
