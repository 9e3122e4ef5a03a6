"""Types of the core's settings, with the conversion and check of given values."""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from pkmncli.api import expand_home, parse_toml

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


def member_of_text(text: str) -> tuple[str, str | None]:
    """Return the backend and the model of ``BACKEND:MODEL``; without a model the backend chooses.

    Raises:
        ValueError: the text names no backend, no model after its colon, or has a character that cannot be seen.
    """
    backend, colon, model = (part.strip() for part in text.partition(":"))
    if not backend or backend == NONE or (colon and not model) or not text.isprintable():
        raise ValueError(f"{text!r} is no model: write BACKEND:MODEL, or BACKEND alone, as ollama:qwen3:4b")
    return backend, model or None


def _split_each(value: Any) -> Any:
    values = [value] if isinstance(value, str) else value
    return [part for one in values for part in (_split(one) if isinstance(one, str) else [one])]


def _check_member(text: str) -> str:
    member_of_text(text)
    return text


def _check_ensemble(texts: list[str]) -> list[str]:
    if len(texts) == 1:
        raise ValueError(f"{texts[0]!r} is alone: name at least two models, or choose one with --llm and --llm-model")
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is named twice")
    return texts


def _check_host_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?", text) or len(text) > 253:
        raise ValueError(f"{text!r} is no host name: write the name alone, as page.example.org")
    return text.lower()


def _check_url_folder(text: str) -> str:
    if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*/?", text) or len(text) > 500:
        raise ValueError(f"{text!r} is no folder of an address: write it as /user/me/page")
    return text.rstrip("/")


def keyword_of_text(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``key=value``; the value as TOML, or as it is if it is none.

    Raises:
        ValueError: the text is no such pair.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise ValueError(f"{text!r} is no argument: write key=value")
    return name.strip(), _toml_value(value)


def fields_of_texts(texts: Sequence[str]) -> dict[str, Any]:
    """Return the fields of ``key=value`` texts. A key with dots, as ``options.num_gpu``, is a field of a table.

    Raises:
        ValueError: a text is no such pair, or its key is given twice.
    """
    fields: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        *tables, last = name.strip().split(".")
        if not equals or not all([*tables, last]):
            raise ValueError(f"{text!r} is no field: write key=value, as top_k=20 or options.num_gpu=20")
        table = fields
        for part in tables:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise ValueError(f"{text!r} makes a table of a field that has a value")
        if last in table:
            raise ValueError(f"{name.strip()!r} is given twice")
        table[last] = _toml_value(value.strip())
    return fields


def _toml_value(text: str) -> Any:
    """Return a text as a TOML value, or unchanged if it is none."""
    try:
        found = parse_toml(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if len(found) == 1 else text


def wrapper_of_text(text: str) -> tuple[str, dict[str, Any]]:
    """Return the import target and the keyword arguments of ``module:Class key=value ...``.

    Raises:
        ValueError: the text is no wrapper.
    """
    target, *arguments = shlex.split(text) or [""]
    if not re.fullmatch(r"\w+(\.\w+)*:\w+(\.\w+)*", target):
        raise ValueError(f"{text!r} is no wrapper: write module:Class, or 'module:Class key=value'")
    return target, dict(keyword_of_text(one) for one in arguments)


def _check_keyword(text: str) -> str:
    keyword_of_text(text)
    return text


def _check_fields(texts: list[str]) -> list[str]:
    fields_of_texts(texts)
    return texts


def _check_wrapper(text: str) -> str:
    wrapper_of_text(text)
    return text


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

UrlFolder = Annotated[str, AfterValidator(_check_url_folder)]
"""Path of a folder in a web address, without a slash at its end; empty for the top."""

KeywordTexts = Annotated[
    list[Annotated[str, AfterValidator(_check_keyword)]],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]
"""Arguments that :func:`keyword_of_text` reads; one of them may be a text alone."""

FieldTexts = Annotated[
    list[str],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    AfterValidator(_check_fields),
]
"""Fields that :func:`fields_of_texts` reads; one of them may be a text alone."""

WrapperTexts = Annotated[
    list[Annotated[str, AfterValidator(_check_wrapper)]],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]
"""Wrappers that :func:`wrapper_of_text` reads; one of them may be a text alone."""

Prices = Annotated[list[Annotated[str, AfterValidator(_check_price)]], BeforeValidator(_split)]
"""Prices that :func:`price_of_text` reads."""

Ensemble = Annotated[
    list[Annotated[str, AfterValidator(_check_member)]], BeforeValidator(_split_each), AfterValidator(_check_ensemble)
]
"""Models that :func:`member_of_text` reads: none, or at least two."""

StrategyName = Annotated[str, BeforeValidator(_hyphenated)]
"""Name of a strategy, with hyphens and in lower case."""

LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)]
"""Level of the log, in upper case."""
