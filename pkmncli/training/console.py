"""Progress on the console: live in a terminal, some lines every 30 seconds elsewhere, nothing when quiet."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from pkmncli.api import Source

if TYPE_CHECKING:
    from types import TracebackType

    from pkmncli.training.status import Status

LINE_SECONDS = 30.0

_LEARNING = {
    "loss": ".3g",
    "mean_q": ".3g",
    "epsilon": ".2f",
    "entropy": ".2f",
    "explained_variance": ".2f",
    "reliability": ".2f",
    "buffer_steps": ",.0f",
}
"""Metrics of the learner that a status tells, as far as the learner has them, with their formats."""


class ConsoleProgress:
    """Shows where a training stands."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        self._quiet = quiet
        self._bar = None if quiet or not self.console.is_terminal else self._make_progress()
        self._task = self._bar.add_task("", total=1.0, text="starting") if self._bar else None
        self._below = Text()
        self._live = self._bar and Live(Group(self._bar, self._below), console=self.console, transient=True)
        self._last_line = time.monotonic()
        self._rate = 0.0

    def _make_progress(self) -> Progress:
        columns = (
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=False),
            TextColumn("{task.fields[text]}"),
        )
        return Progress(*columns, console=self.console)

    def __enter__(self) -> ConsoleProgress:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def message(self, text: str) -> None:
        """Says something that stays on the screen."""
        if not self._quiet:
            self.console.print(text, markup=False)

    def on_status(self, status: Status) -> None:
        """Shows a status with its speed."""
        self._rate = status.steps_per_second or self._rate
        self._show(status)

    def on_episode(self, status: Status) -> None:
        """Shows a status; the speed is that of the one before."""
        self._show(status)

    def on_evaluation(self, step: int, found: Mapping[str, Any]) -> None:
        """Says what the learner is worth alone."""
        self.message(
            f"Evaluated after {step:,} steps: reward {found['avg_reward']:.1f} on average, "
            f"goal reached in {found['goal_share']:.0%} of {found['episodes']} episodes."
        )

    def _show(self, status: Status) -> None:
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=status.fraction_done, text=self._text(status))
            if status.seconds:
                self._below.plain = "\n".join(_details(status))
        elif not self._quiet and status.seconds and time.monotonic() - self._last_line >= LINE_SECONDS:
            self._last_line = time.monotonic()
            self.console.print(f"{status.fraction_done:4.0%}  {self._text(status)}", markup=False)
            for line in _details(status):
                self.console.print(f"      {line}", markup=False)

    def _text(self, status: Status) -> str:
        statistics = status.statistics
        parts = [f"{statistics.steps:,} steps"]
        if self._rate:
            parts.append(f"{self._rate:.0f}/s")
        parts.append(f"{statistics.episodes} episodes")
        if statistics.average_reward is not None:
            parts.append(f"reward {statistics.average_reward:.1f}")
        if statistics.milestones_reached:
            parts.append(f"reached {statistics.milestones_reached[-1]}")
        return "  ".join(parts)


def _details(status: Status) -> list[str]:
    """The game, who decided, and how the learning goes, a line each."""
    statistics = status.statistics
    total = max(statistics.steps, 1)
    decided = [
        f"{source.name.lower()} {count:,} ({count / total:.0%})"
        for source, count in zip(Source, statistics.steps_by_source, strict=True)
        if count
    ]
    learning = [
        f"{name.replace('_', ' ')} {status.metrics[f'learner/{name}']:{form}}"
        for name, form in _LEARNING.items()
        if f"learner/{name}" in status.metrics
    ]
    lines = [status.game] if status.game else []
    lines.append(f"decided by {', '.join(decided)}")
    if learning:
        lines.append(f"learner: {', '.join(learning)}, {statistics.updates:,} updates")
    return lines
