"""Search for recorded episodes of runs, and their display: a film, a terminal or a window."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pkmncli.api import Environment
from pkmncli.config import ResolvedSettings
from pkmncli.errors import CheckpointError, RunError
from pkmncli.plugins import Registry
from pkmncli.replay.controls import Controls, TerminalKeys
from pkmncli.replay.explained import Explanation, Names
from pkmncli.replay.play_again import choose_episode, first_shown
from pkmncli.replay.shown import Show, ShownEpisode
from pkmncli.replay.window import PictureWindow
from pkmncli.runs import Run, open_run
from pkmncli.standard_streams import lost_output
from pkmncli.training.assembly import environment_spec, open_store, tables_folder
from pkmncli.training.beginnings.given_starts import check_kept_starts
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.checkpoints.selection import readable_checkpoint
from pkmncli.training.display.progress import Bar, ProgressWriter
from pkmncli.training.evaluation.evaluation import PLAYED_BY
from pkmncli.training.evaluation.kept_evaluations import evaluation_folders, read_evaluation
from pkmncli.training.recording.recorded_episode import RecordedEpisode, with_start
from pkmncli.training.run_settings import check_identity, run_settings
from pkmncli.training.workers.flat_environment import flattened
from pkmncli.training.workers.frame_stack import unstacked_state
from pkmncli.video import TerminalScreen, open_video

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def open_episode(
    which: str | None,
    save_dir: Path | None,
    registry: Registry,
    episode: str,
    *,
    evaluation: bool = False,
    begin: str | None = None,
    rom: Path | None = None,
    game_folder: Path | None = None,
) -> ShownEpisode:
    """Return an episode of a run, with an environment that has not begun it; the caller must close it.

    Args:
        which: the run, by name or folder; None for the latest.
        save_dir: folder of the run folders.
        registry: where plugins are looked up.
        episode: see :func:`pkmncli.replay.play_again.choose_episode`.
        evaluation: take an episode of the latest evaluation, not of the training.
        begin: milestone or step from which it is shown.
        rom: current path of the run's image.
        game_folder: current path of its game's folder.

    Raises:
        RunError: there is no such run or episode.
        RomError: the image is another one, or is missing.
        EmulatorError: the run used another image or game.
    """
    run = open_run(which, save_dir)
    settings = run_settings(run, registry, rom=rom, game_folder=game_folder)
    folder, who = tables_folder(settings, run), ""
    if evaluation:
        evaluations = evaluation_folders(run.folder)
        if not evaluations:
            raise RunError(f"{run.name} has no evaluation yet; make one with: pkmn eval {run.name}")
        folder = evaluations[0]
        who = _played_by(folder)
    store = open_store(registry, folder)
    try:
        own = settings.train.init_state
        recorded = with_start(choose_episode(store.read("episodes"), episode), run, "" if own is None else own.stem)
        first = first_shown(recorded, begin)
        decisions: list[dict[str, Any]] = []
        if not evaluation:
            key = [recorded.environment, recorded.episode]
            decisions = store.read("decisions", "environment = ? AND episode = ?", key)
    finally:
        store.close()
    environment = build_environment(settings, registry, run)
    return shown_episode(run, environment, recorded, decisions, first, who=who)


def _played_by(evaluation: Path) -> str:
    with contextlib.suppress(RunError):  # without it only the caption is less complete
        return PLAYED_BY.get((read_evaluation(evaluation) or {}).get("mode", ""), "")
    return ""


def build_environment(settings: ResolvedSettings, registry: Registry, run: Run) -> Environment:
    """Return an environment with pictures for people. Raise EmulatorError if the run used another image or game.

    Raise RunError if the run lacks the start states of its episodes.
    """
    check_kept_starts(settings, run)
    environment = flattened(environment_spec(settings, registry, for_people=True).build())
    try:
        with contextlib.suppress(CheckpointError):  # without a whole checkpoint the replay itself will find differences
            if states := read_checkpoint(readable_checkpoint(run)).workers:
                environment.load_state(unstacked_state(states[0].environment))
            else:
                check_identity(run, getattr(environment, "identity", {}))
    except BaseException:
        environment.close()
        raise
    return environment


def shown_episode(
    run: Run,
    environment: Environment,
    recorded: RecordedEpisode,
    decisions: list[dict[str, Any]],
    first: int = 1,
    *,
    who: str = "",
) -> ShownEpisode:
    """Return an episode with its captions; ``who`` played if there are no decisions, as in evaluations."""
    return ShownEpisode(
        f"{run.name}, {recorded.title}",
        environment,
        recorded,
        Explanation(recorded, decisions, Names.of(run.folder), who),
        first,
    )


@contextlib.contextmanager
def _progress_of(show: Show, doing: str, *, quiet: bool = False) -> Iterator[Bar]:
    """Show how many of the steps were played, those before the first to show included."""
    with ProgressWriter(quiet=quiet) as progress:
        bar = progress.begin(doing, sum(len(one.episode.actions) for one in show.episodes))
        show.on_step = lambda: bar.update(bar.done + 1)
        yield bar


def skip_hidden(show: Show) -> None:
    """Play the steps before the first ones to show, and show the progress of that."""
    hidden = sum(one.hidden_left for one in show.episodes)
    with ProgressWriter() as progress:
        bar = progress.begin("playing to the first step to show", hidden)
        show.on_step = lambda: bar.update(bar.done + 1)
        show.skip_hidden()
    show.on_step = lambda: None


def play_silently(show: Show) -> None:
    """Play all of it, to check it."""
    with _progress_of(show, "checking"):
        for _step in show:
            pass


def film(show: Show, path: Path, speed: float, *, still_s: float = 0.0, quiet: bool = False) -> None:
    """Film it; the file appears when it is complete. Raise RunError if it cannot be written.

    Args:
        show: the episodes.
        path: the film.
        speed: multiple of the real console's speed.
        still_s: seconds that the last picture stays.
        quiet: show no progress.
    """
    rate = show.frames_per_second * speed
    # Captions need the pixels; without them, a gif of half the size is as good.
    with (
        _progress_of(show, f"filming {path.name}", quiet=quiet) as bar,
        open_video(path, rate, enlarged=show.overlay) as writer,
    ):
        picture = None
        for _step in show:
            picture = show.picture() if show.overlay else show.screens()
            writer.add(picture)
        if picture is not None:
            for _ in range(round(still_s * rate)):
                writer.add(picture)
        bar.update(bar.total, f"writing {path.name}")


class Shown(Protocol):
    """Recorded episodes, or an agent that plays now, shown step by step."""

    @property
    def title(self) -> str:
        """Name of what is shown, for people."""

    @property
    def caption_lines(self) -> int:
        """Number of lines of :meth:`caption`."""

    @property
    def frames_per_second(self) -> float | None:
        """Steps per second at the real console's speed; None if that is not known."""

    @property
    def interrupted(self) -> Callable[[], bool]:
        """Function that returns True when the show is to stop."""

    def __iter__(self) -> Iterator[None]:
        """Play on, one step per item."""

    def text(self, columns: int) -> str | None:
        """Return the state as text for a terminal; None to show the picture."""

    def screens(self) -> NDArray[np.uint8]:
        """Return the picture in original size, (height, width, 3)."""

    def picture(self) -> NDArray[np.uint8]:
        """Return the picture for a window, enlarged, (height, width, 3)."""

    def caption(self) -> str:
        """Return the caption as text."""

    def words(self) -> str:
        """Return the text on the screen in one line, which half blocks are too coarse for; empty if there is none."""


def show_in_terminal(show: Shown, speed: float) -> None:
    """Play it in the terminal, as text if the environment has one, else in half blocks, until the viewer quits."""
    with TerminalKeys() as keys, TerminalScreen(show.caption_lines + 2) as screen:
        controls = Controls(show.frames_per_second, speed, keys.read, show.interrupted)

        def draw() -> None:
            screen.fit()
            text = show.text(screen.columns)
            words = show.words() if text is None else ""
            caption = f"{show.caption()}\n{words}\n{controls.line if keys.available else 'Ctrl-C: quit'}"
            if text is None:
                screen.show(show.screens(), caption)
            else:
                screen.show_text(text, caption)

        for _step in show:
            draw()
            if lost_output() is not None or not controls.wait(draw):  # nobody is there to see it, or wants to
                return


def show_in_window(show: Shown, speed: float, elsewhere: str) -> None:
    """Play it in a window, until its end, or until the viewer quits.

    Raises:
        ConfigurationError: there is no display; the message ends with ``elsewhere``.
    """
    with PictureWindow(show.title, elsewhere) as window:
        controls = Controls(show.frames_per_second, speed, window.read, show.interrupted)

        def draw() -> None:
            window.show(show.picture(), f"{show.title}   [{controls.line}]")

        for _step in show:
            draw()
            if not window.open or not controls.wait(draw):
                return
