"""The hooks that a plugin can implement. The guide for plugin authors is docs/plugins.md."""

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
    """Register game profiles for the PyBoy environment: ``target`` is the folder, or ``"package:folder"``."""


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
    """A training begins (step 0) or goes on after a step; what was told of later steps before will be told again."""


@hookspec
def pkmn_metrics_logged(run: RunInfo, step: int, metrics: Mapping[str, float]) -> None:
    """Metrics were measured: values by name, as the table of metrics has them, after so many environment steps."""


@hookspec
def pkmn_steps_logged(run: RunInfo, batch: Mapping[str, Any]) -> None:
    """Some thousand steps were recorded: columns by name, as the table of decisions has them.

    Steps whose return is not known when a training ends or is interrupted are told with NaN for it. When the run goes
    on, they are told again, with what came of them: the later ones of a ``global_step`` count.
    """


@hookspec
def pkmn_episode_finished(run: RunInfo, episode: EpisodeSummary) -> None:
    """An episode ended."""


@hookspec
def pkmn_checkpoint_saved(run: RunInfo, path: Path) -> None:
    """A checkpoint is complete on disk."""


@hookspec
def pkmn_run_finished(run: RunInfo, summary: Mapping[str, Any]) -> None:
    """A training ended, or was interrupted and saved."""


@hookspec
def pkmn_run_ended(run: RunInfo) -> None:
    """A training is over, also where an error ended it and nothing was finished. The last that is told of it."""
