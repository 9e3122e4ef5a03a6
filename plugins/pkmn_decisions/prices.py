"""What a run tells of the prices of its language model: those it was given, or what it paid on the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Prices = Mapping[str, tuple[float, float]]
"""Dollars a million tokens of prompts and of replies, by the beginning of a model's name."""

ANY_MODEL = ""
"""The beginning of every model's name."""


def known_prices(folder: Path, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    """Dollars a million tokens of prompts and of replies, by the beginning of a model's name.

    Args:
        folder: of the run. Where its summary tells what all tokens cost together, that is taken for any model.
        settings: of the run; ``llm_prices`` in them goes first.
    """
    prices = {}
    told = settings.get("", {}).get("llm_prices") or []
    for text in [told] if isinstance(told, str) else told:
        model, _, both = str(text).rpartition("=")
        try:
            prompt, completion = (float(part) for part in both.split("/"))
        except ValueError:
            continue
        prices[model] = (prompt, completion)
    if not prices:
        average = _average(folder)
        if average is not None:
            prices[ANY_MODEL] = (average, average)
    return prices


def _average(folder: Path) -> float | None:
    try:
        path = folder / "summary.json"
        told = json.loads(path.read_text(encoding="utf-8"))["llm"] if path.is_file() else {}  # a pipe never ends
        tokens = told["prompt_tokens"] + told["completion_tokens"]
        return float(told["cost_usd"]) * 1e6 / tokens if tokens else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
