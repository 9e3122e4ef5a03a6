"""Summary of the language model at a run's end, in one line, with a hint if something went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pkmncli.api import LLMFault
from pkmncli.plurals import counted

_AGAINST: Mapping[str, str] = {
    LLMFault.UNREACHABLE: "it could not be reached or used: pkmn doctor says why",
    LLMFault.LOADING: "its server was still loading the model: load it before, or raise --llm-load-timeout-s",
    LLMFault.OVERLOADED: "its service was overloaded: a longer --llm-interval or llm_max_open = 1 asks less",
    LLMFault.AUTHENTICATION: "its key was refused: pkmn doctor says which",
    LLMFault.NO_MODEL: "its service does not have the model: pkmn llm models lists those that it has",
    LLMFault.TOO_LONG: "what was asked was too long for it: lower max_context_length, or give the model more context",
    LLMFault.REFUSED: "its service refused the requests: pkmn llm ask shows one with the answer",
    LLMFault.BROKEN: "its service failed: the server's own log may say why",
}
"""Hint for each fault, if most requests ended in it."""

_LATE = "its answers take longer than --llm-timeout-s: raise it, or take a faster model"
_NEVER = (
    "none came in the time that it had: if the model was loading, load it before or raise --llm-load-timeout-s, else "
    "take a faster one"
)
_ENDED = "the run ended before one came: a faster model would help, or --llm-wait"
_OUTDATED = "most came too late: a faster model would help, or --llm-wait"
_CUT = "most were cut off: raise --llm-reply-tokens"
_EMPTY = (
    "most were empty: a model that thinks needs thousands of --llm-reply-tokens, or to be kept from it "
    "(--set ollama.think=false, or extra_fields)"
)
_UNREAD = "most could not be read: pkmn llm ask shows one, and a larger model may keep to the form"


def advice_line(llm: Mapping[str, Any]) -> str:
    """Return the figures of a run's model in one line, with a hint if something went wrong.

    Args:
        llm: the section ``llm`` of a run's summary.
    """
    parts = [_asked(llm)]
    if llm["from_cache"]:
        parts.append(f"{llm['from_cache']:,} from the cache")
    if llm["validity_rate"] is not None:
        parts.append(f"{llm['validity_rate']:.0%} valid")
    if llm["outdated"]:
        parts.append(f"{llm['outdated']:,} too late")
    parts += _taken(llm)
    parts.append(f"advice there for {llm['coverage']:.0%} of the advised side's steps")
    help_ = what_helps(llm)
    return f"Language model: {', '.join(parts)}." + (f" {help_[0].upper()}{help_[1:]}." if help_ else "")


def model_lines(llm: Mapping[str, Any]) -> list[str]:
    """Return a line with the figures of each model of an ensemble; none without one.

    Args:
        llm: the section ``llm`` of a run's summary.
    """
    lines = []
    for name, one in llm.get("models", {}).items():
        parts = [_asked(one)]
        if one["faults"]:
            parts.append(", ".join(f"{count:,} {fault}" for fault, count in one["faults"].items()))
        parts.append(f"advice given {counted(one['given'], 'time')}")
        if one["tried"]:
            parts.append(f"right {one['right']:,} of {one['tried']:,}")
        lines.append(f"  {name}: {', '.join([*parts, *_taken(one)])}.")
    return lines


def _asked(figures: Mapping[str, Any]) -> str:
    answers = figures["replies"] + figures["from_cache"]
    return f"{counted(figures['requests'], 'request')}, {counted(answers, 'answer')}"


def _taken(figures: Mapping[str, Any]) -> Iterator[str]:
    """Return the tokens, dollars and time that answers took, each as far as it is known."""
    yield counted(figures["prompt_tokens"] + figures["completion_tokens"], "token")
    if figures["cost_usd"] is not None:
        yield f"${figures['cost_usd']:.4f}"
    if figures["latency_p50_s"] is not None:
        yield f"{figures['latency_p50_s']:.1f} s each"


def what_helps(llm: Mapping[str, Any]) -> str:
    """Return a hint for the most frequent problem; empty if there is none."""
    replies, answers = llm["replies"], llm["replies"] + llm["from_cache"]
    faults: Mapping[str, int] = llm["faults"]
    if sum(faults.values()) > replies:
        fault = max(faults, key=lambda name: faults[name])
        if fault == LLMFault.TIMEOUT:
            return _LATE if replies else _NEVER
        return _AGAINST.get(fault, "")
    asked = sum(llm["readings"].values())  # without those that only measured the model
    if llm["requests"] and not asked:
        return _ENDED
    if llm.get("empty", 0) * 2 > asked:
        return _EMPTY
    if llm.get("cut", 0) * 2 > asked:
        return _CUT
    if llm["validity_rate"] is not None and llm["validity_rate"] < 0.5:
        return _UNREAD
    if llm["outdated"] * 2 > answers:
        return _OUTDATED
    return ""
