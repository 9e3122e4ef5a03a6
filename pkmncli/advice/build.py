"""Advice of a training, built from the settings: backend, client, requests and coordinator."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from pkmncli.advice.coordinator import AdviceCoordinator
from pkmncli.advice.ensemble import EnsembleChoice
from pkmncli.advice.lessons import EarlierLessons
from pkmncli.advice.live_advice import AdvisedEnvironment
from pkmncli.advice.policy import AdvicePolicy
from pkmncli.advice.questions import AdviceOptions, Environments, Questions
from pkmncli.advice.triggers import EventWatcher
from pkmncli.advice.worth import action_key
from pkmncli.api import LLMBackend, LLMRequest, Price, StrategyType
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.resolved import DEFAULT
from pkmncli.config.setting_types import member_of_text, price_of_text
from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.llm.cache import CacheUse, ReplyCache
from pkmncli.llm.client import LLMClient
from pkmncli.llm.ensemble import EnsembleClient
from pkmncli.llm.loading import LONGEST_S, Loading
from pkmncli.llm.manager import BaseLLMManager
from pkmncli.llm.prompts import PromptTemplate
from pkmncli.llm.replies import ReplyForm
from pkmncli.llm.requests import AdviceRequests
from pkmncli.llm.retry import Backoff, CircuitBreaker
from pkmncli.llm.usage import Usage, price_of
from pkmncli.seeds import Purpose, derive_seed

if TYPE_CHECKING:
    from pkmncli.plugins import Registry

CACHE_FILE = "llm-replies.sqlite"

_WAYS = frozenset({"proxy", "listed_only"})
"""Settings of a backend that no reply depends on."""


@dataclass(frozen=True, slots=True)
class AdviceParts:
    """Parts of a training's advice, until there is a run."""

    client: LLMClient | EnsembleClient
    build: Callable[[Callable[[Mapping[str, Any]], None]], AdviceCoordinator]
    """Builds the coordinator, given the function that takes the rows of its journal."""
    sample_request: Callable[[], LLMRequest]
    """Returns a request about the first environment. Reading its context has an effect until the next reset."""


def build_backend(
    settings: ResolvedSettings, registry: Registry, tell: Callable[[str], None] = lambda text: None
) -> LLMBackend:
    """Return the backend that the settings choose, without connecting. ``tell`` receives its later messages."""
    train = settings.train
    registration = registry.get("llm_backends", train.llm)
    own = settings.for_part(registration)
    backend: LLMBackend = registration.load()(own, train.llm_model)
    if hasattr(backend, "tell"):
        backend.tell = tell
    return backend


def build_client(
    settings: ResolvedSettings,
    registry: Registry,
    *,
    report: Callable[[str], None],
    tell: Callable[[str], None],
    form: ReplyForm | None = None,
) -> LLMClient:
    """Return the client of the chosen backend. The backend is checked first, unless only the cache is used.

    Args:
        settings: of the training.
        registry: of the plugins.
        report: receives later failures, from any thread.
        tell: receives the name of the model that answers.
        form: form of the replies; by default that of an environment and a pilot that declare nothing.

    Raises:
        LLMConnectionError: the backend cannot be reached, and is not optional.
        ConfigurationError: the backend takes no images, but is to see; or a budget in dollars has no price.
    """
    train = settings.train
    use = CacheUse(train.llm_cache)
    form = form or ReplyForm()
    backend = build_backend(settings, registry, report)
    if isinstance(backend, BaseLLMManager):
        backend.form = form
    if train.llm_vision and not backend.sees:
        raise ConfigurationError(f"--llm-vision: the backend {train.llm} takes no images; leave it out")
    cache = None
    if use is not CacheUse.OFF:
        cache = ReplyCache(cache_path(train.llm_cache_path), read_only=use is CacheUse.ONLY)
    name, settled = _identity(settings, registry), True
    if use is CacheUse.ONLY:
        assert cache is not None
        backend.model = cache.remembered_model(name) or backend.model
    else:
        try:
            tell(backend.check())
        except Exception as error:  # any bug in a backend; an optional one is not needed
            if not train.llm_optional:
                backend.close()
                raise
            settled = False
            said = str(error) if isinstance(error, PkmnError) else one_line(error)
            tell(f"{said}\nGoing on without its advice for now; it is asked again from time to time.")
    if cache is not None and use.writes and settled:
        cache.remember_model(name, backend.model)
    own = {model: Price(prompt, reply) for model, prompt, reply in map(price_of_text, train.llm_prices)}
    price = price_of(backend.model, own) or price_of(backend.model, getattr(backend, "prices", {}))
    if train.llm_budget_usd is not None and price is None and use is not CacheUse.ONLY:
        backend.close()
        model = backend.model or "the model"
        raise ConfigurationError(
            f"--llm-budget-usd: the price of {model} is not known; say it with --llm-price {model}=PROMPT/REPLY "
            "(dollars a million tokens), or limit --llm-budget-tokens instead"
        )
    usage = Usage(price, train.llm_budget_usd, train.llm_budget_tokens)
    return LLMClient(
        backend,
        name,
        usage,
        CircuitBreaker(time.monotonic),
        settled=settled,
        loading=Loading(train.llm_load_time_s, report),
        form=form,
        most_tokens=train.max_context_length,
        cache=cache,
        cache_use=use,
        report=report,
        may_grow=settings.origin("", "llm_reply_tokens") == DEFAULT,
    )


def build_asked(
    settings: ResolvedSettings,
    registry: Registry,
    *,
    waits: bool,
    report: Callable[[str], None],
    tell: Callable[[str], None],
    form: ReplyForm | None = None,
) -> LLMClient | EnsembleClient:
    """Return the client of the chosen model, or that of the models of ``llm_ensemble``.

    Args:
        settings, registry, report, tell, form: as for :func:`build_client`, also the errors.
        waits: True if an ensemble waits for all of its models.
    """
    train = settings.train
    if not train.llm_ensemble:
        return build_client(settings, registry, report=report, tell=tell, form=form)
    clients: dict[str, LLMClient] = {}
    for name in train.llm_ensemble:
        llm, model = member_of_text(name)
        own = settings.changed(
            {"llm": llm, "llm_model": model, "llm_ensemble": []},
            may_change=("llm", "llm_model", "llm_ensemble"),
            origin="a model of llm_ensemble",
        )
        try:
            clients[name] = build_client(own, registry, report=partial(_report_of, name, report), tell=tell, form=form)
        except Exception:
            for client in clients.values():
                client.close()
            raise
        clients[name].meanwhile = "The other models continue"
    return EnsembleClient(clients, waits)


def build_choice(settings: ResolvedSettings, form: ReplyForm) -> EnsembleChoice | None:
    """Return the choice among the answers of the models of ``llm_ensemble``; None without them."""
    train = settings.train
    key = partial(action_key, names=form.actions)
    return EnsembleChoice(train.llm_ensemble, train.llm_ensemble_by, key) if train.llm_ensemble else None


def _report_of(name: str, report: Callable[[str], None], text: str) -> None:
    report(f"{name}: {text}")


def _identity(settings: ResolvedSettings, registry: Registry) -> str:
    """Return the backend with all of its settings that replies may depend on, for the cache's keys."""
    train = settings.train
    own = settings.values_for_part(registry.get("llm_backends", train.llm))
    own = {name: value for name, value in own.items() if name not in _WAYS and value != {}}  # unset, as if unknown
    return json.dumps([train.llm, train.llm_model, own], sort_keys=True, default=str)


def cache_path(chosen: Path | None) -> Path:
    """Return the file of the cache: the chosen one, or one in the user's cache folder."""
    return chosen or platformdirs.user_cache_path("pkmncli", appauthor=False) / CACHE_FILE


def advice_seed(settings: ResolvedSettings) -> int:
    """Return the seed of requests, below 2**31: services take no larger one."""
    return derive_seed(settings.train.seed, Purpose.ADVICE) >> 1


def connect(
    settings: ResolvedSettings, registry: Registry, *, tell: Callable[[str], None]
) -> LLMClient | EnsembleClient | None:
    """Return the client of a training's model, or of its models, before there are environments; None without a model.

    Args:
        settings: of the training.
        registry: of the plugins.
        tell: receives messages for people, from any thread.

    Raises:
        LLMConnectionError, ConfigurationError: as :func:`build_client`, or a file for the prompts is wrong.
    """
    train = settings.train
    if train.llm == NONE:
        return None
    PromptTemplate.load(train.llm_prompt)
    _earlier_lessons(settings)
    return build_asked(settings, registry, waits=_waits(settings), report=tell, tell=tell)


def _earlier_lessons(settings: ResolvedSettings) -> EarlierLessons:
    file = settings.train.lessons_file
    return EarlierLessons.load(file) if file else EarlierLessons()


def _waits(settings: ResolvedSettings) -> bool:
    """Return whether steps wait for advice. Replies of a cache come at once, and always at the same step."""
    train = settings.train
    return train.llm_wait or train.model_alone or CacheUse(train.llm_cache) is CacheUse.ONLY


def build_coordinator(
    settings: ResolvedSettings,
    client: LLMClient | EnsembleClient,
    environments: Environments,
    *,
    tell: Callable[[str], None],
) -> AdviceParts:
    """Return the parts of a training's advice.

    Args:
        settings: of the training.
        client: of the model, as :func:`connect` returns it.
        environments: of the training.
        tell: receives messages for people, from any thread.
    """
    train = settings.train
    rules = train.pilot != NONE
    alone = train.model_alone
    form = ReplyForm(environments.skills, environments.action_names, notes=train.llm_notes > 0)
    for one in client.models.values() if isinstance(client, EnsembleClient) else (client,):
        one.form = form
        if isinstance(one.backend, BaseLLMManager):
            one.backend.form = form
    template = PromptTemplate.load(train.llm_prompt, train.max_context_length, form)
    choice = build_choice(settings, form)
    requests = AdviceRequests(
        client,
        environments.num_envs,
        most_open=train.llm_max_open,
        waits=_waits(settings),
        patience_s=2 * Backoff().attempts * train.llm_timeout_s + min(4 * train.llm_load_time_s, LONGEST_S) + 60,
    )
    # Alone, the model is followed wherever it has advice; otherwise the strategy decides the share.
    share = 1.0 if train.mode == "llm-only" else StrategyType(train.initial_strategy).llm_share
    options = AdviceOptions(
        interval=train.llm_interval,
        prompt_tokens=train.max_context_length,
        timeout_s=train.llm_timeout_s,
        vision=train.llm_vision,
        seed=advice_seed(settings),
        form=form,
        temperature=train.llm_temperature,
        reply_tokens=train.llm_reply_tokens,
        lessons=train.lessons,
        earlier=_earlier_lessons(settings),
        rules=rules,
        summary=train.llm_summary,
        most_notes=train.llm_notes,
        alone=alone,
    )
    policy = AdvicePolicy(share, 1.0 if alone else train.llm_allowance)

    def build(record: Callable[[Mapping[str, Any]], None]) -> AdviceCoordinator:
        return AdviceCoordinator(
            environments, requests, template, options, policy, record=record, report=tell, choice=choice
        )

    def sample_request() -> LLMRequest:
        questions = Questions(environments, template, options, policy.worth)
        return questions.request(0, questions.new(0, AdvisedEnvironment(EventWatcher((), (), {})), 0, 0))

    return AdviceParts(client, build, sample_request)
