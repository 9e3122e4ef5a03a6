"""Text of a reply from the parts that a service sent: content, thoughts, tool calls, refusals, cuts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pkmncli.api import LLMFailure, LLMFault, LLMReply
from pkmncli.llm.json_objects import whole_value
from pkmncli.outgoing_text import redact

NO_ANSWER = "it has thoughts but no answer"
"""Problem of a reply that ended before its answer."""

_LONGEST_NAME = 200
_MOST_TOKENS = 100_000_000
_CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length", "model_context_window_exceeded"}
)
_WITHHELD = frozenset(
    {"content_filter", "refusal", "safety", "guardrail_intervened", "recitation", "blocklist", "prohibited_content"}
)
_BROKEN_OFF = frozenset({"error", "abort", "aborted", "cancelled"})
_THOUGHTS = frozenset({"thinking", "reasoning", "reasoning_content", "redacted_thinking", "thought", "summary_text"})
_CALLS = frozenset({"tool_use", "tool_call", "function", "function_call"})


def checked_reply(
    who: str,
    content: Any,
    model: Any,
    prompt_tokens: Any,
    completion_tokens: Any,
    *,
    latency_s: float,
    parsed: Any = None,
    thoughts: Any = None,
    calls: Any = None,
    refusal: Any = None,
    ending: Any = None,
) -> LLMReply:
    """Return a reply from values that a service sent, of any types.

    Arguments of tool calls are part of the text, after its words. Thoughts in a separate field are left out, unless
    they are only an object and there is no text: some servers put the answer there.

    Args:
        who: what was asked, for people.
        content: of the reply: a text, a list of parts, or None.
        model: its name.
        prompt_tokens: as counted by the service; what is no number counts as 0.
        completion_tokens: likewise.
        latency_s: seconds that it took.
        parsed: the reply as a value.
        thoughts: in a separate field.
        calls: of tools, as a list.
        refusal: in a separate field.
        ending: why the service ended the reply, in its own word.

    Raises:
        LLMFailure: the content is none, or the service broke it off.
    """
    reason = ending.strip().lower() if isinstance(ending, str) else ""
    if reason in _BROKEN_OFF:
        raise LLMFailure(LLMFault.BROKEN, f"{who} broke off its answer ({reason})")
    cut, pieces = reason in _CUT, _Pieces()
    try:
        pieces.add(content)
        for call in _listed(calls):
            pieces.add_call(call)
        pieces.add_thought(thoughts)
        given = [_written(one, cut) for one in pieces.calls]
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise LLMFailure(LLMFault.BROKEN, f"{who} answered, but not with a text") from error
    text = "\n".join(piece for piece in ("".join(pieces.texts), *given) if piece)
    problem = ""
    refusals = [*pieces.refusals, refusal] if isinstance(refusal, str) and refusal.strip() else pieces.refusals
    if refusals or reason in _WITHHELD:
        problem = "the model refused to answer" if reason in ("", "stop", "refusal") else f"it was withheld ({reason})"
        text = text or "\n".join(refusals)
    elif not text.strip():
        thought = "".join(pieces.thoughts)
        if not cut and whole_value(thought) is not None:
            text = thought
        elif thought.strip():
            problem = NO_ANSWER
    return LLMReply(
        text=redact(_whole(text)),
        model=_whole(model)[:_LONGEST_NAME] if isinstance(model, str) else "",
        prompt_tokens=_count(prompt_tokens),
        completion_tokens=_count(completion_tokens),
        latency_s=latency_s,
        parsed=parsed,
        cut=cut,
        problem=problem,
    )


@dataclass(slots=True)
class _Pieces:
    """Sums of the parts of a reply. A part of a wrong type is a TypeError."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)

    def add(self, content: Any) -> None:
        if content is None:
            return
        if isinstance(content, str):
            self.texts.append(content)
            return
        for part in _listed(content):
            values = _values(part)
            kind = values.get("type", "text")
            if kind in _THOUGHTS:
                self.add_thought(part)
            elif kind in _CALLS:
                self.add_call(part)
            elif kind == "refusal":
                self.refusals.append(_text(values.get("refusal")))
            elif "text" in values:
                self.texts.append(_text(values["text"]))

    def add_thought(self, thought: Any) -> None:
        """Add thoughts, in any known form; unknown forms are ignored."""
        if isinstance(thought, str):
            self.thoughts.append(thought)
        elif isinstance(thought, list):
            for one in thought:
                self.add_thought(one)
        elif thought is not None:
            values = _values(thought)
            for name in ("thinking", "reasoning", "reasoning_content", "text", "content", "summary"):
                self.add_thought(values.get(name))

    def add_call(self, call: Any) -> None:
        values = _values(call)
        if "function" in values:
            values = _values(values["function"])
        self.calls.append(values.get("input", values.get("arguments")))


def _listed(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)


def _values(part: Any) -> Mapping[str, Any]:
    """Return the fields of a part: of JSON, or of a class of the client."""
    if isinstance(part, str | bytes | int | float | list):
        raise TypeError("a part is an object")
    return part if isinstance(part, Mapping) else dict(part)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is a text")
    return value


def _written(given: Any, cut: bool) -> str:
    """Return the arguments of a tool call as text; empty for the object of a cut reply, which may lack its end."""
    if isinstance(given, str):
        return given
    return "" if given is None or cut else json.dumps(given)


def _whole(text: str) -> str:
    """Return the text without halves of characters, which no file takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0
