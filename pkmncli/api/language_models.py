"""Language models: what a backend is asked, what it answers, and how it fails.

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
    """One question to a model.

    ``schema`` is a JSON schema that the reply should follow; a backend that can hold its model to it does, one that
    can't ignores it. ``images`` are PNG files, for models that see.
    """

    system: str
    prompt: str
    schema: Mapping[str, Any] | None = None
    images: tuple[bytes, ...] = ()
    max_tokens: int = 300
    """Most tokens of the reply."""
    temperature: float = 0.0
    seed: int | None = None
    timeout_s: float = 30.0
    """Seconds until the backend must have given up."""


@dataclass(frozen=True, slots=True)
class LLMReply:
    """What a model answered. ``parsed`` is the value where the backend has it as one; else the text is read."""

    text: str
    model: str
    """The model that answered, as it names itself."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_s: float = 0.0
    parsed: Any = None
    cut: bool = False
    """True where the service ended it at its longest length."""
    problem: str = ""
    """Reason in one line why it is no answer, whatever its text: a refusal, for one."""


class LLMFault(StrEnum):
    """What kept a backend from answering, as far as it decides what to do next."""

    UNREACHABLE = "unreachable"
    """Nobody there: refused, no such host, closed in the middle."""
    TIMEOUT = "timeout"
    LOADING = "loading"
    """The service is still loading the model: worth asking again until it has."""
    OVERLOADED = "overloaded"
    """Too many requests, or the service is busy: worth asking again after a pause."""
    AUTHENTICATION = "authentication"
    """The key is missing or refused: no use asking again."""
    NO_MODEL = "no model"
    """The service does not have the model."""
    TOO_LONG = "too long"
    """The request is longer than the model or the service takes."""
    REFUSED = "refused"
    """The service does not accept the request as it is."""
    BROKEN = "broken"
    """The service failed, or its answer is none: a server error, no JSON, more than anyone asked for."""


class LLMFailure(Exception):  # noqa: N818 - a fault is expected, and dealt with by the core: users meet none
    """A backend could not answer. The text is one line for people, and holds no key and no reply.

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
    """What a model costs, in US dollars for a million tokens."""

    prompt_usd: float
    completion_usd: float


class LLMBackend(Protocol):
    """Carries requests to one model. Built with its own settings and the model's name, or None for its own choice.

    :meth:`complete` is called by several threads at once. Building must not reach out: :meth:`check` does. One that
    knows what its models cost implements :class:`PricedLLMBackend`.
    """

    model: str
    """The model asked. Settled by :meth:`check` where the backend chooses one."""
    sees: bool
    """Whether images can be sent."""

    def check(self) -> str:
        """Reaches out once. Returns a line that says what answers, where; settles the model.

        Raises:
            LLMConnectionError: the service, the model or the key is missing; says what to do.
        """
        ...

    def complete(self, request: LLMRequest) -> LLMReply:
        """Asks, and waits for the whole reply, ``timeout_s`` at most.

        Raises:
            LLMFailure: there is no reply. Never anything else.
        """
        ...

    def models(self) -> list[str]:
        """Names of the models that could be asked, best known first; empty where the service can't tell."""
        ...

    def close(self) -> None:
        """Lets go of connections, processes and threads."""
        ...


class TellingLLMBackend(LLMBackend, Protocol):
    """A backend that has something to tell beside its replies, such as an option that its service refuses."""

    tell: Callable[[str], None]
    """Set by the core. Called with a line for people, by any thread."""


class PricedLLMBackend(LLMBackend, Protocol):
    """A backend that knows list prices, so that a budget in dollars can be kept. A user's ``llm_prices`` go first."""

    @property
    def prices(self) -> Mapping[str, Price]:
        """Prices by the beginnings of models' names; the longest that fits counts. Empty where nothing is known."""
        ...
