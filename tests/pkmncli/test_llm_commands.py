"""`pkmn llm` and `pkmn doctor`: a question by hand, with the screen, and which models can be reached."""

from __future__ import annotations

import base64
import io
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import GOOD, KEY

from pkmncli.commands import doctor
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry

Pkmn = Callable[..., Any]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(Behaviour(text=GOOD)) as running:
        yield running


def at(server: FaultServer) -> list[str]:
    return ["--llm=openai", f"--set=openai.base_url={server.url}/v1"]


def test_a_question_by_hand_shows_what_was_asked_answered_and_understood(pkmn: Pkmn, server: FaultServer) -> None:
    result = pkmn("llm", "ask", *at(server))
    assert result.code == 0, result.err
    for part in ("--- asked ---", "Goal: ", f"answered by {MODEL}", GOOD, "press up: walk on (confidence 0.50)"):
        assert part in result.out
    assert server.asked[0].body["messages"][1]["content"] in result.out


def test_the_screen_goes_along_as_a_png_file(pkmn: Pkmn, server: FaultServer) -> None:
    result = pkmn("llm", "ask", *at(server), "--llm-vision", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["advice"]["goal"] == "walk on"
    url = server.asked[0].body["messages"][1]["content"][1]["image_url"]["url"]
    kind, _, data = url.partition(";base64,")
    assert kind == "data:image/png"
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert (picture.format, picture.size) == ("PNG", (160, 144))
    colours = picture.convert("RGB").getcolors(100)
    assert colours is not None and len(colours) > 1, "it is no empty screen"


def test_a_model_without_eyes_is_not_shown_anything(pkmn: Pkmn, server: FaultServer) -> None:
    result = pkmn("llm", "ask", *at(server), "--set=openai.sees=false", "--llm-vision")
    assert result.code == 2
    assert "--llm-vision" in result.err
    assert server.asked == []


def test_the_question_alone_asks_nobody(pkmn: Pkmn, server: FaultServer) -> None:
    result = pkmn("llm", "ask", *at(server), "--prompt-only")
    assert result.code == 0, result.err
    assert "Goal: " in result.out
    assert server.asked == []


def test_an_environment_without_a_pilot_lists_the_actions_that_are_allowed(pkmn: Pkmn) -> None:
    result = pkmn("llm", "ask", "--env=gym:FrozenLake-v1", "--prompt-only")
    assert result.code == 0, result.err
    assert "Environment: FrozenLake-v1" in result.out
    assert "Allowed now: action_0, action_1, action_2, action_3." in result.out


def test_no_answer_ends_with_its_reason_and_no_key(pkmn: Pkmn, server: FaultServer) -> None:
    server.answer(Behaviour(status=400, message=f"{KEY} did not please"))
    result = pkmn("llm", "ask", *at(server))
    assert result.code == 4
    assert "No answer: " in result.err
    assert KEY not in result.out + result.err


def test_models_are_listed(pkmn: Pkmn, server: FaultServer) -> None:
    result = pkmn("llm", "models", *at(server))
    assert (result.code, result.out) == (0, f"{MODEL}\n")


def test_the_doctor_says_who_answers_and_how_fast(pkmn: Pkmn, server: FaultServer) -> None:
    result = pkmn("doctor", *at(server))
    assert result.code == 0, result.err
    assert result.out.startswith("ok")
    assert MODEL in result.out
    assert KEY not in result.out + result.err
    (listed,) = json.loads(pkmn("doctor", "--json", *at(server)).out)
    assert listed["well"] and MODEL in listed["found"]


def test_the_doctor_says_who_does_not(pkmn: Pkmn, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    result = pkmn("doctor", "--llm=openai", f"--set=openai.base_url=http://127.0.0.1:{port}/v1")
    assert result.code == 4
    assert len(result.out.splitlines()) == 1
    assert f"127.0.0.1:{port}" in result.out
    assert "Traceback" not in result.out + result.err


def test_the_doctor_says_in_a_terminal_what_it_waits_for(pkmn: Pkmn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first lines need no waiting; the game and each model are named before they are tried."""
    done: list[str] = []

    @contextmanager
    def waiting(what: str) -> Iterator[None]:
        done.append(what)
        yield
        done.append("ready")

    def play(_registry: object) -> str:
        done.append("played")
        return "runs"

    def model(_registry: object, name: str, *_: object) -> doctor.Line:
        done.append("asked")
        return True, name, ""

    monkeypatch.setattr(doctor, "waiting", waiting)
    monkeypatch.setattr(doctor, "_play", play)
    monkeypatch.setattr(doctor, "_model", model)
    monkeypatch.setattr(doctor, "_print", lambda _well, what, _found: done.append(what))
    assert pkmn("doctor").code == 0
    assert done[:9] == ["pkmn", "pyboy", "gymnasium", "torch", "duckdb", "starting the game", "played", "ready", "game"]
    names = sorted(entry.name for entry in get_registry().registrations("llm_backends"))
    assert done[11:] == [word for name in names for word in (f"asking {name}", "asked", "ready", name)]


# Further fields ----------------------------------------------------------------------------------------------------


def test_further_fields_have_the_types_of_settings_and_go_where_they_are_read(pkmn: Pkmn, server: FaultServer) -> None:
    extra = ["--llm-extra=top_k=20", "--llm-extra=chat_template_kwargs.enable_thinking=false", "--llm-extra=user=me"]
    result = pkmn("llm", "ask", *at(server), "--set=openai.extra_fields={top_k=1,n=1}", *extra)
    assert result.code == 0, result.err
    body = server.asked[0].body
    assert (body["top_k"], body["n"], body["user"]) == (20, 1, "me")
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    server.answer(Behaviour(text=GOOD))
    ollama = ["--llm=ollama", f"--set=ollama.host={server.url}"]
    result = pkmn(
        "llm", "ask", *ollama, "--llm-extra=num_gpu=20", "--llm-extra=options.top_k=3", "--llm-extra=think=false"
    )
    assert result.code == 0, result.err
    body = server.asked[0].body
    assert (body["options"]["num_gpu"], body["options"]["top_k"], body["think"]) == (20, 3, False)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--llm-extra=top_k"], "write key=value"),
        (["--llm-extra=a=1", "--llm-extra=a=2"], "given twice"),
        (["--llm-extra=a=1", "--llm-extra=a.b=2"], "makes a table"),
        (["--llm-extra=messages=1"], "the program fills that in"),
        (["--llm-extra=api_key=hush-hush"], "no key or password"),
        (["--llm=scripted", "--llm-extra=top_k=1"], "takes no further fields"),
    ],
)
def test_a_further_field_that_cannot_be_sent_is_one_line(
    options: list[str], says: str, pkmn: Pkmn, server: FaultServer
) -> None:
    result = pkmn("llm", "ask", *([] if "scripted" in options[0] else at(server)), *options)
    assert result.code == 2
    assert says in result.err
    assert len(result.err.splitlines()) == 1
    assert "hush" not in result.err
    assert server.asked == []


def test_a_run_has_further_fields_as_those_of_its_backend(tmp_path: Path) -> None:
    settings = resolve_settings(
        {"llm": "openai"}, registry=get_registry(), environ={"PKMN_LLM_EXTRA": "reasoning_effort=low"}
    )
    written = settings.to_toml()
    assert "llm_extra = []" in written
    assert 'extra_fields = {reasoning_effort = "low"}' in written.replace("{ ", "{").replace(" }", "}")
    assert "PKMN_LLM_EXTRA" in written
