"""Speed of a language model before a training: one or two real answers, within a limited time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, replace

from pkmncli.api import LLMRequest
from pkmncli.llm.client import Answer, LLMClient, begin_answer
from pkmncli.llm.ensemble import EnsembleClient

PROBE_SECONDS = 30.0
"""Maximum time of all answers together."""

_SILENT_SECONDS = 2.0
"""Time after which people read what is waited for."""
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """Speed of one model."""

    seconds: float
    """Time of an answer; if none came, the time without one."""
    answered: bool
    problem: str = ""
    """Reason that the answer is no advice, or that there is none."""
    parallel: bool = False
    """True if the model is a paid service, which answers several questions at the same time."""


def measure(
    client: LLMClient | EnsembleClient,
    request: LLMRequest,
    *,
    interrupted: Callable[[], bool],
    tell: Callable[[str], None],
    limit_s: float = PROBE_SECONDS,
) -> Mapping[str, ModelSpeed]:
    """Return the speed of each model by its name; a model that is not to be measured is left out.

    A request that is still open when the time is over is not cancelled: a server that loads a model would stop
    loading. A second answer is measured without connecting and loading, unless it costs money. Its question begins with
    other words, because servers keep what they have read of the latest prompt.

    Args:
        client: of the model, or of several.
        request: a question of the training.
        interrupted: True if the training is to end.
        tell: receives a message for people, if an answer takes long.
        limit_s: seconds for all answers.
    """
    models = client.models if isinstance(client, EnsembleClient) else {"": client}
    began = time.monotonic()
    ends_at = began + limit_s
    first = {name: begin_answer(one.probe, request) for name, one in models.items()}
    came = _wait(first, min(began + _SILENT_SECONDS, ends_at), interrupted)
    if not came and time.monotonic() < ends_at and not interrupted():
        tell(f"Measuring how fast the language model answers here, for at most {limit_s:g} s.")
        _wait(first, ends_at, interrupted)
    took = time.monotonic() - began
    again = {
        name: begin_answer(models[name].probe, replace(request, prompt=f"Once more.\n\n{request.prompt}"))
        for name, future in first.items()
        if 2 * took < limit_s
        and models[name].usage.price is None
        and (answer := _answer(future)) is not None
        and answer.fault is None
    }
    _wait(again, ends_at, interrupted)
    found = {}
    for name, one in models.items():
        if not first[name].done():
            found[name] = ModelSpeed(time.monotonic() - began, answered=False)
        elif (answer := first[name].result()) is not None:
            second = _answer(again[name]) if name in again else None
            answer = answer if second is None or second.fault is not None else second
            parallel = one.usage.price is not None
            found[name] = ModelSpeed(answer.latency_s, answer.fault is None, answer.problem, parallel)
    return {} if interrupted() else found


def _answer(future: Future[Answer | None]) -> Answer | None:
    return future.result() if future.done() else None


def _wait(futures: Mapping[str, Future[Answer | None]], ends_at: float, interrupted: Callable[[], bool]) -> bool:
    """Wait for all answers until ``ends_at``, or until interrupted. Return True if all have come."""
    while time.monotonic() < ends_at and not interrupted():
        if not wait_for(futures.values(), _LOOK_SECONDS).not_done:
            return True
    return all(future.done() for future in futures.values())
