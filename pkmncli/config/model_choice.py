"""Choice of the backend for a language model that is given without one: the backend that serves such names."""

from __future__ import annotations

from pkmncli.config.sources import CORE, Given
from pkmncli.errors import ConfigurationError, PluginError
from pkmncli.plugins import Registry


def backend_serving(model: Given, registry: Registry) -> Given:
    """Return the setting ``llm`` for a given ``llm_model``.

    A backend's settings list in ``serves`` the prefixes of its models' names; the longest match decides.

    Args:
        model: the setting ``llm_model`` as it was given.
        registry: the plugins.

    Raises:
        ConfigurationError: no backend matches, or two do.
    """
    name = str(model.value)
    longest, found = 0, set[str]()
    for entry in registry.registrations("llm_backends"):
        try:
            settings = entry.load_config()
        except PluginError:  # a broken plugin serves nobody
            continue
        for beginning in getattr(settings, "serves", ()):
            if name.lower().startswith(beginning.lower()) and len(beginning) >= longest:
                found = {entry.name} if len(beginning) > longest else found | {entry.name}
                longest = len(beginning)
    if len(found) == 1:
        return Given(CORE, "llm", found.pop(), f"it serves llm_model = {name}, from {model.origin}")
    backends = ", ".join(sorted({entry.name for entry in registry.registrations("llm_backends")})) or "none"
    whose = (
        f"{' and '.join(sorted(found))} both serve it" if found else f"it is of no backend that is known ({backends})"
    )
    raise ConfigurationError(
        f"llm_model = {name} ({model.origin}) does not say which backend to ask: {whose}; choose with --llm NAME"
    )
