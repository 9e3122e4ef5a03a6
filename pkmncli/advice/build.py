"""Builds what stands between a training and its language model, from the settings."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from pkmncli.advice.coordinator import AdviceDesk, AdviceOptions, Environments
from pkmncli.advice.earlier_lessons import EarlierLessons
from pkmncli.advice.sides import SideShare
from pkmncli.api import LLMBackend, Price, StrategyType
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.train_settings import price_of_text
from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.llm.advisor import Advisor
from pkmncli.llm.cache import CacheUse, ReplyCache
from pkmncli.llm.counsel import Counsel
from pkmncli.llm.guard import Breaker
from pkmncli.llm.loading import LONGEST_S, Loading
from pkmncli.llm.prompts import PromptTemplate
from pkmncli.llm.usage import Usage, price_of
from pkmncli.seeds import Purpose, derive_seed

if TYPE_CHECKING:
    from pkmncli.plugins import Registry

CACHE_FILE = "llm-replies.sqlite"

_WAYS = frozenset({"proxy", "listed_only"})
"""Settings of a backend that no reply depends on."""

DeskBuilder = Callable[[Callable[[Mapping[str, Any]], None]], AdviceDesk]
"""Builds the desk, given what takes the rows of its journal."""


def build_backend(
    settings: ResolvedSettings, registry: Registry, tell: Callable[[str], None] = lambda text: None
) -> LLMBackend:
    """The backend that the settings choose. Reaches out to nobody; ``tell`` takes what it has to tell later."""
    train = settings.train
    registration = registry.get("llm_backends", train.llm)
    own = settings.plugin(train.llm) if registration.config is not None else None
    backend: LLMBackend = registration.load()(own, train.llm_model)
    if hasattr(backend, "tell"):
        backend.tell = tell
    return backend


def build_counsel(
    settings: ResolvedSettings, registry: Registry, *, report: Callable[[str], None], tell: Callable[[str], None]
) -> Counsel:
    """The backend with its cache, limits and accounting, reached once unless the cache is all that is asked.

    Args:
        settings: the training's settings.
        registry: where names are looked up.
        report: told of what goes wrong later, from any thread.
        tell: told which model answers.

    Raises:
        LLMConnectionError: it can't be reached, and may not be done without.
        ConfigurationError: it doesn't see, and was to; or dollars are to be counted that nobody knows.
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
        except Exception as error:  # whatever a backend of anybody's fails over, it may be done without
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
    return Counsel(
        backend,
        name,
        usage,
        Breaker(time.monotonic),
        settled=settled,
        loading=Loading(train.llm_load_time_s, report),
        most_tokens=train.max_context_length,
        cache=cache,
        cache_use=use,
        report=report,
    )


def _identity(settings: ResolvedSettings, registry: Registry) -> str:
    """The backend with everything in its settings that replies may depend on, for the cache's keys."""
    train = settings.train
    own = settings.plugin_values(train.llm) if registry.get("llm_backends", train.llm).config is not None else {}
    own = {name: value for name, value in own.items() if name not in _WAYS and value != {}}  # unset, as if unknown
    return json.dumps([train.llm, train.llm_model, own], sort_keys=True, default=str)


def cache_path(chosen: Path | None) -> Path:
    """Where replies are kept: the file chosen, or one in the user's cache folder."""
    return chosen or platformdirs.user_cache_path("pkmncli", appauthor=False) / CACHE_FILE


def advice_seed(settings: ResolvedSettings) -> int:
    """The seed that requests carry: one of 63 bits less, since services take no more."""
    return derive_seed(settings.train.seed, Purpose.ADVICE) >> 1


def build_desk(
    settings: ResolvedSettings, registry: Registry, environments: Environments, *, tell: Callable[[str], None]
) -> DeskBuilder | None:
    """What builds the desk of a training, once there is a place for its journal; nothing without a model.

    Args:
        settings: the training's settings.
        registry: where names are looked up.
        environments: of the training.
        tell: shows a line to people; called by any thread.
    """
    train = settings.train
    if train.llm == NONE:
        return None
    template = PromptTemplate.load(train.llm_prompt, train.max_context_length)
    earlier = EarlierLessons.load(train.lessons_file) if train.lessons_file else EarlierLessons()
    counsel = build_counsel(settings, registry, report=tell, tell=tell)
    # Replies of a cache alone come at once, and must come at the same step every time.
    waits = train.llm_wait or counsel.cache_use is CacheUse.ONLY
    advisor = Advisor(
        counsel,
        environments.num_envs,
        most_open=train.llm_max_open,
        waits=waits,
        patience_s=2 * counsel.backoff.attempts * train.llm_timeout_s + min(4 * train.llm_load_time_s, LONGEST_S) + 60,
    )
    # Alone, the model is followed wherever it has something to say; otherwise the strategy shares.
    share = 1.0 if train.mode == "llm-only" else StrategyType(train.initial_strategy).llm_share
    options = AdviceOptions(
        interval=train.llm_interval,
        prompt_tokens=train.max_context_length,
        timeout_s=train.llm_timeout_s,
        vision=train.llm_vision,
        seed=advice_seed(settings),
        temperature=train.llm_temperature,
        reply_tokens=train.llm_reply_tokens,
        lessons=train.lessons,
        earlier=earlier,
        allowance=train.llm_allowance,
    )

    def build(record: Callable[[Mapping[str, Any]], None]) -> AdviceDesk:
        return AdviceDesk(environments, advisor, template, options, SideShare(share), record=record, report=tell)

    return build
