"""Summary of the language model at a run's end, in one line, with a hint if something went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkmncli.api import LLMFault

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
    answers = llm["replies"] + llm["from_cache"]
    parts = [f"{llm['requests']:,} requests, {answers:,} answers"]
    if llm["from_cache"]:
        parts.append(f"{llm['from_cache']:,} from the cache")
    if llm["validity_rate"] is not None:
        parts.append(f"{llm['validity_rate']:.0%} valid")
    if llm["outdated"]:
        parts.append(f"{llm['outdated']:,} too late")
    parts.append(f"{llm['prompt_tokens'] + llm['completion_tokens']:,} tokens")
    if llm["cost_usd"] is not None:
        parts.append(f"${llm['cost_usd']:.4f}")
    if llm["latency_p50_s"] is not None:
        parts.append(f"{llm['latency_p50_s']:.1f} s each")
    parts.append(f"advice there for {llm['coverage']:.0%} of the advised side's steps")
    help_ = what_helps(llm)
    return f"Language model: {', '.join(parts)}." + (f" {help_[0].upper()}{help_[1:]}." if help_ else "")


def what_helps(llm: Mapping[str, Any]) -> str:
    """Return a hint for the most frequent problem; empty if there is none."""
    replies, answers = llm["replies"], llm["replies"] + llm["from_cache"]
    faults: Mapping[str, int] = llm["faults"]
    if sum(faults.values()) > replies:
        fault = max(faults, key=lambda name: faults[name])
        if fault == LLMFault.TIMEOUT:
            return _LATE if replies else _NEVER
        return _AGAINST.get(fault, "")
    if llm["requests"] and not answers:
        return _ENDED
    asked = sum(llm["readings"].values())
    if llm.get("empty", 0) * 2 > asked:
        return _EMPTY
    if llm.get("cut", 0) * 2 > asked:
        return _CUT
    if llm["validity_rate"] is not None and llm["validity_rate"] < 0.5:
        return _UNREAD
    if llm["outdated"] * 2 > answers:
        return _OUTDATED
    return ""
