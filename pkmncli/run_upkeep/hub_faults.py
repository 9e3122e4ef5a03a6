"""Faults of the Hugging Face hub and of the way to it, each as one line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from pkmncli.diagnostics import one_line, say
from pkmncli.errors import ConfigurationError, PkmnError, RunError

_BROKE_OFF = "nothing of it is published; run the command again, parts that arrived are not sent again"


@contextmanager
def explained(
    repository: str, endpoint: str, what: str, *, revision: str | None = None, publishes: bool = False
) -> Iterator[None]:
    """Turn faults of huggingface_hub into an error of one line.

    Args:
        repository: the repository's name.
        endpoint: address of the hub.
        what: the activity in words.
        revision: the revision that was asked for.
        publishes: True if a fault means that nothing was published.

    Raises:
        RunError: the hub has no such thing, does not answer or refuses.
        ConfigurationError: the name or the token is not a valid one, or the library may not use the network.
    """
    errors: Any = import_module("huggingface_hub.errors")
    try:
        yield
    except KeyboardInterrupt:
        if publishes:
            say(f"Interrupted: {_BROKE_OFF}.")
        raise
    # hf_xet reports its faults as OSError or RuntimeError, and a malformed answer is a ValueError
    except (errors.HTTPError, OSError, RuntimeError, ValueError) as error:
        raise _fault(_cause(error, errors), errors, repository, endpoint, what, revision, publishes) from error


def _cause(error: Exception, errors: Any) -> BaseException:
    """Return the fault that the library's own error was made of."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, errors.HTTPError | errors.OfflineModeIsEnabled):
        found = found.__cause__
    return error if found is None else found


def _fault(
    error: BaseException,
    errors: Any,
    repository: str,
    endpoint: str,
    what: str,
    revision: str | None,
    publishes: bool,
) -> PkmnError:
    host = urlsplit(endpoint).netloc
    nothing = f"; {_BROKE_OFF}" if publishes else ""
    if isinstance(error, errors.HFValidationError):
        return ConfigurationError(f"{repository} is no name on the hub: {one_line(error)}")
    if isinstance(error, errors.OfflineModeIsEnabled):
        return ConfigurationError("huggingface_hub may not use the network: unset HF_HUB_OFFLINE")
    if isinstance(error, errors.RevisionNotFoundError):
        return RunError(f"{repository} on the hub has no revision {revision!r}: name a branch, a tag or a whole commit")
    if isinstance(error, errors.GatedRepoError):
        return RunError(f"{repository} on the hub asks for your agreement: give it on {endpoint}/{repository}")
    if isinstance(error, errors.RepositoryNotFoundError):
        return RunError(
            f"the hub ({host}) has no model repository {repository}, or it is private and your token may not read it"
        )
    if not isinstance(error, errors.HfHubHTTPError):
        if isinstance(error, errors.HTTPError):
            return RunError(f"the Hugging Face hub ({host}) can't be reached: {_reason(error)}{nothing}")
        return RunError(f"{what} of {repository} failed: {one_line(error)}{nothing}")
    status = error.response.status_code
    if status == 401:
        return ConfigurationError(f"the hub ({host}) refuses the token: make a new one at {endpoint}/settings/tokens")
    if status == 403:
        return ConfigurationError(
            f"the token may not write to {repository}: write your own name before the slash, and use a token with "
            "write access"
        )
    if status == 409:
        return RunError(f"{repository} on the hub was made or changed meanwhile: run the command again")
    if status == 429 or status >= 500:
        return RunError(f"the hub ({host}) answers {status}: try again in some minutes{nothing}")
    return RunError(f"the hub ({host}) refuses {what} of {repository}: {_said(error)}{nothing}")


def _reason(error: BaseException) -> str:
    return one_line(error).partition(": ")[2].rstrip(".") or type(error).__name__


def _said(error: Any) -> str:
    return " ".join(str(error.server_message or error.response.status_code).split())[:300]
