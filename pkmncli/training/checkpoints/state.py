"""State of a trainer in a checkpoint, and its form on disk: plain values, and arrays by name.

Every part of a training has ``state_dict()`` and ``load_state_dict()``. A state mixes plain values and arrays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pkmncli.errors import ConfigurationError
from pkmncli.training.recording.counters import TrainingStatistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

State = Mapping[str, Any]
"""Plain values and arrays by name."""


class Stateful(Protocol):
    """A part whose state a checkpoint holds."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""

    def load_state_dict(self, state: State) -> None:
        """Resume from :meth:`state_dict`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerState:
    """State of a trainer, apart from its learner and its workers. Parts that an earlier version lacks are empty."""

    statistics: TrainingStatistics = field(default_factory=TrainingStatistics)
    schedule_steps: int = 0
    """Steps at which the learner's schedules end."""
    arbiter: State = field(default_factory=dict)
    hand_over: State | None = None
    recorder: State = field(default_factory=dict)
    """Recent actions, and the decisions that are held back."""
    learner_thread: State = field(default_factory=dict)
    progression: State = field(default_factory=dict)
    """Strategy and curriculum."""
    starts: State | None = None
    """Start states; None if all episodes begin at the same."""
    advice: State | None = None
    """Coordinator of advice; None without a language model."""
    meters: State = field(default_factory=dict)
    pretraining: State | None = None
    metrics_of_next_step: Mapping[str, float] = field(default_factory=dict)
    journeys: State = field(default_factory=dict)
    episodes: Sequence[State] = ()
    """Running episode of each environment."""
    press_logs: Sequence[State] = ()
    """Actions of each running episode, for a worker that is lost."""

    @property
    def trust(self) -> float:
        """Weight of the advised side's confidence."""
        return float(self.arbiter["trust"])

    def to_disk(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return plain values and arrays, by the names that they have on disk."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        values["statistics"] = self.statistics.state_dict()
        arrays: dict[str, NDArray[Any]] = {}
        values["episodes"] = []
        for index, episode in enumerate(self.episodes):
            own, plain = split_arrays(episode)
            arrays |= {f"episode.{index}.{name}": array for name, array in own.items()}
            values["episodes"].append(plain)
        if "held" in self.recorder:
            own, plain = split_arrays(self.recorder["held"])
            arrays |= {f"recorder.{name}": array for name, array in own.items()}
            values["recorder"] = {**self.recorder, "held": plain}
        return values, arrays

    @classmethod
    def from_disk(cls, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TrainerState:
        """Return the state that :meth:`to_disk` described; unknown names are those of another version.

        Raises:
            LookupError, TypeError, ValueError: it is no such state.
        """
        state = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        statistics = TrainingStatistics()
        statistics.load_state_dict(values.get("statistics", {}))
        episodes = [dict(episode) for episode in values.get("episodes", ())]
        recorder = dict(values.get("recorder", {}))
        held = dict(recorder.get("held", {}))
        for name, array in arrays.items():
            part, _, rest = name.partition(".")
            if part == "episode":
                index, _, rest = rest.partition(".")
                episodes[int(index)][rest] = array
            elif part == "recorder":
                held[rest] = array
        if held:  # an earlier version held no decisions back
            recorder["held"] = held
        return cls(**{**state, "statistics": statistics, "episodes": episodes, "recorder": recorder})


def split_arrays(state: State) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and tensors of a state, as arrays, and its plain values."""
    arrays: dict[str, NDArray[Any]] = {}
    values: dict[str, Any] = {}
    for name, value in state.items():
        if hasattr(value, "detach"):  # a tensor, of any library
            arrays[name] = value.detach().cpu().numpy()
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            values[name] = value
    return arrays, values


def check_state(state: State) -> None:
    """Raise ConfigurationError if a checkpoint cannot hold a state."""
    arrays, values = split_arrays(state)
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ConfigurationError(f"state '{name}': an array of {array.dtype} can't be saved; give numbers")
    for name, value in values.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigurationError(f"state '{name}' is neither an array nor a plain value: {error}") from None
