"""Command `pkmn eval`: evaluate a trained agent on seeds that training never uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.api import quoted_path
from pkmncli.command_forms import other_options
from pkmncli.commands.agent_options import (
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
from pkmncli.config import NONE, TrainSettings
from pkmncli.config.run_file import read_run_file
from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry
from pkmncli.plurals import counted
from pkmncli.replay.filmed_evaluation import film_evaluation
from pkmncli.runs import Run, default_save_dir
from pkmncli.tables import commands_to_copy, prose
from pkmncli.training.display.progress import EvaluationProgress
from pkmncli.training.display.verdict import PLAYERS, rows_of, table_lines
from pkmncli.training.evaluation.baselines import players
from pkmncli.training.evaluation.command_evaluation import evaluate_command_run, result_lines
from pkmncli.training.evaluation.evaluation import PLAYED_BY
from pkmncli.training.evaluation.pretrained_run import open_agent
from pkmncli.training.evaluation.run_evaluation import EvaluationMode, RunEvaluation
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.run_settings import run_settings
from pkmncli.training.session import larger_budget
from pkmncli.video import check_video_name

_OF_EVERY_RUN = frozenset({"run", "checkpoint", "episodes", "seed", "as_json", "save_dir"})
"""Options that also suit a run of a plugin's command."""

_PLAYERS_TO_WATCH = {
    EvaluationMode.RL_ONLY.value: "",
    EvaluationMode.ADAPTIVE.value: " --mode adaptive",
    EvaluationMode.LLM_ONLY.value: " --mode rules",
}
"""Options of ``pkmn watch`` for the player of an evaluation."""

_OUTPUT = "Output"


def eval(
    context: typer.Context,
    run: RunName = None,
    *,
    pretrained: Pretrained = None,
    rom: Rom = None,
    game_folder: GameFolder = None,
    checkpoint: Checkpoint = "latest",
    stochastic: Stochastic = False,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes to play.", rich_help_panel=EPISODES)] = 10,
    mode: Annotated[
        EvaluationMode,
        typer.Option(
            help="Player: the learner alone, with the pilot, the pilot alone, or random play.",
            rich_help_panel=EPISODES,
        ),
    ] = EvaluationMode.RL_ONLY,
    envs: Annotated[
        int, typer.Option(min=1, help="Parallel environments; the result is the same.", rich_help_panel=EPISODES)
    ] = 2,
    seed: Seed = None,
    max_steps_per_episode: MaxSteps = None,
    goal: Annotated[
        str | None, typer.Option(help="Milestone that ends an episode. [default: the run's]", rich_help_panel=EPISODES)
    ] = None,
    knowledge: Annotated[
        str | None,
        typer.Option(
            help="Maps that routes are planned with: cartridge or seen. [default: the run's]", rich_help_panel=EPISODES
        ),
    ] = None,
    video: Annotated[
        Path | None,
        typer.Option(help="Film the best episode at the end: .mp4, .gif or a new folder.", rich_help_panel=_OUTPUT),
    ] = None,
    videos: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Film every episode, into this folder.", rich_help_panel=_OUTPUT),
    ] = None,
    baselines: Annotated[
        bool | None,
        typer.Option(
            "--baselines/--no-baselines",
            help="Pilot and random play from the same starts beside it. [default: with --mode rl-only]",
            show_default=False,
            rich_help_panel=EPISODES,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_OUTPUT)] = False,
    save_dir: SaveDir = None,
) -> None:
    """Evaluate a trained agent from held-out starts, without learning: by default the learner alone, greedily."""
    if video is not None:
        check_video_name(video)
    if videos is not None and videos.exists() and not videos.is_dir():
        raise ConfigurationError(f"--videos {videos}: it is a file, and should be a folder")
    check_sampling(stochastic=stochastic, alone=mode is EvaluationMode.RL_ONLY)
    registry = get_registry()

    def tell(text: str) -> None:
        if not as_json:
            typer.echo(text)

    found = open_agent(context, run, save_dir, registry, pretrained, rom, tell)
    if (command := read_run_file(found.folder).command) is not None:
        if others := other_options(context, _OF_EVERY_RUN):
            raise ConfigurationError(f"{others[0]}: a run of 'pkmn {command}' is evaluated without it")
        result = evaluate_command_run(found, registry, checkpoint=checkpoint, episodes=episodes, seed=seed)
        typer.echo(json.dumps(result, indent=2) if as_json else "\n".join(result_lines(result)))
        return
    own = run_settings(found, registry, rom=None if pretrained else rom, game_folder=game_folder)
    changes = {"max_steps_per_episode": max_steps_per_episode, "goal": goal, "knowledge": knowledge}
    evaluation = RunEvaluation.of(
        found,
        own,
        registry,
        checkpoint=checkpoint,
        mode=mode,
        envs=envs,
        episodes=episodes,
        seed=seed,
        baselines=mode is EvaluationMode.RL_ONLY if baselines is None else baselines,
        stochastic=stochastic,
        changes=changes,
    )
    settings = evaluation.settings
    with InterruptFlag() as interrupted, EvaluationProgress(episodes, quiet=as_json) as progress:
        played, result = evaluation.play(
            on_begin=tell,
            on_step=progress.on_step,
            interrupted=lambda: bool(interrupted),
        )
    exit_code = interrupted.exit_code if interrupted else 0
    if not played:
        say("Interrupted before an episode had ended; nothing is kept.")
        raise typer.Exit(exit_code)
    # shown first, so that it isn't lost where the run can't keep it
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        for line in _lines(result, found):
            typer.echo(prose(line, indent="  "))
        typer.echo(f"\nNext:\n{commands_to_copy(_next_steps(result, found, settings.train, pretrained))}")
        if exit_code:
            say(_what_is_missing(result, evaluation))
    folder = evaluation.keep(played, result)
    if (video is not None or videos is not None) and not exit_code:
        film_evaluation(
            found,
            settings,
            registry,
            folder,
            video,
            videos,
            who=PLAYED_BY[mode],
            tell=lambda text: typer.echo(text, err=as_json),
        )
    if exit_code:
        raise typer.Exit(exit_code)


def _what_is_missing(result: Mapping[str, Any], evaluation: RunEvaluation) -> str:
    """Return a line on the part of an interrupted evaluation that was not played."""
    beside = players(has_pilot=evaluation.settings.train.pilot != NONE) if evaluation.baselines else []
    missing = [PLAYERS[who] for who in beside if who not in result]
    without = f", without {' and '.join(missing)}" if missing else ""
    return f"Interrupted: {result['episodes']} of {counted(evaluation.episodes, 'episode')}{without}."


def _lines(result: Mapping[str, Any], run: Run) -> list[str]:
    """Return the result as lines for people."""
    mode = EvaluationMode(result["mode"])
    name = {EvaluationMode.RL_ONLY: "learner_alone", EvaluationMode.LLM_ONLY: "pilot"}.get(mode, mode.value)
    beside = {key: result[key] for key in PLAYERS if key in result}
    lines = ["", result["verdict"]] if "verdict" in result else [""]
    names = {**PLAYERS, mode.value: PLAYED_BY[mode]}
    lines += table_lines(rows_of({name: result, **beside}, names), "  ")
    lines.append(
        f"  Reward is the mean of {counted(result['episodes'], 'episode')}, with standard deviation "
        f"{result['std_reward']:,.1f}. They are {result['avg_length']:,.0f} steps long on average."
    )
    if result.get("metrics"):
        found = ", ".join(f"{name} {value:,.4g}" for name, value in result["metrics"].items())
        lines.append(f"  Means of the environment's metrics: {found}.")
    milestones = _milestone_lines(result)
    lines += ["", *milestones] if milestones else []
    if mode is EvaluationMode.RL_ONLY:
        lines += _why_less_than_in_training(result["avg_reward"], run)
    return lines


def _milestone_lines(result: Mapping[str, Any]) -> list[str]:
    rows = [
        [name, f"{one['share']:.0%}", f"{one['low']:.0%} to {one['high']:.0%}", f"{one['median_step']:,}"]
        for name, one in result["milestones"].items()
        if one["episodes"]
    ]
    if not rows:
        return ["No milestone was reached."] if result["milestones"] else []
    return table_lines([["milestone", "episodes", "95% interval", "step"], *rows])


def _why_less_than_in_training(alone: float, run: Run) -> list[str]:
    """Return a line on the training's reward where that is higher since others earned a part of it."""
    summary = run.read_summary()
    reward, shares = summary.get("final_avg_reward"), summary.get("source_shares", {})
    others = shares.get("rule", 0.0) + shares.get("llm", 0.0)
    if reward is None or not others or alone >= reward:
        return []
    return [
        "",
        f"Not to be compared with the training's reward ({reward:,.1f} lately): there, others decided "
        f"{others:.0%} of the steps.",
    ]


def _next_steps(
    result: Mapping[str, Any], run: Run, train: TrainSettings, pretrained: str | None
) -> list[tuple[str, str]]:
    """Return commands with their purposes."""
    if pretrained is not None:
        return [
            (f"pkmn replay --pretrained {pretrained} --video best.mp4", "watch it"),
            (f"pkmn watch --pretrained {pretrained}", "watch it play now"),
            (f"pkmn train --start-from pretrained:{pretrained}", "train on from its weights"),
        ]
    which = "" if run.folder.parent == default_save_dir().absolute() else f" {quoted_path(run.folder)}"
    steps = [(f"pkmn replay{which} --evaluation --video best.mp4", "watch the best of these episodes")]
    if result["mode"] == EvaluationMode.RL_ONLY.value:
        others = [result[name] for name in ("pilot", "random") if name in result]
        measure = "avg_reward" if result["goal_share"] is None else "goal_share"
        if others and result[measure] < max(one[measure] for one in others):
            budget = larger_budget(train, run.read_summary())
            steps.insert(0, (f"pkmn train --resume{which} {budget}", "train on: there is more to learn"))
        if not result["stochastic"] and result["goal_share"] not in (None, 1):
            steps.append(
                (f"pkmn eval{which} --stochastic", "a learner that is stuck may get on by sampling its actions")
            )
    elif train.rl != NONE:
        steps.append((f"pkmn eval{which}", "what the learner does alone"))
    if (player := _PLAYERS_TO_WATCH.get(result["mode"])) is not None:
        steps.append((f"pkmn watch{which}{player}", "watch it play now"))
    return steps
