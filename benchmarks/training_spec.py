"""Definition of one training, for both sides of the comparison with stable-baselines3."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self

ROLLOUT = 2_048
"""Steps between two updates of PPO, over all environments."""


@dataclass(frozen=True)
class TrainingSpec:
    """Values that define one training. All other values are the defaults of our learners, on both sides."""

    learner: Literal["dqn", "ppo"]
    folder: Path
    name: str
    steps: int = 40_000
    """Steps of the game, over all environments; of PPO whole rollouts, since the other library ends only there."""
    seed: int = 0
    envs: int = 1
    masks: bool = False
    """Forbidden actions are masked. Otherwise every action is possible, and the learner has no masks."""
    equal: bool = True
    """Ours only: without features that the other library lacks; otherwise with our defaults."""
    overlap: bool = True
    """Ours only: PPO collects the next rollout while it learns from the last."""
    observes: Literal["multi_modal", "goal"] = "multi_modal"
    """Screens and state variables, or the numbers of goals and a map in place of the screens."""
    own_network: bool = False
    """The other library only: its own network for images and numbers, instead of ours."""
    processes: bool = False
    """The other library only: environments in separate processes, even if there is only one."""
    episodes: int = 0
    """Number of evaluation episodes."""
    evaluation_seed: int = 1_000_000
    episode_steps: int = 300
    torch_threads: int = 1
    device: str = "cpu"
    keep: bool = False
    """Run and model are left in the folder."""

    @property
    def rollout_rows(self) -> int:
        """Steps of each environment in a rollout of PPO."""
        return ROLLOUT // self.envs

    def to_json(self) -> str:
        """Return the training as an argument of a command."""
        return json.dumps({name: str(value) if name == "folder" else value for name, value in asdict(self).items()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the training of :meth:`to_json`."""
        values = json.loads(text)
        return cls(**values | {"folder": Path(values["folder"])})
