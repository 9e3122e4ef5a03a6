"""Hooks that a plugin can implement. docs/plugins.md is the guide for plugin authors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from pkmncli.api import EpisodeSummary, Register, RunInfo

PROJECT = "pkmn"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def pkmn_register_environments(register: Register) -> None:
    """Register environments: ``target(settings) -> pkmncli.api.Environment``."""


@hookspec
def pkmn_register_games(register: Register) -> None:
    """Register game profiles for the PyBoy environment: ``target`` is the folder as ``"package:folder"`` or Path."""


@hookspec
def pkmn_register_algorithms(register: Register) -> None:
    """Register learners: ``target`` builds a :class:`pkmncli.api.Algorithm`."""


@hookspec
def pkmn_register_encoders(register: Register) -> None:
    """Register parts of networks: ``target(layout, settings)`` builds a :class:`pkmncli.learners.encoders.Encoder`."""


@hookspec
def pkmn_register_llm_backends(register: Register) -> None:
    """Register backends for language models: ``target(settings, model) -> pkmncli.api.LLMBackend``."""


@hookspec
def pkmn_register_rewards(register: Register) -> None:
    """Register parts of the reward: ``target(settings) -> pkmncli.api.Reward``."""


@hookspec
def pkmn_register_strategies(register: Register) -> None:
    """Register shares of language model and rules: ``target(settings=..., initial=...) -> pkmncli.api.Strategy``."""


@hookspec
def pkmn_register_pilots(register: Register) -> None:
    """Register pilots: ``target(environment, settings) -> pkmncli.api.Pilot``."""


@hookspec
def pkmn_register_stores(register: Register) -> None:
    """Register stores for the tables of a run: ``target(folder) -> pkmncli.api.Store``."""


@hookspec
def pkmn_register_analyzers(register: Register) -> None:
    """Register analyzers of the decisions that a store keeps: ``target(folder) -> pkmncli.api.Analyzer``."""


@hookspec
def pkmn_register_trackers(register: Register) -> None:
    """Register trackers of metrics, for ``--track``: ``target(run, step, settings) -> pkmncli.api.Tracker``."""


@hookspec
def pkmn_register_commands(register: Register) -> None:
    """Register subcommands of ``pkmn``: ``target`` is a function that Typer can run.

    The ``rich_help_panel`` of its options is their heading in ``--help``.
    """


@hookspec
def pkmn_run_started(run: RunInfo, step: int) -> None:
    """Receive a run that begins (step 0) or resumes after ``step``; calls for later steps then come again."""


@hookspec
def pkmn_metrics_logged(run: RunInfo, step: int, metrics: Mapping[str, float]) -> None:
    """Receive metrics by name, as in the table of metrics, measured after ``step`` environment steps."""


@hookspec
def pkmn_steps_logged(run: RunInfo, batch: Mapping[str, Any]) -> None:
    """Receive some thousand recorded steps: columns by name, as in the table of decisions.

    If a return is not known when a training ends or is interrupted, it is NaN. When the run resumes, these steps come
    again with their returns: the latest row of a ``global_step`` counts.
    """


@hookspec
def pkmn_episode_finished(run: RunInfo, episode: EpisodeSummary) -> None:
    """Receive the summary of an episode that has ended."""


@hookspec
def pkmn_checkpoint_saved(run: RunInfo, path: Path) -> None:
    """Receive the path of a checkpoint that is complete on disk."""


@hookspec
def pkmn_run_finished(run: RunInfo, summary: Mapping[str, Any]) -> None:
    """Receive the summary of a training that has ended, or was interrupted and saved."""


@hookspec
def pkmn_run_ended(run: RunInfo) -> None:
    """Receive a run that is over, also if an error ended it; called last."""
