"""Language models that are reached through a service: they answer, and cannot learn."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Final

from pkmn_multimodel.players import RandomPlayer
from pkmn_multimodel.settings import SERVICES, LLMBackend
from pkmncli.api import LLMFailure, LLMRequest
from pkmncli.errors import PkmnError

if TYPE_CHECKING:
    from pkmn_multimodel.settings import MultiModelConfig
    from pkmncli import LLMManager

BACKENDS: Final[Mapping[LLMBackend, str]] = {
    LLMBackend.OPENAI_API: "openai",
    LLMBackend.ANTHROPIC: "anthropic",
    LLMBackend.VLLM: "vllm",
}
"""Name of the language model backend for each source that is a service."""
KEYS: Final[Mapping[str, str]] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "vllm": "OPENAI_API_KEY",
}
"""Environment variable of each backend's key."""
_ERRORS: Final[Mapping[str, tuple[str, str]]] = {
    "openai": ("openai", "OpenAI API error"),
    "anthropic": ("anthropic", "Anthropic API error"),
    "vllm": ("openai", "vLLM API error"),
}
"""Package with the ``APIError`` of each backend, and its words."""

PARALLEL_QUESTIONS = 8
"""Most questions to a service at the same time."""
MOST_FAILURES = 3
"""Questions in a row without a reply after which a service is no longer asked."""
REPLY_TOKENS = 32
"""Most tokens of a service's reply."""


def service(source: LLMBackend, model_name: str, api_key: str | None = None) -> LLMManager:
    """Return the backend of a service's model. It connects when it is first asked, or checked.

    Args:
        source: a key of :data:`BACKENDS`.
        model_name: name of the model; empty for the service's own choice.
        api_key: key of the service, set for this process; by default that of its environment variable.

    Raises:
        ConfigurationError: the backend's package is not installed.
    """
    from pkmncli import LLMManager  # noqa: PLC0415 - takes a while

    backend = BACKENDS[source]
    if api_key:
        os.environ[KEYS[backend]] = api_key
    return LLMManager.named(backend, model_name or None)


def api_error(source: LLMBackend, failure: Exception) -> Exception:
    """Return a failure as the error of the service's own package, ``openai.APIError`` or ``anthropic.APIError``."""
    package, words = _ERRORS[BACKENDS[source]]
    request = getattr(failure.__cause__, "request", None)
    error: Exception = import_module(package).APIError(f"{words}: {failure}", request, body=None)
    return error


class ServicePlayer(RandomPlayer):
    """Player whose replies are those of a service's model. Where there is no reply, it takes any option.

    Args:
        model: backend of the model.
        seed: of its choices without a reply.
        temperature: of sampling.
        most_calls: questions in all; afterwards it takes any option.
        tell: reports a line when it is no longer asked.
    """

    def __init__(
        self,
        model: LLMManager,
        seed: int = 0,
        *,
        temperature: float = 1.0,
        most_calls: int = 1000,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        super().__init__(seed)
        self.calls = 0
        """Questions that were asked."""
        self._model = model
        self._temperature = temperature
        self._most_calls = most_calls
        self._tell = tell
        self._failures = 0
        self._stopped = False

    def replies(self, prompts: Sequence[str], options: Sequence[Sequence[str]]) -> list[str]:
        """Return a reply to each prompt."""
        at_random = super().replies(prompts, options)
        count = 0 if self._stopped else min(len(prompts), self._most_calls - self.calls)
        self.calls += count
        with ThreadPoolExecutor(PARALLEL_QUESTIONS) as threads:
            asked = list(threads.map(self._reply, prompts[:count], options[:count]))
        if not self._stopped and self.calls >= self._most_calls:
            self._stop(f"{self._most_calls:,} questions were asked (multimodel.service_calls)")
        return [reply or other for reply, other in zip([*asked, *[""] * len(at_random)], at_random, strict=False)]

    def close(self) -> None:
        """Close the connections to the service. It plays at random afterwards."""
        self._stopped = True
        self._model.close()

    def _reply(self, prompt: str, options: Sequence[str]) -> str:
        if self._stopped:
            return ""
        words = f"Reply with one of these and nothing else: {', '.join(options)}."
        try:
            reply = self._model.complete(
                LLMRequest(words, prompt, max_tokens=REPLY_TOKENS, temperature=self._temperature)
            )
        except LLMFailure as failure:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                self._stop(str(failure))
            return ""
        self._failures = 0
        return reply.text

    def _stop(self, reason: str) -> None:
        if not self._stopped:
            self._stopped = True
            self._tell(f"{self.name} plays at random from now on: {reason}.")


def outside_players(
    settings: MultiModelConfig, seed: int, tell: Callable[[str], None] = lambda text: None
) -> Mapping[str, RandomPlayer]:
    """Return the players of the models that do not learn, by name: their services if they can be asked, else scripts.

    Args:
        settings: of the training.
        seed: of everything random.
        tell: reports a line for each.
    """
    players = dict[str, RandomPlayer]()
    for number in range(settings.num_models):
        kind, name, player = settings.type_of(number), f"model_{number}", RandomPlayer(seed + number)
        if kind not in SERVICES:
            continue
        model = None
        try:
            model = service(SERVICES[kind], settings.model_names.get(kind, ""))
            place = model.check().removeprefix("Advice: ").rstrip(".")
        except PkmnError as error:
            if model is not None:
                model.close()
            tell(f"{name} ({kind}) plays at random and does not learn: {error}")
        else:
            most, temperature = settings.service_calls, settings.temperature
            player = ServicePlayer(model, seed + number, temperature=temperature, most_calls=most, tell=tell)
            tell(f"{name} plays and does not learn: {place}, asked at most {most:,} times.")
        player.name = name
        players[name] = player
    return players
