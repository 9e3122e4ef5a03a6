"""Contract of language model backends: requests, replies and faults.

A backend only carries a request to a model and brings back the reply. Prompts, reading of replies, retries, cache,
limits and accounting are the core's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class LLMRequest:
    """Question to a model.

    ``schema`` is a JSON schema that the reply should follow; a backend that can hold its model to it does, one that
    can't ignores it. ``images`` are PNG files, for models that see.
    """

    system: str
    prompt: str
    schema: Mapping[str, Any] | None = None
    images: tuple[bytes, ...] = ()
    max_tokens: int = 300
    """Maximum number of tokens of the reply."""
    temperature: float = 0.0
    seed: int | None = None
    timeout_s: float = 30.0
    """Seconds after which the backend must give up."""


@dataclass(frozen=True, slots=True)
class LLMReply:
    """Reply of a model. ``parsed`` is the value if the backend has it parsed; otherwise the text is read."""

    text: str
    model: str
    """Name of the model that answered."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_s: float = 0.0
    parsed: Any = None
    cut: bool = False
    """True if the service ended the reply at its maximum length."""
    problem: str = ""
    """Reason in one line why this is not an answer, whatever the text, such as a refusal."""


class LLMFault(StrEnum):
    """Kinds of faults; each decides what to do next."""

    UNREACHABLE = "unreachable"
    """No connection: refused, unknown host, closed in the middle."""
    TIMEOUT = "timeout"
    LOADING = "loading"
    """The service is still loading the model: ask again until it has."""
    OVERLOADED = "overloaded"
    """Too many requests, or the service is busy: ask again after a pause."""
    AUTHENTICATION = "authentication"
    """The key is missing or refused: do not ask again."""
    NO_MODEL = "no model"
    """The service does not have the model."""
    TOO_LONG = "too long"
    """The request is longer than the model or the service takes."""
    REFUSED = "refused"
    """The service does not accept the request as it is."""
    BROKEN = "broken"
    """The service failed, or its answer is not one: a server error, no JSON, far too long."""


class LLMFailure(Exception):  # noqa: N818 - a fault is expected, and dealt with by the core: users meet none
    """Failure of a backend to answer. The text is one line for people, without key and reply.

    Args:
        fault: what kind of failure.
        text: what happened, where.
        retry_after_s: seconds after which the service wants to be asked again, if it said so.
    """

    def __init__(self, fault: LLMFault, text: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.fault = fault
        self.retry_after_s = retry_after_s


class Price(NamedTuple):
    """Price of a model, in US dollars for a million tokens."""

    prompt_usd: float
    completion_usd: float


class LLMBackend(Protocol):
    """Backend of one model. Built with its settings and the model's name; None for its own choice.

    :meth:`complete` is called by several threads at once. Building must not connect: :meth:`check` does. A
    backend that knows prices implements :class:`PricedLLMBackend`. An attribute ``probed = False`` says that its speed
    is not measured before a training.
    """

    model: str
    """Name of the model. Set by :meth:`check` if the backend chooses it."""
    sees: bool
    """True if images can be sent."""

    def check(self) -> str:
        """Connect once and set the model. Return a line that says which model answers, and its place.

        Raises:
            LLMConnectionError: the service, the model or the key is missing; the text says what to do.
        """
        ...

    def complete(self, request: LLMRequest) -> LLMReply:
        """Return the whole reply, within ``timeout_s``.

        Raises:
            LLMFailure: there is no reply. No other exception is allowed.
        """
        ...

    def models(self) -> list[str]:
        """Return the names of the models that can be asked, best known first; empty if they are not listed."""
        ...

    def close(self) -> None:
        """Release connections, processes and threads."""
        ...


class TellingLLMBackend(LLMBackend, Protocol):
    """Backend with messages for people, such as an option that its service refuses."""

    tell: Callable[[str], None]
    """Set by the core. Called with a line for people, by any thread."""


class PricedLLMBackend(LLMBackend, Protocol):
    """Backend that knows list prices, for budgets in dollars. A user's ``llm_prices`` take precedence."""

    @property
    def prices(self) -> Mapping[str, Price]:
        """Prices by the beginnings of models' names; the longest match counts. Empty if none is known."""
        ...
