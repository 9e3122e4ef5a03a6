"""Command `pkmn eval`: evaluate a trained agent on seeds that training never uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from pkmncli.config import NONE, ResolvedSettings, TrainSettings
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.hybrid.hand_over import HandOver
from pkmncli.plugins import Registry, get_registry
from pkmncli.replay.filmed_evaluation import film_evaluation
from pkmncli.runs import Run, default_save_dir
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import build_learner, open_store, worker_spec
from pkmncli.training.beginnings.given_starts import check_kept_starts
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.checkpoints.selection import readable_checkpoint
from pkmncli.training.compatibility import check_deciders
from pkmncli.training.display.verdict import PLAYERS, rows_of, table_lines, verdict
from pkmncli.training.evaluation.baselines import BASELINES_FILE, Baselines
from pkmncli.training.evaluation.evaluation import (
    PLAYED_BY,
    AgentPolicy,
    EvaluatedEpisode,
    LearnerPolicy,
    Policy,
    RandomPolicy,
    evaluate,
    keep_evaluation,
    report,
)
from pkmncli.training.evaluation.final_evaluation import play_baselines, side_by_side_spec
from pkmncli.training.evaluation.pretrained_run import open_agent
from pkmncli.training.interrupts import InterruptFlag
from pkmncli.training.run_settings import run_settings
from pkmncli.training.session import larger_budget, quoted
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import WorkerSpec
from pkmncli.video import check_video_name

_RUN, _EPISODES, _OUTPUT = "Run", "Episodes", "Output"


class EvaluationMode(StrEnum):
    """Players of an evaluation."""

    RL_ONLY = "rl-only"
    ADAPTIVE = "adaptive"
    LLM_ONLY = "llm-only"
    RANDOM = "random"


def eval(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")] = None,
    *,
    pretrained: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            help="Play the policy that comes with a game, such as quillwood, instead of a run's.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    rom: Annotated[
        Path | None,
        typer.Option(
            help="Present path of the run's image; with --pretrained, the image of a game that has none.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    game_folder: Annotated[
        Path | None, typer.Option(help="Present folder of the run's game profile.", rich_help_panel=_RUN)
    ] = None,
    checkpoint: Annotated[
        str, typer.Option(help="latest, best, a milestone, or a number of steps.", rich_help_panel=_RUN)
    ] = "latest",
    episodes: Annotated[int, typer.Option(min=1, help="Episodes to play.", rich_help_panel=_EPISODES)] = 10,
    mode: Annotated[
        EvaluationMode,
        typer.Option(
            help="Player: the learner alone, with the pilot, the pilot alone, or random play.",
            rich_help_panel=_EPISODES,
        ),
    ] = EvaluationMode.RL_ONLY,
    envs: Annotated[
        int, typer.Option(min=1, help="Parallel environments; the result is the same.", rich_help_panel=_EPISODES)
    ] = 2,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the starts. [default: the run's]", rich_help_panel=_EPISODES)
    ] = None,
    max_steps_per_episode: Annotated[
        int | None,
        typer.Option(
            min=1, help="Steps after which an episode is cut off. [default: the run's]", rich_help_panel=_EPISODES
        ),
    ] = None,
    goal: Annotated[
        str | None, typer.Option(help="Milestone that ends an episode. [default: the run's]", rich_help_panel=_EPISODES)
    ] = None,
    knowledge: Annotated[
        str | None,
        typer.Option(
            help="Maps that routes are planned with: cartridge or seen. [default: the run's]", rich_help_panel=_EPISODES
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
    stochastic: Annotated[
        bool,
        typer.Option(
            "--stochastic",
            help="Sample the learner's actions from its policy, instead of the best ones.",
            rich_help_panel=_EPISODES,
        ),
    ] = False,
    baselines: Annotated[
        bool | None,
        typer.Option(
            "--baselines/--no-baselines",
            help="Pilot and random play from the same starts beside it. [default: with --mode rl-only]",
            show_default=False,
            rich_help_panel=_EPISODES,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_OUTPUT)] = False,
    save_dir: Annotated[
        Path | None, typer.Option(help="Folder of the run folders. [default: runs]", rich_help_panel=_RUN)
    ] = None,
) -> None:
    """Evaluate a trained agent from held-out starts, without learning: by default the learner alone, greedily."""
    if video is not None:
        check_video_name(video)
    if videos is not None and videos.exists() and not videos.is_dir():
        raise ConfigurationError(f"--videos {videos}: it is a file, and should be a folder")
    if stochastic and mode is not EvaluationMode.RL_ONLY:
        raise ConfigurationError("--stochastic: only the learner alone samples its actions; use it with --mode rl-only")
    registry = get_registry()
    found = open_agent(context, run, save_dir, registry, pretrained, rom)
    changes: dict[str, Any] = {
        "max_steps_per_episode": max_steps_per_episode,
        "goal": goal,
        "knowledge": knowledge,
        "llm": NONE,  # no model is asked, so its results stay the same
        "pretrain_steps": 0,  # nothing is learned
    }
    if mode is not EvaluationMode.RANDOM:
        changes["mode"] = mode.value
    own = run_settings(found, registry, rom=None if pretrained else rom, game_folder=game_folder)
    settings = own.changed(changes, may_change=tuple(changes))
    if mode is EvaluationMode.RL_ONLY and settings.train.rl == NONE:
        raise ConfigurationError(f"{found.name} was trained without a learner: evaluate it with --mode llm-only")
    if mode is not EvaluationMode.RANDOM:
        check_deciders(settings)
    evaluation = _Evaluation(
        found,
        settings,
        registry,
        readable_checkpoint(found, checkpoint),
        mode,
        min(envs, episodes),
        episodes,
        settings.train.seed if seed is None else seed,
        stochastic=stochastic,
        baselines=mode is EvaluationMode.RL_ONLY if baselines is None else baselines,
    )
    played, result, exit_code = evaluation.play(show=not as_json)
    if not played:
        raise typer.Exit(exit_code)
    # shown first, so that it isn't lost where the run can't keep it
    typer.echo(
        json.dumps(result, indent=2) if as_json else "\n".join(_lines(result, found, settings.train, pretrained))
    )
    folder = keep_evaluation(found, lambda folder: open_store(registry, folder), result, played)
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


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """An evaluation: the checkpoint, the mode, the episodes."""

    run: Run
    settings: ResolvedSettings
    registry: Registry
    checkpoint: Path
    mode: EvaluationMode
    envs: int
    episodes: int
    seed: int
    stochastic: bool
    baselines: bool

    def play(self, *, show: bool) -> tuple[list[EvaluatedEpisode], dict[str, Any], int]:
        """Return the episodes, the result, and the exit code of an interruption; 0 without one."""
        check_kept_starts(self.settings, self.run)
        progress = Progress(console=Console(stderr=True), disable=not show, transient=True)
        with InterruptFlag() as interrupted, WorkerPool(self._spec()) as pool, progress:
            if show:
                typer.echo(self._introduction(pool))
            # refuses a checkpoint of another image or game; what it loads is gone with the first reset
            pool.call(0, "load", read_checkpoint(self.checkpoint).workers[0], 0)
            task = progress.add_task("playing", total=self.episodes)
            played = evaluate(
                pool,
                self._policy(pool),
                self.episodes,
                seed=self.seed,
                on_episode=lambda done: progress.update(task, completed=done),
                interrupted=lambda: bool(interrupted),
            )
            result: dict[str, Any] = {
                "run": self.run.name,
                "checkpoint": self.checkpoint.name,
                "mode": self.mode.value,
                "stochastic": self.stochastic,
                "seed": self.seed,
            }
            if played:
                result |= report([one.summary for one in played], pool.milestone_names, pool.goal)
            if self.baselines and len(played) == self.episodes:
                result |= play_baselines(
                    Baselines(self.run.folder / BASELINES_FILE, pool),
                    self.episodes,
                    on_activity=lambda doing: progress.update(task, description=doing),
                    interrupted=lambda: bool(interrupted),
                )
            if played and self.mode is EvaluationMode.RL_ONLY:
                result["verdict"] = verdict(result, result.get("pilot"), result.get("random"))
            return played, result, interrupted.exit_code if interrupted else 0

    def _spec(self) -> WorkerSpec:
        if self.baselines:
            return side_by_side_spec(self.settings, self.registry, num_envs=self.envs, seed=self.seed)
        return worker_spec(self.settings, self.registry, Purpose.EVALUATION, num_envs=self.envs, seed=self.seed)

    def _policy(self, pool: WorkerPool) -> Policy:
        if self.mode is EvaluationMode.RANDOM:
            return RandomPolicy(self.seed)
        content = read_checkpoint(self.checkpoint)
        train = self.settings.train
        learner = build_learner(self.settings, self.registry, pool, total_steps=1, num_envs=train.envs)
        learner.load_state_dict(content.learner)
        if self.mode is EvaluationMode.RL_ONLY:
            return LearnerPolicy(learner, self.seed if self.stochastic else None)
        hand_over = None
        if content.trainer.hand_over is not None:  # not in a game's own policy, nor of an earlier version
            hand_over = HandOver(pool.situations, train.envs, self.settings.hand_over)
            hand_over.load_state_dict(content.trainer.hand_over)
        return AgentPolicy(learner, AgentMode(self.mode.value), content.trainer.trust, hand_over)

    def _introduction(self, pool: WorkerPool) -> str:
        """Return the lines that explain the evaluation."""
        lines = [f"Evaluating {self.run.name}, {self.checkpoint.name}: {PLAYED_BY[self.mode]}."]
        if self.mode is EvaluationMode.RL_ONLY:
            how = "samples each action from its policy" if self.stochastic else "always takes its best action"
            lines.append(f"It decides every step, and {how}.")
        ends = f"to {pool.goal} or at most" if pool.goal is not None else "of at most"
        lines.append(
            f"{self.episodes} episodes from held-out starts (seed {self.seed}), each {ends} "
            f"{pool.max_steps_per_episode:,} steps."
        )
        return "\n".join(lines)


def _lines(result: Mapping[str, Any], run: Run, train: TrainSettings, pretrained: str | None) -> list[str]:
    """Return the result as lines for people."""
    mode = EvaluationMode(result["mode"])
    name = {EvaluationMode.RL_ONLY: "learner_alone", EvaluationMode.LLM_ONLY: "pilot"}.get(mode, mode.value)
    beside = {key: result[key] for key in PLAYERS if key in result}
    lines = ["", result["verdict"]] if "verdict" in result else [""]
    names = {**PLAYERS, mode.value: PLAYED_BY[mode]}
    lines += [f"  {line}" for line in table_lines(rows_of({name: result, **beside}, names))]
    lines.append(
        f"  Reward is the mean of {result['episodes']} episodes; standard deviation {result['std_reward']:,.1f}, "
        f"{result['avg_length']:,.0f} steps long."
    )
    lines += ["", *_milestone_lines(result)]
    if mode is EvaluationMode.RL_ONLY:
        lines += _why_not_the_trainings_reward(run)
    return [*lines, "", "Next:", *(f"  {step}" for step in _next_steps(result, run, train, pretrained))]


def _milestone_lines(result: Mapping[str, Any]) -> list[str]:
    rows = [
        [name, f"{one['share']:.0%}", f"{one['low']:.0%} to {one['high']:.0%}", f"{one['median_step']:,}"]
        for name, one in result["milestones"].items()
        if one["episodes"]
    ]
    if not rows:
        return ["No milestone was reached."]
    return table_lines([["milestone", "episodes", "95% interval", "step"], *rows])


def _why_not_the_trainings_reward(run: Run) -> list[str]:
    summary = run.read_summary()
    reward, shares = summary.get("final_avg_reward"), summary.get("source_shares", {})
    others = shares.get("rule", 0.0) + shares.get("llm", 0.0)
    if reward is None or not others:
        return []
    return [
        "",
        f"Not to be compared with the training's reward ({reward:,.1f} lately): there, others pressed in "
        f"{others:.0%} of the steps.",
    ]


def _next_steps(result: Mapping[str, Any], run: Run, train: TrainSettings, pretrained: str | None) -> list[str]:
    if pretrained is not None:
        return [
            f"pkmn replay --pretrained {pretrained} --video best.mp4  watch it",
            f"pkmn train --start-from pretrained:{pretrained}  train on from its weights",
        ]
    which = "" if run.folder.parent == default_save_dir().absolute() else f" {quoted(run.folder)}"
    steps = [(f"pkmn replay{which} --evaluation --video best.mp4", "watch the best of these episodes")]
    if result["mode"] == EvaluationMode.RL_ONLY.value:
        best = max((result[name]["goal_share"] for name in ("pilot", "random") if name in result), default=1.0)
        if result["goal_share"] < best:
            budget = larger_budget(train, run.read_summary())
            steps.insert(0, (f"pkmn train --resume{which} {budget}", "train on: there is more to learn"))
        if not result["stochastic"] and result["goal_share"] < 1:
            steps.append(
                (f"pkmn eval{which} --stochastic", "a learner that is stuck may get on by drawing its presses")
            )
    else:
        steps.append((f"pkmn eval{which}", "what the learner does alone"))
    width = max(len(step) for step, _ in steps)
    return [f"{step:{width}}  {why}" for step, why in steps]
