"""Command `pkmn bandit`: the loop is its own, everything around it is a run as any other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pkmn_bandit.bandit import ROUND, Thompson, chances
from pkmncli.api import RunInfo, runs

if TYPE_CHECKING:
    from pkmncli.api.runs import CommandRun


def bandit(
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Resume this run.")] = None,
    arms: Annotated[int | None, typer.Option(help="Arms to choose from. [default: 5]")] = None,
    pulls: Annotated[int | None, typer.Option(help="Pulls in all. [default: 2,000]")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file, TOML or JSON.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="Any setting, as bandit.arms=3; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random. [default: 0]")] = None,
    run_name: Annotated[str | None, typer.Option(help="Name of the run folder.")] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder for run folders. [default: runs]")] = None,
) -> None:
    """Learn which arm of a bandit pays best, by Thompson sampling."""
    own = {"arms": arms, "pulls": pulls}
    if resume is not None:
        begun = runs.resume(resume, "bandit", own, sets=set_, may_change=("pulls",), save_dir=save_dir)
    else:
        begun = runs.start(*("bandit", own), config=config, sets=set_, seed=seed, run_name=run_name, save_dir=save_dir)
    with begun as run:
        train(run)
        typer.echo(f"{run.step:,} pulls. The run is in {run.folder}. Next: pkmn plot, pkmn eval")
    raise typer.Exit(run.exit_code)


def train(run: CommandRun) -> None:
    """Pull arms until the budget is used or the run should end, and save."""
    settings = run.settings
    pays = chances(settings.arms, run.seed)
    learner = Thompson(settings.arms, run.seed)
    earned = 0.0
    if run.state is None:
        run.checkpoint(0, {**learner.state(), "earned": earned})  # so that it can resume from the beginning
    else:
        learner.load(run.state)
        earned = run.state["earned"]
    while run.step < settings.pulls and not run.stop_requested:
        arm, step = learner.choose(), run.step + 1
        reward = float(learner.random.random() < pays[arm])
        learner.learn(arm, reward)
        earned += reward
        run.decision(step, arm, reward=reward, truncated=step % ROUND == 0, reason="best of a sampled world")
        if step % ROUND == 0:
            run.episode(step, reward=earned, steps=ROUND, success=arm == pays.argmax(), truncated=True)
            run.metrics(step, {"bandit/regret": float(pays.max() - earned / ROUND)})
            earned = 0.0
        run.live(fraction_done=step / settings.pulls)
        if step % settings.save_interval == 0 or run.checkpoint_requested:
            run.checkpoint(step, {**learner.state(), "earned": earned})
    run.checkpoint(run.step, {**learner.state(), "earned": earned})
    run.finish({"best_arm": int(pays.argmax()), "favourite_arm": int((learner.paid + learner.unpaid).argmax())})


def evaluate(run: RunInfo, state: Mapping[str, Any], episodes: int, seed: int) -> Mapping[str, float]:
    """Return what the arm that a checkpoint knows best pays in a round, on average."""
    settings = run.settings["bandit"]
    arm = int((state["paid"] / (state["paid"] + state["unpaid"])).argmax())
    pays = chances(settings["arms"], run.settings[""]["seed"])
    rewards = Thompson(settings["arms"], seed).random.binomial(ROUND, pays[arm], episodes)
    return {"avg_reward": float(rewards.mean()), "std_reward": float(rewards.std()), "arm": arm}
