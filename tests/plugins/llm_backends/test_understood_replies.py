"""What is made of a reply, for every form that models and services have: it is understood as a whole, or refused.

Texts go through the reader; where the form of a service's response matters, the response goes through its plugin.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import BuildBackend
from support.reply_forms import FORM

from pkmncli.api import Action, LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.llm.budget import Usage
from pkmncli.llm.client import LLMClient
from pkmncli.llm.replies import ReadReply
from pkmncli.llm.retry import Backoff, CircuitBreaker

REQUEST = LLMRequest("you advise", "what now?", FORM.schema, timeout_s=60)
ANSWER = {
    "goal": "Walk up to the stairs",
    "skill": "press",
    "presses": ["down"],
    "map": None,
    "x": None,
    "y": None,
    "confidence": 0.8,
    "reason": "press B? no, the door is left",
}
"""Its words name other buttons than its presses, so that it shows which were read."""
GOOD = json.dumps(ANSWER)
DOWN = "down @0.8"


def changed(**values: Any) -> str:
    return json.dumps(ANSWER | values)


def written(old: str, new: str) -> str:
    """The answer with a change that JSON doesn't have."""
    assert old in GOOD
    return GOOD.replace(old, new)


def in_short(read: ReadReply) -> str:
    """What is done, in a few words; or why nothing is."""
    advice = read.advice
    if advice is None:
        return f"refused: {read.problem}"
    presses = [Action(press).name.lower() for press in advice.presses]
    arguments = [f"{name}={value}" for name, value in advice.arguments.items()]
    words = " ".join([*([advice.skill] if advice.skill else []), *presses, *arguments])
    return f"{words} in words" if read.reading == "prose" else f"{words} @{advice.confidence:g}"


def assert_understood(read: ReadReply, expected: str) -> None:
    if expected.startswith("refused"):
        assert read.advice is None, in_short(read)
        assert expected.removeprefix("refused: ") in read.problem
        assert read.problem and "\n" not in read.problem
    else:
        assert in_short(read) == expected


THOUGHTS = {
    "<think>": (f"<think>go up, or press B?</think>\n{GOOD}", DOWN),
    "<think> with an object": (f"<think>maybe {changed(presses=['up'])}?</think>\n{GOOD}", DOWN),
    "<think> before words": ("<think>Go up. No.</think>Press A.", "a in words"),
    "<think> after the answer": ("Press A.<think>Or go up.</think>", "a in words"),
    "<think> twice": ("<think>Go up.</think>\n<think>Go left.</think>Go down.", "down in words"),
    "<think> in <think>": ("<think>I use <think> tags. Go up.</think> Go down.", "down in words"),
    "<think> without an end": ("<think>Going up is a wall. Press B", "refused: thoughts but no answer"),
    "<think> without an end, with an object": (f"<think>So I say {GOOD}", "refused: thoughts but no answer"),
    "<think> around the object alone": (f"<think>\n{GOOD}\n</think>\n", DOWN),
    "<think> that is escaped": ("&lt;think&gt;go up&lt;/think&gt; go down", "down in words"),
    "</think> alone": (
        "Going up is wrong, that is a wall. I could press B but no.\n</think>\n\nPress A.",
        "a in words",
    ),
    "</think> alone, before an object": (f"Perhaps {changed(presses=['up'])}.\n</think>\n{GOOD}", DOWN),
    "</think> behind the object": (f"{GOOD}</think>", DOWN),
    "<thinking>": ("<thinking>go up</thinking> go left", "left in words"),
    "<THOUGHT>": ("<THOUGHT>go up</THOUGHT> go left", "left in words"),
    "<reasoning>": ("<reasoning>\ngo up\n</reasoning>\ngo left", "left in words"),
    "<reflection> and <output>": ("<reflection>go up</reflection><output>go left</output>", "left in words"),
    "<scratchpad>": ("<scratchpad>go up</scratchpad>" + GOOD, DOWN),
    "<analysis> and <answer>": ("<analysis>go up<answer>go left</answer>", "left in words"),
    "<details>": ('<details type="reasoning"><summary>Go up</summary></details>go left', "left in words"),
    "[THINK]": (f"[THINK]go up or press B[/THINK]{GOOD}", DOWN),
    "[THINK] before words": ("[THINK]go up[/THINK] go left", "left in words"),
    "<seed:think>": (
        "<seed:think>go up<seed:cot_budget_reflect>used 5</seed:cot_budget_reflect> press B</seed:think>go left",
        "left in words",
    ),
    "<|think_start|>": ("<|think_start|>go up<|think_end|>go left", "left in words"),
    "< think >": ("< think >go up</ think > go left", "left in words"),
    "<think/>": ("<think/>go left", "left in words"),
    "<plan> and <explanation>": ("<plan>go up</plan>go left<explanation>Press B</explanation>", "left in words"),
    "what is no mark": (f"Sure, [final boss] and [plan B]: {GOOD}", DOWN),
    "◁think▷": ("◁think▷go up◁/think▷go left", "left in words"),
    "◁think▷ without an end": ("◁think▷go up", "refused: thoughts but no answer"),
    "<|START_THINKING|>": (
        "<|START_THINKING|>go up<|END_THINKING|><|START_RESPONSE|>go left<|END_RESPONSE|>",
        "left in words",
    ),
    "<|begin_of_thought|>": (
        "<|begin_of_thought|>go up<|end_of_thought|><|begin_of_solution|>go left<|end_of_solution|>",
        "left in words",
    ),
    "<|begin_of_box|>": ("Up is a wall. Go up? <|begin_of_box|>go left<|end_of_box|>", "left in words"),
    "<unused94>": ("<unused94>thought\ngo up<unused95>go left", "left in words"),
    "[BEGIN FINAL RESPONSE]": (
        f"Here are my reasoning steps:\nGo up.\n[BEGIN FINAL RESPONSE]\n{GOOD}\n[END FINAL RESPONSE]",
        DOWN,
    ),
    "channels": (
        "<|channel|>analysis<|message|>We could go up or press B. Go up.<|end|><|start|>assistant<|channel|>final"
        "<|message|>Press A",
        "a in words",
    ),
    "channels with an object": (
        f"<|channel|>analysis<|message|>Go up: {changed(presses=['up'])}<|end|><|start|>assistant<|channel|>final "
        f"<|constrain|>json<|message|>{GOOD}<|return|>",
        DOWN,
    ),
    "channels without a final one": (
        "<|channel|>analysis<|message|>Go up.<|end|>",
        "refused: thoughts but no answer",
    ),
    "a channel that calls a tool": (
        f"<|channel|>commentary to=functions.reply <|constrain|>json<|message|>{GOOD}<|call|>",
        DOWN,
    ),
    "channels, marks taken out": ("analysisWe could go up.assistantfinalPress A", "a in words"),
    "channels, marks taken out, no end": ("analysisWe could go up. Go up.", "refused: thoughts but no answer"),
    "channels, half of the marks": (
        "analysis<|message|>Go up.<|end|><|start|>assistantfinal<|message|>Press A",
        "a in words",
    ),
    "channels of Gemma": ("<|channel>thought\ngo up<channel|>go left", "left in words"),
    "...done thinking.": ("Thinking...\nGo up.\n...done thinking.\n\nGo left.", "left in words"),
    "the next turn": ("Press A<|im_end|>\n<|im_start|>user\nGo up.", "a in words"),
    "marks within the object": (changed(reason="I [think] so </think>"), DOWN),
}
"""Thoughts beside the answer, in every notation."""

OBJECTS = {
    "as asked for": (GOOD, DOWN),
    "confidence as text": (changed(confidence="0.8"), DOWN),
    "confidence as text of few digits": (changed(confidence=" .8 "), DOWN),
    "confidence with a comma": (changed(confidence="0,8"), DOWN),
    "confidence with a comma, bare": (written("0.8", "0,8"), "refused: no JSON"),
    "confidence per cent": (changed(confidence="80%"), DOWN),
    "confidence per cent, below ten": (changed(confidence="8 %"), "down @0.08"),
    "confidence per cent, bare": (written("0.8", "80%"), "refused: no JSON"),
    "confidence as 85": (changed(confidence=85), "down @0.85"),
    "confidence as 85 in text": (changed(confidence="85"), "down @0.85"),
    "confidence as 100": (changed(confidence=100), "down @1"),
    "confidence as 8": (changed(confidence=8), "refused: confidence must be a number from 0 to 1"),
    "confidence as 8 of 10": (changed(confidence="8/10"), "refused: confidence"),
    "confidence of 1.5": (changed(confidence=1.5), "refused: confidence"),
    "confidence of 1,000": (changed(confidence="1,000"), "refused: confidence"),
    "confidence of 101": (changed(confidence=101), "refused: confidence"),
    "confidence below 0": (changed(confidence="-0.8"), "refused: confidence"),
    "confidence as a word": (changed(confidence="high"), "refused: confidence"),
    "confidence true": (changed(confidence=True), "refused: confidence"),
    "confidence null": (changed(confidence=None), "refused: confidence"),
    "presses as JSON in a text": (changed(presses='["down"]'), DOWN),
    "presses as Python in a text": (changed(presses="['down', 'a']"), "down a @0.8"),
    "presses as a name": (changed(presses="down"), DOWN),
    "presses as names": (changed(presses="down, a b"), "down a b @0.8"),
    "presses as a sentence": (changed(presses="go down"), "refused: presses"),
    "presses in capitals": (changed(presses=["DOWN", " A "]), "down a @0.8"),
    "presses by number": (changed(presses=[5]), "refused: presses"),
    "presses in a list of lists": (changed(presses=[["down"]]), "refused: presses"),
    "presses of another game": (changed(presses=["down", "jump"]), "refused: presses"),
    "presses, nine": (changed(presses=["down"] * 9), "refused: presses"),
    "presses null": (changed(presses=None), "refused: the skill press needs presses"),
    "skill in capitals": (changed(skill="Press"), DOWN),
    "skill in two words": (changed(skill="Go to", presses=[], x="3", y=4.0), "go_to x=3 y=4 @0.8"),
    "skill null": (changed(skill=None), DOWN),
    "skill that is none": (changed(skill="swim"), "refused: skill"),
    "map as a word for none": (changed(map="null"), DOWN),
    "coordinates as words for none": (changed(x="none", y=""), DOWN),
    "coordinates that are halves": (changed(x=3.5, y=1), "refused: x must"),
    "names in capitals": (GOOD.replace('"presses"', '"Presses"').replace('"skill"', '"SKILL"'), DOWN),
    "a name twice": (written('"presses"', '"presses": ["up"], "presses"'), "refused: no JSON"),
    "a name twice, once in capitals": (written('"presses"', '"Presses": ["up"], "presses"'), "refused: twice"),
    "a comma at the end": (written('left"}', 'left",}'), DOWN),
    "a comma at the end of the list": (written('["down"]', '["down",]'), DOWN),
    "a comma missing": (written('["down"],', '["down"]'), "refused: no JSON"),
    "single quotes": (GOOD.replace('"', "'"), DOWN),
    "Python": (repr(ANSWER), DOWN),
    "names without quotes": (GOOD.replace('"presses":', "presses:").replace('"skill":', "skill:"), DOWN),
    "values without quotes": (written('"press"', "press"), "refused: no JSON"),
    "comments": (written('"presses"', '// not "presses": ["up"]\n /* up */ # up\n"presses"'), DOWN),
    "a line break in a text": (written("Walk up", "Walk\nup"), DOWN),
    "a fence": (f"Sure! Go up.\n```json\n{GOOD}\n```\nGood luck, press B!", DOWN),
    "a fence without an end": (f"```json\n{GOOD}", DOWN),
    "words around": (f"I would press B, but: {GOOD} Then go up.", DOWN),
    "a list around": (f"[{GOOD}]", DOWN),
    "an object around": (json.dumps({"reply": ANSWER}), DOWN),
    "a call around": (json.dumps({"name": "reply", "arguments": GOOD}), DOWN),
    "a call in tags": (f'<tool_call>{{"name": "reply", "arguments": {GOOD}}}</tool_call>', DOWN),
    "braces twice": (f"{{{GOOD}}}", DOWN),
    "a text around": (json.dumps(GOOD), DOWN),
    "a draft of another form": (f'{{"draft": 1}} no, better: {GOOD}', DOWN),
    "the same twice": (f"{GOOD}\n{GOOD}", DOWN),
    "two that differ": (f"{GOOD}\n{changed(presses=['up'])}", "refused: several answers"),
    "two in a list": (f"[{changed(presses=['up'])}, {GOOD}]", "refused: several answers"),
    "two as choices": (json.dumps({"best": ANSWER, "second": ANSWER | {"presses": ["up"]}}), "refused: several"),
    "a whole one, and a broken one": (f"{GOOD}\n{changed(presses=['up'])[:70]}", "refused: no JSON"),
    "the schema": (json.dumps(FORM.schema), "refused: must be"),
    "none of the fields": ('{"move": "up"}', "refused: no JSON object with"),
    "an object without anything": ("{}", "refused: no JSON object with"),
    "a list of buttons": ('["down", "up"]', "refused: no JSON object"),
    "without its beginning": (GOOD[1:], "refused: no JSON"),
    "without its end": (GOOD[:-1], "refused: no JSON"),
    "half": (GOOD[: GOOD.index('"down"') + 6], "refused: no JSON"),
    "half of a name": (GOOD[:30], "refused: no JSON object that is whole"),
    "YAML": ("goal: Go up\nskill: press\npresses: [down]\nconfidence: 0.8", "refused: no JSON object"),
    "XML": ("<goal>Go up</goal><presses>down</presses>", "refused: no JSON object"),
    "a table": ("**Goal:** Go up\n**Presses:** down", "refused: no JSON object"),
    "a call in Python": ('reply(goal="Go up", presses=["down"])', "refused: no JSON object"),
}
"""Objects as they should be, nearly so, and not at all. The words of none of them are a command."""

WORDS = {
    "a command": ("Press the A button.", "a in words"),
    "a command in small letters": ("press a to talk, then press a twice", "a in words"),
    "a small button": ("press the a button", "a in words"),
    "an article": ("Press a key to go on.", "refused: names nothing"),
    "an article before a button": ("Hit a button. Tap a tile and go left.", "left in words"),
    "a direction": ("You should go north to the lab.", "up in words"),
    "a name alone": ("**Down**.", "down in words"),
    "a label": ("Final answer: left", "left in words"),
    "a deed": ("You should attack with your best move!", "fight in words"),
    "said twice": ("Press A. Yes, press A!", "a in words"),
    "two commands": ("Go up. Then press A.", "refused: several"),
    "two in one": ("Go up and left.", "refused: several"),
    "a list of commands": ("Press up, up, a", "refused: several"),
    "a choice": ("Go up or press B.", "refused: nothing"),
    "what not to do": ("Do not go up.", "refused: nothing"),
    "what not to do, and what to do": ("Don’t go up. Go down.", "down in words"),
    "a question": ("Should I go up?", "refused: nothing"),
    "a condition": ("If you go up, the guard sees you.", "refused: nothing"),
    "thinking aloud without a mark": ("Let me see. I could go up. Then press B. No wait. Press A.", "refused: several"),
    "Thought and Action": ("Thought: go up, then go left\nAction: press A", "a in words"),
    "Thought and no Action": ("Thought: go up", "refused: nothing"),
    "words with another meaning": ("There is one potion left. All right, start over.", "refused: nothing"),
    "a refusal": ("I'm sorry, but I can't help to press A.", "refused: nothing"),
    "nothing": ("", "refused: it is empty"),
    "blanks": (" \n\t ", "refused: it is empty"),
    "a page": ("<html><body>It works!</body></html>", "refused: nothing"),
}
"""Replies without an object."""


@pytest.mark.parametrize(("text", "expected"), THOUGHTS.values(), ids=THOUGHTS)
def test_thoughts_are_no_answer(text: str, expected: str) -> None:
    assert_understood(FORM.read(LLMReply(text, MODEL), expires_after=9, words_too=True), expected)


@pytest.mark.parametrize(("text", "expected"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_is_read_by_one_rule_and_its_words_are_no_command(text: str, expected: str) -> None:
    assert_understood(FORM.read(LLMReply(text, MODEL), expires_after=9, words_too=True), expected)


@pytest.mark.parametrize(("text", "expected"), WORDS.values(), ids=WORDS)
def test_words_are_one_command_or_none(text: str, expected: str) -> None:
    assert_understood(FORM.read(LLMReply(text, MODEL), expires_after=9, words_too=True), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD, DOWN),
        (f"{GOOD}\n\nI chose this because", DOWN),
        (GOOD[: GOOD.index('"down"') + 6], "refused: llm_reply_tokens"),
        ("I would press A because", "refused: llm_reply_tokens"),
        ("<think>I would go up", "refused: llm_reply_tokens"),
        ("", "refused: llm_reply_tokens"),
    ],
)
def test_of_a_reply_that_was_cut_off_only_a_whole_object_is_read(text: str, expected: str) -> None:
    assert_understood(FORM.read(LLMReply(text, MODEL, cut=True), expires_after=9, words_too=True), expected)


# The forms of services ---------------------------------------------------------------------------------------------


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
HALF = GOOD[: GOOD.index('"down"') + 6]
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
