"""Errors for users, each with the exit code of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

EXIT_OK = 0
EXIT_UNEXPECTED = 1
EXIT_USAGE = 2
EXIT_EMULATOR = 3
EXIT_LLM = 4
EXIT_RUN = 5
EXIT_INTERRUPTED = 130


class PkmnError(Exception):
    """Error that a user can act on. Its text says what is wrong, where, and what to do, in one or two lines."""

    exit_code = EXIT_UNEXPECTED


class TrainingError(PkmnError):
    """Training that could not start or continue."""

    exit_code = EXIT_UNEXPECTED


class ConfigurationError(PkmnError):
    """Wrong setting, name or option."""

    exit_code = EXIT_USAGE


class PluginError(ConfigurationError):
    """Plugin that is missing, unknown, broken or claims a name that another one has."""


class EnvironmentSetupError(PkmnError):
    """Environment that could not be set up: the ROM, its profile or another requirement is missing or wrong."""

    exit_code = EXIT_EMULATOR


def __getattr__(name: str) -> Any:
    if name == "EnvironmentError":  # defined as a name, it would hide Python's own in this module
        return EnvironmentSetupError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class RomError(EnvironmentSetupError):
    """Cartridge image that is missing, damaged or not of a known game."""


class EmulatorError(EnvironmentSetupError):
    """Failure of the emulator, or saved state that does not fit it."""


class LLMConnectionError(PkmnError):
    """Language model that could not be reached or used."""

    exit_code = EXIT_LLM


class CheckpointError(PkmnError):
    """Checkpoint that is missing, damaged, or of another version."""

    exit_code = EXIT_RUN


class RunError(PkmnError):
    """Run folder that is missing, in use, or of another version; or full disk."""

    exit_code = EXIT_RUN


class DecisionValidationError(PkmnError):
    """Invalid decision to record, or invalid question about recorded ones."""

    exit_code = EXIT_USAGE


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", *, lead: str = "", shown: str = "'{}'") -> str:
    """Return the question ``did you mean 'x'?`` with the most similar known name, or the one with these initials.

    Args:
        name: the unknown name.
        known: the known names.
        otherwise: result if no name is similar.
        lead: text before the question.
        shown: format of the suggested name.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    names = list(known)
    near = get_close_matches(name, names, n=1) or [one for one in names if len(name) > 1 and _initials(one) == name]
    return f"{lead}did you mean {shown.format(near[0])}?" if near else otherwise


def _initials(name: str) -> str:
    """Return the first letters of a name's words: ``lr`` for ``learning_rate``."""
    return "".join(word[:1] for word in name.replace("-", "_").split("_"))


def first_fault(error: Any, *start: str, everything: str = "") -> str:
    """Return place and message of the first fault in a pydantic ``ValidationError``: ``maps.table.2: a name is text``.

    Args:
        error: the error.
        start: parts of the place before those that pydantic names.
        everything: place of a fault of the whole.
    """
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in (*start, *fault["loc"])) or everything
    message = without_prefix(fault["msg"])
    return f"{place}: {message}" if place else message


def without_prefix(message: str) -> str:
    """Return a message of pydantic without the words that it writes before those of a ``ValueError``."""
    return message.removeprefix("Value error, ")
