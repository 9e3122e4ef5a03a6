"""Skills and names that a third party's pilot and environment declare reach prompt, schema, replies and records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.own_pilots import DIG, Digger

from pkmncli import hookimpl
from pkmncli.api import ActionNames, Argument, LLMReply, PhaseRole, Skill, Source
from pkmncli.declared import action_names_of, phase_roles_of, situations_of
from pkmncli.errors import EnvironmentSetupError, PluginError
from pkmncli.llm.replies import ReplyForm
from pkmncli.plugins import get_registry

DUG = {"goal": "find a way", "skill": "dig", "depth": 3, "confidence": 0.8, "reason": "a test"}


@pytest.fixture
def digger() -> Iterator[str]:
    """Name of the registered pilot that digs."""

    class Plugin:
        @hookimpl
        def pkmn_register_pilots(self, register: Any) -> None:
            register("digger", "support.own_pilots:Digger", config="pkmn_pyboy.pilot.settings:PilotSettings")

    get_registry().register_plugin(Plugin(), "digger")
    yield "digger"
    get_registry().unregister_plugin("digger")


@pytest.mark.long
def test_a_skill_of_a_third_partys_pilot_is_asked_for_read_and_carried_out(
    digger: str,
    pkmn: Callable[..., Any],
    small_training: list[str],
    course: Callable[[Path], dict[str, Any]],
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.toml"
    script.write_text(f"[[reply]]\ntext = '{json.dumps(DUG)}'\n")
    advised = ["--llm=scripted", f"--set=scripted.file={script}", "--llm-wait", "--set=llm_allowance=1"]
    result = pkmn("train", *small_training, *advised, f"--pilot={digger}", "--run-name=it")
    assert result.code == 0, result.err
    found = course(tmp_path / "runs" / "it")
    assert '`dig` digs "depth" tiles down.' in found["advice"][0]["prompt"]
    assert '"depth": null' in found["advice"][0]["prompt"]
    assert "go_to" not in found["advice"][0]["prompt"]
    assert {row["reading"] for row in found["advice"]} == {"schema"}
    dug = [row for row in found["decisions"] if row["source"] == Source.LLM]
    assert dug and {row["reason"] for row in dug} == {"digs 3 deep"}


def test_the_schema_and_the_checks_are_those_of_the_declared_skills_and_actions() -> None:
    form = ReplyForm(Digger.skills, ActionNames(("left", "right", "fire"), verbs={"shoot": "fire"}))
    properties = form.schema["properties"]
    assert properties["skill"]["enum"] == ["press", "dig"]
    assert properties["presses"]["items"]["enum"] == ["left", "right", "fire"]
    assert {"minimum": 1, "maximum": 9, "type": "integer"} in properties["depth"]["anyOf"]
    assert form.schema["required"] == list(properties)

    def read(text: str) -> Any:
        return form.read(LLMReply(text, "m"), expires_after=9, words_too=True)

    assert read(json.dumps(DUG)).advice.arguments == {"depth": 3}
    assert read(json.dumps(DUG | {"depth": 10})).problem == "depth must be a whole number from 1 to 9"
    assert read(json.dumps(DUG | {"depth": None})).problem == "the skill dig needs depth"
    assert read(json.dumps(DUG | {"skill": "fight"})).problem == "skill must be one of press, dig"
    assert (read("You should dig!").advice.skill, read("shoot").advice.presses) == ("dig", (2,))


@pytest.mark.parametrize(
    ("skills", "says"),
    [
        ((DIG, DIG), "twice"),
        ((Skill("press", "presses"),), "twice"),
        ((Skill("Dig it", "digs"),), "lower-case"),
        ((Skill("dig", "digs", (Argument("goal"),)),), "field of every reply"),
        ((Skill("dig", "digs", needs=(("depth",),)),), "not among its arguments"),
        ((Skill("dig", "digs", action="jump"),), "no action 'jump'"),
        ((DIG, Skill("drill", "drills", (Argument("depth"),))), "differs"),
    ],
)
def test_a_skill_that_is_declared_wrongly_is_refused(skills: tuple[Skill, ...], says: str) -> None:
    with pytest.raises(PluginError, match=says) as error:
        ReplyForm(skills)
    assert "\n" not in str(error.value)


class Bare:
    """Environment that declares no more than it must."""

    phase_names = ("playing", "paused")


def test_an_environment_that_declares_nothing_has_free_phases_and_numbered_actions() -> None:
    assert phase_roles_of(Bare()) == [PhaseRole.FREE] * 2
    assert situations_of(Bare()) == ["all", "all"]
    assert action_names_of(Bare(), 3).names == ("action_0", "action_1", "action_2")


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"action_names": ("left", "right")}, "3 actions"),
        ({"action_names": ActionNames(("a", "b", "c"), verbs={"jump": "d"})}, "an action that it lacks: d"),
    ],
)
def test_wrong_names_of_actions_are_refused(declared: dict[str, Any], says: str) -> None:
    environment = type("Odd", (Bare,), declared)
    with pytest.raises(EnvironmentSetupError, match=says):
        action_names_of(environment, 3)


def test_a_phase_without_a_role_is_refused() -> None:
    environment = type("Odd", (Bare,), {"phase_roles": (PhaseRole.FREE,)})
    with pytest.raises(EnvironmentSetupError, match="1 roles for 2 phases"):
        phase_roles_of(environment)
