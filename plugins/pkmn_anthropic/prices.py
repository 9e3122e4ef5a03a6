"""Anthropic's list prices, for budgets in dollars. They change: the setting ``llm_prices`` takes precedence."""

from __future__ import annotations

from collections.abc import Mapping

from pkmncli.api import Price

ANTHROPIC_PRICES: Mapping[str, Price] = {
    "claude-3-5-haiku": Price(0.80, 4.00),
    "claude-3-haiku": Price(0.25, 1.25),
    "claude-3-opus": Price(15.00, 75.00),
    "claude-haiku-": Price(1.00, 5.00),
    "claude-opus-": Price(15.00, 75.00),
    "claude-": Price(3.00, 15.00),
}
"""Prices by the beginnings of models' names."""
