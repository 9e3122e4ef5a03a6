"""Films of an evaluation's episodes, made afterwards by replaying them, so that filming does not slow playing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from pkmncli.api.data_text import parse_json
from pkmncli.atomic_files import write_errors_explained
from pkmncli.config import ResolvedSettings
from pkmncli.plugins import Registry
from pkmncli.replay.play_again import choose_episode
from pkmncli.replay.showing import build_environment, film, shown_episode
from pkmncli.replay.shown import Show
from pkmncli.runs import Run
from pkmncli.training.assembly import open_store
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.recording.recorded_episode import RecordedEpisode

SPEED = 4.0
"""Multiple of the real console's speed."""

ALONE_FILM = "learner_alone.mp4"
"""Name of the film that a training leaves in its run folder."""

LONGEST_S = 40.0
"""Maximum length of that film, which plays faster if the episode would take longer."""

STILL_S = 2.0
"""Seconds that its last picture stays."""


def can_film() -> bool:
    """Return True if the writer of films is installed."""
    return find_spec("imageio_ffmpeg") is not None


def film_learner_alone(
    run: Run, settings: ResolvedSettings, registry: Registry, evaluation: Path, *, tell: Callable[[str], None]
) -> Path | None:
    """Film the episode of an evaluation that reached furthest, and soonest; into the run's folder.

    In an environment without milestones that is the one with the highest reward.

    Args:
        run: the run whose learner played.
        settings: of the run.
        registry: where plugins are looked up.
        evaluation: folder with the evaluation's episodes.
        tell: called with a message before filming.

    Returns:
        The film; None if no episode reached anything, or the environment draws no pictures.

    Raises:
        typer.Exit: it was interrupted.
        RunError: the film cannot be written.
    """
    rows = _episodes(registry, evaluation)
    reached = [(row, [step for step in parse_json(row["milestones"]).values() if step]) for row in rows]
    reached = [(row, steps) for row, steps in reached if steps]
    if reached:
        best, _ = max(reached, key=lambda one: (_far(*one), -max(one[1])))
    elif rows and not run.read_names().get("milestones"):
        best = max(rows, key=lambda row: float(row["total_reward"]))
    else:
        return None
    path = run.folder / ALONE_FILM
    episode = RecordedEpisode.from_row(best)
    with InterruptFlag() as interrupted:
        environment = build_environment(settings, registry, run)
        try:
            if not run.read_names().get("milestones") and getattr(environment, "render_mode", None) is None:
                return None
            tell("Filming the best of them.")
            shown = shown_episode(run, environment, episode, [], who="the learner alone")
            show = Show([shown], overlay=True, interrupted=lambda: bool(interrupted))
            speed = max(SPEED, len(episode.actions) / (LONGEST_S * show.frames_per_second))
            film(show, path, speed, still_s=STILL_S, quiet=settings.train.quiet)
        except KeyboardInterrupt:
            raise typer.Exit(interrupted.exit_code) from None
        finally:
            environment.close()
    return path


def _far(row: Mapping[str, Any], steps: Sequence[int]) -> tuple[bool, int]:
    """Return a measure of progress: first the goal, then the number of milestones."""
    success = row["outcome"] == "goal"
    return success, 0 if success else len(steps)


def film_evaluation(
    run: Run,
    settings: ResolvedSettings,
    registry: Registry,
    evaluation: Path,
    best: Path | None,
    folder: Path | None,
    *,
    who: str,
    tell: Callable[[str], None],
) -> None:
    """Film the best episode to a file, or every one into a folder, or both; with captions.

    Args:
        run: the run whose agent played.
        settings: of the evaluation.
        registry: where plugins are looked up.
        evaluation: folder with the evaluation's episodes.
        best: film of the episode with the highest reward.
        folder: for films of all, ``episode-0.mp4`` and so on in the order of their starts.
        who: the playing side, in words.
        tell: called with a message about the files written.

    Raises:
        typer.Exit: it was interrupted; films that were complete stay.
        RunError: a film cannot be written.
    """
    rows = _episodes(registry, evaluation)
    wanted: list[tuple[RecordedEpisode, Path]] = []
    if best is not None:
        wanted.append((choose_episode(rows, "best"), best))
    if folder is not None:
        with write_errors_explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
        wanted += [(RecordedEpisode.from_row(row), folder / f"episode-{number}.mp4") for number, row in enumerate(rows)]
    environment = build_environment(settings, registry, run)
    with InterruptFlag() as interrupted:
        try:
            for episode, path in wanted:
                shown = shown_episode(run, environment, episode, [], who=who)
                film(Show([shown], overlay=True, interrupted=lambda: bool(interrupted)), path, SPEED)
                tell(f"Wrote {path}.")
        except KeyboardInterrupt:
            raise typer.Exit(interrupted.exit_code) from None
        finally:
            environment.close()


def _episodes(registry: Registry, evaluation: Path) -> list[dict[str, Any]]:
    store = open_store(registry, evaluation)
    try:
        return store.read("episodes")
    finally:
        store.close()
