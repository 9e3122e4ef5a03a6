"""Films an evaluation's episodes when it is over, by playing them again: playing them is not slowed by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from pkmncli.atomic_files import write_errors_explained
from pkmncli.config import ResolvedSettings
from pkmncli.plugins import Registry
from pkmncli.replay.recorded import choose_episode
from pkmncli.replay.showing import build_environment, film, shown_episode
from pkmncli.replay.shown import Show
from pkmncli.runs import Run
from pkmncli.training.assembly import open_store
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.recorded import RecordedEpisode

SPEED = 4.0
"""Times the speed of the real console."""


def film_evaluation(
    run: Run,
    settings: ResolvedSettings,
    registry: Registry,
    evaluation: Path,
    best: Path | None,
    folder: Path | None,
    *,
    tell: Callable[[str], None],
) -> None:
    """Films the best episode to a file, or every one into a folder, or both; with words below the pictures.

    Args:
        run: whose agent played.
        settings: as it was evaluated with.
        registry: where plugins are looked up.
        evaluation: folder that keeps the evaluation's episodes.
        best: film of the one with the highest reward.
        folder: of films of all, ``episode-0.mp4`` and so on in the order of their starts.
        tell: says what was written.

    Raises:
        typer.Exit: it was interrupted; films that were complete stay.
        RunError: a film can't be written.
    """
    store = open_store(registry, evaluation)
    try:
        rows = store.read("episodes")
    finally:
        store.close()
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
                shown = shown_episode(run, environment, episode, [])
                film(Show([shown], overlay=True, interrupted=lambda: bool(interrupted)), path, SPEED)
                tell(f"Wrote {path}.")
        except KeyboardInterrupt:
            raise typer.Exit(interrupted.exit_code) from None
        finally:
            environment.close()
