"""Figures of played episodes: collected, smoothed, plotted and compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmn_balatro.checks import checked_count
from pkmncli.errors import ConfigurationError, RunError
from pkmncli.tables import table

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class BalatroMetrics:
    """Rewards, antes, scores and lengths of episodes.

    Attributes:
        rewards: sum of the rewards of each episode.
        antes: ante in which each episode ended.
        scores: best score of a hand in each episode.
        lengths: steps of each episode.
        wins: True for each episode that was won; None where it is not known.
    """

    rewards: list[float] = field(default_factory=list)
    antes: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    wins: list[bool | None] = field(default_factory=list)

    def add_episode(self, reward: float, ante: float, score: float, length: int, won: bool | None = None) -> None:
        """Add an episode.

        Args:
            reward: sum of its rewards.
            ante: ante in which it ended; NaN if not known.
            score: its best score of a hand; NaN if not known.
            length: its steps.
            won: whether the run was won; None if not known.
        """
        self.rewards.append(float(reward))
        self.antes.append(float(ante))
        self.scores.append(float(score))
        self.lengths.append(int(length))
        self.wins.append(won)

    def get_summary(self) -> dict[str, float]:
        """Return the number of episodes, and ``mean_`` and ``max_`` of each figure; of no episode only their number.

        A figure that is known of no episode, NaN, is left out. ``win_rate`` is the share of wins among the episodes of
        which it is known, if there are some.
        """
        if not self.rewards:
            return {"episodes": 0}
        summary: dict[str, float] = {"episodes": len(self.rewards)}
        for name, values in self.as_dict().items():
            found = [value for value in values if math.isfinite(value)]
            if found:
                summary |= {f"mean_{name}": float(np.mean(found)), f"max_{name}": max(found)}
        summary["std_reward"] = float(np.std(self.rewards))
        known = [won for won in self.wins if won is not None]
        if known:
            summary["win_rate"] = sum(known) / len(known)
        return summary

    def as_dict(self) -> dict[str, list[float]]:
        """Return the values of all episodes by name, for :func:`plot_training_curves`."""
        lengths = [float(length) for length in self.lengths]
        return {"reward": self.rewards, "ante": self.antes, "score": self.scores, "length": lengths}


def compute_moving_average(values: Sequence[float], window: int = 100) -> NDArray[np.float64]:
    """Return for each value the mean of it and the values before it, (n,).

    Args:
        values: the values, in order.
        window: values in a mean; the first ones have fewer.

    Raises:
        ConfigurationError: the window is not a whole number from 1.
    """
    checked_count("window", window)
    found = np.asarray(values, np.float64)  # no running sum: NaN, or a huge value, would stay in it
    return np.array([found[max(0, end - window) : end].mean() for end in range(1, len(found) + 1)])


def plot_training_curves(
    metrics: Mapping[str, Sequence[float]], save_path: str | Path = "training_curves.png", window: int = 20
) -> Path:
    """Plot a curve of each metric over the episodes, with its moving average. Return the file.

    Args:
        metrics: values by name, as :meth:`BalatroMetrics.as_dict` returns them.
        save_path: file to write, ``.png``, ``.svg`` or ``.pdf``.
        window: values in the moving average.

    Raises:
        ConfigurationError: there is nothing to draw, matplotlib is missing, or the file has another ending.
        RunError: the file cannot be written.
    """
    drawn = {name: values for name, values in metrics.items() if len(values)}
    if not drawn:
        raise ConfigurationError("there is nothing to draw: no metric has a value")
    path = Path(save_path)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ConfigurationError(f"{path}: name a file that ends in .png, .svg or .pdf")
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional package, and slow to import
    except ImportError:
        raise ConfigurationError(
            "a plot needs matplotlib, which is not installed; run: pip install 'pkmncli[plot]'"
        ) from None
    figure = Figure(figsize=(8, 2.6 * len(drawn)), layout="constrained")
    for number, (name, values) in enumerate(drawn.items(), start=1):
        axes = figure.add_subplot(len(drawn), 1, number)
        episodes = np.arange(1, len(values) + 1)
        axes.plot(episodes, values, linewidth=0.8, alpha=0.4)
        axes.plot(episodes, compute_moving_average(values, window), linewidth=1.8)
        axes.set_ylabel(name)
    axes.set_xlabel(f"episode (thick: mean of {window})")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror}") from None
    return path


def print_comparison_table(results: Mapping[str, Mapping[str, Any]] | Sequence[Any]) -> None:
    """Print algorithms beside each other, the best reward first.

    Args:
        results: figures of each algorithm by name, as :meth:`BalatroMetrics.get_summary` returns them; or results of
            :class:`pkmn_balatro.experiment.MultiAlgorithmBenchmark`.
    """
    rows = dict(results) if isinstance(results, Mapping) else {one.name: one.figures() for one in results}
    if not rows:
        print("No results.")
        return
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))

    def place(row: tuple[str, Mapping[str, Any]]) -> float:
        reward = row[1].get("mean_reward")
        return math.inf if reward is None else -float(reward)

    lines = [[name, *(_text(row.get(column)) for column in columns)] for name, row in sorted(rows.items(), key=place)]
    print(table(["algorithm", *columns], lines, text=["algorithm"], drop=columns[::-1]))


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
