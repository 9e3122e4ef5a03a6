"""Search for recorded episodes of runs, and their display: a film, a terminal or a window."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pkmncli.api import Environment
from pkmncli.atomic_files import read_json
from pkmncli.config import ResolvedSettings
from pkmncli.errors import CheckpointError, RunError
from pkmncli.plugins import Registry
from pkmncli.replay.explained import LINES, Explanation, Names
from pkmncli.replay.recorded import choose_episode, first_shown
from pkmncli.replay.shown import Show, ShownEpisode
from pkmncli.replay.window import PictureWindow
from pkmncli.runs import Run, open_run
from pkmncli.standard_streams import lost_output
from pkmncli.training.assembly import environment_spec, open_store, tables_folder
from pkmncli.training.beginnings.given_starts import check_kept_starts
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.checkpoints.selection import readable_checkpoint
from pkmncli.training.evaluation.evaluation import EVALUATIONS, PLAYED_BY
from pkmncli.training.recording.recorded import RecordedEpisode, with_start
from pkmncli.training.run_settings import run_settings
from pkmncli.video import TerminalScreen, open_video


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
        episode: see :func:`pkmncli.replay.recorded.choose_episode`.
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
        evaluations = sorted((run.folder / EVALUATIONS).glob("*/"))
        if not evaluations:
            raise RunError(f"{run.name} has no evaluation yet; make one with: pkmn eval {run.name}")
        folder = evaluations[-1]
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
    try:
        return PLAYED_BY[read_json(evaluation / "result.json")["mode"]]
    except (OSError, ValueError, KeyError, TypeError):
        return ""  # without it only the caption is less complete


def build_environment(settings: ResolvedSettings, registry: Registry, run: Run) -> Environment:
    """Return an environment with pictures for people. Raise EmulatorError if the run used another image or game.

    Raise RunError if the run lacks the start states of its episodes.
    """
    check_kept_starts(settings, run)
    environment: Environment = environment_spec(settings, registry, for_people=True).build()
    try:
        with contextlib.suppress(CheckpointError):  # without a whole checkpoint the replay itself will find differences
            environment.load_state(read_checkpoint(readable_checkpoint(run)).workers[0].environment)
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


def play_silently(show: Show) -> None:
    """Play all of it, to check it."""
    for _step in show:
        pass


def film(show: Show, path: Path, speed: float, *, still_s: float = 0.0) -> None:
    """Film it; the file appears when it is complete. Raise RunError if it cannot be written.

    Args:
        show: the episodes.
        path: the film.
        speed: multiple of the real console's speed.
        still_s: seconds that the last picture stays.
    """
    rate = show.frames_per_second * speed
    # Captions need the pixels; without them, a gif of half the size is as good.
    with open_video(path, rate, enlarged=show.overlay) as writer:
        picture = None
        for _step in show:
            picture = show.picture() if show.overlay else show.screens()
            writer.add(picture)
        if picture is not None:
            for _ in range(round(still_s * rate)):
                writer.add(picture)


def show_in_terminal(show: Show, speed: float) -> None:
    """Play it in the terminal, in half blocks."""
    with TerminalScreen(LINES if show.overlay else 1) as screen:
        for _step in _paced(show, speed):
            screen.show(show.screens(), show.caption())
            if lost_output() is not None:  # nobody is there to see it
                return


def show_in_window(show: Show, speed: float) -> None:
    """Play it in a window, until its end or until the window is closed. Raise ConfigurationError without a display."""
    with PictureWindow(" | ".join(one.title for one in show.episodes)) as window:
        for _step in _paced(show, speed):
            window.show(show.picture())
            if not window.open:
                return


def _paced(show: Show, speed: float) -> Iterator[None]:
    """Yield the steps at a multiple of the real console's speed, as far as this machine can."""
    seconds = 1 / (show.frames_per_second * speed)
    due = time.monotonic()
    for _step in show:
        yield
        due = max(due + seconds, time.monotonic() - seconds)
        time.sleep(max(due - time.monotonic(), 0))
