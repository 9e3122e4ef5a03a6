"""Remedies, each tried: a planted weakness is found, its command is run as it is printed, and the gain is measured.

docs/decisions.md has the gains; the margins here are wider.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import pkmn
from support.weak_trainings import ACTIONS, PAYS, Plugin

from pkmn_decisions.report.headline import MAX_FINDINGS
from pkmncli.plugins import get_registry

__all__ = ["pkmn"]
pytestmark = pytest.mark.long
Pkmn = Callable[..., Any]

SHORT = ["--quiet", "--no-film", "--final-episodes=0", "--run-name=weak"]
DQN = [
    "--rl=dqn", "--set=dqn.learning_starts=100", "--set=dqn.learning_rate=0.003", "--set=dqn.gamma=0.0",
    "--set=dqn.exploration_fraction=0.05", "--set=dqn.demonstration_weight=0",
]  # fmt: skip
ROOMS = ["--env=gym:support.toy_environments:Rooms-v0", *DQN, "--steps=2000"]
MODEL = ["--llm=scripted", "--set=scripted.file=advice.toml", "--llm-wait", "--set=llm_allowance=1"]
SMALL = [*DQN, "--set=dqn.net_arch=[32]", "--set=dqn.n_step=1", "--set=dqn.own_process=false"]
ADVISED = [*SMALL, *MODEL, "--strategy=llm_heavy"]


@pytest.fixture(autouse=True)
def games(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the games; workers can import them."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    get_registry().register_plugin(Plugin(), "weak_trainings")
    yield
    get_registry().unregister_plugin("weak_trainings")


def train(pkmn: Pkmn, *options: str) -> None:
    result = pkmn("train", *SHORT, *options)
    assert result.code == 0, result.err


def write_advice(folder: Path, told: dict[str, int]) -> None:
    """Write the model's replies: pattern in the prompt -> number of the action that it advises."""
    reply = {"goal": "a point", "confidence": 0.9, "reason": "a test"}
    texts = {when: json.dumps({**reply, "actions": [f"action_{action}"]}) for when, action in told.items()}
    tables = [f"[[reply]]\nwhen = '{when}'\ntext = '{text}'\n" for when, text in texts.items()]
    (folder / "advice.toml").write_text("".join(tables))


def analysis(pkmn: Pkmn, run: str) -> dict[str, Any]:
    result = pkmn("analyze-patterns", run, "--format=json")
    assert result.code == 0, result.err
    found: dict[str, Any] = json.loads(result.out)
    assert len(found["act_on"]) <= MAX_FINDINGS
    return found


def finding(pkmn: Pkmn, change: str) -> dict[str, Any]:
    """Return the finding about the weak training that proposes a change."""
    found = analysis(pkmn, "weak")["act_on"]
    return next(one for one in found if one["change"] == change)


def run_as_printed(pkmn: Pkmn, tmp_path: Path, command: str) -> str:
    """Run a command line as it is printed, with ``&&`` and ``>``, and return the name of the run that it trained."""
    arguments: list[str] = []
    for line in command.split(" && "):
        words, _, file = line.partition(" > ")
        program, *arguments = shlex.split(words)
        assert program == "pkmn"
        result = pkmn(*arguments)
        assert result.code == 0, result.err
        if file:
            (tmp_path / file).write_text(result.out)
    return arguments[arguments.index("--run-name") + 1] if "--run-name" in arguments else "weak"


def summary(tmp_path: Path, run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "runs" / run / "summary.json").read_text())
    return found


def gain(pkmn: Pkmn, tmp_path: Path, command: str) -> float:
    """Run the command and return the mean reward of an episode over that of the weak training."""
    before: float = summary(tmp_path, "weak")["final_avg_reward"]
    run = run_as_printed(pkmn, tmp_path, command)
    after: float = summary(tmp_path, run)["final_avg_reward"]
    return after / before


def share_in_loops(pkmn: Pkmn, run: str) -> float:
    found = analysis(pkmn, run)
    share: float = sum(one["wasted_steps"] for one in found["loops"]) / found["decisions"]
    return share


def test_a_training_that_explores_too_much_earns_more_with_less(pkmn: Pkmn, tmp_path: Path) -> None:
    train(pkmn, *ROOMS, "--set=dqn.exploration_final=0.5")
    first = analysis(pkmn, "weak")["act_on"][0]
    assert (first["kind"], first["change"]) == ("who decides", "explore less")
    assert first["command"].endswith("--set dqn.exploration_final=0.05")
    assert "exploration decides worse" in first["text"] and "95%)" in first["text"]
    assert "exploration" in first["who"]
    assert gain(pkmn, tmp_path, first["command"]) > 1.2


def test_a_bad_adviser_costs_less_if_asked_less_and_nothing_is_lost(pkmn: Pkmn, tmp_path: Path) -> None:
    write_advice(tmp_path, {".": 0})
    train(pkmn, *ROOMS, *MODEL, "--llm-interval=2")
    less = finding(pkmn, "ask the language model less often")
    assert "the language model decides worse" in less["text"]
    assert gain(pkmn, tmp_path, less["command"]) >= 0.95
    before, after = (summary(tmp_path, run)["llm"]["requests"] for run in ("weak", "weak-llm-interval"))
    assert after < 0.5 * before


def test_a_good_adviser_earns_more_if_asked_more(pkmn: Pkmn, tmp_path: Path) -> None:
    write_advice(tmp_path, {f"in hall {hall}": action for hall, action in enumerate(PAYS)})
    train(pkmn, "--env=halls", "--set=halls.dark=true", *ADVISED, "--llm-interval=2", "--steps=600")
    more = finding(pkmn, "ask the language model more often")
    assert more["command"].endswith("--llm-interval 1") and "the language model decides better" in more["text"]
    assert gain(pkmn, tmp_path, more["command"]) > 1.2


def test_a_model_that_is_told_what_pays_earns_more(pkmn: Pkmn, tmp_path: Path) -> None:
    told = {f"the action action_{action} brings more here": action for action in range(ACTIONS)}
    write_advice(tmp_path, told | {".": 0})
    train(pkmn, "--env=halls", *ADVISED, "--steps=800")
    found = analysis(pkmn, "weak")["act_on"]
    assert not [one for one in found if "--llm-interval" in one["command"]], "the halls ask, not the interval"
    tell = next(one for one in found if one["change"] == "tell the language model")
    assert gain(pkmn, tmp_path, tell["command"]) > 1.2


def test_a_learner_that_trained_too_little_earns_more_after_more(pkmn: Pkmn, tmp_path: Path) -> None:
    train(pkmn, "--env=halls", *SMALL, "--set=dqn.learning_rate=0.0001", "--steps=800")
    later = finding(pkmn, "train on")
    assert later["command"] == "pkmn train --resume runs/weak --steps 1600"
    assert later["who"].startswith("the learner")
    assert gain(pkmn, tmp_path, later["command"]) > 1.05


def test_a_learner_in_loops_wastes_less_if_the_rules_take_over_sooner(pkmn: Pkmn, tmp_path: Path) -> None:
    train(pkmn, "--env=locks", *SMALL, "--steps=2400")
    sooner = finding(pkmn, "let the rules take over sooner without reward")
    assert sooner["command"].endswith("--set hand_over.idle_steps=75")
    assert sooner["kind"] == "loop" and sooner["who"].startswith("the learner")
    assert "loops, mostly with" in sooner["text"], "an environment without maps has no places"
    assert gain(pkmn, tmp_path, sooner["command"]) > 1.1
    assert share_in_loops(pkmn, "weak-idle_steps") < 0.85 * share_in_loops(pkmn, "weak")


def test_rules_in_loops_earn_more_with_a_better_pilot(pkmn: Pkmn, tmp_path: Path) -> None:
    train(pkmn, "--env=locks", "--rl=none", "--pilot=stubborn", "--steps=2000")
    better = finding(pkmn, "let a better pilot play")
    assert better["command"].endswith("--pilot locksmith") and better["who"] == "the rules 100%"
    assert gain(pkmn, tmp_path, better["command"]) > 2
    assert share_in_loops(pkmn, "weak") > 0.5 > share_in_loops(pkmn, "weak-pilot")


def test_what_a_weak_pilot_does_is_no_goal_of_the_game(pkmn: Pkmn, tmp_path: Path) -> None:
    train(pkmn, "--env=balatro", "--rl=none", "--mode=llm-only", "--pilot=random", "--steps=8000", "--envs=8")
    better = finding(pkmn, "let a better pilot play")
    assert better["text"].startswith("ante 1, blind: the action skip_blind brings")
    assert better["command"].endswith("--pilot planning")
    changed = better["command"].replace("--pilot planning", "--pilot greedy --steps 2000")
    assert gain(pkmn, tmp_path, changed) > 2
