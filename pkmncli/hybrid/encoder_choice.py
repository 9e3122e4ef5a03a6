"""The encoder that a learner's settings name, found in the registry and passed to the learner as a factory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pkmncli.config import ResolvedSettings
from pkmncli.config.description import named_parts
from pkmncli.errors import ConfigurationError, PluginError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pkmncli.plugins import Registry


def encoder_argument(settings: ResolvedSettings, registry: Registry, own: BaseModel | None) -> dict[str, Any]:
    """Return the keyword argument ``encoder`` for a learner; empty if its settings name none, or the default.

    So learners that know nothing of encoders need not accept the argument.

    Args:
        settings: of the training, with those of its plugins.
        registry: where the name is looked up.
        own: the learner's settings.

    Raises:
        ConfigurationError: two of the learner's settings name encoders.
        PluginError: there is no encoder of the name, or it cannot be imported.
    """
    parts = [] if own is None else named_parts(own)
    names = [(key, name) for key, kind, name in parts if kind == "encoders"]
    if not names:
        return {}
    from pkmncli.learners.encoders import EncoderFactory  # noqa: PLC0415 - brings torch, as the learner does anyway

    if len(names) > 1:
        several = " and ".join(f"'{settings.train.rl}.{key}'" for key, _ in names)
        raise ConfigurationError(f"settings {several} name an encoder each, and a learner takes one: leave one unset")
    ((key, name),) = names
    try:
        registration = registry.get("encoders", name)
    except PluginError as error:
        raise PluginError(f"setting '{settings.train.rl}.{key}': {error}") from None
    origin = {
        "name": name,
        "target": _importable(registration.target),
        "config": None if registration.config is None else _importable(registration.config),
        "settings": None if registration.config is None else settings.plugin_values(name),
        "distribution": registration.distribution,
        "version": registration.version,
    }
    chosen = settings.for_part(registration)
    return {"encoder": EncoderFactory(name, registration.load(), chosen, origin)}


def _importable(target: Any) -> str:
    return target if isinstance(target, str) else f"{target.__module__}:{target.__qualname__}"
