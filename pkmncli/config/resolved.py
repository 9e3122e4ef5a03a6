"""Settings merged from all sources, with the origin of every value."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pkmncli.config.core_sections import CORE_SECTIONS, CURRICULUM, HAND_OVER, STARTS
from pkmncli.config.curriculum_settings import CurriculumSettings
from pkmncli.config.description import named_parts
from pkmncli.config.hand_over_settings import HandOverSettings
from pkmncli.config.model_choice import backend_serving, extra_fields, first_of_ensemble, without_alias
from pkmncli.config.presets import chosen_preset
from pkmncli.config.run_file import CONFIG_FILE, RunFile, read_run_file, toml_text, with_own_starts
from pkmncli.config.setting_types import NONE
from pkmncli.config.sources import (
    CORE,
    DEFAULT,
    Given,
    from_command_line,
    from_environment,
    from_file,
    from_set_options,
)
from pkmncli.config.starts_settings import StartsSettings
from pkmncli.config.train_settings import TrainSettings
from pkmncli.config.validation import settable_fields, validate
from pkmncli.errors import ConfigurationError, PluginError, RunError, did_you_mean
from pkmncli.plugins import Registration, Registry

MOST_NAMED = 6
"""Maximum number of settings that a remark names; the others are counted."""

_IF_OF_A_SCRIPT = (
    "; if it was an object of the script that began the run, resume there: load_checkpoint(RUN), then train()"
)

_GivenBySection = dict[str, dict[str, Given]]


class ResolvedSettings:
    """The core's settings, those of plugins on demand, and the origin of each value."""

    def __init__(self, given: _GivenBySection, registry: Registry) -> None:
        self._given = given
        self._registry = registry
        self._plugins: dict[str, BaseModel] = {}
        self.run_file: RunFile | None = None
        """File of the run that the settings were read from; None for others."""
        learner = given.get(CORE, {}).get("rl")
        self._wanted_learner = str(learner.value if learner else TrainSettings.model_fields["rl"].default)
        self.train = validate(TrainSettings, CORE, given.get(CORE, {}), self._sections_with)
        self._core_sections: dict[str, BaseModel] = {
            name: validate(model, name, given.get(name, {})) for name, model in CORE_SECTIONS.items()
        }

    @classmethod
    def from_run(cls, folder: Path, registry: Registry) -> ResolvedSettings:
        """Return the settings that a run was started with, origins included, from its ``config.toml``.

        Raises:
            RunError: the file is missing or damaged, or another command than ``pkmn train`` made the run.
            ConfigurationError: it was written by a version with other settings.
        """
        file = read_run_file(folder)
        if file.command is not None:
            raise RunError(
                f"{folder} was made by 'pkmn {file.command}', not by 'pkmn train': use that command for it, or plot, "
                "compare, export and dashboard"
            )
        found = cls(_by_section(file.given), registry)
        found.run_file = file
        if not file.whole:
            for name in (found.train.env, found.train.rl):
                if name in registry.settings_sections() and name not in file.sections:
                    raise RunError(f"{file.path} was cut off: it lacks [{name}]; put back the whole file")
        return found

    @property
    def curriculum(self) -> CurriculumSettings:
        """Settings of the curriculum."""
        found = self._core_sections[CURRICULUM]
        assert isinstance(found, CurriculumSettings)
        return found

    @property
    def hand_over(self) -> HandOverSettings:
        """Settings of the hand-over to the learner."""
        found = self._core_sections[HAND_OVER]
        assert isinstance(found, HandOverSettings)
        return found

    @property
    def starts(self) -> StartsSettings:
        """Settings of the start states."""
        found = self._core_sections[STARTS]
        assert isinstance(found, StartsSettings)
        return found

    def plugin(self, name: str) -> BaseModel:
        """Return the settings of a plugin, by a registered name: an instance of the plugin's model.

        Raises:
            ConfigurationError: no plugin has settings under the name, or a value is wrong.
        """
        entry = self._registry.settings_section(name)
        if entry.name not in self._plugins:
            model = entry.load_config()
            assert model is not None  # settings_section() finds only what has a model
            if entry.name in TrainSettings.model_fields or entry.name in CORE_SECTIONS:
                raise PluginError(f"{entry.title} of {entry.plugin.label} has the name of a setting of the core")
            self._plugins[entry.name] = validate(model, entry.name, self._given.get(entry.name, {}))
        return self._plugins[entry.name]

    def plugin_values(self, name: str) -> dict[str, Any]:
        """Return a plugin's settings as plain data, without those that the training fills in."""
        return _settable(self.plugin(name))

    def for_part(self, registration: Registration) -> BaseModel | None:
        """Return the settings of a registered part; None if it has none. Raises as :meth:`plugin`."""
        return None if registration.config is None else self.plugin(registration.name)

    def values_for_part(self, registration: Registration) -> dict[str, Any]:
        """Return the settings of a registered part as plain data; empty if it has none. Raises as :meth:`plugin`."""
        return {} if registration.config is None else self.plugin_values(registration.name)

    @property
    def origins(self) -> dict[str, str]:
        """Origin of each value, by ``key`` or ``section.key``."""
        return {
            f"{section}.{key}" if section else key: self.origin(section, key)
            for section, values in self.values().items()
            for key in values
        }

    def values(self) -> dict[str, dict[str, Any]]:
        """Return every value as plain data, by section and key: the core's section ``""``, then plugins in use."""
        self._load_plugins_in_use()
        models = {CORE: self.train, **self._core_sections, **dict(sorted(self._plugins.items()))}
        return {section: _settable(model) for section, model in models.items()}

    def to_toml(self, folder: Path | None = None) -> str:
        """Return the text of ``config.toml``: every value in use, with a comment on its origin.

        Args:
            folder: the run's; files in its ``starts/`` get relative paths.
        """
        values = self.values()
        if folder is not None:
            values[CORE] = with_own_starts(values[CORE], folder)
        return toml_text(values, self.origin)

    def changed(
        self,
        cli: Mapping[str, Any],
        *,
        may_change: Collection[str],
        sets: Iterable[str] = (),
        origin: str | None = None,
    ) -> ResolvedSettings:
        """Return these settings with some values replaced, as when a run resumes with a larger budget.

        Args:
            cli: options that were given, as for :func:`resolve_settings`.
            may_change: keys (or ``section.key``) that may differ from the run's own.
            sets: ``--set`` options.
            origin: origin of the new values, if not options.

        Raises:
            ConfigurationError: an option would change anything else.
        """
        given = {section: dict(values) for section, values in self._given.items()}
        for entry in [*from_set_options(sets), *from_command_line(cli)]:
            section = _section_name(self._registry, entry)
            given.setdefault(section, {})[entry.key] = replace(entry, origin=origin) if origin else entry
        new = ResolvedSettings(given, self._registry)
        new.run_file = self.run_file
        new.check_all()
        self.check_all()  # reads the same sections, also those of plugins not in use
        advice = f"start a new run, or change only {', '.join(sorted(may_change))}"
        refuse_changes(self.values(), new.values(), may_change, new.origin, advice)
        return new

    def without_unknown_advice(self) -> ResolvedSettings:
        """Return these settings without a language model or strategy that is not installed, such as a script's."""
        given = {section: dict(values) for section, values in self._given.items()}
        for key, kind in (("llm", "llm_backends"), ("strategy", "strategies")):
            if getattr(self.train, key) not in (NONE, *self._registry.names(kind)):
                given[CORE].pop(key, None)
        found = ResolvedSettings(given, self._registry)
        found.run_file = self.run_file
        return found

    def check_all(self) -> None:
        """Validate every section that a user wrote, also of plugins not in use, and every plugin that a user chose.

        Raises:
            ConfigurationError: a value is wrong.
            PluginError: a plugin is unknown; with the origin of the choice.
        """
        for section in self._given:
            if section and section not in CORE_SECTIONS:
                self.plugin(section)
        chosen = [(CORE, *part) for part in self.train.plugins_in_use()]
        chosen.append((CORE, "strategy", "strategies", self.train.strategy))
        for section in self._given:
            if section and section not in CORE_SECTIONS:
                chosen += [(section, *part) for part in named_parts(self.plugin(section))]
        for section, key, kind, name in dict.fromkeys(chosen):
            if key in self._given.get(section, {}):
                try:
                    self._registry.get(kind, name)
                except PluginError as error:
                    setting = f"{section}.{key}" if section else key
                    of_script = "" if self.run_file is None else _IF_OF_A_SCRIPT
                    raise PluginError(
                        f"setting '{setting}' ({self.origin(section, key)}): {error}{of_script}"
                    ) from None

    def remarks(self) -> list[str]:
        """Return remarks on the run's file for resuming: that it was edited, and settings that it does not name."""
        if self.run_file is None:
            return []
        file, remarks = self.run_file, []
        if file.edited:
            remarks.append(f"{file.path} was edited since it was written; what it says now counts")
        named = {(one.section, one.key) for one in file.given}
        unnamed = [
            f"{section}.{key}" if section else key
            for section, values in self.values().items()
            for key, value in values.items()
            if value is not None and (section, key) not in named and self.origin(section, key) == DEFAULT
        ]
        if unnamed:
            more = f" and {len(unnamed) - MOST_NAMED} more" if len(unnamed) > MOST_NAMED else ""
            names = ", ".join(unnamed[:MOST_NAMED])
            remarks.append(f"{file.path} does not name {names}{more}, as of an earlier version; defaults are taken")
        return remarks

    @property
    def sections_in_use(self) -> list[str]:
        """Sections that a training with these settings reads: the core's, and those of its plugins."""
        known = set(self._registry.settings_sections())
        chosen = [
            name
            for _, kind, name in self.train.plugins_in_use()
            if name in known and (kind != "rewards" or self.composes_reward)
        ]
        parts = [part for name in chosen for _, _, part in named_parts(self.plugin(name)) if part in known]
        return [CORE, *CORE_SECTIONS, *dict.fromkeys([*chosen, *parts])]

    @property
    def composes_reward(self) -> bool:
        """False if the environment has its own reward, and takes none of the parts that were chosen."""
        try:
            model = self._registry.get("environments", self.train.env).load_config()
        except PluginError:  # such as an environment that is not installed: it may take them
            return True
        return model is not None and "rewards" in model.model_fields

    def _load_plugins_in_use(self) -> None:
        for section in self.sections_in_use:
            if section and section not in CORE_SECTIONS:
                self.plugin(section)

    def _sections_with(self, key: str) -> list[str]:
        """Return the sections that have a setting of this name, that of the chosen learner first."""
        found = [section for section, model in CORE_SECTIONS.items() if key in model.model_fields]
        for section in self._registry.settings_sections():
            with contextlib.suppress(PluginError):
                model = self._registry.settings_section(section).load_config()
                if model is not None and key in model.model_fields:
                    found.append(section)
        return sorted(found, key=lambda section: section != self._wanted_learner)

    def origin(self, section: str, key: str) -> str:
        """Return the origin of a value; of the core's under an empty section."""
        entry = self._given.get(section, {}).get(key)
        return entry.origin if entry else DEFAULT


def refuse_changes(
    old: Mapping[str, Mapping[str, Any]],
    new: Mapping[str, Mapping[str, Any]],
    may_change: Collection[str],
    origin: Callable[[str, str], str],
    advice: str,
) -> None:
    """Raise ConfigurationError if settings of a run that resumes differ from its own, apart from some.

    Args:
        old: the run's values by section and key.
        new: the values to resume with.
        may_change: keys (or ``section.key``) that may differ.
        origin: returns the origin of a new value.
        advice: what to do instead, for the message.
    """
    for section, values in new.items():
        for key, value in values.items():
            name = f"{section}.{key}" if section else key
            own = old.get(section, {}).get(key)
            if value != own and name not in may_change:
                raise ConfigurationError(
                    f"setting '{name}' ({origin(section, key)}) cannot change when a run is resumed: it has "
                    f"{name} = {own}; {advice}"
                )


def resolve_settings(
    cli: Mapping[str, Any],
    *,
    registry: Registry,
    config_path: Path | None = None,
    sets: Iterable[str] = (),
    environ: Mapping[str, str] = os.environ,
) -> ResolvedSettings:
    """Merge settings: options, then ``--set``, the environment, the file, a preset, and defaults for the rest.

    Args:
        cli: options by their setting's name; None stands for an option that was not given.
        registry: the plugins; each has a section of settings.
        config_path: a TOML or JSON file.
        sets: ``--set`` options, as ``section.key=value``.
        environ: the environment variables.

    Raises:
        ConfigurationError: a line for each key that is unknown and each value that is wrong, with its origin.
    """
    found = [
        *(from_file(config_path) if config_path else ()),
        *from_environment(environ),
        *from_set_options(sets),
        *from_command_line(cli),
    ]
    found = [*_from_preset(found, registry), *found]
    given: _GivenBySection = {}
    for entry in (
        part for one in found for named in without_alias(one, registry) for part in _without_argument(named, registry)
    ):
        given.setdefault(_section_name(registry, entry), {})[entry.key] = entry
    settings = ResolvedSettings(given, registry)
    core = given.get(CORE, {})
    chooses = settings.train.takes_advice and {"llm_ensemble", "llm_model"} & core.keys()
    if chooses and settings.train.llm_ensemble:
        core["llm"] = first_of_ensemble(settings.train.llm_ensemble, core)
        settings = ResolvedSettings(given, registry)
    elif chooses and "llm_model" in core and "llm" not in core:
        core["llm"] = backend_serving(core["llm_model"], registry)
        settings = ResolvedSettings(given, registry)
    if settings.train.llm_extra and settings.train.llm != NONE:
        origin = core.pop("llm_extra").origin
        for name in dict.fromkeys(name for _, kind, name in settings.train.plugins_in_use() if kind == "llm_backends"):
            own = settings.for_part(registry.get("llm_backends", name))
            given.setdefault(name, {})["extra_fields"] = extra_fields(name, own, settings.train.llm_extra, origin)
        settings = ResolvedSettings(given, registry)
    settings.check_all()
    return settings


def _without_argument(entry: Given, registry: Registry) -> list[Given]:
    """Return ``env = "NAME:ID"`` as the environment's name and its setting ``id``, and ``env.stack`` as ``stack``.

    Of an environment that is not known only the name is returned, which is refused by its name then.
    """
    if (entry.section, entry.key) == ("env", "stack"):
        return [replace(entry, section=CORE)]
    if (entry.section, entry.key) != (CORE, "env") or not isinstance(entry.value, str) or ":" not in entry.value:
        return [entry]
    name, _, identifier = entry.value.partition(":")
    named = [replace(entry, value=name)]
    if name not in registry.names("environments"):
        return named
    return [*named, replace(entry, section=name, key="id", value=identifier)]


def _from_preset(found: Iterable[Given], registry: Registry) -> Iterable[Given]:
    """Return the values of the preset that the other sources choose; none without a choice."""
    core = {entry.key: entry for entry in found if entry.section == CORE}
    if "preset" not in core:
        return ()
    learner = core.get("rl", Given(CORE, "rl", TrainSettings.model_fields["rl"].default, DEFAULT))
    return chosen_preset(core["preset"], learner, registry).given


def _settable(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(include=set(settable_fields(type(model))))


def _by_section(found: Iterable[Given]) -> _GivenBySection:
    given: _GivenBySection = {}
    for entry in found:
        given.setdefault(entry.section, {})[entry.key] = entry
    return given


def _section_name(registry: Registry, entry: Given) -> str:
    """Return the registered name of a section, which may be given with underscores for hyphens."""
    if entry.section == CORE or entry.section in CORE_SECTIONS:
        return entry.section
    sections = sorted([*CORE_SECTIONS, *registry.settings_sections()])
    name = entry.section.replace("_", "-")
    if name in sections:
        return name
    if entry.section in TrainSettings.model_fields:
        raise ConfigurationError(f"setting '{entry.section}' ({entry.origin}) is one value, not a table")
    hint = did_you_mean(name, sections, f"known: {', '.join(sections) or 'none'}", shown="[{}]")
    raise ConfigurationError(f"no plugin has settings under [{entry.section}] ({entry.origin}): {hint}")


__all__ = ["CONFIG_FILE", "DEFAULT", "ResolvedSettings", "resolve_settings"]
