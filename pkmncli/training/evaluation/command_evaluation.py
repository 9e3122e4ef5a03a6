"""Evaluation of a run that a plugin's command made, by the function that the plugin declares for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Real
from typing import Any

from pkmncli.api import RunInfo
from pkmncli.config.command_settings import CommandSettings
from pkmncli.diagnostics import one_line
from pkmncli.errors import PkmnError, PluginError, RunError
from pkmncli.plugins import Registry
from pkmncli.runs import Run
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.checkpoints.selection import readable_checkpoint
from pkmncli.training.evaluation.evaluation import keep_evaluation

MODE = "command"
"""Mode of such an evaluation in its result."""


def evaluate_command_run(
    run: Run, registry: Registry, *, checkpoint: str, episodes: int, seed: int | None
) -> dict[str, Any]:
    """Evaluate a run, and keep the result in its folder.

    Args:
        run: the run.
        registry: the plugins.
        checkpoint: ``latest``, ``best``, or a number of steps.
        episodes: episodes to play.
        seed: of their starts; the run's if None.

    Returns:
        The result.

    Raises:
        RunError: the command is not installed, or declares no evaluation.
        PluginError: its evaluation failed, or its result is none.
        CheckpointError: there is no such checkpoint.
    """
    settings = CommandSettings.from_run(run.folder, registry)
    command = settings.command
    if command not in registry.names("commands"):
        raise RunError(f"{run.folder} was made by 'pkmn {command}', which no installed plugin brings")
    play = registry.get("commands", command).load_evaluate()
    if play is None:
        raise RunError(f"{run.folder} was made by 'pkmn {command}', which declares no evaluation: use that command")
    folder = readable_checkpoint(run, checkpoint)
    seed = settings.train.seed if seed is None else seed
    info = RunInfo(run.folder, settings.values())
    try:
        found = play(info, read_checkpoint(folder).learner, episodes, seed)
        plain = json.loads(json.dumps(dict(found)))
    except PkmnError:
        raise
    except Exception as error:
        raise PluginError(f"the evaluation of 'pkmn {command}' failed: {one_line(error)}") from error
    if not isinstance(plain.get("avg_reward"), Real):
        raise PluginError(f"the evaluation of 'pkmn {command}' gives no avg_reward, the number to compare")
    about = {"run": run.name, "checkpoint": folder.name, "mode": MODE, "seed": seed, "episodes": episodes}
    result: dict[str, Any] = {**about, **plain}
    keep_evaluation(run, registry, result, [])
    return result


def result_lines(result: Mapping[str, Any]) -> list[str]:
    """Return a result as lines for people."""
    about = ("run", "checkpoint", "mode")
    rows = {name: value for name, value in result.items() if name not in about and isinstance(value, Real | str)}
    width = max(map(len, rows))
    shown = {name: f"{value:,.6g}" if isinstance(value, float) else str(value) for name, value in rows.items()}
    return [f"{result['run']}, {result['checkpoint']}:", *(f"  {name:{width}}  {text}" for name, text in shown.items())]
