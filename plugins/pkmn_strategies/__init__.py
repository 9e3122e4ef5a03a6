"""Strategies: fixed shares of language model and rules, and one that adapts to the worth of each."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "AdaptiveStrategySystem":
        from pkmn_strategies.adaptive import AdaptiveStrategySystem  # noqa: PLC0415 - loading plugins imports this

        return AdaptiveStrategySystem
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
