"""Graph of a monitor's log: who played with whom, and who gained."""

from __future__ import annotations

import base64
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = "a picture needs matplotlib, which is not installed; run: pip install 'pkmncli[plot]'"


@dataclass(frozen=True, slots=True)
class PlayerNode:
    """Player, with the games that it played and its mean gain in them."""

    name: str
    games: int
    gain: float


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two players, with the games that they played together and the mean gain of each in these."""

    first: str
    second: str
    games: int
    first_gain: float
    second_gain: float

    @property
    def lead(self) -> float:
        """Mean gain of the first player above that of the second."""
        return self.first_gain - self.second_gain


class GraphVisualizer:
    """Graph of the games in the log of :class:`pkmn_multimodel.UnifiedMonitor`.

    Args:
        log_file: file of JSON lines.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is damaged, or no games are in it.
    """

    def __init__(self, log_file: str | Path) -> None:
        self.log_file = Path(log_file)
        counts: dict[str, int] = {}
        gains: dict[str, float] = {}
        pairs: dict[tuple[str, str], list[float]] = {}
        for played in _games(self.log_file):
            count, of_each = int(played["count"]), dict(sorted(played["gains"].items()))
            for name, gain in of_each.items():
                counts[name] = counts.get(name, 0) + count
                gains[name] = gains.get(name, 0.0) + count * gain
            for first, second in combinations(of_each, 2):
                sums = pairs.setdefault((first, second), [0.0, 0.0, 0.0])
                for place, value in enumerate((1.0, of_each[first], of_each[second])):
                    sums[place] += count * value
        if not counts:
            raise ValueError(
                f"no games are in {self.log_file}: start a monitor with enable_file_logging before the training"
            )
        self.nodes = [PlayerNode(name, counts[name], gains[name] / counts[name]) for name in sorted(counts)]
        """Players by name."""
        self.edges = [
            Interaction(first, second, int(games), first_gain / games, second_gain / games)
            for (first, second), (games, first_gain, second_gain) in sorted(pairs.items())
        ]
        """Pairs of players that met."""

    def save_png(self, path: str | Path) -> Path:
        """Draw the graph into a PNG file. Raise ConfigurationError if matplotlib is missing."""
        Path(path).write_bytes(self._png())
        return Path(path)

    def save_html(self, path: str | Path) -> Path:
        """Write a page with the graph and its tables; it needs no other file.

        Raises:
            ConfigurationError: matplotlib is missing.
        """
        picture = base64.b64encode(self._png()).decode()
        players = [(node.name, f"{node.games:,}", f"{node.gain:.3f}") for node in self.nodes]
        pairs = [
            (edge.first, edge.second, f"{edge.games:,}", f"{edge.first_gain:.3f}", f"{edge.second_gain:.3f}")
            for edge in self.edges
        ]
        words = f"Games of {html.escape(self.log_file.name)}: who played with whom, and who gained"
        Path(path).write_text(
            f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{words}</title>
<style>body {{font-family: sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem}}
img {{max-width: 100%}} table {{border-collapse: collapse; margin: 1rem 0}}
th, td {{text-align: left; padding: .3rem 1rem .3rem 0; border-bottom: 1px solid #ccc}}</style></head>
<body><h1>{words}</h1>
<p>An arrow leads to the player that gained more in their games; its number is the lead for each game.</p>
<img alt="{html.escape(self._in_words())}" src="data:image/png;base64,{picture}">
<h2>Players</h2>{_table(("player", "games", "mean gain"), players)}
<h2>Pairs</h2>{_table(("first", "second", "games", "gain of the first", "gain of the second"), pairs)}
</body></html>
""",
            encoding="utf-8",
        )
        return Path(path)

    def _in_words(self) -> str:
        return "; ".join(f"{node.name} gained {node.gain:.2f} in {node.games} games" for node in self.nodes)

    def _png(self) -> bytes:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - takes a second
            from matplotlib.figure import Figure  # noqa: PLC0415
        except ImportError:
            raise ConfigurationError(MISSING) from None
        figure = Figure(figsize=(7, 7), layout="constrained")
        FigureCanvasAgg(figure)
        self._draw(figure.add_subplot())
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=120)
        return content.getvalue()

    def _draw(self, axes: Axes) -> None:
        angle = 2 * math.pi / len(self.nodes)
        places = {
            node.name: (math.sin(place * angle), math.cos(place * angle)) for place, node in enumerate(self.nodes)
        }
        most = max((edge.games for edge in self.edges), default=1)
        for edge in self.edges:
            loser, winner = (edge.second, edge.first) if edge.lead > 0 else (edge.first, edge.second)
            (x0, y0), (x1, y1) = places[loser], places[winner]
            axes.annotate(
                "",
                (x1, y1),
                (x0, y0),
                arrowprops={
                    "arrowstyle": "-|>" if abs(edge.lead) >= 0.005 else "-",
                    "color": "0.55",
                    "linewidth": 1 + 3 * edge.games / most,
                    "shrinkA": 34,
                    "shrinkB": 34,
                    "mutation_scale": 18,
                },
            )
            # A third of the way, since the middles of a circle's diagonals meet.
            axes.text(
                *(x0 + (x1 - x0) * 0.36, y0 + (y1 - y0) * 0.36, f"{abs(edge.lead):.2f}"),
                ha="center",
                va="center",
                fontsize=9,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            )
        low, high = min(node.gain for node in self.nodes), max(node.gain for node in self.nodes)
        span = high - low or 1.0
        axes.scatter(
            [places[node.name][0] for node in self.nodes],
            [places[node.name][1] for node in self.nodes],
            s=3600,
            c=[node.gain for node in self.nodes],
            cmap="Blues",
            vmin=low - 0.3 * span,  # light enough for black text
            vmax=high + span,
            edgecolors="0.2",
            zorder=3,
        )
        for node in self.nodes:
            axes.text(
                *(*places[node.name], f"{node.name}\ngain {node.gain:.2f}\n{node.games:,} games"),
                ha="center",
                va="center",
                fontsize=8,
                zorder=4,
            )
        axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
        axes.set_title("Who played with whom; an arrow leads to the player that gained more", fontsize=11)
        axes.axis("off")


def create_graph_visualizer(log_file: str) -> GraphVisualizer:
    """Return the graph of a monitor's log."""
    return GraphVisualizer(log_file)


def _games(path: Path) -> list[Mapping[str, Any]]:
    """Return the games in a log."""
    found: list[Mapping[str, Any]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found += json.loads(line).get("games", [])
        except (ValueError, AttributeError):
            raise ValueError(f"{path}, line {number} is none of a monitor's log") from None
    return found


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    def line(tag: str, cells: tuple[str, ...]) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    return f"<table>{line('th', head)}{''.join(line('td', row) for row in rows)}</table>"
