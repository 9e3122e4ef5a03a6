"""Progress on the console: one live line in a terminal, a line every 30 seconds elsewhere, nothing when quiet."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from types import TracebackType

    from pkmncli.training.trainer import Status

LINE_SECONDS = 30.0


class ConsoleProgress:
    """Shows where a training stands."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        self._quiet = quiet
        self._live = None if quiet or not self.console.is_terminal else self._make_progress()
        self._task = self._live.add_task("", total=1.0, text="starting") if self._live else None
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
        return Progress(*columns, console=self.console, refresh_per_second=4, transient=True)

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
        if self._live and self._task is not None:
            self._live.update(self._task, completed=status.fraction_done, text=self._text(status, short=True))
        elif not self._quiet and time.monotonic() - self._last_line >= LINE_SECONDS:
            self._last_line = time.monotonic()
            self.console.print(f"{status.fraction_done:4.0%}  {self._text(status, short=False)}", markup=False)

    def _text(self, status: Status, *, short: bool) -> str:
        statistics = status.statistics
        parts = [f"{statistics.steps:,} steps"]
        if self._rate:
            parts.append(f"{self._rate:.0f}/s")
        parts.append(f"{statistics.episodes} episodes")
        if statistics.average_reward is not None:
            parts.append(f"reward {statistics.average_reward:.1f}")
        if statistics.milestones_reached:
            parts.append(f"reached {statistics.milestones_reached[-1]}")
        if not short:
            shares = [f"{name} {share:.0%}" for name, share in statistics.source_shares().items() if share]
            parts.append("decided by " + ", ".join(shares))
            parts += [
                f"{name.removeprefix('learner/')} {value:.3g}"
                for name, value in status.metrics.items()
                if name == "learner/loss"
            ]
        return "  ".join(parts)
