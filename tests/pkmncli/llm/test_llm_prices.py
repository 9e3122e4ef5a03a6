"""Budgets in dollars: a price that nobody knows is asked for at the start, and a user's own goes first."""

from __future__ import annotations

from typing import Any

import pytest

from pkmncli.advice.build import build_client
from pkmncli.api import Price
from pkmncli.config import resolve_settings
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry
from pkmncli.testing.scripted import ScriptedBackend


@pytest.fixture(autouse=True)
def _replies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScriptedBackend, "check", lambda self: "here")  # which needs a file of replies


def _price_with(**values: Any) -> Price | None:
    options = {"llm": "scripted", "llm_model": "mine-2", **values}
    settings = resolve_settings(options, registry=get_registry(), environ={})
    client = build_client(settings, get_registry(), report=print, tell=lambda text: None)
    try:
        return client.usage.price
    finally:
        client.close()


def test_a_budget_without_a_price_is_refused_with_what_to_set() -> None:
    with pytest.raises(ConfigurationError, match="--llm-price") as error:
        _price_with(llm_budget_usd=1.0)
    assert "--llm-budget-tokens" in str(error.value)
    assert error.value.exit_code == 2
    assert _price_with() is None


def test_a_price_of_ones_own_is_taken_by_the_longest_beginning() -> None:
    assert _price_with(llm_budget_usd=1.0, llm_prices=["m=1/1", "mine=2.5/10"]) == Price(2.5, 10.0)
    assert _price_with(llm_prices="other=1/2,mine=0/0") == Price(0.0, 0.0)


@pytest.mark.parametrize("text", ["mine", "mine=3", "mine=1/2/3", "mine=a/b", "mine=-1/2", "mine=1/nan"])
def test_a_price_that_is_none_is_told(text: str) -> None:
    with pytest.raises(ConfigurationError, match="MODEL=PROMPT/REPLY"):
        _price_with(llm_prices=[text])
