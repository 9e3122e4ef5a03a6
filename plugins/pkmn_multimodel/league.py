"""League: past adapters and scripts as opponents of the models that learn, and ratings of them all."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmn_multimodel.players import RandomPlayer, ScriptedPlayer
from pkmn_multimodel.ratings import Result, matrix, ratings

if TYPE_CHECKING:
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.rollouts import Episode, Player
    from pkmn_multimodel.settings import MultiModelConfig

RESULTS_KEPT = 4000
"""Latest results that ratings are made of. Older ones are of weights that the models no longer have."""
SAME = 1e-9
"""Gains that differ by less are a draw."""


class League:
    """Opponents besides the models themselves.

    After every ``league_every`` updates the next model in turn is copied. At most ``league_size`` copies are kept; a
    new one replaces the oldest. In a share of the games one agent is played by such a copy or by a script.

    Args:
        population: models.
        learners: names of the adapters that learn.
        settings: of the training.
        seed: of the choice of opponents.
    """

    def __init__(self, population: Population, learners: Sequence[str], settings: MultiModelConfig, seed: int) -> None:
        self._population = population
        self._learners = list(learners)
        self._settings = settings
        self._seed = seed
        self._updates = 0
        self._kept = 0
        self.names: dict[str, str] = {}
        """Name in results of each past adapter, such as ``model_0-40``: model 0 after 40 updates of the league."""
        self.results: deque[Result] = deque(maxlen=RESULTS_KEPT)
        made: list[Player] = [
            RandomPlayer(seed) if name == "random" else ScriptedPlayer(1.0, seed) for name in settings.league_scripts
        ]
        self.players: dict[str, Player] = {player.name: player for player in made}
        """Scripts that play in the league, by name."""

    @property
    def opponents(self) -> list[str]:
        """Adapters and scripts that can take a seat."""
        return [*self.names, *self.players]

    def seats(self, games: Sequence[int], agents: Sequence[str]) -> list[dict[str, str]]:
        """Return the adapter or player of each agent in each game.

        Args:
            games: their numbers in the training; the same number has the same opponent.
            agents: all agents of a game, each with the name of its model.
        """
        return [self._seats(game, agents) for game in games]

    def _seats(self, game: int, agents: Sequence[str]) -> dict[str, str]:
        found, random = {agent: agent for agent in agents}, np.random.default_rng([self._seed, game])
        opponents = self.opponents
        if opponents and random.random() < self._settings.league_share:
            seat = self._learners[int(random.integers(len(self._learners)))]
            found[seat] = opponents[int(random.integers(len(opponents)))]
        return found

    def note(self, begin: int, episodes: Sequence[Episode]) -> dict[str, float]:
        """Count the results of a batch, and keep a past adapter where that is due. Return metrics.

        Args:
            begin: number of the batch's first game.
            episodes: its games.
        """
        against: list[float] = []
        for number, episode in enumerate(episodes, begin):
            for one, other in combinations(episode.gains, 2):
                first, second = (self.names.get(episode.seats[agent], episode.seats[agent]) for agent in (one, other))
                if first == second or episode.teams[one] == episode.teams[other]:
                    continue
                lead = episode.gains[one] - episode.gains[other]
                points = 0.5 if abs(lead) < SAME else float(lead > 0)
                self.results.append(Result(number, first, second, points))
                own = [name in self._learners for name in (first, second)]
                if own == [True, False]:
                    against.append(points)
                elif own == [False, True]:
                    against.append(1 - points)
        self._updates += 1
        if self._updates % self._settings.league_every == 0:
            self._keep()
        rated = ratings(self.results, samples=0)
        found = {f"league/elo/{name}": rating.elo for name, rating in rated.items() if name in self._learners}
        if against:
            found["league/points"] = float(np.mean(against))
        return {**found, "league/past": float(len(self.names))}

    def _keep(self) -> None:
        """Copy the next model in turn over the oldest copy."""
        model = self._learners[self._kept % len(self._learners)]
        place = f"past_{self._kept % self._settings.league_size}"
        self._population.add_copy(model, place)
        self.names.pop(place, None)
        self.names[place] = f"{model}-{self._updates}"
        self._kept += 1

    def state_dict(self) -> dict[str, Any]:
        """Return plain values. The weights of past adapters are in the population's state."""
        return {
            "updates": self._updates,
            "kept": self._kept,
            "names": list(self.names.items()),
            "results": [list(result) for result in self.results],
            "players": {name: _random(player).bit_generator.state for name, player in self.players.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._updates, self._kept = int(state["updates"]), int(state["kept"])
        self.names = dict(state["names"])
        self.results = deque(results_of(state), RESULTS_KEPT)
        for name, player in self.players.items():
            _random(player).bit_generator.state = state["players"][name]


def results_of(state: Mapping[str, Any]) -> list[Result]:
    """Return the results in a state of :meth:`League.state_dict`."""
    return [Result(int(game), first, second, float(points)) for game, first, second, points in state["results"]]


def table(results: Sequence[Result]) -> dict[str, Any]:
    """Return ratings with their intervals, the best first, and who earned how many points against whom."""
    rated = sorted(ratings(results).items(), key=lambda item: -item[1].elo)
    return {
        "elo": {name: {key: round(value) for key, value in rating._asdict().items()} for name, rating in rated},
        "points_against": {
            name: {other: round(mean, 3) for other, mean in others.items()} for name, others in matrix(results).items()
        },
    }


def _random(player: Player) -> np.random.Generator:
    assert isinstance(player, RandomPlayer | ScriptedPlayer)
    return player.random
