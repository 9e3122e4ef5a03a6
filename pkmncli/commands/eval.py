"""`pkmn eval`: how good a trained agent is, on seeds that training never uses."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from pkmncli.config import NONE, ResolvedSettings
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry, get_registry
from pkmncli.replay.filmed_evaluation import film_evaluation
from pkmncli.runs import Run
from pkmncli.training.assembly import build_learner, check_parts, open_store, worker_spec
from pkmncli.training.checkpoints import read_checkpoint
from pkmncli.training.evaluation import (
    AgentPolicy,
    EvaluatedEpisode,
    Policy,
    RandomPolicy,
    evaluate,
    keep_evaluation,
    report,
)
from pkmncli.training.given_starts import check_kept_starts
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.pretrained import open_agent
from pkmncli.training.seeds import Purpose
from pkmncli.training.workers import WorkerPool
from pkmncli.video import check_video_name


class EvaluationMode(StrEnum):
    """Who plays."""

    RL_ONLY = "rl-only"
    ADAPTIVE = "adaptive"
    LLM_ONLY = "llm-only"
    RANDOM = "random"


def eval(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")] = None,
    *,
    pretrained: Annotated[
        str | None, typer.Option(metavar="GAME", help="The policy that a game comes with, such as quillwood; no run.")
    ] = None,
    rom: Annotated[Path | None, typer.Option(help="With --pretrained: the game's image, if it has none itself.")] = None,
    checkpoint: Annotated[str, typer.Option(help="latest, best, a milestone, or a number of steps.")] = "latest",
    episodes: Annotated[int, typer.Option(min=1, help="Episodes to play.")] = 10,
    mode: Annotated[
        EvaluationMode, typer.Option(help="Who plays: the learner alone, with the pilot, the pilot alone, or chance.")
    ] = EvaluationMode.RL_ONLY,
    envs: Annotated[int, typer.Option(min=1, help="Environments side by side; the result is the same.")] = 2,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the starts. [default: the run's]")] = None,
    max_steps_per_episode: Annotated[
        int | None, typer.Option(min=1, help="Steps after which an episode is cut off. [default: the run's]")
    ] = None,
    goal: Annotated[str | None, typer.Option(help="Milestone that ends an episode. [default: the run's]")] = None,
    knowledge: Annotated[
        str | None, typer.Option(help="What ways are planned with: cartridge or seen. [default: the run's]")
    ] = None,
    video: Annotated[
        Path | None, typer.Option(help="Film the best episode, when all are over: .mp4, .gif or a new folder.")
    ] = None,
    videos: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Film every episode, into this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Evaluate a trained agent: greedy episodes from seeded starts, without learning."""
    if video is not None:
        check_video_name(video)
    if videos is not None and videos.exists() and not videos.is_dir():
        raise ConfigurationError(f"--videos {videos}: it is a file, and should be a folder")
    registry = get_registry()
    found = open_agent(context, run, save_dir, registry, pretrained, rom)
    changes: dict[str, Any] = {
        "max_steps_per_episode": max_steps_per_episode,
        "goal": goal,
        "knowledge": knowledge,
        "llm": NONE,  # no model is asked, so its results stay the same
    }
    if mode is not EvaluationMode.RANDOM:
        changes["mode"] = mode.value
    settings = ResolvedSettings.from_run(found.folder, registry).changed(changes, may_change=tuple(changes))
    if mode is EvaluationMode.RL_ONLY and settings.train.rl == NONE:
        raise ConfigurationError(f"{found.name} was trained without a learner: evaluate it with --mode llm-only")
    if mode is not EvaluationMode.RANDOM:
        check_parts(settings)
    folder = found.checkpoints.resolve(checkpoint)
    seed = settings.train.seed if seed is None else seed
    envs = min(envs, episodes)
    played, milestones, exit_code = _play(
        found, settings, registry, folder, mode, envs, episodes, seed, show=not as_json
    )
    if not played:
        raise typer.Exit(exit_code)
    result = {
        "run": found.name,
        "checkpoint": folder.name,
        "mode": mode.value,
        "seed": seed,
        **report(played, milestones),
    }
    typer.echo(json.dumps(result, indent=2)) if as_json else _show(result)
    folder = keep_evaluation(found, lambda folder: open_store(registry, folder), result, played)
    if (video is not None or videos is not None) and not exit_code:
        film_evaluation(
            found, settings, registry, folder, video, videos, tell=lambda text: typer.echo(text, err=as_json)
        )
    if exit_code:
        raise typer.Exit(exit_code)


def _play(
    run: Run,
    settings: ResolvedSettings,
    registry: Registry,
    checkpoint: Path,
    mode: EvaluationMode,
    envs: int,
    episodes: int,
    seed: int,
    *,
    show: bool,
) -> tuple[list[EvaluatedEpisode], list[str], int]:
    check_kept_starts(settings, run)
    spec = worker_spec(settings, registry, Purpose.EVALUATION, num_envs=envs, seed=seed)
    progress = Progress(console=Console(stderr=True), disable=not show, transient=True)
    with InterruptFlag() as interrupted, WorkerPool(spec) as pool, progress:
        if show:
            typer.echo(
                f"Evaluating {run.name}, {checkpoint.name}, {mode}: {episodes} episodes of at most "
                f"{pool.max_steps_per_episode:,} steps each."
            )
        # refuses a checkpoint of another image or game; what it loads is gone with the first reset
        pool.call(0, "load", read_checkpoint(checkpoint).workers[0], 0)
        task = progress.add_task("playing", total=episodes)
        played = evaluate(
            pool,
            _policy(settings, registry, checkpoint, mode, pool, seed),
            episodes,
            seed=seed,
            on_episode=lambda done: progress.update(task, completed=done),
            interrupted=lambda: bool(interrupted),
        )
        return played, pool.milestone_names, interrupted.exit_code if interrupted else 0


def _policy(
    settings: ResolvedSettings,
    registry: Registry,
    checkpoint: Path,
    mode: EvaluationMode,
    pool: WorkerPool,
    seed: int,
) -> Policy:
    if mode is EvaluationMode.RANDOM:
        return RandomPolicy(seed)
    content = read_checkpoint(checkpoint)
    learner = build_learner(settings, registry, pool, total_steps=1, num_envs=settings.train.envs)
    learner.load_state_dict(content.learner)
    return AgentPolicy(learner, AgentMode(mode.value), content.trainer["arbiter"]["trust"])


def _show(result: dict[str, Any]) -> None:
    console = Console(highlight=False)
    console.print(
        f"{result['episodes']} episodes: reward {result['avg_reward']:.2f} on average "
        f"(standard deviation {result['std_reward']:.2f}), {result['avg_length']:.0f} steps long, "
        f"goal reached in {result['goal_share']:.0%}."
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (("milestone", "left"), ("episodes", "right"), ("95% interval", "right"), ("step", "right")):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    for name, reached in result["milestones"].items():
        if reached["episodes"]:
            table.add_row(
                name,
                f"{reached['share']:.0%}",
                f"{reached['low']:.0%} to {reached['high']:.0%}",
                str(reached["median_step"]),
            )
    console.print(table if table.rows else "No milestone was reached.")
