"""Progress on the console: live in a terminal, some lines every 30 seconds elsewhere, nothing when quiet."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pkmncli.diagnostics import say
from pkmncli.outgoing_text import drawing_stream, printable, redact
from pkmncli.plurals import counted
from pkmncli.standard_streams import lost_output
from pkmncli.training.display.callbacks import Callback, Training
from pkmncli.training.display.live_view import Clock, lay_out, lines_of
from pkmncli.training.display.progress import ProgressWriter

if TYPE_CHECKING:
    from types import TracebackType

    from pkmncli.training.display.status import Status

logger = logging.getLogger(__name__)

LINE_SECONDS = 30.0
LOOK_SECONDS = 0.25
"""Minimum seconds between two drawings of the live view."""
LOOK_COST = 0.005
"""Maximum share of the time that status and drawing take."""

PAUSED = "paused from the live page, until it is resumed there"


_LOST = "standard output can't be written ({}): the training goes on, and so does its log.txt"


class ConsoleProgress(Callback):
    """Console display of a training's progress.

    The view is drawn by the training's own thread, between two steps: another thread would take turns with it.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Console(file=drawing_stream(), highlight=False)
        self.console.soft_wrap = not self.console.is_terminal  # lines of a file are broken by whoever reads it
        self.quiet = quiet
        """True if nothing is printed."""
        terminal = self.console.is_terminal and not self.console.is_dumb_terminal
        self._live = Live(console=self.console, auto_refresh=False, transient=True) if terminal and not quiet else None
        self._due = time.monotonic() + (LINE_SECONDS if self._live is None else 0.0)
        self._wanted = 0.0
        """Time of the last check whether a status is due."""
        self._began: tuple[float, float] | None = None
        """Time of the first status, and the share of the budget that was used then."""
        self._status: Status | None = None
        self._training: Training | None = None
        self._status_step = 0
        """Step of the status."""
        self._told_of_loss = False

    def __enter__(self) -> ConsoleProgress:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    @contextlib.contextmanager
    def counting(self, doing: str, total: int) -> Iterator[Callable[[float], None]]:
        """Show the progress of something before the training; yields a function that takes how much of it is done."""
        with ProgressWriter(quiet=self.quiet) as progress:
            yield progress.begin(doing, total).update

    def message(self, text: str) -> None:
        """Print a line that stays on the screen."""
        if not self.quiet:
            self.console.print(printable(redact(text)), markup=False)  # before lines are broken, which would hide a key
            self._tell_of_loss()

    def on_message(self, text: str) -> None:
        """Print the line."""
        self.message(text)

    def on_start(self, training: Training) -> None:
        """Keep in the run's log that the output was lost before the run began."""
        self._training = training
        error = lost_output() if self._told_of_loss else None
        if error is not None:
            logger.warning(_LOST.format(error.strerror))

    def on_step(self, training: Training) -> None:
        """Show the status when it is due."""
        if self.wants_look:
            self.on_look(training.status())

    @property
    def wants_look(self) -> bool:
        """True if a status is due."""
        self._wanted = time.monotonic()
        return not self.quiet and self._wanted >= self._due

    def on_look(self, status: Status) -> None:
        """Show a status."""
        if self._began is None:
            self._began = (time.monotonic(), status.fraction_done)
        self._take(status)
        if self._live is not None:
            self._draw(self._wanted)  # gathering a status counts, too
        else:
            self._due = time.monotonic() + LINE_SECONDS
            for line in lines_of(status, status.steps_per_second, self.clock_at(status).left_s):
                self.message(line)

    def on_activity(self, doing: str) -> None:
        """Show what the training does instead of stepping, until the next status."""
        if self._live is not None and self._status is not None:
            self._renew_status()
            self._draw(time.monotonic(), doing)
        elif self._live is not None:
            self._live.update(Text(doing), refresh=True)

    def on_pause(self) -> None:
        """Show that the training pauses: without that the terminal would look as if it hung."""
        if self._live is not None and self._status is not None:
            self.on_activity(PAUSED)
        else:
            self.message(f"{PAUSED[0].upper()}{PAUSED[1:]}.")

    def on_resume(self, seconds: float) -> None:
        """Leave the pause out of the estimate of the time left."""
        if self._began is not None:
            began, done = self._began
            self._began = (began + seconds, done)
        if self._live is None:
            self.message("Going on after the pause.")
        self._due = min(self._due, time.monotonic())

    def on_evaluation(self, training: Training, found: Mapping[str, Any]) -> None:
        """Print the result of the evaluation."""
        share = found["goal_share"]
        goal = "" if share is None else f", goal reached in {share:.0%} of {counted(found['episodes'], 'episode')}"
        self.message(
            f"Evaluated after {training.statistics.steps:,} steps: reward {found['avg_reward']:.1f} on average{goal}."
        )

    def _tell_of_loss(self) -> None:
        """Report once, where that is still possible, that the output is lost. The training continues."""
        error = lost_output()
        if error is not None and not self._told_of_loss:
            self._told_of_loss = True
            text = _LOST.format(error.strerror)
            logger.warning(text)
            say(text)

    def _take(self, status: Status) -> None:
        self._status, self._status_step = status, status.statistics.steps

    def _renew_status(self) -> None:
        """Get a new status if steps were taken since: its counters have gone on, and its other parts have not."""
        assert self._status is not None
        if self._training is not None and self._status.statistics.steps != self._status_step:
            self._take(self._training.status())

    def _draw(self, began: float, doing: str = "") -> None:
        assert self._live is not None and self._status is not None
        size = self.console.size
        clock, ascii_only = self.clock_at(self._status), self.console.options.ascii_only
        view = lay_out(self._status, clock, size.width, size.height, doing, ascii_only=ascii_only)
        self._live.update(view, refresh=True)
        self._tell_of_loss()
        spent = time.monotonic() - began
        self._due = began + max(LOOK_SECONDS, spent / LOOK_COST)

    def clock_at(self, status: Status) -> Clock:
        """Return the time left at this session's pace: an earlier session may have run on another machine."""
        began, at = self._began or (time.monotonic(), status.fraction_done)
        done, spent = status.fraction_done - at, time.monotonic() - began
        left = None if done <= 0 else spent * (1 - status.fraction_done) / done
        return Clock(status.statistics.elapsed_s, left)
