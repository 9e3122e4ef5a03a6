"""Errors for users, each with the exit code of the command line."""

from __future__ import annotations

from collections.abc import Iterable

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


class RomError(EnvironmentSetupError):
    """Cartridge image that is missing, damaged or not of a known game."""


class EmulatorError(EnvironmentSetupError):
    """Failure of the emulator, or save state that does not fit it."""


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
    """Return the question ``did you mean 'x'?`` with the most similar known name.

    Args:
        name: the unknown name.
        known: the known names.
        otherwise: result if no name is similar.
        lead: text before the question.
        shown: format of the suggested name.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    near = get_close_matches(name, list(known), n=1)
    return f"{lead}did you mean {shown.format(near[0])}?" if near else otherwise
