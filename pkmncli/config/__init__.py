"""Settings: the core's model, the sources of values, checks, and the run's file.

Importing this package imports pydantic, so only commands that use settings import it.
"""

from pkmncli.config.resolved import ResolvedSettings, resolve_settings
from pkmncli.config.run_file import CONFIG_FILE
from pkmncli.config.setting_types import NONE
from pkmncli.config.train_settings import DEFAULT_STEPS, MAY_CHANGE, TrainSettings

__all__ = [
    "CONFIG_FILE",
    "DEFAULT_STEPS",
    "MAY_CHANGE",
    "NONE",
    "ResolvedSettings",
    "TrainSettings",
    "resolve_settings",
]
