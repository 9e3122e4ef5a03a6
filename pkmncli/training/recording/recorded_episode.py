"""A recorded episode: what the table of episodes holds of it, and the state that it began in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.atomic_files import write_atomic, write_errors_explained
from pkmncli.errors import RunError
from pkmncli.training.recording.episodes import MEMORY_HASH_DTYPE
from pkmncli.training.workers.action_log import Actions, actions_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.runs import Run


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """An episode as the table of episodes holds it.

    ``fine_hashes`` (steps,) uint64 is the state after each step; ``memory_hashes`` the steps at which the whole memory
    was hashed, with the hash.
    """

    environment: int
    episode: int
    seed: int
    actions: Actions
    fine_hashes: NDArray[np.uint64]
    memory_hashes: Mapping[int, int]
    total_reward: float
    outcome: str
    start: str = ""
    """Hash of the saved state that it began in; empty for the game's own start."""
    start_state: bytes | None = None
    """State that it began in; None if the environment begins there by itself."""
    milestones: Mapping[str, int] = field(default_factory=dict)
    """The step that reached each milestone; 0 for those that were there at the start."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> RecordedEpisode:
        """Return the episode of a row of the store."""
        hashes = np.frombuffer(row["memory_hashes"], MEMORY_HASH_DTYPE)
        return cls(
            environment=row["environment"],
            episode=row["episode"],
            seed=row["seed"],
            actions=actions_from(row["presses"], row["steps"]),
            fine_hashes=np.frombuffer(row["fine_hashes"], "<u8"),
            memory_hashes=dict(zip(hashes["step"].tolist(), hashes["hash"].tolist(), strict=True)),
            total_reward=row["total_reward"],
            outcome=row["outcome"],
            start=row["start"],
            milestones=json.loads(row["milestones"]),
        )

    @property
    def title(self) -> str:
        """Name for people."""
        return f"episode {self.episode} of environment {self.environment}"


def with_start(recorded: RecordedEpisode, run: Run, own: str = "") -> RecordedEpisode:
    """Return the episode with its start state, which its run keeps.

    Args:
        recorded: as its row has it.
        run: its run.
        own: hash of the state in which the environment begins by itself, if any: that one is left out.

    Raises:
        RunError: the state can't be read.
    """
    if recorded.start in ("", own):
        return recorded
    path = state_file(run.starts_folder, recorded.start)
    try:
        return replace(recorded, start_state=path.read_bytes())
    except OSError as error:
        raise RunError(f"the start of {recorded.title}, {path}, cannot be read: {error.strerror}") from error


def keep_state(folder: Path, state: bytes) -> str:
    """Write a start state into a run's folder of them. Returns its hash, which is its name."""
    digest = hashlib.blake2b(state, digest_size=8).hexdigest()
    path = state_file(folder, digest)
    if not path.exists():
        with write_errors_explained(path):
            path.parent.mkdir(exist_ok=True)
            write_atomic(path, state)
    return digest


def state_file(folder: Path, digest: str) -> Path:
    """Return the path of a start state."""
    return folder / f"{digest}.state"
