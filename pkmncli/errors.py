"""Every error that a user can meet, each with the exit code that the command line ends with."""

from __future__ import annotations

EXIT_OK = 0
EXIT_UNEXPECTED = 1
EXIT_USAGE = 2
EXIT_EMULATOR = 3
EXIT_LLM = 4
EXIT_RUN = 5
EXIT_INTERRUPTED = 130


class PkmnError(Exception):
    """An error that a user can act on. Its text says what is wrong, where, and what to do, in one or two lines."""

    exit_code = EXIT_UNEXPECTED


class TrainingError(PkmnError):
    """Training could not start or go on."""

    exit_code = EXIT_UNEXPECTED


class ConfigurationError(PkmnError):
    """A setting, a name or an option is wrong."""

    exit_code = EXIT_USAGE


class PluginError(ConfigurationError):
    """A plugin is missing, unknown, broken or claims a name that another one has."""


class EnvironmentSetupError(PkmnError):
    """An environment could not be set up: the ROM, its profile or what it needs is missing or wrong."""

    exit_code = EXIT_EMULATOR


class RomError(EnvironmentSetupError):
    """A cartridge image is missing, damaged or not of a known game."""


class EmulatorError(EnvironmentSetupError):
    """The emulator failed, or a save state does not fit it."""


class LLMConnectionError(PkmnError):
    """A language model could not be reached or used."""

    exit_code = EXIT_LLM


class CheckpointError(PkmnError):
    """A checkpoint is missing, damaged, or of another version."""

    exit_code = EXIT_RUN


class RunError(PkmnError):
    """A run folder is missing, in use, or of another version; or its disk is full."""

    exit_code = EXIT_RUN


class DecisionValidationError(PkmnError):
    """A decision to be recorded, or a question asked of recorded ones, is not valid."""

    exit_code = EXIT_USAGE
