"""`pkmn llm logs`, `chat`, `aliases` and `keys`: transcripts of runs, a conversation, names and keys of a user."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import GOOD, KEY

from pkmncli import tables
from pkmncli.api import Action, Advice
from pkmncli.commands.llm_chat import Conversation, converse
from pkmncli.commands.llm_scene import opened_scene
from pkmncli.config import resolve_settings
from pkmncli.errors import PkmnError
from pkmncli.llm.keys import key_from
from pkmncli.plugins import get_registry
from pkmncli.training.compatibility import fit_pilot

Pkmn = Callable[..., Any]

SECRET = "sk-hushhush-0123456789"


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(Behaviour(text=GOOD)) as running:
        yield running


def type_in(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


# Logs --------------------------------------------------------------------------------------------------------------

SCRIPT = """
[[reply]]
when = "Situation: Home 2F"
text = '{"goal": "leave the house", "skill": "press", "presses": ["right"], "confidence": 0.9, "reason": "stairs"}'
[[reply]]
when = "Situation: Home 1F"
text = '{"skill": "notes", "note": "the door is south", "confidence": 0.5}'
[[reply]]
text = "<think>Is it a door?</think>Hmm, who knows?"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that asked a scripted model: good and useless answers."""
    from support.commands import run_here  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("logs")
    script = folder / "script.toml"
    script.write_text(SCRIPT)
    options = ["--rl=none", "--llm=scripted", f"--set=scripted.file={script}", "--llm-wait", "--llm-interval=5"]
    options += ["--llm-notes=3"]
    result = run_here("train", *options, "--steps=60", f"--save-dir={folder}", "--run-name=it", "--quiet")
    assert result.code == 0, result.err
    return folder / "it"


@pytest.mark.long
def test_the_logs_of_a_run_show_question_answer_and_what_was_made_of_it(pkmn: Pkmn, run: Path) -> None:
    result = pkmn("llm", "logs", str(run), "--json")
    assert result.code == 0, result.err
    rows = json.loads(result.out)
    assert {row["reading"] for row in rows} == {"schema", "nothing"}
    assert [row["global_step"] for row in rows] == sorted(row["global_step"] for row in rows)
    good = next(row for row in rows if row["reading"] == "schema")
    assert good["advice"]["goal"] == "leave the house"
    assert "Goal: " in good["prompt"]

    short = pkmn("llm", "logs", str(run)).out
    assert "press right: leave the house (confidence 0.90) stairs (read by schema, followed)" in short
    assert "  -> not used: " in short
    note = 'notes (confidence 0.50) Note: "the door is south" (read by schema, not followed: it only wrote a note)'
    assert f"  -> {note}" in short
    assert "Goal: " not in short
    assert short.rstrip().endswith(f"{len(rows)} questions of it, {len(rows)} shown.")

    assert "\nanswered: Hmm, who knows?\nanswered, asked again: Hmm, who knows?\n" in short
    assert "Is it a door?" not in short
    assert "\nthought: Is it a door?\n" in pkmn("llm", "logs", str(run), "--full", "--invalid").out

    full = pkmn("llm", "logs", str(run), "--full", "--last=1").out
    assert rows[-1]["prompt"] in full
    assert full.count("--- step") == 1


def test_the_logs_are_searched(pkmn: Pkmn, run: Path) -> None:
    rows = json.loads(pkmn("llm", "logs", str(run), "--json").out)
    invalid = json.loads(pkmn("llm", "logs", str(run), "--invalid", "--json").out)
    assert invalid == [row for row in rows if row["reading"] == "nothing"] != []
    assert json.loads(pkmn("llm", "logs", str(run), "--grep=WHO (knows|cares)", "--json").out) == invalid
    assert "0 of them chosen, 0 shown" in pkmn("llm", "logs", str(run), "--grep=nowhere to be found").out
    wrong = pkmn("llm", "logs", str(run), "--grep=(")
    assert (wrong.code, len(wrong.err.splitlines())) == (2, 1)
    assert pkmn("llm", "logs", "no-such-run").code == 5


# Chat --------------------------------------------------------------------------------------------------------------


def test_a_conversation_is_about_the_state_and_remembers_what_was_said(
    pkmn: Pkmn, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer(Behaviour(text="<think>hm</think>In your room."), Behaviour(text=GOOD), Behaviour(text="Bye."))
    type_in(monkeypatch, "Where am I?", "/advice", "", "/state", "And now?", "/quit", "never said")
    result = pkmn("llm", "chat", f"--llm=openai:{MODEL}", f"--set=openai.base_url={server.url}/v1")
    assert result.code == 0, result.err
    first, *_, last = result.out.splitlines()
    assert (first, last) == ("In your room.", "Bye.")
    assert "press up: walk on (confidence 0.50)" in result.out
    assert result.out.count("Situation: ") == 1, "that of /state"
    where, advice, now = (one.body["messages"][1]["content"] for one in server.asked)
    assert "Situation: " in where
    assert "`go_to` walks to" in where
    assert "Answer as {" not in where
    assert "Answer as {" in advice
    assert "Person: Where am I?\nYou: In your room.\n" in now
    assert "\n\nAnd now?\n\n" in now
    assert "so far" not in where.partition("Choose one skill")[2]
    assert "hm" not in now.partition("conversation so far:")[2]
    assert "response_format" not in server.asked[0].body


def test_advice_of_a_conversation_is_carried_out_and_the_next_words_are_about_what_came(
    pkmn: Pkmn, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    advice = GOOD.replace('["up"]', '["down", "down"]')
    server.answer(Behaviour(text=advice), Behaviour(text="Further down."))
    type_in(monkeypatch, "/do", "/advice", "/do", "/do", "Where am I now?")
    result = pkmn("llm", "chat", "--llm=openai", f"--set=openai.base_url={server.url}/v1")
    assert result.code == 0, result.err
    nothing, said, done, again, where = result.out.splitlines()
    assert nothing == again == "There is no advice to carry out: ask with /advice."
    assert said.startswith("press down, down: walk on")
    assert done.startswith("Carried out for 2 steps: all was pressed. Home 2F, tile (1, ")
    assert where == "Further down."
    before, after = (one.body["messages"][1]["content"] for one in server.asked)
    assert "Situation: Home 2F, tile (1, 3)" in before
    assert f"Situation: {done.partition('pressed. ')[2]}" in after
    assert "tile (1, 3)" not in after.partition("conversation so far")[0]


@pytest.mark.parametrize(
    ("options", "advice", "expected"),
    [
        (
            {},
            Advice("", skill="go_to", arguments={"x": 1, "y": 4}),
            "Carried out for 1 step, with 1 step of the pilot's own: the place is reached.",
        ),
        (
            {},
            Advice("", skill="go_to", arguments={"map": "the moon"}),
            "No step was by the advice: it names no place or action that exists here. "
            "The pilot played 2 steps of its own.",
        ),
        (
            {},
            Advice("", skill="flee"),
            "No step was by the advice: there is no battle to leave. The pilot played 2 steps of its own.",
        ),
        (
            {},
            Advice("", skill="talk_to"),
            "No step was by the advice: the pilot found no way to do it. The pilot played 2 steps of its own.",
        ),
        ({}, Advice("", skill="notes"), "Nothing to carry out: it is only a note."),
        (
            {},
            Advice("", skill="go_to", arguments={"map": "Alderbrook"}, expires_after=3),
            "Carried out for 3 steps: it expired.",
        ),
        (
            {"max_steps_per_episode": 1},
            Advice("", presses=(int(Action.UP),) * 5),
            "Carried out for 1 step: the episode ended, and a new one has begun.",
        ),
        (
            {"env": "gym:CartPole-v1", "pilot": "none"},
            Advice("", presses=(0, 1)),
            "Carried out for 2 steps: all its actions were taken.",
        ),
        (
            {"env": "balatro"},
            Advice("", presses=(435, 0)),
            "No step was by the advice: its action 1 of 2 is not allowed now. The pilot played 1 step of its own.",
        ),
    ],
    ids=["reached", "no place", "no battle", "no way", "note", "expired", "episode ended", "no pilot", "not allowed"],
)
def test_a_conversation_says_how_advice_ended(options: dict[str, Any], advice: Advice, expected: str) -> None:
    registry = get_registry()
    given = {"llm": "scripted", "mode": "llm-only", "rl": "none", **options}
    settings = fit_pilot(resolve_settings(given, registry=registry, environ={}), registry)
    with opened_scene(settings, registry) as scene:
        assert scene.carry_out(advice) == expected


def test_answers_of_a_conversation_wrap_at_words_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Talk(Conversation):
        def __init__(self) -> None:
            pass

        def say(self, words: str) -> str:
            return f"You said {words}, and that is all.\nSecond paragraph."

    type_in(monkeypatch, "something")
    monkeypatch.setattr(tables, "terminal_columns", lambda: 20)
    converse(Talk())
    assert capsys.readouterr().out.splitlines() == ["You said something,", "and that is all.", "Second paragraph."]


def test_a_conversation_without_an_answer_ends_with_its_reason(
    pkmn: Pkmn, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer(Behaviour(status=400, message="no"))
    type_in(monkeypatch, "Where am I?")
    result = pkmn("llm", "chat", "--llm=openai", f"--set=openai.base_url={server.url}/v1")
    assert result.code == 4
    assert "No answer: " in result.err
    assert pkmn("llm", "chat").code == 2


def test_bytes_that_are_no_text_are_asked_as_such(
    pkmn: Pkmn, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer(Behaviour(text="In your room."))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Where \xff am I?\n"), encoding="utf-8"))
    result = pkmn("llm", "chat", f"--llm=openai:{MODEL}", f"--set=openai.base_url={server.url}/v1")
    assert (result.code, result.out) == (0, "In your room.\n"), result.err
    assert "Where \ufffd am I?" in server.asked[0].body["messages"][1]["content"]


# Aliases -----------------------------------------------------------------------------------------------------------


def chosen(**options: Any) -> tuple[str, str | None]:
    train = resolve_settings(options, registry=get_registry(), environ={}).train
    return train.llm, train.llm_model


def test_an_alias_stands_for_its_model_and_the_run_says_both(pkmn: Pkmn) -> None:
    assert "No alias" in pkmn("llm", "aliases", "list").out
    assert pkmn("llm", "aliases", "set", "fast", "ollama:qwen3:0.6b").code == 0
    assert pkmn("llm", "aliases", "set", "local-one", "local").code == 0
    listed = pkmn("llm", "aliases", "list").out
    assert "fast" in listed
    assert "ollama:qwen3:0.6b" in listed
    assert json.loads(pkmn("llm", "aliases", "list", "--json").out)["fast"] == "ollama:qwen3:0.6b"
    assert chosen(llm="fast") == ("ollama", "qwen3:0.6b")
    assert chosen(llm="local-one") == ("local", None)
    assert chosen(llm="fast", llm_model="qwen3:4b") == ("ollama", "qwen3:4b")
    assert chosen(llm="openai:gpt-4o-mini") == ("openai", "gpt-4o-mini")
    for given, environ in (
        ({"llm_ensemble": ["fast,openai:gpt-4o-mini"]}, {}),
        ({}, {"PKMN_LLM_ENSEMBLE": "fast,openai:gpt-4o-mini"}),
    ):
        ensemble = resolve_settings(given, registry=get_registry(), environ=environ)
        assert ensemble.train.llm_ensemble == ["ollama:qwen3:0.6b", "openai:gpt-4o-mini"]
    written = resolve_settings({"llm": "fast"}, registry=get_registry(), environ={}).to_toml()
    assert "alias fast, from option --llm" in written
    assert pkmn("llm", "aliases", "remove", "fast").code == 0
    with pytest.raises(PkmnError, match="fast"):
        chosen(llm="fast")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["set", "ollama", "openai:gpt-4o"], "name of a backend"),
        (["set", "Fast One", "openai:gpt-4o"], "can't be an alias"),
        (["set", "fast", "opnai:gpt-4o"], "openai"),
        (["set", "fast", ":"], "BACKEND:MODEL"),
        (["set", "fast", "ollama:qwen\x1b[31m"], "BACKEND:MODEL"),
        (["remove", "fast"], "no alias 'fast'"),
    ],
)
def test_an_alias_that_cannot_be_is_one_line(arguments: list[str], says: str, pkmn: Pkmn) -> None:
    result = pkmn("llm", "aliases", *arguments)
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert says in result.err


def test_damaged_aliases_are_named(pkmn: Pkmn, tmp_path: Path) -> None:
    pkmn("llm", "aliases", "set", "fast", "ollama")
    (file,) = (tmp_path / "settings").rglob("*.json")
    file.write_text("{")
    result = pkmn("llm", "aliases", "list")
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert str(file) in result.err


# Keys --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def keyring() -> Iterator[dict[tuple[str, str], str]]:
    """Keyring in memory, in the place of the system's."""
    library = pytest.importorskip("keyring")
    kept: dict[tuple[str, str], str] = {}

    class InMemory(library.backend.KeyringBackend):  # type: ignore[misc, name-defined]
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del kept[service, username]

    before = library.get_keyring()
    library.set_keyring(InMemory())
    yield kept
    library.set_keyring(before)


@pytest.mark.long
def test_a_stored_key_is_used_never_shown_and_gives_way_to_a_variable(
    pkmn: Pkmn,
    server: FaultServer,
    keyring: dict[tuple[str, str], str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    at = ["--llm=openai", f"--set=openai.base_url={server.url}/v1"]
    said = [pkmn("llm", "keys", "list"), pkmn("llm", "models", *at)]
    assert "No key is stored" in said[0].out
    type_in(monkeypatch, f"  {SECRET}")
    said.append(pkmn("llm", "keys", "set", "openai"))
    assert said[-1].code == 0, said[-1].err
    assert keyring == {("pkmncli", "OPENAI_API_KEY"): SECRET}
    said.append(pkmn("llm", "keys", "list"))
    assert "OPENAI_API_KEY" in said[-1].out
    server.answer(Behaviour(text=f"your key is {SECRET}"))
    said.append(pkmn("llm", "ask", *at))
    assert server.asked[0].headers["authorization"] == f"Bearer {SECRET}"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert key_from("OPENAI_API_KEY") == KEY
    assert "takes precedence" in pkmn("llm", "keys", "list").out
    assert json.loads(pkmn("llm", "keys", "list", "--json").out)[0]["key"] == "OPENAI_API_KEY"
    said.append(pkmn("llm", "keys", "remove", "OPENAI_API_KEY"))
    assert said[-1].code == 0
    assert keyring == {}
    os.environ.pop("OPENAI_API_KEY")
    assert key_from("OPENAI_API_KEY") == ""
    assert SECRET not in "".join(one.out + one.err for one in said)
    assert not any(SECRET in path.read_text() for path in (tmp_path / "settings").rglob("*.json"))


@pytest.mark.parametrize(
    ("name", "typed", "says"),
    [
        ("opnai", SECRET, "names no key"),
        ("openai", "", "empty"),
        ("openai", "sk-a b-0123456789", "holds a blank"),
    ],
)
def test_a_key_that_is_none_is_not_stored(
    name: str, typed: str, says: str, pkmn: Pkmn, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, typed)
    result = pkmn("llm", "keys", "set", name)
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert says in result.err
    assert "0123456789" not in result.err


def test_without_the_library_a_key_is_not_stored_and_the_line_says_what_to_install(
    pkmn: Pkmn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    type_in(monkeypatch, SECRET)
    result = pkmn("llm", "keys", "set", "openai")
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert "pkmncli[keyring]" in result.err
    assert "No key is stored" in pkmn("llm", "keys", "list").out
