"""Progress of what takes a while: bars with the time left in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn
from rich.text import Text

from pkmncli.diagnostics import say
from pkmncli.outgoing_text import drawing_stream
from pkmncli.plurals import counted
from pkmncli.training.display.estimate import duration

LINE_SECONDS = 30.0
"""Seconds between two lines where there is no terminal."""
LEAST_SHARE = 0.02
"""Share that must be done before the time left is shown: what comes first is often slower than the rest."""
DRAW_SECONDS = 0.2
"""Minimum seconds between two drawings."""


def waiting(what: str) -> AbstractContextManager[object]:
    """Return a context manager that shows in a terminal what it waits for; nothing elsewhere."""
    return Console(file=drawing_stream(error=True)).status(Text(f"{what}..."))


class Bar:
    """Progress of one activity.

    Args:
        writer: shows it.
        what: the activity in words.
        total: value of :meth:`update` at its end.
        done: that value now.
    """

    def __init__(self, writer: ProgressWriter, what: str, total: float, done: float = 0.0) -> None:
        self._writer = writer
        self._began = time.monotonic(), done
        self.what = what
        self.total = total
        self.done = done

    def update(self, done: float, what: str = "") -> None:
        """Take in how much is done, and a new description if there is one."""
        self.done, self.what = done, what or self.what
        self._writer.changed()

    def end(self) -> None:
        """Show it no more."""
        self._writer.remove(self)

    @property
    def line(self) -> str:
        """The progress in words: ``filming best.mp4: 40%, about 2 min left``."""
        share = self.done / self.total if self.total else 0.0
        return ", ".join(filter(None, [f"{self.what}: {share:.0%}", self.left]))

    @property
    def left(self) -> str:
        """The time left in words; empty as long as too little is done for an estimate, and at the end."""
        began, before = self._began
        if not before + LEAST_SHARE * self.total <= self.done < self.total:
            return ""
        seconds = (time.monotonic() - began) * (self.total - self.done) / (self.done - before)
        return f"about {duration(seconds)} left"


class ProgressWriter:
    """Writer of progress to standard error, as a context manager; bars vanish at its end.

    Drawing happens in :meth:`Bar.update`, in the caller's thread: an emulator in the same process would be slow beside
    another thread.

    Args:
        quiet: show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(file=drawing_stream(error=True), stderr=True, highlight=False)
        self._quiet = quiet
        self._drawn: Progress | None = None
        if console.is_terminal and not console.is_dumb_terminal and not quiet:
            self._drawn = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[left]}", markup=False),
                console=console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=Console().is_terminal,  # into a file it goes as it is
            )
        self._bars: dict[Bar, TaskID | None] = {}
        self._due = time.monotonic() + (LINE_SECONDS if self._drawn is None else 0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._drawn is not None:
            self._drawn.stop()

    def begin(self, what: str, total: float, done: float = 0.0) -> Bar:
        """Return the bar of an activity that begins or continues now."""
        if self._drawn is not None and not self._bars:
            self._drawn.start()
        bar = Bar(self, what, total, done)
        self._bars[bar] = None if self._drawn is None else self._drawn.add_task(what, total=total, left="")
        self._draw()
        return bar

    def changed(self) -> None:
        """Show the bars, if that is due. Without a terminal it is a line on the first of them."""
        now = time.monotonic()
        if now < self._due or self._quiet:
            return
        if self._drawn is not None:
            self._draw()
            self._due = time.monotonic() + DRAW_SECONDS
        else:
            say(next(iter(self._bars)).line)
            self._due = now + LINE_SECONDS

    def remove(self, bar: Bar) -> None:
        """Show a bar no more."""
        task = self._bars.pop(bar)
        if self._drawn is not None and task is not None:
            self._drawn.remove_task(task)
            self._draw()

    def _draw(self) -> None:
        if self._drawn is None:
            return
        for bar, task in self._bars.items():
            if task is not None:
                self._drawn.update(task, completed=bar.done, description=bar.what, left=bar.left)
        self._drawn.refresh()


class EvaluationProgress(ProgressWriter):
    """Progress of an evaluation, whose players come one after the other.

    Args:
        episodes: that each of them plays.
        quiet: show nothing.
    """

    def __init__(self, episodes: int, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._episodes = episodes
        self._playing: tuple[str, Bar] | None = None

    def on_step(self, who: str, done: int, share: float) -> None:
        """Take in the player, the number of ended episodes, and the share of all steps that were played, 0..1."""
        if self._playing is None or self._playing[0] != who:
            if self._playing is not None:
                self._playing[1].end()
            self._playing = who, self.begin(f"{who}, 0 of {counted(self._episodes, 'episode')}", 1.0)
        self._playing[1].update(share, f"{who}, {done} of {counted(self._episodes, 'episode')}")
