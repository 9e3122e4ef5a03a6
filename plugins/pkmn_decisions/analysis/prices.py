"""Prices of a run's language model: those of its settings, or its average cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Prices = Mapping[str, tuple[float, float]]
"""Dollars per million tokens of prompts and of replies, by the beginning of a model's name."""

ANY_MODEL = ""
"""Beginning of every model's name."""


def known_prices(folder: Path, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    """Return dollars per million tokens of prompts and of replies, by the beginning of a model's name.

    Args:
        folder: folder of the run. If its summary has the total cost of all tokens, that is used for any model.
        settings: settings of the run; their ``llm_prices`` come first.
    """
    prices = {}
    given = settings.get("", {}).get("llm_prices") or []
    for text in [given] if isinstance(given, str) else given:
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
        usage = json.loads(path.read_text(encoding="utf-8"))["llm"] if path.is_file() else {}  # a pipe never ends
        tokens = usage["prompt_tokens"] + usage["completion_tokens"]
        return float(usage["cost_usd"]) * 1e6 / tokens if tokens else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
