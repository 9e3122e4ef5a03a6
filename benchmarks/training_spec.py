"""What one training is to be, for either side of the comparison with stable-baselines3."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self

ROLLOUT = 2_048
"""Steps between two updates of PPO, over all environments."""


@dataclass(frozen=True)
class TrainingSpec:
    """One training. What it does not say are the defaults of our learners, on both sides."""

    learner: Literal["dqn", "ppo"]
    folder: Path
    name: str
    steps: int = 40_000
    """Of the game, over all environments; of PPO whole rollouts, since the other library ends no sooner."""
    seed: int = 0
    envs: int = 1
    masks: bool = False
    """Whether forbidden presses are masked. Without, every press is made, and the learner has no masks."""
    equal: bool = True
    """Ours only: without what the other library has not; else with our defaults."""
    overlap: bool = True
    """Ours only: PPO gathers the next rollout while it learns from the last."""
    observes: Literal["multi_modal", "goal"] = "multi_modal"
    """Screens and state variables, or the numbers of goals and a map in place of the screens."""
    own_network: bool = False
    """The other library only: its own network for images and numbers, instead of ours."""
    processes: bool = False
    """The other library only: environments in processes of their own, even if there is only one."""
    episodes: int = 0
    """Of evaluation."""
    evaluation_seed: int = 1_000_000
    episode_steps: int = 300
    torch_threads: int = 1
    device: str = "cpu"
    keep: bool = False
    """Whether run and model are left in the folder."""

    @property
    def rollout_rows(self) -> int:
        """Steps of each environment in a rollout of PPO."""
        return ROLLOUT // self.envs

    def to_json(self) -> str:
        """As an argument of a command."""
        return json.dumps({name: str(value) if name == "folder" else value for name, value in asdict(self).items()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """From :meth:`to_json`."""
        values = json.loads(text)
        return cls(**values | {"folder": Path(values["folder"])})
