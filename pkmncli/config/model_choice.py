"""Choice of the language model: the backend for a model that is given without one, and further fields of requests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from pkmncli.config.aliases import read_aliases
from pkmncli.config.setting_types import NONE, fields_of_texts, member_of_text
from pkmncli.config.sources import CORE, Given
from pkmncli.errors import ConfigurationError, PluginError
from pkmncli.plugins import Registry


def without_alias(entry: Given, registry: Registry) -> list[Given]:
    """Return ``llm = "ALIAS"`` or ``llm = "BACKEND:MODEL"`` as ``llm`` and ``llm_model``; in a list, aliases as models.

    A name that is neither is returned unchanged, to be refused by its name.

    Raises:
        ConfigurationError: the user's aliases can't be read.
    """
    if entry.section != CORE or entry.key not in ("llm", "llm_ensemble"):
        return [entry]
    known = (NONE, *registry.names("llm_backends"))
    if entry.key == "llm_ensemble":
        given = [entry.value] if isinstance(entry.value, str) else entry.value
        if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
            return [entry]
        models = [_model_of(part.strip(), known) for text in given for part in text.split(",")]
        return [replace(entry, value=models, is_text=False)]
    if not isinstance(entry.value, str) or entry.value in known:
        return [entry]
    text = _model_of(entry.value, known)
    backend, _, model = text.partition(":")
    if backend not in known or (":" in text and not model):
        return [entry]
    origin = entry.origin if text == entry.value else f"alias {entry.value}, from {entry.origin}"
    chosen = [replace(entry, value=backend, origin=origin)]
    return [*chosen, replace(entry, key="llm_model", value=model, origin=origin)] if model else chosen


def _model_of(text: str, known: Collection[str]) -> str:
    """Return the model of an alias; other texts unchanged."""
    return text if ":" in text or text in known else read_aliases().get(text, text)


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


def extra_fields(backend: str, own: BaseModel | None, texts: Sequence[str], origin: str) -> Given:
    """Return the setting ``extra_fields`` of a backend, with the fields of ``llm_extra``.

    Args:
        backend: name of the backend.
        own: its settings.
        texts: the setting ``llm_extra``.
        origin: of that setting.

    Raises:
        ConfigurationError: the backend takes no further fields.
    """
    before = getattr(own, "extra_fields", None)
    if not isinstance(before, Mapping):
        raise ConfigurationError(
            f"setting 'llm_extra' ({origin}): the backend {backend} takes no further fields of requests; see "
            f"'pkmn plugins show {backend}' for its settings"
        )
    return Given(backend, "extra_fields", _merged(before, fields_of_texts(texts)), origin)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with the fields of two; those of ``new`` take precedence, in tables inside too."""
    merged = dict(old)
    for name, value in new.items():
        own = merged.get(name)
        merged[name] = _merged(own, value) if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    return merged


def first_of_ensemble(models: Sequence[str], core: Mapping[str, Given]) -> Given:
    """Return the setting ``llm`` for a given ``llm_ensemble``: the first of its backends.

    Args:
        models: the models of the ensemble.
        core: the core's settings that were given.

    Raises:
        ConfigurationError: another model is chosen beside them.
    """
    first, origin = member_of_text(models[0])[0], core["llm_ensemble"].origin
    for key, fitting in (("llm", first), ("llm_model", None)):
        if key in core and core[key].value != fitting:
            raise ConfigurationError(
                f"setting '{key}' ({core[key].origin}): llm_ensemble ({origin}) names all models; leave one of them out"
            )
    return core.get("llm") or Given(CORE, "llm", first, f"the first of llm_ensemble, from {origin}")
