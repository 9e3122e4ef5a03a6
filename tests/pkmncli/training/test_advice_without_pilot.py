"""Advice for environments without a pilot: a text grid world, and environments of many actions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.killed_training import train_until
from support.plain_environments import Nested
from support.variants import long_after

from pkmncli.api import PILOT_ACTS, ActionNames, Advice, Context, LLMReply, Source
from pkmncli.config import resolve_settings
from pkmncli.llm.prompts import PromptTemplate, Question
from pkmncli.llm.replies import MOST_LISTED, ReplyForm
from pkmncli.plugins import get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import pilot_spec
from pkmncli.training.workers.advice_carrier import ActionCarrier
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import EnvironmentSpec, WorkerSpec

EXAMPLE = Path(__file__).parents[3] / "examples" / "grid_world"
Pkmn = Callable[..., Any]


@pytest.fixture
def grid_world(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options of a training with the example and its scripted advice."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    advice = ["--llm=scripted", f"--set=scripted.file={EXAMPLE / 'advice.toml'}"]
    return ["--env=gym:grid_world:GridWorld-v0", "--seed=3", *advice]


def summary_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return found


@pytest.mark.long
def test_a_language_model_plays_alone_with_the_environments_own_words(
    pkmn: Pkmn, course: Callable[[Path], dict[str, Any]], grid_world: list[str], tmp_path: Path
) -> None:
    result = pkmn("train", *grid_world, "--rl=none", "--episodes=5", "--run-name=it")
    assert result.code == 0, result.err
    found = course(tmp_path / "runs" / "it")
    assert {row["source"] for row in found["decisions"]} == {Source.LLM}
    assert [row["outcome"] for row in found["episodes"]] == ["goal"] * 5
    assert max(row["steps"] for row in found["episodes"]) <= 17, "the longest of the shortest ways"
    for row in found["advice"]:
        assert row["reading"] == "schema"
        for word in ("Pokemon", "Game Boy", "button", "press", "skill", "player"):
            assert word not in row["prompt"]
    first = found["advice"][0]["prompt"]
    assert "Environment: Grid World, a grid of rooms with a key and a door" in first
    assert "Goal: Take the key, then go to the door." in first
    assert pkmn("eval", "it").code == 2
    assert pkmn("replay", "it", "--verify").code == 0


@pytest.mark.long
def test_a_killed_training_beside_a_learner_resumes_exactly(
    pkmn: Pkmn,
    course: Callable[[Path], dict[str, Any]],
    assert_same_course: Callable[..., None],
    grid_world: list[str],
    tmp_path: Path,
) -> None:
    small = ["--steps=240", "--save-interval=80", "--final-episodes=0", "--no-film", "--set=dqn.learning_starts=40"]
    options = [*grid_world, *small, "--llm-wait", "--llm-interval=3"]
    result = pkmn("train", *options, "--run-name=whole")
    assert result.code == 0, result.err
    sources = {row["source"] for row in course(tmp_path / "runs" / "whole")["decisions"]}
    assert Source.LLM in sources
    assert Source.RULE not in sources, "nobody but learner and language model acts"
    train_until(("os.rename", ".step-000000160.tmp", 1), tmp_path, *options, "--run-name=killed")
    assert pkmn("train", "--resume", "killed").code == 0
    assert_same_course(tmp_path / "runs" / "killed", tmp_path / "runs" / "whole")


def test_without_pilot_and_language_model_nobody_could_decide(pkmn: Pkmn) -> None:
    result = pkmn("train", "--env=gym:CartPole-v1", "--rl=none", "--steps=10")
    assert (result.code, "or choose --llm" in result.err) == (2, True)


def test_advice_is_played_where_observations_are_nested() -> None:
    environment = Nested()
    environment.reset(seed=1)
    carrier = ActionCarrier(environment)
    carrier.reset(seed=1)
    assert carrier.allowed() == list(range(12))
    assert carrier.reconsider(Advice("go", presses=(11,))).action == 11


def test_advice_is_played_in_the_wrappers_of_the_environment() -> None:
    given = {"env": "gym:CartPole-v1", "rl": "none", "llm": "scripted", "pilot": "none"}
    pilot = pilot_spec(resolve_settings(given, registry=get_registry(), environ={}), get_registry())
    module = "support.plain_environments"
    environment = EnvironmentSpec(f"{module}:Nested", wrappers=((f"{module}:OneAllowed", {}),))
    with WorkerPool(WorkerSpec(environment, pilot, seed=1, purpose=Purpose.TRAINING, num_envs=1)) as pool:
        pool.reset()
        for _step in range(8):
            pool.step(np.array([PILOT_ACTS]), np.zeros(1, np.uint8), np.zeros(1, np.float32))
        assert not pool.losses


# Forms of replies without skills ---------------------------------------------------------------------------------


def read(form: ReplyForm, **fields: Any) -> Any:
    return form.read(LLMReply(json.dumps({"confidence": 0.5, **fields}), "m"), expires_after=9)


def test_a_reply_without_skills_names_actions() -> None:
    form = ReplyForm((), ActionNames(("left", "right", "fire")))
    assert list(form.schema["properties"]) == ["goal", "actions", "confidence", "reason"]
    assert form.schema["properties"]["actions"]["items"]["enum"] == ["left", "right", "fire"]
    assert read(form, actions=["Fire", "left"]).advice.presses == (2, 0)
    assert read(form, skill="press", presses=["right"]).advice.presses == (1,)
    assert read(form, actions=[]).problem == "actions must name one at least"
    assert read(form, actions=["jump"]).problem == "actions must be a list of 8 at most, of left, right, fire"
    assert read(form, goal="win").problem.startswith("actions must")


@pytest.mark.parametrize("count", long_after(1, [500, 4096]))
def test_of_many_actions_a_reply_names_one_in_free_text(count: int) -> None:
    form = ReplyForm((), ActionNames(tuple(f"action_{number}" for number in range(count))))
    assert form.schema["properties"]["actions"]["items"] == {"type": "string"}
    last = f"action_{count - 1}"
    assert read(form, actions=[last, "action_0"]).advice.presses == (count - 1, 0)
    assert read(form, actions=[f"action_{count}"]).problem == "actions must be a list of 8 at most, of allowed actions"
    assert form.read(LLMReply(f"go {last}", "m"), expires_after=9, words_too=True).advice.presses == (count - 1,)


def asked(form: ReplyForm, *allowed: int) -> str:
    return (
        PromptTemplate.load(form=form).fill(Question(Context("win", "a card game"), form=form, allowed=allowed), 0).text
    )


def test_a_prompt_has_the_allowed_actions_in_few_words() -> None:
    numbered = ReplyForm((), ActionNames(tuple(f"action_{number}" for number in range(4096))))
    assert "Allowed now: action_0 to action_4095." in asked(numbered)
    assert "Allowed now: action_3, action_7." in asked(numbered, 3, 7)
    assert "Allowed now: action_3, action_5 to action_99." in asked(numbered, 3, *range(5, 100))
    words = ReplyForm((), ActionNames(tuple(f"{chr(97 + number % 26) * (1 + number // 26)}x" for number in range(100))))
    assert f"and {100 - MOST_LISTED} more, the last of which is vvvvx." in asked(words)
