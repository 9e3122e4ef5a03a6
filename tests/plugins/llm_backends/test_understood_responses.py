"""What is made of a service's response, in every form that services have, through its plugin."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import BuildBackend
from support.reply_forms import FORM
from support.understood import ANSWER, DOWN, GOOD, HALF, assert_understood, changed

from pkmncli.api import LLMFailure, LLMFault, LLMRequest
from pkmncli.llm.client import LLMClient
from pkmncli.llm.replies import ReadReply
from pkmncli.llm.retry import Backoff, CircuitBreaker
from pkmncli.llm.usage import Usage

REQUEST = LLMRequest("you advise", "what now?", FORM.schema, timeout_s=60)


def chat(message: Any, ending: Any = "stop", **more: Any) -> dict[str, Any]:
    """A response as OpenAI's interface has it."""
    choice = {"index": 0, "message": message, "finish_reason": ending}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice], **more}


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def called(arguments: Any) -> list[dict[str, Any]]:
    return [{"id": "c", "type": "function", "function": {"name": "reply", "arguments": arguments}}]


def ollama(message: Any, ending: str = "stop") -> dict[str, Any]:
    return {"model": MODEL, "message": message, "done": True, "done_reason": ending}


def anthropic(blocks: Any, ending: str = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "1", "type": "message", "role": "assistant", "model": MODEL, "content": blocks, "usage": usage}
    return message | {"stop_reason": ending, "stop_sequence": None}


def text_block(text: Any) -> dict[str, Any]:
    return {"type": "text", "text": text}


def tool(given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": "reply", "input": given}


THOUGHT = {"type": "thinking", "thinking": [text_block("Go up, or press B.")]}
THOUGHT_BLOCK = {"type": "thinking", "thinking": "Go up, or press B.", "signature": "s"}
UNFINISHED = {"goal": "Walk up", "skill": "press", "presses": ["down"]}

BODIES = {
    ("openai", "content in parts"): (chat(said([text_block(GOOD)])), DOWN),
    ("openai", "thoughts and content in parts"): (chat(said([THOUGHT, text_block(GOOD)])), DOWN),
    ("openai", "content in halves"): (chat(said([text_block(HALF), text_block(GOOD[len(HALF) :])])), DOWN),
    ("openai", "thoughts alone in parts"): (chat(said([THOUGHT])), "refused: thoughts but no answer"),
    ("openai", "a part alone"): (chat(said(text_block(GOOD))), DOWN),
    ("openai", "a refusal in parts"): (
        chat(said([{"type": "refusal", "refusal": "I won't press A."}])),
        "refused: refused to answer",
    ),
    ("openai", "reasoning_content beside words"): (chat(said("Press A.", reasoning_content="Go up.")), "a in words"),
    ("openai", "reasoning beside an object"): (chat(said(GOOD, reasoning="Go up.")), DOWN),
    ("openai", "reasoning_content alone"): (
        chat(said(None, reasoning_content="Go up.")),
        "refused: thoughts but no answer",
    ),
    ("openai", "reasoning_content alone, used up"): (
        chat(said("", reasoning_content="Go up."), "length"),
        "refused: llm_reply_tokens",
    ),
    ("openai", "the object as reasoning_content"): (chat(said(None, reasoning_content=GOOD)), DOWN),
    ("openai", "the object within reasoning_content"): (
        chat(said(None, reasoning_content=f"Perhaps {GOOD}?")),
        "refused: thoughts but no answer",
    ),
    ("openai", "a tool call"): (chat(said(None, tool_calls=called(GOOD)), "tool_calls"), DOWN),
    ("openai", "a tool call beside words"): (chat(said("Go up.", tool_calls=called(GOOD))), DOWN),
    ("openai", "a tool call of two"): (
        chat(said(None, tool_calls=called(GOOD) + called(changed(presses=["up"])))),
        "refused: several answers",
    ),
    ("openai", "a tool call of something else"): (
        chat(said("", tool_calls=called('{"button": "up"}'))),
        "refused: no JSON object with",
    ),
    ("openai", "a tool call that was cut"): (
        chat(said(None, tool_calls=called(HALF)), "length"),
        "refused: llm_reply_tokens",
    ),
    ("openai", "a function call"): (chat(said(None, function_call={"name": "reply", "arguments": GOOD})), DOWN),
    ("openai", "a refusal"): (chat(said(None, refusal="I won't. Press A.")), "refused: refused to answer"),
    ("openai", "withheld"): (chat(said("Press A.", refusal=None), "content_filter"), "refused: content_filter"),
    ("openai", "cut"): (chat(said(HALF), "length"), "refused: llm_reply_tokens"),
    ("openai", "cut words"): (chat(said("I would press A because"), "length"), "refused: llm_reply_tokens"),
    ("openai", "cut behind the object"): (chat(said(GOOD + "\n\n I would"), "length"), DOWN),
    ("openai", "nothing"): (chat(said(None)), "refused: it is empty"),
    ("openai", "the least of a response"): ({"choices": [{"message": {"content": GOOD}}]}, DOWN),
    ("ollama", "thinking beside words"): (ollama(said("Press A.", thinking="Go up.")), "a in words"),
    ("ollama", "thinking alone"): (ollama(said("", thinking="Go up.")), "refused: thoughts but no answer"),
    ("ollama", "thinking alone, used up"): (ollama(said("", thinking="Go"), "length"), "refused: llm_reply_tokens"),
    ("ollama", "the object as thinking"): (ollama(said("", thinking=GOOD)), DOWN),
    ("ollama", "a tool call"): (
        ollama(said("", tool_calls=[{"function": {"name": "reply", "arguments": ANSWER}}])),
        DOWN,
    ),
    ("ollama", "cut"): (ollama(said(HALF), "length"), "refused: llm_reply_tokens"),
    ("anthropic", "thinking beside words"): (anthropic([THOUGHT_BLOCK, text_block("Press A.")]), "a in words"),
    ("anthropic", "thinking beside the tool"): (anthropic([THOUGHT_BLOCK, tool(ANSWER)], "tool_use"), DOWN),
    ("anthropic", "thinking alone"): (anthropic([THOUGHT_BLOCK], "max_tokens"), "refused: llm_reply_tokens"),
    ("anthropic", "words beside the tool"): (anthropic([text_block("Go up."), tool(ANSWER)], "tool_use"), DOWN),
    ("anthropic", "near types for the tool"): (
        anthropic([tool(ANSWER | {"presses": '["down"]', "confidence": "80%"})], "tool_use"),
        DOWN,
    ),
    ("anthropic", "the tool given a text"): (anthropic([tool(GOOD)], "tool_use"), DOWN),
    ("anthropic", "the tool used twice"): (
        anthropic([tool(ANSWER), tool(ANSWER | {"presses": ["up"]})], "tool_use"),
        "refused: several answers",
    ),
    ("anthropic", "the tool, cut"): (anthropic([tool(UNFINISHED)], "max_tokens"), "refused: llm_reply_tokens"),
    ("anthropic", "the tool, cut behind the confidence"): (
        anthropic([tool(ANSWER)], "max_tokens"),
        "refused: llm_reply_tokens",
    ),
    ("anthropic", "a refusal"): (anthropic([text_block("Press A.")], "refusal"), "refused: refused to answer"),
    ("anthropic", "no block"): (anthropic([]), "refused: it is empty"),
}
"""Responses of a service, and what is made of them."""

ERRORS = {
    ("openai", "overloaded"): ({"error": {"code": 429, "message": "slow down"}}, LLMFault.OVERLOADED),
    ("openai", "in a word"): ({"error": {"type": "rate_limit_exceeded", "message": "m"}}, LLMFault.OVERLOADED),
    ("openai", "a text"): ({"error": "the model crashed"}, LLMFault.BROKEN),
    ("openai", "of the older form"): ({"object": "error", "message": "no such", "code": 404}, LLMFault.NO_MODEL),
    ("openai", "beside a choice"): (
        chat(said("Press A."), "error", error={"code": 502, "message": "provider"}),
        LLMFault.BROKEN,
    ),
    ("openai", "within a choice"): (
        {"choices": [{"message": said(""), "error": {"code": 503, "message": "m"}, "finish_reason": "error"}]},
        LLMFault.OVERLOADED,
    ),
    ("openai", "broken off"): (chat(said("Press A"), "abort"), LLMFault.BROKEN),
    ("openai", "no choice"): (chat(said(GOOD)) | {"choices": []}, LLMFault.BROKEN),
    ("openai", "no message"): (chat(None), LLMFault.BROKEN),
    ("openai", "parts that are none"): (chat(said([["up"]])), LLMFault.BROKEN),
    ("openai", "a part that is no text"): (chat(said([text_block(7)])), LLMFault.BROKEN),
    ("ollama", "a text"): ({"error": "model runner has stopped"}, LLMFault.BROKEN),
    ("ollama", "a key"): ({"error": {"type": "authentication_error", "message": "m"}}, LLMFault.AUTHENTICATION),
    ("anthropic", "overloaded"): (
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        LLMFault.OVERLOADED,
    ),
    ("anthropic", "refused"): (
        {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}},
        LLMFault.REFUSED,
    ),
}
"""Errors that come with a 200."""


def _behaviour(body: Any) -> Behaviour:
    return Behaviour(body=json.dumps(body).encode())


@pytest.mark.parametrize(
    ("name", "body", "expected"), [(key[0], *value) for key, value in BODIES.items()], ids=map(" ".join, BODIES)
)
def test_a_response_is_understood_in_every_form(
    name: str, body: Any, expected: str, server: FaultServer, build: BuildBackend
) -> None:
    backend = build(name, server.url)
    server.answer(_behaviour(body))
    client = LLMClient(backend, name, Usage(), CircuitBreaker(lambda: 0.0), Backoff(attempts=1), form=FORM)
    answer = client.ask(REQUEST)
    assert answer.fault is None
    assert_understood(ReadReply(answer.reading, answer.advice, answer.problem), expected)
    assert len(server.asked) == (2 if answer.advice is None or answer.reading == "prose" else 1), "asked once more"
    client.close()


@pytest.mark.parametrize(
    ("name", "body", "fault"), [(key[0], *value) for key, value in ERRORS.items()], ids=map(" ".join, ERRORS)
)
def test_an_error_is_one_though_it_comes_with_a_200(
    name: str, body: Any, fault: LLMFault, server: FaultServer, build: BuildBackend
) -> None:
    backend = build(name, server.url)
    server.answer(_behaviour(body))
    with pytest.raises(LLMFailure) as caught:
        backend.complete(REQUEST)
    assert caught.value.fault is fault
    assert "\n" not in str(caught.value)
    backend.close()


def test_the_last_word_of_a_model_counts(server: FaultServer, build: BuildBackend) -> None:
    """A broken object after a command: neither of them is carried out."""
    backend = build("openai", server.url)
    server.answer(Behaviour(text="Go up."), Behaviour(text=HALF))
    client = LLMClient(backend, "openai", Usage(), CircuitBreaker(lambda: 0.0), Backoff(attempts=1), form=FORM)
    assert client.ask(REQUEST).advice is None
    client.close()
