"""Command `pkmn replay`: play a recorded episode again, check that it agrees, and show or film it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pkmncli.errors import ConfigurationError, RunError
from pkmncli.plugins import get_registry
from pkmncli.plurals import counted
from pkmncli.replay.play_again import Agreement
from pkmncli.replay.showing import film, open_episode, play_silently, show_in_terminal, show_in_window, skip_hidden
from pkmncli.replay.shown import Show
from pkmncli.training.display.progress import EvaluationProgress
from pkmncli.training.display.verdict import PLAYERS
from pkmncli.training.evaluation.pretrained_run import open_agent, play_for_show
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.video import check_video_name

PLAYED_FOR_SHOW = 3
"""Episodes played with a game's own policy; the best one is shown."""


_EPISODE, _DISPLAY = "Episode", "How it is shown"


def replay(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")] = None,
    *,
    pretrained: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            help="Play an episode by the policy that comes with a game, instead of a run's.",
            rich_help_panel=_EPISODE,
        ),
    ] = None,
    rom: Annotated[
        Path | None,
        typer.Option(
            help="Present path of the run's image; with --pretrained, the image of a game that has none.",
            rich_help_panel=_EPISODE,
        ),
    ] = None,
    game_folder: Annotated[
        Path | None, typer.Option(help="Present folder of the run's game profile.", rich_help_panel=_EPISODE)
    ] = None,
    episode: Annotated[
        str,
        typer.Option(
            help="best, last, a number in order of ending, or E.N: episode N of environment E.",
            rich_help_panel=_EPISODE,
        ),
    ] = "best",
    video: Annotated[
        Path | None,
        typer.Option(help="Film it to a file, .mp4 or .gif, or a new folder of PNG files.", rich_help_panel=_DISPLAY),
    ] = None,
    terminal: Annotated[
        bool,
        typer.Option("--terminal", help="Play it in the terminal; the keys are shown there.", rich_help_panel=_DISPLAY),
    ] = False,
    window: Annotated[bool, typer.Option("--window", help="Play it in a window.", rich_help_panel=_DISPLAY)] = False,
    overlay: Annotated[
        bool,
        typer.Option(
            "--overlay",
            help="Write below the picture the place, the action, its source and the reason.",
            rich_help_panel=_DISPLAY,
        ),
    ] = False,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="MILESTONE", help="Show it from a milestone on, or from a step.", rich_help_panel=_DISPLAY
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Show the same episode of another run beside it.", rich_help_panel=_DISPLAY),
    ] = None,
    speed: Annotated[
        float,
        typer.Option(min=0.1, max=100.0, help="Speed, as a multiple of the real console's.", rich_help_panel=_DISPLAY),
    ] = 4.0,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Only check that the replay agrees with the record; exit 5 if it does not.",
            rich_help_panel=_DISPLAY,
        ),
    ] = False,
    evaluation: Annotated[
        bool,
        typer.Option(
            "--evaluation",
            help="An episode of the latest evaluation instead of the training.",
            rich_help_panel=_EPISODE,
        ),
    ] = False,
    save_dir: Annotated[
        Path | None, typer.Option(help="Folder of the run folders. [default: runs]", rich_help_panel=_EPISODE)
    ] = None,
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
        found = open_agent(context, run, save_dir, registry, pretrained, rom, typer.echo)
        number = int(episode) + 1 if episode.isdecimal() else PLAYED_FOR_SHOW
        with InterruptFlag() as interrupted, EvaluationProgress(number) as progress:
            on_step = partial(progress.on_step, PLAYERS["learner_alone"])
            play_for_show(found, registry, number, on_step, lambda: bool(interrupted))
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
            if begin is not None and video is None:
                skip_hidden(show)
            if video is not None:
                film(show, video, speed)
                typer.echo(f"Wrote {video}.")
            elif terminal:
                show_in_terminal(show, speed)
            elif window:
                show_in_window(show, speed, "use --terminal, or --video FILE")
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
        f"The replay agrees: equal state after each of {counted(agreement.steps, 'step')}, equal memory at "
        f"{counted(agreement.memory_checks, 'check')}."
    )
