"""Advice of a training, built from the settings: backend, client, requests and coordinator."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from pkmncli.advice.coordinator import AdviceCoordinator, AdviceOptions, Environments
from pkmncli.advice.lessons import EarlierLessons
from pkmncli.advice.policy import AdvicePolicy
from pkmncli.api import LLMBackend, Price, StrategyType
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.setting_types import price_of_text
from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.llm.budget import Usage, price_of
from pkmncli.llm.cache import CacheUse, ReplyCache
from pkmncli.llm.client import LLMClient
from pkmncli.llm.loading import LONGEST_S, Loading
from pkmncli.llm.prompts import PromptTemplate
from pkmncli.llm.replies import ReplyForm
from pkmncli.llm.requests import AdviceRequests
from pkmncli.llm.retry import CircuitBreaker
from pkmncli.seeds import Purpose, derive_seed

if TYPE_CHECKING:
    from pkmncli.plugins import Registry

CACHE_FILE = "llm-replies.sqlite"

_WAYS = frozenset({"proxy", "listed_only"})
"""Settings of a backend that no reply depends on."""

CoordinatorBuilder = Callable[[Callable[[Mapping[str, Any]], None]], AdviceCoordinator]
"""Function that builds the coordinator, given the function that takes the rows of its journal."""


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
    backend = build_backend(settings, registry, report)
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
        form=form or ReplyForm(),
        most_tokens=train.max_context_length,
        cache=cache,
        cache_use=use,
        report=report,
    )


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


def build_coordinator(
    settings: ResolvedSettings, registry: Registry, environments: Environments, *, tell: Callable[[str], None]
) -> CoordinatorBuilder | None:
    """Return the function that builds a training's coordinator, once there is a journal; None without a model.

    Args:
        settings: of the training.
        registry: of the plugins.
        environments: of the training.
        tell: receives messages for people, from any thread.
    """
    train = settings.train
    if train.llm == NONE:
        return None
    form = ReplyForm(environments.skills, environments.action_names)
    template = PromptTemplate.load(train.llm_prompt, train.max_context_length, form)
    earlier = EarlierLessons.load(train.lessons_file) if train.lessons_file else EarlierLessons()
    client = build_client(settings, registry, report=tell, tell=tell, form=form)
    requests = AdviceRequests(
        client,
        environments.num_envs,
        most_open=train.llm_max_open,
        # Replies of a cache alone come at once, and must come at the same step every time.
        waits=train.llm_wait or client.cache_use is CacheUse.ONLY,
        patience_s=2 * client.backoff.attempts * train.llm_timeout_s + min(4 * train.llm_load_time_s, LONGEST_S) + 60,
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
        earlier=earlier,
    )
    policy = AdvicePolicy(share, train.llm_allowance, holds_back_failures=train.lessons)

    def build(record: Callable[[Mapping[str, Any]], None]) -> AdviceCoordinator:
        return AdviceCoordinator(environments, requests, template, options, policy, record=record, report=tell)

    return build
