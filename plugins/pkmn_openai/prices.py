"""OpenAI's list prices, for budgets in dollars. They change: the setting ``llm_prices`` takes precedence."""

from __future__ import annotations

from collections.abc import Mapping

from pkmncli.api import Price

OPENAI_PRICES: Mapping[str, Price] = {
    "gpt-4o-mini": Price(0.15, 0.60),
    "gpt-4o": Price(2.50, 10.00),
    "gpt-4.1-nano": Price(0.10, 0.40),
    "gpt-4.1-mini": Price(0.40, 1.60),
    "gpt-4.1": Price(2.00, 8.00),
    "gpt-4-turbo": Price(10.00, 30.00),
    "gpt-4": Price(30.00, 60.00),
    "gpt-3.5-turbo": Price(0.50, 1.50),
}
"""Prices by the beginnings of models' names."""
