"""The line on the language model at a run's end, and the advice in it."""

from __future__ import annotations

from typing import Any

import pytest

from pkmncli.api import LLMFault
from pkmncli.llm.summary_line import advice_line, model_lines, what_helps

NOTHING: dict[str, Any] = {
    **{"requests": 0, "replies": 0, "from_cache": 0, "outdated": 0, "cut": 0, "empty": 0, "faults": {}, "readings": {}},
    **{"validity_rate": None, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": None, "latency_p50_s": None},
    "coverage": 0.0,
}
WELL = {"requests": 10, "replies": 10, "validity_rate": 1.0, "readings": {"schema": 10}}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, ""),
        (WELL, ""),
        ({"from_cache": 10, "validity_rate": 1.0}, ""),
        (WELL | {"requests": 12, "faults": {LLMFault.TIMEOUT: 2}}, ""),
        ({"requests": 1}, "before one came"),
        ({"requests": 3, "faults": {LLMFault.TIMEOUT: 3}}, "--llm-load-timeout-s"),
        ({"requests": 10, "replies": 2, "validity_rate": 1.0, "faults": {LLMFault.TIMEOUT: 8}}, "--llm-timeout-s"),
        ({"requests": 3, "faults": {LLMFault.LOADING: 3}}, "still loading"),
        ({"requests": 3, "faults": {LLMFault.UNREACHABLE: 3}}, "could not be reached or used"),
        ({"requests": 3, "faults": {LLMFault.OVERLOADED: 2, LLMFault.TIMEOUT: 1}}, "overloaded"),
        ({"requests": 3, "faults": {LLMFault.AUTHENTICATION: 3}}, "key was refused"),
        ({"requests": 3, "faults": {LLMFault.NO_MODEL: 3}}, "does not have the model"),
        ({"requests": 3, "faults": {LLMFault.TOO_LONG: 3}}, "max_context_length"),
        ({"requests": 3, "faults": {LLMFault.REFUSED: 3}}, "pkmn llm ask"),
        ({"requests": 3, "faults": {LLMFault.BROKEN: 3}}, "its service failed"),
        ({"requests": 3, "faults": {"of a plugin": 3}}, ""),
        (WELL | {"validity_rate": 0.0, "empty": 10}, "--set ollama.think=false"),
        (WELL | {"validity_rate": 0.0, "cut": 10}, "most were cut off: raise --llm-reply-tokens"),
        (WELL | {"validity_rate": 0.1}, "could not be read"),
        (WELL | {"outdated": 9}, "too late"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_helps_fits_what_happened(values: dict[str, Any], said: str) -> None:
    llm = NOTHING | values
    if said:
        assert said in what_helps(llm)
        assert said.lower() in advice_line(llm).lower()
    else:
        assert what_helps(llm) == ""
        assert advice_line(llm).endswith("steps.")


def test_every_fault_has_its_advice() -> None:
    for fault in LLMFault:
        assert what_helps(NOTHING | {"requests": 1, "faults": {str(fault): 1}}), fault


def test_the_summary_of_an_earlier_version_has_its_line() -> None:
    old = {name: value for name, value in (NOTHING | WELL).items() if name not in ("cut", "empty")}
    assert advice_line(old).startswith("Language model: 10 requests, 10 answers, 100% valid")


def test_each_model_of_an_ensemble_has_its_line() -> None:
    first = NOTHING | {"requests": 1, "replies": 1, "prompt_tokens": 1, "cost_usd": 0.5, "latency_p50_s": 2.0}
    second = NOTHING | {"requests": 1_200, "faults": {LLMFault.TIMEOUT: 2}}
    models = {
        "ollama:a": first | {"given": 1, "tried": 1, "right": 0},
        "openai:b": second | {"given": 0, "tried": 0, "right": 0},
    }
    assert model_lines(NOTHING | {"models": models}) == [
        "  ollama:a: 1 request, 1 answer, advice given 1 time, right 0 of 1, 1 token, $0.5000, 2.0 s each.",
        f"  openai:b: 1,200 requests, 0 answers, 2 {LLMFault.TIMEOUT}, advice given 0 times, 0 tokens.",
    ]
    assert model_lines(NOTHING) == []
