"""What is made of a model's reply: advice where it says something that can be done, and never an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.reply_forms import FORM

from pkmncli.api import Action, LLMReply
from pkmncli.llm.json_objects import find_objects, whole_value
from pkmncli.llm.replies import Reading, ReadReply

GOOD = {
    "goal": "reach the lab",
    "skill": "press",
    "presses": ["up", "up", "a"],
    "map": None,
    "x": None,
    "y": None,
    "confidence": 0.75,
    "reason": "the door is there",
}


def _read(text: str, parsed: Any = None, *, words_too: bool = False) -> ReadReply:
    return FORM.read(LLMReply(text, "m", parsed=parsed), expires_after=50, words_too=words_too)


def test_a_reply_of_the_asked_form_is_advice() -> None:
    read = _read(json.dumps(GOOD))
    assert read.reading is Reading.SCHEMA
    assert read.advice is not None
    assert read.advice.presses == (Action.UP, Action.UP, Action.A)
    assert (read.advice.skill, read.advice.confidence, read.advice.expires_after) == ("", 0.75, 50)
    assert (read.advice.goal, read.advice.reason) == ("reach the lab", "the door is there")


def test_a_value_that_the_backend_has_parsed_goes_before_the_text() -> None:
    read = _read("not JSON at all", parsed=GOOD | {"skill": "go_to", "presses": [], "x": 3, "y": 0})
    assert read.advice is not None
    assert (read.advice.skill, read.advice.arguments) == ("go_to", {"x": 3, "y": 0})


@pytest.mark.parametrize(
    "around",
    [
        "<think>Should I press {a}? {no} </think>\nHERE",
        "Sure! Here it is:\n```json\nHERE\n```\nGood luck!",
        '{"draft": 1} no, better: HERE',
        "<thinking>{\n\n</thinking>HERE",
    ],
)
def test_thoughts_fences_and_drafts_around_it_are_no_matter(around: str) -> None:
    assert _read(around.replace("HERE", json.dumps(GOOD))).reading is Reading.SCHEMA


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"confidence": 1e15}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"confidence": float("inf")}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
        ({"confidence": "high"}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": 8}, "confidence"),
        ({"confidence": "8/10"}, "confidence"),
        ({"confidence": "1,000"}, "confidence"),
        ({"confidence": "150%"}, "confidence"),
        ({"confidence": [0.8]}, "confidence"),
        ({"confidence": None}, "confidence"),
        ({"presses": ["jump"]}, "presses"),
        ({"presses": [4]}, "presses"),
        ({"presses": "go up"}, "presses"),
        ({"presses": "[[1]]"}, "presses"),
        ({"presses": {"0": "up"}}, "presses"),
        ({"presses": ["up", ["a"]]}, "presses"),
        ({"presses": ["a"] * 9}, "presses"),
        ({"presses": []}, "needs presses"),
        ({"skill": "teleport"}, "skill"),
        ({"skill": "go_to", "presses": []}, "go_to needs"),
        ({"skill": "go_to", "x": 3, "y": 999}, "y must"),
        ({"skill": "go_to", "x": 3.5, "y": 1}, "x must"),
        ({"skill": "go_to", "x": "3.0", "y": 1}, "x must"),
        ({"skill": "go_to", "x": True, "y": 1}, "x must"),
        ({"skill": "go_to", "presses": [], "x": "null", "y": 1}, "go_to needs"),
        ({"skill": ["press"]}, "skill"),
        ({"map": 7}, "map"),
        ({"goal": 7}, "goal must be a text"),
        ({"reason": ["because"]}, "reason must be a text"),
    ],
)
def test_what_is_out_of_range_or_of_a_wrong_type_is_no_advice(change: dict[str, Any], says: str) -> None:
    read = _read(json.dumps(GOOD | change))
    assert read.advice is None
    assert says in read.problem


@pytest.mark.parametrize(
    "text", ["", "   ", "{}", "[]", '"up"', "null", "{" * 100_000, '{"goal": "x", "skill": ', "<html>"]
)
def test_what_is_none_is_none(text: str) -> None:
    assert _read(text).advice is None


@given(st.text(max_size=300))
def test_no_text_whatever_is_an_error(text: str) -> None:
    assert _read(text, words_too=True).reading in Reading


_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.text(max_size=5))
)


@given(st.dictionaries(st.sampled_from(list(FORM.schema["properties"])), _VALUES))
def test_whatever_stands_under_the_keys_the_advice_keeps_its_promises(values: dict[str, Any]) -> None:
    read = _read("", parsed=values)
    if read.advice is not None:
        assert 0 <= read.advice.confidence <= 1
        assert all(0 <= press < len(Action) for press in read.advice.presses)


@pytest.mark.parametrize(
    ("text", "press", "skill"),
    [
        ("Go north to the lab.", Action.UP, ""),
        ("I would walk EAST, towards the door.", Action.RIGHT, ""),
        ("Press the A button now", Action.A, ""),
        ("hit b", Action.B, ""),
        ("You should attack with your best move!", None, "fight"),
        ("Flee from this one.", None, "flee"),
        ("heal first", None, "heal"),
        ("<think>up or down?</think> down", Action.DOWN, ""),
        ("Wait here.", Action.NONE, ""),
    ],
)
def test_one_command_in_plain_words_is_read(text: str, press: Action | None, skill: str) -> None:
    read = _read(text, words_too=True)
    assert read.reading is Reading.PROSE
    assert _read(text).advice is None, "only where words are asked for"
    assert read.advice is not None
    assert (read.advice.presses, read.advice.skill) == (() if press is None else (press,), skill)
    assert read.advice.confidence < 0.5


@given(st.recursive(_VALUES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10))
@pytest.mark.long
def test_every_json_value_is_read_as_it_is(value: Any) -> None:
    text = json.dumps([value])
    assert json.dumps(whole_value(text)) == text
    assert json.dumps(whole_value(json.dumps(text))) == text, "also in a string"
    found, around = find_objects(f"so {json.dumps({'a': value}, indent=1)} then")
    assert json.dumps(found) == json.dumps([{"a": value}])
    assert around.split() == ["so", "then"]


_PLAIN = json.dumps(GOOD | {"goal": "walk up", "presses": ["down"], "reason": "press B? go left"})


@given(st.integers(0, len(_PLAIN)), st.sampled_from(["", *"{}[]\"':,\\ux0 /#"]), st.integers(0, 1), st.integers(0, 400))
@settings(max_examples=400)
@pytest.mark.long
def test_an_object_that_is_damaged_is_read_as_it_was_or_refused(place: int, put: str, drop: int, end: int) -> None:
    damaged = (_PLAIN[:place] + put + _PLAIN[place + drop :])[:end]
    advice = _read(damaged, words_too=True).advice
    assert advice is None or (advice.presses, advice.skill) == ((Action.DOWN,), "")


@given(st.text(alphabet="{}[]\"':,# /*\\a1 \n", max_size=80))
def test_whatever_looks_like_json_ends_in_time(text: str) -> None:
    found, _ = find_objects(text * 50)
    assert all(isinstance(one, dict) for one in found)


@pytest.mark.parametrize("before", ["<think>" + "{ north or south? " * 20_000 + "</think>", "{ " * 200_000])
def test_what_stands_at_the_end_of_a_very_long_reply_is_read(before: str) -> None:
    assert _read(before + json.dumps(GOOD)).reading is Reading.SCHEMA


def test_texts_in_advice_are_one_line_that_any_file_takes() -> None:
    reply = json.dumps(GOOD | {"goal": "a\nb\x1b[2J \ud800", "reason": "\x00 r\t"})
    advice = _read(reply).advice
    assert advice is not None
    assert (advice.goal, advice.reason) == ("a b [2J ?", "r")
