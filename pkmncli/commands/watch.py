"""Command `pkmn watch`: an agent of a run plays now, for someone who watches."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from pkmncli.command_forms import with_examples
from pkmncli.commands.agent_options import (
    AGENT,
    EPISODES,
    Checkpoint,
    GameFolder,
    MaxSteps,
    Pretrained,
    Rom,
    RunName,
    SaveDir,
    Seed,
    Stochastic,
    check_sampling,
)
from pkmncli.config.run_file import read_run_file
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry
from pkmncli.replay.live_play import LivePlay
from pkmncli.replay.page import show_on_page
from pkmncli.replay.showing import show_in_terminal, show_in_window
from pkmncli.training.evaluation.evaluation import PLAYED_BY
from pkmncli.training.evaluation.pretrained_run import open_agent
from pkmncli.training.evaluation.run_evaluation import EvaluationMode, RunEvaluation
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.run_settings import run_settings

_DISPLAY = "How it is shown"


class Player(StrEnum):
    """Players to watch, under the names of modes; ``rules`` is the pilot alone."""

    RL_ONLY = "rl-only"
    ADAPTIVE = "adaptive"
    RULES = "rules"
    RANDOM = "random"


@with_examples(
    ("pkmn watch", "The learner of the latest run, alone, in the terminal."),
    ("pkmn watch --mode adaptive --speed 8", "The learner with the rules, eight times as fast."),
    ("pkmn watch --pretrained quillwood --window", "The policy that comes with the bundled game, in a window."),
)
def watch(
    context: typer.Context,
    run: RunName = None,
    *,
    pretrained: Pretrained = None,
    mode: Annotated[
        Player,
        typer.Option(
            help="Player: the learner alone, with the rules, the rules alone, or random play.", rich_help_panel=AGENT
        ),
    ] = Player.RL_ONLY,
    stochastic: Stochastic = False,
    checkpoint: Checkpoint = "latest",
    episodes: Annotated[
        int | None, typer.Option(min=1, help="Episodes to play. [default: until you quit]", rich_help_panel=EPISODES)
    ] = None,
    seed: Seed = None,
    max_steps_per_episode: MaxSteps = None,
    window: Annotated[
        bool,
        typer.Option(
            "--window/--terminal", help="In a window, or in the terminal.", rich_help_panel=_DISPLAY, show_default=False
        ),
    ] = False,
    page: Annotated[
        bool,
        typer.Option("--dashboard", help="On the live page of the run, in a browser.", rich_help_panel=_DISPLAY),
    ] = False,
    speed: Annotated[
        float,
        typer.Option(min=0.1, max=100.0, help="Speed, as a multiple of the real console's.", rich_help_panel=_DISPLAY),
    ] = 2.0,
    rom: Rom = None,
    game_folder: GameFolder = None,
    save_dir: SaveDir = None,
) -> None:
    """Watch a trained agent play from the starts of an evaluation. Nothing is learned or recorded.

    Keys: space pauses, + and - change the speed, q quits.
    """
    check_sampling(stochastic=stochastic, alone=mode is Player.RL_ONLY)
    if window and page:
        raise ConfigurationError("choose one of --window and --dashboard")
    if not window and not page and not sys.stdout.isatty():
        raise ConfigurationError("standard output is no terminal: use --window, --dashboard, or pkmn eval --video")
    registry = get_registry()
    found = open_agent(context, run, save_dir, registry, pretrained, rom, typer.echo)
    if (command := read_run_file(found.folder).command) is not None:
        raise ConfigurationError(f"{found.name} was made by 'pkmn {command}', whose agents cannot be watched")
    evaluation = RunEvaluation.of(
        found,
        run_settings(found, registry, rom=None if pretrained else rom, game_folder=game_folder),
        registry,
        checkpoint=checkpoint,
        mode=EvaluationMode.LLM_ONLY if mode is Player.RULES else EvaluationMode(mode.value),
        envs=1,
        episodes=1,
        seed=seed,
        baselines=False,
        stochastic=stochastic,
        changes={"max_steps_per_episode": max_steps_per_episode},
    )
    title = f"{found.name}, {evaluation.checkpoint.name}: {PLAYED_BY[evaluation.mode]}"
    typer.echo(f"{title}.")
    with InterruptFlag() as interrupted, evaluation.ready() as (pool, policy):
        play = LivePlay(title, pool, policy, episodes=episodes, interrupted=lambda: bool(interrupted))
        try:
            if page:
                show_on_page(play, found, speed)
            elif window:
                show_in_window(play, speed, "use --terminal, or make a film with pkmn eval --video")
            else:
                show_in_terminal(play, speed)
        except KeyboardInterrupt:
            raise typer.Exit(interrupted.exit_code) from None
    for number, result in enumerate(play.ended, start=1):
        typer.echo(f"Episode {number}: {result}.")
