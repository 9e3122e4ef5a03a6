"""What is made of the text of a reply, for every form that models have: it is understood as a whole, or refused."""

from __future__ import annotations

import json

import pytest
from support.fault_server import MODEL
from support.reply_forms import FORM
from support.understood import ANSWER, DOWN, GOOD, HALF, assert_understood, changed, written

from pkmncli.api import LLMReply

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
    "half": (HALF, "refused: no JSON"),
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
        (HALF, "refused: llm_reply_tokens"),
        ("I would press A because", "refused: llm_reply_tokens"),
        ("<think>I would go up", "refused: llm_reply_tokens"),
        ("", "refused: llm_reply_tokens"),
    ],
)
def test_of_a_reply_that_was_cut_off_only_a_whole_object_is_read(text: str, expected: str) -> None:
    assert_understood(FORM.read(LLMReply(text, MODEL, cut=True), expires_after=9, words_too=True), expected)
