"""`pkmn replay`: plays a recorded episode again, checks that it agrees, and shows or films it."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.api import Action, Environment
from pkmncli.config import ResolvedSettings
from pkmncli.errors import CheckpointError, ConfigurationError, RunError
from pkmncli.plugins import Registry, get_registry
from pkmncli.replay import Agreement, RecordedEpisode, choose_episode
from pkmncli.replay import replay as play_again
from pkmncli.runs import Run, open_run
from pkmncli.training.assembly import environment_spec, open_store
from pkmncli.training.checkpoints import read_checkpoint
from pkmncli.training.episode_starts import state_file
from pkmncli.training.evaluation import EVALUATIONS
from pkmncli.training.session import tables_folder
from pkmncli.video import TerminalScreen, check_video_name, open_video


def replay(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")] = None,
    *,
    episode: Annotated[
        str, typer.Option(help="best, last, a number in order of ending, or E.N: episode N of environment E.")
    ] = "best",
    video: Annotated[Path | None, typer.Option(help="Film it to this file, .mp4 or .gif.")] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Play it in the terminal.")] = False,
    speed: Annotated[float, typer.Option(min=0.1, max=100.0, help="Times the speed of the real console.")] = 4.0,
    verify: Annotated[
        bool, typer.Option("--verify", help="Only check that the replay agrees; exit 5 if it does not.")
    ] = False,
    evaluation: Annotated[
        bool, typer.Option("--evaluation", help="An episode of the latest evaluation instead of the training.")
    ] = False,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Replay an episode. Without --video or --terminal it is only checked against what was recorded."""
    if (video is not None) + terminal + verify > 1:
        raise ConfigurationError("choose one of --video, --terminal and --verify; each of them checks the replay")
    if video is not None:
        check_video_name(video)
    registry = get_registry()
    found = open_run(run, save_dir)
    settings = ResolvedSettings.from_run(found.folder, registry)
    recorded = _with_start(choose_episode(_episodes(found, settings, registry, evaluation), episode), found, settings)
    typer.echo(
        f"{found.name}, {recorded.title}: {len(recorded.presses):,} steps, reward {recorded.total_reward:.2f}, "
        f"{recorded.outcome}."
    )
    environment: Environment = environment_spec(settings, registry, for_people=True).build()
    try:
        _check_image(environment, found)
        if video is not None:
            agreement = _film(environment, recorded, video, speed)
            typer.echo(f"Wrote {video}.")
        elif terminal:
            agreement = _show_in_terminal(environment, recorded, speed)
        else:
            agreement = play_again(environment, recorded)
    finally:
        environment.close()
    _report(agreement, recorded)


def _episodes(run: Run, settings: ResolvedSettings, registry: Registry, evaluation: bool) -> list[dict[str, Any]]:
    folder = tables_folder(settings, run)
    if evaluation:
        evaluations = sorted((run.folder / EVALUATIONS).glob("*/"))
        if not evaluations:
            raise RunError(f"{run.name} has no evaluation yet; make one with: pkmn eval {run.name}")
        folder = evaluations[-1]
    store = open_store(registry, folder)
    try:
        return store.read("episodes")
    finally:
        store.close()


def _with_start(recorded: RecordedEpisode, run: Run, settings: ResolvedSettings) -> RecordedEpisode:
    """The episode with the state that it began in, where another episode had got there."""
    own = settings.train.init_state
    if not recorded.start or (own is not None and own.stem == recorded.start):
        return recorded
    path = state_file(run.starts_folder, recorded.start)
    try:
        return replace(recorded, start_state=path.read_bytes())
    except OSError as error:
        raise RunError(f"the start of {recorded.title}, {path}, cannot be read: {error.strerror}") from error


def _film(environment: Environment, recorded: RecordedEpisode, path: Path, speed: float) -> Agreement:
    with open_video(path, _steps_per_second(environment) * speed) as writer:
        return play_again(environment, recorded, lambda *_step: writer.add(_screen(environment)))


def _show_in_terminal(environment: Environment, recorded: RecordedEpisode, speed: float) -> Agreement:
    total = 0.0
    with TerminalScreen() as screen:
        due = time.monotonic()

        def show(step: int, action: Action, reward: float) -> None:
            nonlocal due, total
            total += reward
            screen.show(_screen(environment), f"step {step:,}  {action.name.lower():6}  reward {total:.2f}")
            due += 1 / (_steps_per_second(environment) * speed)
            time.sleep(max(due - time.monotonic(), 0))

        return play_again(environment, recorded, show)


def _check_image(environment: Environment, run: Run) -> None:
    """Refuses a run of another image or game, as the states in its checkpoints tell. Raises EmulatorError."""
    with contextlib.suppress(CheckpointError):  # without a whole checkpoint the replay itself has to tell
        environment.load_state(read_checkpoint(run.checkpoints.resolve()).workers[0].environment)


def _steps_per_second(environment: Any) -> float:
    """At the speed of the real console, as the environment's metadata says."""
    return float(environment.metadata["render_fps"])


def _screen(environment: Any) -> Any:
    return environment.render()


def _report(agreement: Agreement, recorded: RecordedEpisode) -> None:
    if not agreement.equal:
        raise RunError(
            f"the replay differs from the record at step {agreement.first_difference:,}: {agreement.difference}; "
            "it was probably recorded with another image, game profile or version of PyBoy (see versions.json)"
        )
    typer.echo(
        f"The replay agrees: equal state after each of {agreement.steps:,} steps, equal work RAM at "
        f"{agreement.memory_checks} checks."
    )
