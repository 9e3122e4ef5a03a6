"""The evaluation at the end of a training: the learner alone, the pilot and random play on the same held-out starts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.resolved import DEFAULT
from pkmncli.diagnostics import say
from pkmncli.errors import RunError
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry
from pkmncli.plurals import counted
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.display.verdict import PLAYERS, verdict
from pkmncli.training.evaluation.baselines import BASELINES_FILE, Baselines
from pkmncli.training.evaluation.evaluation import (
    LearnerPolicy,
    evaluate,
    evaluation_of,
    keep_evaluation,
    report,
    side_by_side,
)
from pkmncli.training.workers.pool import WorkerPool

if TYPE_CHECKING:
    from pkmncli.api import Algorithm
    from pkmncli.runs import Run
    from pkmncli.training.workers.spec import WorkerSpec

ENVIRONMENTS = 2
"""Side by side, at most: one for each of the cores that are expected."""

RESULTS = (*PLAYERS, "verdict")
"""Keys that a final evaluation adds to a run's summary."""

OnStep = Callable[[str, int, float], None]
"""Takes who plays, the number of ended episodes, and the share of all steps that were played, 0..1."""


def told_by_episode(tell: Callable[[str], None], episodes: int) -> OnStep:
    """Return a function that tells who plays, at the first step and after each episode."""
    told = ""

    def on_step(who: str, done: int, _share: float) -> None:
        nonlocal told
        text = f"evaluating {who}, {done} of {counted(episodes, 'episode')}"
        if text != told:
            told = text
            tell(text)

    return on_step


@dataclass(frozen=True, slots=True)
class FinalEvaluation:
    """Results of a training's final evaluation.

    ``found`` goes into the summary: ``learner_alone``, ``pilot`` where there is one, ``random``, each a report, and
    ``verdict``, a sentence. ``folder`` holds the learner's episodes; None where they could not be kept.
    """

    found: dict[str, Any]
    folder: Path | None


def earlier_results(run: Run) -> dict[str, Any]:
    """Return the :data:`RESULTS` of a run's last final evaluation, as far as it came."""
    with contextlib.suppress(RunError):  # damaged: it is rewritten
        return {name: found for name, found in run.read_summary().items() if name in RESULTS}
    return {}


def is_complete(found: Mapping[str, Any]) -> bool:
    """Return whether a run's :data:`RESULTS` are all there; one that was interrupted lacks random play, the last."""
    return "random" in found


def holds_final_evaluation(settings: ResolvedSettings, steps: int, episode_steps: int) -> bool:
    """Return True if a training of so many steps ends with an evaluation.

    Unless the user asks for it, one that would take longer than the training is left out.
    """
    train = settings.train
    if train.rl == NONE or not train.final_episodes:
        return False
    return settings.origin("", "final_episodes") != DEFAULT or steps >= train.final_episodes * episode_steps


def side_by_side_spec(
    settings: ResolvedSettings, registry: Registry, *, num_envs: int, seed: int | None = None
) -> WorkerSpec:
    """Return how to build environments in which the learner alone, the pilot alone and random play are evaluated.

    They have the pilot that the settings name, if any, so that whoever plays sees the same.
    """
    mode = AgentMode.RL_ONLY if settings.train.pilot == NONE else AgentMode.ADAPTIVE
    changes = {"mode": mode.value, "llm": NONE}  # no model is asked, so results stay the same
    played = settings.changed(changes, may_change=tuple(changes), origin="an evaluation")
    return worker_spec(played, registry, Purpose.EVALUATION, num_envs=num_envs, seed=seed)


def play_baselines(
    baselines: Baselines,
    episodes: int,
    *,
    on_step: OnStep,
    interrupted: Callable[[], bool],
) -> dict[str, Any]:
    """Return the reports of the pilot, where there is one, and of random play; fewer when interrupted."""
    found: dict[str, Any] = {}
    for who in baselines.players:
        summaries = baselines.find(who, episodes, on_step=partial(on_step, PLAYERS[who]), interrupted=interrupted)
        if len(summaries) < episodes:
            return found
        found[who] = report(summaries, baselines.pool.milestone_names, baselines.pool.goal)
    return found


def hold_final_evaluation(
    run: Run,
    settings: ResolvedSettings,
    registry: Registry,
    learner: Algorithm,
    *,
    on_step: OnStep,
    interrupted: Callable[[], bool],
) -> FinalEvaluation | None:
    """Evaluate a trained learner beside pilot and random play; None when interrupted before its episodes were over.

    Args:
        run: the training's run, which keeps the episodes and the baselines.
        settings: of the training.
        registry: where plugins are looked up.
        learner: as it is at the end.
        on_step: follows the steps of each player.
        interrupted: whether to stop.

    Raises:
        PkmnError: an environment fails.
    """
    episodes, seed = settings.train.final_episodes, settings.train.seed
    spec = side_by_side_spec(settings, registry, num_envs=side_by_side(learner, min(ENVIRONMENTS, episodes)))
    with WorkerPool(spec) as pool:
        on_step(PLAYERS["learner_alone"], 0, 0.0)
        with evaluation_of(learner):
            played = evaluate(
                pool,
                LearnerPolicy(learner),
                episodes,
                seed=seed,
                on_step=partial(on_step, PLAYERS["learner_alone"]),
                interrupted=interrupted,
            )
        if len(played) < episodes:
            return None
        alone = report([one.summary for one in played], pool.milestone_names, pool.goal)
        beside = play_baselines(
            Baselines(run.folder / BASELINES_FILE, pool),
            episodes,
            on_step=on_step,
            interrupted=interrupted,
        )
    found = {"learner_alone": alone, **beside, "verdict": verdict(alone, beside.get("pilot"), beside.get("random"))}
    checkpoint = run.checkpoints.resolve().name
    result = {"run": run.name, "checkpoint": checkpoint, "mode": AgentMode.RL_ONLY.value, "seed": seed, **alone}
    result |= {name: value for name, value in found.items() if name != "learner_alone"}
    try:
        folder = keep_evaluation(run, registry, result, played)
    except RunError as error:
        say(f"The episodes of the learner alone are not kept: {error}")
        return FinalEvaluation(found, None)
    return FinalEvaluation(found, folder)
