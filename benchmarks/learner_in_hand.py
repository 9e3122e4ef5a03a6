"""The learner of a run's checkpoint in the process of an environment: for benchmarks that set goals themselves."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.settings import EnvironmentSettings
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.assembly import build_learner, environment_spec
from pkmncli.training.checkpoints.files import read_checkpoint


class LearnerInHand:
    """A learner that acts greedily in its own environment.

    Args:
        run: folder of the run.
        kind: class of the environment.
        max_steps: maximum steps of an episode.
    """

    def __init__(self, run: Path, kind: type[PokemonEnvironment], max_steps: int) -> None:
        registry, found = get_registry(), Run(run)
        changes = {"llm": NONE, "env_class": None, "goal": "last", "max_steps_per_episode": max_steps}
        settings = ResolvedSettings.from_run(run, registry).changed(changes, may_change=tuple(changes))
        self.environment = kind(EnvironmentSettings(**environment_spec(settings, registry).settings))
        spaces = SimpleNamespace(
            observation_space=self.environment.observation_space,
            action_space=self.environment.action_space,
            num_envs=1,
        )
        self._learner = build_learner(settings, registry, spaces, total_steps=1, num_envs=settings.train.envs)
        self._learner.load_state_dict(read_checkpoint(found.checkpoints.resolve("latest")).learner)

    def act(self) -> int:
        """Return the learner's greedy action."""
        observation = {name: part[None] for name, part in self.environment.observation().items()}
        return int(self._learner.act(observation, explore=False)[0][0])
