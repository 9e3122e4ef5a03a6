"""Sources of settings: the command line, the environment and configuration files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkmncli.api.data_text import parse_json, parse_toml, read_given_text
from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.option import option_name
from pkmncli.config.run_file_end import find_end, is_as_written, is_cut_off
from pkmncli.config.train_settings import TrainSettings
from pkmncli.diagnostics import DEBUG_VARIABLE
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import DISABLE_VARIABLE, STRICT_VARIABLE

CORE = ""
"""Section of the core's settings, at the top of a file."""

DEFAULT = "default"
"""Origin of a value that was not given."""

PREFIX = "PKMN_"
NO_SETTINGS = frozenset({DEBUG_VARIABLE, DISABLE_VARIABLE, STRICT_VARIABLE})
"""Variables with the prefix that are no settings. Those with PKMN_TEST_ are reserved for test suites."""


@dataclass(frozen=True, slots=True)
class Given:
    """Value that a user gave, with its origin."""

    section: str
    key: str
    value: Any
    origin: str
    is_text: bool = False
    """True if the value is text that still has to be parsed."""
    is_default: bool = False
    """True if a run's file gives it as a default: it holds, and gives way to what is chosen."""


def from_command_line(values: Mapping[str, Any]) -> list[Given]:
    """Return the options that were given; None stands for one that was not. A section's key is ``section.key``."""
    given = []
    for name, value in values.items():
        if value is not None:
            section, key = _split_name(name)
            model = CORE_SECTIONS.get(section, TrainSettings)
            option = option_name(name, model.model_fields.get(key))
            given.append(Given(section, key, value, f"option {option}"))
    return given


def from_set_options(options: Iterable[str]) -> list[Given]:
    """Return the values of ``--set key=value`` and ``--set section.key=value``.

    Raises:
        ConfigurationError: an option has no ``=``.
    """
    given = []
    for option in options:
        name, separator, text = option.partition("=")
        if not separator or not name.strip():
            raise ConfigurationError(f"option --set {option}: write it as --set section.key=value")
        section, key = _split_name(name.strip())
        given.append(Given(section, key, text.strip(), f"option --set {name.strip()}", is_text=True))
    return given


def from_environment(environ: Mapping[str, str]) -> list[Given]:
    """Return the values of ``PKMN_KEY`` and ``PKMN_SECTION__KEY``. An empty variable counts as not set."""
    given = []
    for variable, text in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable in NO_SETTINGS or variable.startswith("PKMN_TEST_") or not text:
            continue
        section, separator, key = variable.removeprefix(PREFIX).lower().partition("__")
        if not separator:
            section, key = CORE, section
        given.append(Given(section, key, text, f"environment variable {variable}", is_text=True))
    return given


def from_file(path: Path) -> list[Given]:
    """Return the values of a TOML or JSON file. JSON is recognised by the suffix, or by the opening brace.

    What a run's file, unless it was edited, calls a default is one here too.

    Raises:
        ConfigurationError: the file cannot be read, or its syntax is wrong.
    """
    try:
        text = read_given_text(path)
    except FileNotFoundError:
        raise ConfigurationError(f"there is no configuration file {path}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is no configuration file: it is not UTF-8 text") from None
    except OSError as error:
        raise ConfigurationError(f"the configuration file {path} cannot be read: {error.strerror}") from None
    if is_cut_off(text):
        raise ConfigurationError(f"{path} was cut off: it is a run's and lacks its end; put back the whole file")
    content = _parse(path, text)
    end = find_end(text)
    of_a_run = text.splitlines() if end is not None and is_as_written(text, end) else []

    def one(section: str, key: str, value: Any) -> Given:
        number = _line(text, key, section)
        is_default = bool(of_a_run) and number is not None and of_a_run[number - 1].endswith(f" # {DEFAULT}")
        return Given(section, key, value, f"{path}:{number}" if number else str(path), is_default=is_default)

    given = []
    for name, value in content.items():
        inner: Iterable[tuple[str, Any]] = value.items() if isinstance(value, Mapping) else ()
        given += [one(name, key, own) for key, own in inner if own is not None]
        if value is not None and not isinstance(value, Mapping):
            given.append(one(CORE, name, value))
    return given


def parse_text(text: str) -> Any:
    """Return text as a TOML value, or unchanged if it is none."""
    try:
        content = parse_toml(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return content["value"] if len(content) == 1 else text


def _parse(path: Path, text: str) -> Mapping[str, Any]:
    try:
        if path.suffix.lower() == ".json" or text.lstrip().startswith("{"):
            content = parse_json(text)
        else:
            content = parse_toml(text)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{path}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno})") from None
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        if not place:
            raise ConfigurationError(f"{path}: not valid TOML: {message}") from None
        found = re.search(r"line (\d+), column (\d+)", place)
        line, place = (found[1], f"column {found[2]}") if found else (len(text.splitlines()), "at the end")
        raise ConfigurationError(f"{path}:{line}: not valid TOML: {message} ({place})") from None
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path}:1: a configuration is keys with values, not a {type(content).__name__}")
    return content


def _line(text: str, key: str, section: str) -> int | None:
    """Return the number of a key's line, from 1; None if it is not found at the start of a line."""
    start = 0
    if section:
        header = re.search(rf'^\s*(\[\s*"?{re.escape(section)}"?\s*\]|"{re.escape(section)}"\s*:)', text, re.MULTILINE)
        start = header.end() if header else 0
    found = re.compile(rf'^[\s{{]*"?{re.escape(key)}"?\s*[=:]', re.MULTILINE).search(text, start)
    return text.count("\n", 0, found.end()) + 1 if found else None


def _split_name(name: str) -> tuple[str, str]:
    section, separator, key = name.partition(".")
    return (section, key) if separator else (CORE, name)
