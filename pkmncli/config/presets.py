"""Presets: settings under a name, which a plugin ships for its learner or a user keeps in a file.

A preset is a settings file with a ``description``. All values that a user gives elsewhere override it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pkmncli.api import expand_home
from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.run_file import plain
from pkmncli.config.sources import CORE, DEFAULT, Given, from_file
from pkmncli.config.validation import validate
from pkmncli.errors import ConfigurationError, PluginError, did_you_mean
from pkmncli.plugins import PRESET_KIND, PRESET_SUFFIX, Registration, Registry

DESCRIPTION = "description"
"""Key of the line that says what a preset is for."""

NOT_IN_A_PRESET = ("preset", "seed", "save_dir", "run_name")
"""Settings that belong to a single training, or would name another preset."""

PRESET_ORIGIN = "preset "
"""Beginning of the origin of a preset's values."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Content of a preset's file."""

    name: str
    description: str
    given: tuple[Given, ...]

    def changes(self, section: str, model: type[BaseModel]) -> dict[str, tuple[Any, Any]]:
        """Return the settings of a section that differ from the default: by key, the value and the default.

        Raises:
            ConfigurationError: a value is wrong.
        """
        own = validate(model, section, {one.key: one for one in self.given if one.section == section})
        values, defaults = own.model_dump(), model().model_dump()
        names = [one.key for one in self.given if one.section == section]
        return {name: (plain(values[name]), plain(defaults[name])) for name in names if values[name] != defaults[name]}


def is_path(chosen: str) -> bool:
    """Return True if a preset is chosen by its file, not by its name."""
    return chosen.endswith(PRESET_SUFFIX) or "/" in chosen or "\\" in chosen


def read_preset(path: Path, name: str = "") -> Preset:
    """Read a preset's file.

    Args:
        path: TOML.
        name: the name of a plugin's preset, which is then the origin of its values; otherwise the file is.

    Raises:
        ConfigurationError: it is missing, has no description, or sets what a preset cannot set.
    """
    if path.is_dir() or not path.exists():
        raise ConfigurationError(f"there is no preset file {path}")
    found = [replace(one, origin=f"{PRESET_ORIGIN}{one.origin}") for one in from_file(path)]
    description = next((one.value for one in found if (one.section, one.key) == (CORE, DESCRIPTION)), None)
    if not isinstance(description, str) or not description.strip() or "\n" in description.strip():
        raise ConfigurationError(f'preset {path} needs a line that says what it is for: {DESCRIPTION} = "..."')
    given = [one for one in found if (one.section, one.key) != (CORE, DESCRIPTION)]
    for one in given:
        if one.section == CORE and one.key in NOT_IN_A_PRESET:
            raise ConfigurationError(f"setting '{one.key}' ({one.origin}): a preset can't set it, leave it out")
    if name:
        given = [replace(one, origin=f"{PRESET_ORIGIN}{name}") for one in given]
    return Preset(name or str(path), description.strip(), tuple(given))


def check_presets(entry: Registration) -> list[str]:
    """Check a plugin's presets against its settings. Return a line for each problem, with file and line number."""
    problems = []
    try:
        files, model = entry.preset_files(), entry.load_config()
    except PluginError as error:
        return [str(error)]
    if entry.presets and not files:
        problems.append(f"{entry.title}: there is no preset in {entry.presets}")
    for path in files.values():
        try:
            preset = read_preset(path)
            own = (CORE, *CORE_SECTIONS, entry.name)
            other = next((one for one in preset.given if one.section not in own), None)
            if other is not None:
                raise ConfigurationError(
                    f"setting '{other.section}.{other.key}' ({other.origin}): a preset of {entry.name} sets "
                    f"[{entry.name}], and what is the core's"
                )
            for section, own_model in CORE_SECTIONS.items():
                preset.changes(section, own_model)
            if model is not None:
                preset.changes(entry.name, model)
        except ConfigurationError as error:
            problems += str(error).splitlines()
    return problems


def chosen_preset(choice: Given, learner: Given, registry: Registry) -> Preset:
    """Return the preset that a training begins from.

    Args:
        choice: the setting ``preset`` as it was given: a name, or a file.
        learner: the setting ``rl``, as it was given or by default.
        registry: the plugins.

    Raises:
        ConfigurationError: there is no such preset, or it belongs to another learner.
    """
    name = str(choice.value).strip("\"'") if choice.is_text else choice.value
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"setting 'preset' ({choice.origin}): must be a preset's name, or a file")
    if not is_path(name):
        return _named(name, choice, learner, registry)
    path = expand_home(Path(name))
    if not path.is_file():
        raise ConfigurationError(f"setting 'preset' = {name!r} ({choice.origin}): there is no such file")
    preset = read_preset(path)
    own = next((one for one in preset.given if (one.section, one.key) == (CORE, "rl")), None)
    if own is not None and learner.origin != DEFAULT and own.value != learner.value:
        raise ConfigurationError(
            f"preset {name} is for the learner {own.value}, and the training has {learner.value} ({learner.origin}): "
            f"leave that out, or choose a preset of {learner.value}"
        )
    in_use = learner.value if own is None else own.value
    for one in preset.given:
        if one.section in registry.names(PRESET_KIND) and one.section != in_use:
            raise ConfigurationError(
                f"preset {name} sets {one.section}.{one.key}, and the training's learner is {in_use}: "
                f"add --rl {one.section}, or choose a preset of {in_use}"
            )
    return preset


def _named(name: str, choice: Given, learner: Given, registry: Registry) -> Preset:
    said = f"setting 'preset' = {name!r} ({choice.origin})"
    files = _files(str(learner.value), registry)
    if name in files:
        return read_preset(files[name], name)
    if not files:
        raise ConfigurationError(
            f"{said}: the learner {learner.value} has no presets; a file of your own ends in .toml"
        )
    others = [other for other in registry.names(PRESET_KIND) if name in _files(other, registry)]
    has = f"{learner.value} has {', '.join(files)}"
    if others:
        raise ConfigurationError(f"{said} is one of {' and '.join(others)}, and the learner is {learner.value}: {has}")
    hint = did_you_mean(name, files)
    raise ConfigurationError(f"{said}: there is no such preset; {hint}{' ' * bool(hint)}{has}")


def _files(learner: str, registry: Registry) -> dict[str, Path]:
    """Return the presets of a learner; none for an unknown learner, which is reported elsewhere."""
    if learner not in registry.names(PRESET_KIND):
        return {}
    return registry.get(PRESET_KIND, learner).preset_files()
