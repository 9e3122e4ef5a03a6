"""`pkmn replay`: plays a recorded episode again, checks that it agrees, and shows or films it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pkmncli.errors import ConfigurationError, RunError
from pkmncli.plugins import get_registry
from pkmncli.replay.recorded import Agreement
from pkmncli.replay.showing import film, open_episode, play_silently, show_in_terminal, show_in_window
from pkmncli.replay.shown import Show
from pkmncli.training.evaluation.pretrained_run import open_agent, play_for_show
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.video import check_video_name

PLAYED_FOR_SHOW = 3
"""Episodes of which a game's own policy shows the best."""


def replay(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")] = None,
    *,
    pretrained: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="An episode that the policy which a game comes with plays first; no run."),
    ] = None,
    rom: Annotated[
        Path | None,
        typer.Option(help="Where the run's image is now; with --pretrained the game's, if it has none itself."),
    ] = None,
    game_folder: Annotated[Path | None, typer.Option(help="Where the folder of the run's game is now.")] = None,
    episode: Annotated[
        str, typer.Option(help="best, last, a number in order of ending, or E.N: episode N of environment E.")
    ] = "best",
    video: Annotated[
        Path | None, typer.Option(help="Film it: to a file, .mp4 or .gif, or a new folder of PNG files.")
    ] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Play it in the terminal.")] = False,
    window: Annotated[bool, typer.Option("--window", help="Play it in a window.")] = False,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Write below the picture where it is, what was pressed, by whom and why.")
    ] = False,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="MILESTONE", help="Show it from a milestone on, or from a step.")
    ] = None,
    beside: Annotated[
        str | None, typer.Option(metavar="RUN", help="Show the same choice of another run's episodes beside it.")
    ] = None,
    speed: Annotated[float, typer.Option(min=0.1, max=100.0, help="Times the speed of the real console.")] = 4.0,
    verify: Annotated[
        bool, typer.Option("--verify", help="Only check that the replay agrees; exit 5 if it does not.")
    ] = False,
    evaluation: Annotated[
        bool, typer.Option("--evaluation", help="An episode of the latest evaluation instead of the training.")
    ] = False,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Replay an episode. Without --video, --terminal or --window it is only checked against what was recorded."""
    shown = (video is not None) + terminal + window
    if shown + verify > 1:
        raise ConfigurationError(
            "choose one of --video, --terminal, --window and --verify; each of them checks the replay"
        )
    useless = [name for name, given in (("--overlay", overlay), ("--from", begin), ("--beside", beside)) if given]
    if useless and not shown:
        raise ConfigurationError(f"{', '.join(useless)}: choose how to show it: --video FILE, --terminal or --window")
    if video is not None:
        check_video_name(video)
    registry = get_registry()
    if pretrained is not None:
        found = open_agent(context, run, save_dir, registry, pretrained, rom)
        number = int(episode) + 1 if episode.isdecimal() else PLAYED_FOR_SHOW
        with InterruptFlag() as interrupted:
            play_for_show(found, registry, number, lambda: bool(interrupted))
        if interrupted:
            raise typer.Exit(interrupted.exit_code)
        run = str(found.folder)
    runs = [(run, evaluation or pretrained is not None, None if pretrained else rom, game_folder)]
    if beside is not None:
        runs.append((beside, evaluation, None, None))  # another run, which may be of another game
    with InterruptFlag() as interrupted:
        episodes = []
        try:
            for which, evaluated, image, folder in runs:
                episodes.append(
                    open_episode(
                        which,
                        save_dir,
                        registry,
                        episode,
                        evaluation=evaluated,
                        begin=begin,
                        rom=image,
                        game_folder=folder,
                    )
                )
                typer.echo(episodes[-1].headline)
            show = Show(episodes, overlay=overlay, interrupted=lambda: bool(interrupted))
            if video is not None:
                film(show, video, speed)
                typer.echo(f"Wrote {video}.")
            elif terminal:
                show_in_terminal(show, speed)
            elif window:
                show_in_window(show, speed)
            else:
                play_silently(show)
        except KeyboardInterrupt:
            if video is not None:
                typer.echo(f"Stopped; {video} was not written.", err=True)
            raise typer.Exit(interrupted.exit_code) from None
        finally:
            for one in episodes:
                one.environment.close()
    for one in episodes:
        if one.agreement is None:
            typer.echo("It was not shown to its end, and not checked beyond that.")
        else:
            _report(one.agreement)


def _report(agreement: Agreement) -> None:
    if not agreement.equal:
        raise RunError(
            f"the replay differs from the record at step {agreement.first_difference:,}: {agreement.difference}; "
            "it was probably recorded with another image, game profile or version of PyBoy (see versions.json)"
        )
    typer.echo(
        f"The replay agrees: equal state after each of {agreement.steps:,} steps, equal work RAM at "
        f"{agreement.memory_checks} checks."
    )
