"""Names of models in a service's list, and which of these models answer questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.errors import LLMConnectionError

UNLISTED = "It lists no models: the first question shows whether it has this one."
"""Remark on a service without a list."""

_CHECK_SECONDS = 15.0
_MAY_HAVE_IT = frozenset({LLMFault.TIMEOUT, LLMFault.LOADING, LLMFault.OVERLOADED})
_SHOWN = 8
_LONGEST = 200
_NO_TALKERS = re.compile(
    r"embed|(?:^|[/_-])(?:bge|gte|e5|minilm|clip|sora)(?:$|[-_.:])|whisper|(?:^|[/_-])tts|text-to-speech|transcri"
    r"|moderation|guard|rerank|dall-e|stable-diffusion|(?:^|[/_-])(?:sdxl|flux|imagen|veo)|-image|realtime|audio"
    r"|(?:^|[/_-])(?:davinci|babbage)-|-instruct-\d{4}$|diffusion",
    re.IGNORECASE,
)
"""Models for embeddings, audio, images or moderation, and those that only complete a text."""


def names_in(listing: Any) -> list[str] | None:
    """Return the names in a service's list of models, in any known form; None if it is not a list.

    The list is under ``data`` (OpenAI, Anthropic), under ``models`` (Ollama, Google), or the whole reply. An entry is a
    name, or has one as ``id``, ``model`` or ``name``. A name that is not one line of text is left out.
    """
    if isinstance(listing, Mapping):
        listing = next((listing[key] for key in ("data", "models") if isinstance(listing.get(key), list)), None)
    if not isinstance(listing, list):
        return None
    names = []
    for entry in listing:
        parts = [entry.get(key) for key in ("id", "model", "name")] if isinstance(entry, Mapping) else [entry]
        names += [part for part in parts if isinstance(part, str) and part][:1]
    return [name for name in names if name.isprintable() and len(name) <= _LONGEST]


def is_listed(model: str, known: Sequence[str], *, variants: bool = True) -> bool:
    """Return True if a model is on a list, in any spelling of its name.

    A list may have ``models/NAME`` or ``NAME:latest``, or capital letters.

    Args:
        model: the name.
        known: the names in the list.
        variants: True if the part after a colon is a variant of a listed model, such as ``NAME:nitro``; False if it
            is another model.
    """
    name = _plain(model)
    if name in map(_plain, known):
        return True
    base, colon, _ = name.rpartition(":")
    return variants and bool(colon) and base in (one.lower().removeprefix("models/") for one in known)


def _plain(name: str) -> str:
    return name.strip().lower().removeprefix("models/").removesuffix(":latest")


def first_to_talk_to(known: Sequence[str]) -> str | None:
    """Return the first model that can answer questions, by its name; None if there is none."""
    return next((name for name in known if not _NO_TALKERS.search(name)), None)


def check_unlisted(
    where: str, model: str, known: Sequence[str], complete: Callable[[LLMRequest], LLMReply], refuse: Exception
) -> str:
    """Return a remark on a model that is not on a list, but answers. It is asked for one short answer.

    A service that is busy or slow may have it, too: the first question shows it.

    Args:
        where: name of the service, for people.
        model: name of the model.
        known: the names in the list.
        complete: asks the model.
        refuse: raised if the service does not have the model.
    """
    remark = f"{where} does not list {model!r}"
    try:
        complete(LLMRequest("", "Answer with the word yes.", max_tokens=32, timeout_s=_CHECK_SECONDS))
    except LLMFailure as failure:
        if failure.fault not in _MAY_HAVE_IT:
            raise refuse from failure
        return f"{remark}, and did not answer yet ({failure}): the first question shows whether it has this one."
    has = f"it lists {some_of(known)}" if known else "it lists none"
    return f"{remark}, but it answers ({has})."


def not_listed(where: str, model: str, known: Sequence[str]) -> LLMConnectionError:
    """Return the error for a model that is not on a list, with a hint."""
    return LLMConnectionError(
        f"{where} has no model {model!r}; it has {some_of(known)}: choose with --llm-model. It was "
        "asked for the unlisted one, too; the setting listed_only = false asks for any name"
    )


def some_of(known: Sequence[str]) -> str:
    """Return the beginning of a list, for people."""
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return ", ".join(known[:_SHOWN]) + more
