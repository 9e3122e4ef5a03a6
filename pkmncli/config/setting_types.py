"""Types of the core's settings, with the conversion and check of given values."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from pkmncli.api import expand_home

NONE = "none"
"""Name that switches a part off where a plugin's name is expected."""

HEAVIEST_REWARD = 1e9


def price_of_text(text: str) -> tuple[str, float, float]:
    """Return the model's name prefix and the two prices of ``NAME=PROMPT/REPLY``, in US dollars a million tokens.

    Raises:
        ValueError: the text is no price.
    """
    model, equals, prices = text.rpartition("=")
    numbers = [part for part in prices.split("/") if _is_finite_number(part) and float(part) >= 0]
    if not equals or prices.count("/") != 1 or len(numbers) != 2:
        raise ValueError(f"{text!r} is no price: write MODEL=PROMPT/REPLY, dollars a million tokens, as gpt-4o=2.5/10")
    return model.strip(), float(numbers[0]), float(numbers[1])


def _absolute(path: Path) -> Path:
    try:
        return expand_home(path).absolute()
    except FileNotFoundError:
        raise ValueError("the current folder was deleted: go to one that is there") from None


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _split(value: Any) -> Any:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _hyphenated(value: Any) -> Any:
    return value.replace("_", "-").lower() if isinstance(value, str) else value


def _check_reward(text: str) -> str:
    _, separator, weight = text.partition("=")
    if separator and not _is_finite_number(weight):
        raise ValueError(f"{text!r} is no reward: write a name, or name=weight with a number as weight")
    if separator and abs(float(weight)) > HEAVIEST_REWARD:
        raise ValueError(f"{text!r}: a weight is at most {HEAVIEST_REWARD:,.0f} either way, or rewards overflow")
    return text


def _check_no_part_twice(parts: list[str]) -> list[str]:
    names = [text.partition("=")[0].strip() for text in parts]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is named twice: give one weight")
    return parts


def _check_trackers(names: list[str]) -> list[str]:
    if NONE in names and len(names) > 1:
        raise ValueError(f"{NONE!r} goes alone: no other tracker beside it")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is named twice")
    return names


def _check_host_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?", text) or len(text) > 253:
        raise ValueError(f"{text!r} is no host name: write the name alone, as page.example.org")
    return text.lower()


def _check_price(text: str) -> str:
    price_of_text(text)
    return text


def _is_finite_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
"""Path made absolute from the current folder when it is read, so that a run can be resumed from anywhere."""

Texts = Annotated[list[str], BeforeValidator(_split)]
"""List of texts, also as one text with commas."""

RewardParts = Annotated[
    list[Annotated[str, AfterValidator(_check_reward)]], BeforeValidator(_split), AfterValidator(_check_no_part_twice)
]
"""Parts of the reward, each a name or ``name=weight``."""

Trackers = Annotated[list[str], BeforeValidator(_split), AfterValidator(_check_trackers)]
"""Names of trackers, or ``none`` alone."""

HostNames = Annotated[list[Annotated[str, AfterValidator(_check_host_name)]], BeforeValidator(_split)]
"""Names of hosts, in lower case."""

Prices = Annotated[list[Annotated[str, AfterValidator(_check_price)]], BeforeValidator(_split)]
"""Prices that :func:`price_of_text` reads."""

StrategyName = Annotated[str, BeforeValidator(_hyphenated)]
"""Name of a strategy, with hyphens and in lower case."""

LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)]
"""Level of the log, in upper case."""
