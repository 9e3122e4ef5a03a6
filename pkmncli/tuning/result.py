"""The result of a tuning: the best trial and its certainty, the importance of settings, and a preset of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit

from pkmncli import tables
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.presets import DESCRIPTION, NOT_IN_A_PRESET
from pkmncli.config.run_file import plain, toml_item
from pkmncli.config.sources import CORE, DEFAULT
from pkmncli.experiments.plan import as_text
from pkmncli.plugins import PRESET_KIND, Registry
from pkmncli.tuning.plan import TuningPlan
from pkmncli.tuning.space import Value
from pkmncli.tuning.study import TrialResult

PRESET_FILE = "best.toml"
SHOWN = 5
"""Number of trials in the table of the best."""

_OF_THE_RUN = (*NOT_IN_A_PRESET, "quiet", "decision_db_path")


def preset_text(plan: TuningPlan, best: TrialResult, settings: ResolvedSettings, registry: Registry) -> str:
    """Return a preset that trains as the best trial's runs did: all settings that differ from the defaults.

    Args:
        plan: content of the tuning's file.
        best: the trial.
        settings: of one of its runs.
        registry: describes settings of learners that are not used.
    """
    document = tomlkit.document()
    document.add(tomlkit.comment(f"Written by pkmn tune: the best of {plan.trials} trials of {plan.name}."))
    seeds = ", ".join(map(str, plan.seeds))
    about = f"{plan.name}, trial {best.number}: {plan.objective.metric} {best.value:.4g} with seeds {seeds}"
    document.add(DESCRIPTION, toml_item(about))
    document.add("rl", toml_item(settings.train.rl))
    origins = settings.origins
    unused = set(registry.names(PRESET_KIND)) - {settings.train.rl}
    for section, values in settings.values().items():
        names = [f"{section}.{key}" if section else key for key in values]
        given = {
            key: value
            for (key, value), name in zip(values.items(), names, strict=True)
            if origins[name] != DEFAULT and value is not None and not (section == CORE and key in {*_OF_THE_RUN, "rl"})
        }
        if not given or section in unused:
            continue
        table: Any = document if section == CORE else tomlkit.table()
        for key, value in given.items():
            table.add(key, toml_item(plain(value)))
        if section != CORE:
            document.add(tomlkit.nl())
            document.add(section, table)
    return tomlkit.dumps(document)


def best_in_words(best: TrialResult, plan: TuningPlan) -> str:
    """Return the best trial in words: its figure, and that of each seed."""
    seeds = ", ".join(f"seed {seed}: {value:.4g}" for seed, value in zip(plan.seeds, best.figures, strict=False))
    spread = ""
    if len(best.figures) > 1:
        spread = f", from {min(best.figures):.4g} to {max(best.figures):.4g}"
    lines = [f"Best: trial {best.number}, {best.value:.4g}{spread} ({seeds})."]
    width = max(map(len, best.values))
    lines += [f"  {name:{width}} = {shown(value)}" for name, value in best.values.items()]
    return "\n".join(lines)


def table(results: Sequence[TrialResult], plan: TuningPlan) -> str:
    """Return the best trials, one per line."""
    complete = [one for one in results if one.state == "complete" and one.value is not None]
    complete.sort(key=lambda one: float(one.value or 0.0), reverse=plan.objective.maximize)
    headings = ["trial", "figure", "by seed", *(name.rpartition(".")[2] for name in plan.space)]
    rows = [
        [
            str(one.number),
            f"{one.value:.4g}",
            " ".join(f"{value:.4g}" for value in one.figures),
            *(shown(one.values[name]) if name in one.values else "" for name in plan.space),
        ]
        for one in complete[:SHOWN]
    ]
    return tables.table(headings, rows, text=("trial", *headings[3:]), drop=("by seed",))


def importance_in_words(importances: Mapping[str, float], complete: int, needed: int) -> str:
    """Return the importance of the settings, in one line."""
    if not importances:
        return f"Importance of settings: unknown until {needed} trials are complete, with different figures."
    parts = ", ".join(f"{name} {share:.0%}" for name, share in importances.items())
    return f"Importance of settings, by PED-ANOVA over {complete} trials: {parts}."


def shown(value: Value) -> str:
    """Return a value for people: floats with four digits."""
    return f"{value:.4g}" if isinstance(value, float) else as_text(value)


def learners_own(settings: ResolvedSettings) -> bool:
    """Return True if the learner alone earns the rewards of a training's episodes."""
    return settings.train.mode == "rl-only" and settings.train.rl != NONE
