"""Elo ratings of players by the results of their games, with bootstrap intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CENTRE = 1500.0
"""Rating of the average player, which each player is taken to have beaten once and lost to once."""
SCALE = 400 / np.log(10)
"""Elo points for each factor e in the odds."""
_ROUNDS, _NEAR = 1000, 1e-6


class Result(NamedTuple):
    """Result of two players in one game."""

    game: int
    first: str
    second: str
    points: float
    """Points of the first: 1 won, 0.5 drawn, 0 lost."""


class Rating(NamedTuple):
    """Elo rating of a player."""

    elo: float
    low: float
    high: float
    games: int


def ratings(
    results: Sequence[Result], samples: int = 200, seed: int = 0, confidence: float = 0.95
) -> dict[str, Rating]:
    """Return the rating of each player, with intervals from games that are resampled as wholes.

    The ratings are those of Bradley and Terry (1952), fitted by Hunter's iteration (2004). A draw is half a win.

    Args:
        results: of all games.
        samples: resampled sets of games; 0 leaves the intervals at the rating.
        seed: of the resampling.
        confidence: share of the resampled ratings within the interval.
    """
    if not results:
        return {}
    names = sorted({name for result in results for name in (result.first, result.second)})
    place = {name: number for number, name in enumerate(names)}
    games = {game: number for number, game in enumerate(sorted({result.game for result in results}))}
    points = np.zeros((len(games), len(names), len(names)))
    for game, first, second, won in results:
        points[games[game], place[first], place[second]] += won
        points[games[game], place[second], place[first]] += 1 - won
    weights = np.ones((1, len(games)))
    if samples:
        resampled = np.random.default_rng(seed).multinomial(len(games), [1 / len(games)] * len(games), samples)
        weights = np.concatenate([weights, resampled])
    found = _fitted((weights @ points.reshape(len(games), -1)).reshape(-1, len(names), len(names)))
    low, high = (
        np.quantile(found[1:], [(1 - confidence) / 2, (1 + confidence) / 2], axis=0) if samples else found[[0, 0]]
    )
    played = (points + points.transpose(0, 2, 1)).any(2).sum(0)
    return {
        name: Rating(float(found[0, number]), float(low[number]), float(high[number]), int(played[number]))
        for number, name in enumerate(names)
    }


def matrix(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Return for each player the mean points against each other one."""
    points: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for _, first, second, won in results:
        points[first][second].append(won)
        points[second][first].append(1 - won)
    return {
        name: {other: sum(values) / len(values) for other, values in sorted(of_name.items())}
        for name, of_name in sorted(points.items())
    }


def _fitted(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Elo ratings, (sets, players).

    Args:
        points: of each player against each other, (sets, players, players).
    """
    games = points + points.transpose(0, 2, 1)
    won = points.sum(2) + 1
    strength: NDArray[np.float64] = np.ones(won.shape)
    for _ in range(_ROUNDS):
        met = (games / (strength[:, :, None] + strength[:, None, :])).sum(2) + 2 / (strength + 1)
        new = won / met
        near = np.abs(np.log(new / strength)).max() < _NEAR
        strength = new
        if near:
            break
    fitted: Any = CENTRE + SCALE * np.log(strength)
    return np.asarray(fitted)
