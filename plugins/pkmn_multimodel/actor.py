"""Actor: process that plays parts of a batch and updates adapters, for the engines that have several.

An actor keeps nothing between two jobs but the base: adapters, random numbers and the state of a learner come with each
job.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from pkmn_multimodel.engines import InProcessEngine, Part, derived, made_population
from pkmn_multimodel.objectives import AdapterLearner, Whole
from pkmn_multimodel.players import RandomPlayer, ScriptedPlayer
from pkmncli.api.ray_cluster import begin_actor
from pkmncli.errors import CheckpointError, ConfigurationError

if TYPE_CHECKING:
    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.rollouts import Episode, Turn
    from pkmn_multimodel.settings import MultiModelConfig


_OF_ADAPTERS = ("adapters", "versions")
"""Parts of a population's state that are by adapter."""


class Actor:
    """Worker of an engine, in its own process.

    Args:
        path: ``sys.path`` of the trainer.
        settings: of the training.
        make_game: makes a game.
        seed: of the training.
        threads: of the arithmetic.
    """

    def __init__(
        self, path: list[str], settings: MultiModelConfig, make_game: Callable[[], TextGame], seed: int, threads: int
    ) -> None:
        begin_actor(path)
        torch.set_num_threads(threads)
        self._settings, self._make_game, self._seed = settings, make_game, seed
        self._population: Population | None = None
        self._share = Whole()

    def process_id(self) -> int:
        """Return the id of this process."""
        return os.getpid()

    def load(self) -> int:
        """Load the base. Return the process id."""
        self._population = made_population(self._settings, self._make_game, self._seed)
        return self.process_id()

    def play(self, settings: MultiModelConfig, state: Mapping[str, Any], part: Part) -> tuple[list[Episode], Part]:
        """Return the games of a part, and the part with its random numbers after them.

        Args:
            settings: of the training, as they are now.
            state: of the population.
            part: games.
        """
        population = self._with_weights(state)
        with population.fitting_threads():
            return InProcessEngine(settings, self._make_game, population, {}).play([part])[0], part

    def learn(
        self,
        settings: MultiModelConfig,
        state: Mapping[str, Any],
        learner_state: Mapping[str, Any],
        turns: Sequence[Turn],
        max_staleness: int,
    ) -> tuple[dict[str, float], dict[str, Any], dict[str, Any]]:
        """Update one adapter. Return metrics, and the states of the learner and the population afterwards.

        Args:
            settings: of the training, as they are now.
            state: of the population, with this adapter alone.
            learner_state: of the adapter's learner.
            turns: to learn from.
            max_staleness: as that of :meth:`AdapterLearner.learn`.
        """
        population, (name,) = self._with_weights(state), state["adapters"]
        learner = AdapterLearner(population, name, settings, derived(self._seed, name), self._share)
        learner.load_state_dict(learner_state)
        with population.fitting_threads():
            metrics = learner.learn(turns, max_staleness)
        return metrics, learner.state_dict(), population.state_dict([name]) | {"shared": {}}

    def _with_weights(self, state: Mapping[str, Any]) -> Population:
        assert self._population is not None
        try:
            self._population.load_state_dict(state)
        except CheckpointError as error:
            raise ConfigurationError(
                f"an actor has another base than the trainer ({error}): each machine needs the same files, and the "
                "same multimodel.precision"
            ) from None
        return self._population


def updates_of(
    settings: MultiModelConfig,
    population: Population,
    learners: Mapping[str, AdapterLearner],
    turns: Mapping[str, Sequence[Turn]],
    max_staleness: int,
) -> list[tuple[Any, ...]]:
    """Return the arguments of :meth:`Actor.learn` for each adapter that has turns."""
    return [
        (settings, population.state_dict([name]), learners[name].state_dict(), its, max_staleness)
        for name, its in turns.items()
    ]


def take_updates(
    population: Population, learners: Mapping[str, AdapterLearner], found: Mapping[str, Any]
) -> dict[str, dict[str, float]]:
    """Take over what :meth:`Actor.learn` has returned for each adapter. Return the metrics of each."""
    states = [weights for _, _, weights in found.values()]
    if states:
        together = {part: {name: one for state in states for name, one in state[part].items()} for part in _OF_ADAPTERS}
        population.load_state_dict(states[0] | together)
    for name, (_, learner, _) in found.items():
        learners[name].load_state_dict(learner)
    return {name: metrics for name, (metrics, _, _) in found.items()}


def take_games(parts: Sequence[Part], found: Sequence[Any]) -> list[list[Episode]]:
    """Take over the random numbers of parts that :meth:`Actor.play` has returned. Return the games of each."""
    for part, (_, after) in zip(parts, found, strict=True):
        part.generator.set_state(after.generator.get_state())
        for name, player in part.players.items():
            if isinstance(player, RandomPlayer | ScriptedPlayer):
                player.random.bit_generator.state = after.players[name].random.bit_generator.state
    return [episodes for episodes, _ in found]
