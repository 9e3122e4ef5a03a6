"""Commented settings file of a training: every setting with its description, its bounds and its default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.description import describe_settings
from pkmncli.config.resolved import ResolvedSettings
from pkmncli.config.run_file import plain, toml_item
from pkmncli.config.sources import CORE, DEFAULT
from pkmncli.config.train_settings import TrainSettings
from pkmncli.plugins import Registry

_OF_SCRIPTS = frozenset({"env_object", "env_object_digest", "env_class"})
"""Settings of the core that a script's training has, and a file cannot give."""

_WIDTH = 100


def settings_template(settings: ResolvedSettings, sections: Iterable[str], registry: Registry) -> str:
    """Return a settings file in TOML. Given values are set; all others are comments with their default.

    Args:
        settings: of the training that the file is for.
        sections: names of the sections that it reads; empty for the core's.
        registry: where models of plugins' settings are looked up.
    """
    lines = _comment(
        "Settings of a training: pkmn train --config FILE. A line such as '#seed = 0' shows a default: remove the '#' "
        "to set the value. An option on the command line overrides this file.",
    )
    for section in sections:
        lines += ["", *heading] if (heading := list(_heading(section, registry))) else []
        for line in _settings(section, settings_model(section, registry), settings):
            lines += ["", *line]
    return "\n".join(lines) + "\n"


def _heading(section: str, registry: Registry) -> Iterator[str]:
    if section != CORE:
        yield f"[{section}]"
        if section not in CORE_SECTIONS:
            yield from _comment(registry.settings_section(section).help)


def settings_model(section: str, registry: Registry) -> type[BaseModel]:
    """Return the settings model of a section in use.

    Raises:
        ConfigurationError: there is no such section.
        PluginError: its plugin cannot be imported.
    """
    if section == CORE:
        return TrainSettings
    model = CORE_SECTIONS.get(section) or registry.settings_section(section).load_config()
    assert model is not None  # sections in use have one
    return model


def _settings(section: str, model: type[BaseModel], settings: ResolvedSettings) -> Iterator[list[str]]:
    """Yield the lines of each setting: its description, and its value or default."""
    values = settings.values().get(section, {})  # nothing of a part that was only fitted to the environment
    for setting in describe_settings(model):
        if section == CORE and setting.name in _OF_SCRIPTS:
            continue
        unit = f", {setting.unit}" if setting.unit else ""
        about = f"{setting.description[:1].upper()}{setting.description[1:]} ({setting.allowed}{unit})"
        field, value = model.model_fields[setting.name], values.get(setting.name)
        given = settings.origin(section, setting.name) != DEFAULT
        if not given:
            value = None if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
        text = "" if value is None else toml_item(plain(value)).as_string()
        yield [*_comment(about.strip()), f"{'' if given else '#'}{setting.name} = {text}".rstrip()]


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
    )
