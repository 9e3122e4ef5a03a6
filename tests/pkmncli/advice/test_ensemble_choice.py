"""Which of several models' advice is followed: by vote, or by which was right lately in this kind of situation."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from support.llm_fakes import REQUEST

from pkmncli.advice.ensemble import EnsembleChoice
from pkmncli.advice.worth import Situation, action_key
from pkmncli.api import Advice, LLMReply, default_action_names
from pkmncli.llm.client import Answer
from pkmncli.llm.replies import Reading

WALKING, BATTLE = Situation(1, 0, 0), Situation(1, 3, 7, 1)
LEFT, RIGHT, AGAIN = {"presses": (2,)}, {"presses": (3,)}, {"presses": (3, 3)}


def choice(by: Literal["vote", "record"], models: str = "abc") -> EnsembleChoice:
    return EnsembleChoice(tuple(models), by, lambda advice: action_key(advice, default_action_names()))


def advised(model: str, confidence: float = 0.5, **values: Any) -> Answer:
    advice = Advice(goal=f"of {model}", confidence=confidence, expires_after=9, reason="", **values)
    return Answer(REQUEST, advice, Reading.SCHEMA, replies=(LLMReply("", model),))


def silent(problem: str, *, asked: bool = True) -> Answer:
    return Answer(REQUEST, None, Reading.NOTHING, problem, asked=asked)


def together(**members: Answer) -> Answer:
    return Answer(REQUEST, None, Reading.NOTHING, members=tuple(members.items()), latency_s=1.5)


def goal(found: Answer) -> str:
    assert found.advice is not None
    return found.advice.goal


@pytest.mark.parametrize(
    ("a", "b", "c", "chosen", "backers"),
    [
        ((0.9, LEFT), (0.2, RIGHT), (0.3, RIGHT), "of c", ("b", "c")),  # two against one
        ((0.9, LEFT), (0.2, RIGHT), (0.3, AGAIN), "of c", ("c",)),  # they begin alike; the surer one
        ((0.4, LEFT), (0.4, {"skill": "heal"}), (0.3, RIGHT), "of a", ("a",)),  # no two agree: the surest, the first
        ((0.4, LEFT), (0.6, {"skill": "heal"}), (0.3, RIGHT), "of b", ("b",)),
    ],
)
def test_a_vote_follows_what_most_want(a: Any, b: Any, c: Any, chosen: str, backers: tuple[str, ...]) -> None:
    answers = {name: advised(name, sure, **what) for name, (sure, what) in zip("abc", (a, b, c), strict=True)}
    found = choice("vote").choose(together(**answers), WALKING)
    assert goal(found) == chosen
    assert found.backers == backers
    assert found.latency_s == 1.5
    assert [name for name, _ in found.members] == ["a", "b", "c"]


def test_models_without_advice_have_no_vote() -> None:
    found = choice("vote").choose(
        together(a=silent("late"), b=silent("busy", asked=False), c=advised("c", **LEFT)), None
    )
    assert goal(found) == "of c"
    nothing = choice("vote").choose(together(a=silent("late"), b=silent("busy", asked=False)), None)
    assert nothing.advice is None
    assert nothing.problem == "late"
    assert nothing.asked
    assert nothing.backers == ()


def follow(picks: EnsembleChoice, right: str, times: int, situation: Situation = WALKING) -> list[str]:
    """Let models that never agree advise, where only the advice of ``right`` brings a reward; return who was chosen."""
    chosen = []
    for _ in range(times):
        found = picks.choose(together(a=advised("a", **LEFT), b=advised("b", **RIGHT)), situation)
        chosen += found.backers
        picks.add_result(situation, found.backers, right=found.backers == (right,))
    return chosen


def test_the_record_finds_the_model_that_is_right_and_notices_when_it_no_longer_is() -> None:
    picks = choice("record", "ab")
    assert follow(picks, "b", 60)[-40:].count("b") >= 34
    assert follow(picks, "a", 120)[-40:].count("a") >= 34


def test_records_are_kept_for_each_kind_of_situation() -> None:
    picks = choice("record", "ab")
    follow(picks, "b", 60)
    follow(picks, "a", 60, BATTLE)
    question = together(a=advised("a", **LEFT), b=advised("b", **RIGHT))
    assert picks.choose(question, WALKING).backers == ("b",)
    assert picks.choose(question, BATTLE).backers == ("a",)


def test_models_that_gave_the_same_advice_share_its_result() -> None:
    picks = choice("record")
    same = together(a=advised("a", **LEFT), b=advised("b", **LEFT), c=advised("c", **RIGHT))
    found = picks.choose(same, None)
    picks.give(found.backers)
    picks.add_result(None, found.backers, right=True)
    assert picks.summary() == {
        "a": {"given": 1, "tried": 1, "right": 1},
        "b": {"given": 1, "tried": 1, "right": 1},
        "c": {"given": 0, "tried": 0, "right": 0},
    }
    assert picks.choose(same, None).backers == ("c",)  # nothing is known of it yet


def test_a_resumed_record_chooses_alike() -> None:
    before, after = choice("record", "ab"), choice("record", "ab")
    follow(before, "b", 30)
    after.load_state_dict(before.state_dict())
    assert after.summary() == before.summary()
    assert follow(after, "a", 60) == follow(before, "a", 60)
    assert after.state_dict() == before.state_dict()
