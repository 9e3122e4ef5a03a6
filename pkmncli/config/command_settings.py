"""Settings of a run that a plugin's command makes: those of any run, and the command's own section."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from tomlkit.exceptions import TOMLKitError

from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.option import option_name
from pkmncli.config.resolved import ResolvedSettings, refuse_changes
from pkmncli.config.run_file import COMMAND, plain, read_run_file, toml_text
from pkmncli.config.sources import CORE, DEFAULT, Given, from_environment, from_file, from_set_options
from pkmncli.config.train_settings import TrainSettings
from pkmncli.errors import ConfigurationError, RunError
from pkmncli.plugins import Registration, Registry

OF_ANY_RUN = (
    *("seed", "save_dir", "run_name", "decision_db_path", "keep_checkpoints", "disk_limit_gb", "log_level", "track"),
    *("quiet", "web", "web_port", "web_host_name", "web_root_path"),
)
"""Settings of the core that a run of any command has."""

_FIXED = frozenset({"seed", "save_dir", "run_name", "decision_db_path"})
"""Settings that cannot change when a run is resumed."""


class CommandSettings:
    """Settings of a run of a plugin's command, with the origin of each value.

    Args:
        command: name of the command, and of its section.
        given: values that were given; a later one replaces an earlier one.
        registry: the plugins. If the command has registered a settings model, its section is validated by that.

    Raises:
        ConfigurationError: a value is wrong, or the setting is not one of such a run.
    """

    def __init__(self, command: str, given: Iterable[Given], registry: Registry) -> None:
        if command in TrainSettings.model_fields or command in CORE_SECTIONS:
            raise ConfigurationError(f"command '{command}' has the name of a setting: choose another name")
        self.command = command
        self._registry = registry
        self._given: dict[tuple[str, str], Given] = {}
        trackers = registry.names("trackers")
        for entry in given:
            section = entry.section.replace("_", "-")
            known = entry.key in OF_ANY_RUN if section == CORE else section in (command, *trackers)
            if known:
                self._given[section, entry.key] = replace(entry, section=section)
            elif not entry.origin.startswith("environment variable"):  # these may be for other commands
                name = f"{entry.section}.{entry.key}" if entry.section else entry.key
                raise ConfigurationError(
                    f"setting '{name}' ({entry.origin}) is none of 'pkmn {command}': it has those of [{command}], and "
                    f"{', '.join(OF_ANY_RUN)}"
                )
        by_section: dict[str, dict[str, Given]] = {}
        for (section, key), entry in self._given.items():
            by_section.setdefault(section, {})[key] = entry
        self._has_model = command in registry.settings_sections()
        own = {} if self._has_model else by_section.pop(command, {})
        self._resolved = ResolvedSettings(by_section, registry)
        self.train = self._resolved.train
        """The core's settings; only those of :data:`OF_ANY_RUN` are the run's."""
        self.own: BaseModel | dict[str, Any] = (
            self._resolved.plugin(command) if self._has_model else {key: entry.value for key, entry in own.items()}
        )
        """The command's settings: an instance of its model, or plain values if it has none."""

    @classmethod
    def resolve(
        cls,
        command: str,
        settings: Mapping[str, Any] | BaseModel,
        core: Mapping[str, Any],
        registry: Registry,
        *,
        config: Path | None = None,
        sets: Iterable[str] = (),
        environ: Mapping[str, str] = os.environ,
    ) -> CommandSettings:
        """Merge settings: options, then ``--set``, the environment, the file, and defaults for the rest.

        Args:
            command: the command.
            settings: its own options by name; None stands for an option that was not given.
            core: the core's options.
            registry: the plugins.
            config: a TOML or JSON file.
            sets: ``--set`` options, as ``section.key=value``.
            environ: the environment variables.

        Raises:
            ConfigurationError: a value is wrong.
        """
        found = [*(from_file(config) if config else ()), *from_environment(environ), *from_set_options(sets)]
        has_model = command in registry.settings_sections()
        model = registry.settings_section(command).load_config() if has_model else None
        own = _options(command, settings, model)
        return cls(command, [*found, *own, *_options(CORE, core, TrainSettings)], registry)

    @classmethod
    def from_run(cls, folder: Path, registry: Registry) -> CommandSettings:
        """Return the settings in a run's ``config.toml``.

        Raises:
            RunError: the file is missing or damaged, or ``pkmn train`` made the run.
        """
        file = read_run_file(folder)
        if file.command is None:
            raise RunError(f"{folder} was made by 'pkmn train': resume it with 'pkmn train --resume'")
        return cls(file.command, [one for one in file.given if (one.section, one.key) != (CORE, COMMAND)], registry)

    def changed(
        self,
        settings: Mapping[str, Any] | BaseModel,
        core: Mapping[str, Any],
        sets: Iterable[str] = (),
        *,
        may_change: Collection[str],
    ) -> CommandSettings:
        """Return these settings with some values replaced, as when a run is resumed.

        Args:
            settings: own options.
            core: the core's options.
            sets: ``--set`` options.
            may_change: own settings that may differ from the run's.

        Raises:
            ConfigurationError: an option would change another setting.
        """
        model = type(self.own) if isinstance(self.own, BaseModel) else None
        own = _options(self.command, settings, model)
        given = [*from_set_options(sets), *own, *_options(CORE, core, TrainSettings)]
        new = CommandSettings(self.command, [*self._given.values(), *given], self._registry)
        allowed = {key for key in OF_ANY_RUN if key not in _FIXED} | {f"{self.command}.{key}" for key in may_change}
        compared = {section: values for section, values in new.values().items() if section in (CORE, self.command)}
        refuse_changes(self.values(), compared, allowed, new.origin, "start a new run")
        return new

    def origin(self, section: str, key: str) -> str:
        """Return the origin of a value; of the command's name the command itself."""
        if (section, key) == (CORE, COMMAND):
            return f"made by pkmn {self.command}"
        entry = self._given.get((section, key))
        return entry.origin if entry else DEFAULT

    def for_part(self, registration: Registration) -> BaseModel | None:
        """Return the settings of a registered part, such as a tracker; None if it has none."""
        return self._resolved.for_part(registration)

    def values(self) -> dict[str, dict[str, Any]]:
        """Return every value as plain data, by section and key: the core's under an empty name."""
        core = self.train.model_dump(include=set(OF_ANY_RUN))
        own = self.own.model_dump() if isinstance(self.own, BaseModel) else dict(self.own)
        found = {CORE: {COMMAND: self.command, **{key: core[key] for key in OF_ANY_RUN}}, self.command: own}
        for name in self.train.track:
            if name in self._registry.names("trackers"):
                found[name] = self._resolved.values_for_part(self._registry.get("trackers", name))
        return {section: values for section, values in found.items() if values}

    def to_toml(self) -> str:
        """Return the text of ``config.toml``.

        Raises:
            ConfigurationError: a value of a command without a settings model is no plain value.
        """
        try:
            return toml_text(self.values(), self.origin)
        except (TOMLKitError, ValueError, TypeError) as error:
            raise ConfigurationError(f"the settings of 'pkmn {self.command}' are no plain values: {error}") from None


def _options(section: str, values: Mapping[str, Any] | BaseModel, model: type[BaseModel] | None) -> list[Given]:
    """Return the options that were given, named as the model's fields say."""
    if isinstance(values, BaseModel):
        set_by_hand = values.model_dump(include=values.model_fields_set)
        return [Given(section, key, plain(value), "given as an object") for key, value in set_by_hand.items()]
    fields = {} if model is None else model.model_fields
    return [
        Given(section, key, value, f"option {option_name(key, fields.get(key))}")
        for key, value in values.items()
        if value is not None
    ]
