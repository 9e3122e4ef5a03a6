"""An agent that plays now, on the live page of its run: this process fills the live board, another serves the page."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from pkmncli.api import RunInfo
from pkmncli.errors import RunError
from pkmncli.outgoing_text import drawing_stream
from pkmncli.replay.controls import Controls, TerminalKeys
from pkmncli.training.command_progress import CommandProgress
from pkmncli.training.display.callbacks import Callbacks
from pkmncli.training.display.live_board import LiveBoardServer
from pkmncli.training.recording.counters import TrainingStatistics

if TYPE_CHECKING:
    from pkmncli.replay.live_play import LivePlay
    from pkmncli.runs import Run

SECONDS_TO_END = 5.0


def show_on_page(play: LivePlay, run: Run, speed: float) -> None:
    """Play it on the live page of a run, until the viewer quits in the terminal.

    Raises:
        RunError: a training has the run, or the page ended.
    """
    statistics = TrainingStatistics()
    progress = CommandProgress(RunInfo(run.folder, {}), statistics, play.interrupted, lambda: None, Callbacks([]))
    with run.locked(), LiveBoardServer(run.folder, play.pool) as board, _page(run) as page, TerminalKeys() as keys:

        def look() -> bool:
            board.before_step(progress)  # in a pause, too: viewers see how old the board is
            return play.interrupted()

        controls = Controls(play.frames_per_second, speed, keys.read, look)

        def draw() -> None:
            if keys.available:
                print(f"\r{controls.line}\x1b[K", end="", file=drawing_stream(), flush=True)

        draw()
        for _step in play:
            statistics.steps, statistics.episodes = play.total_steps, len(play.ended)
            if not controls.wait(draw):
                break
            if page.poll() is not None:
                raise RunError(f"the page ended with exit code {page.returncode}")
        if keys.available:
            print()


@contextmanager
def _page(run: Run) -> Iterator[subprocess.Popen[str]]:
    """Serve the page of a run in another process, which Ctrl-C does not reach."""
    command = [sys.executable, "-m", "pkmncli", "dashboard", str(run.folder), "--view-only"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                typer.echo(line.rstrip())
                if "://" in line:
                    break  # the rest is on how to end it
            yield process
        finally:
            process.terminate()
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
