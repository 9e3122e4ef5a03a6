"""No key leaves: whatever a plugin, a worker or a service says, it is in no stream and in no file of the run."""

from __future__ import annotations

import base64
import io
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pkmncli.outgoing_text import drawing_stream, guarded_output, printable, redact, redacted

RunPkmn = Callable[..., Any]

KEY = 'sk-very"secret/0123 456'
OTHER = "tok-4f5a6b7c8d9e"

PLUGIN = """
import logging, os, sys, threading, warnings
from pkmncli.errors import TrainingError
from pkmncli import hookimpl

KEY = "key " + os.environ["OPENAI_API_KEY"] + " and " + os.environ["MY_OWN_TOKEN"]
WHAT = os.environ["WHAT"]

@hookimpl
def pkmn_register_rewards(register):
    register("leaky", "leaky:Leaky", help="a reward that tells")

@hookimpl
def pkmn_episode_finished(run, episode):
    logging.getLogger("pkmncli.mine").warning(KEY)
    if WHAT == "hook":
        raise ValueError(KEY)

@hookimpl
def pkmn_run_finished(run, summary):
    if WHAT == "end":
        raise TrainingError(KEY)

class Leaky:
    def __init__(self, settings=None):
        self.steps = 0

    def reset(self, state):
        print(KEY)
        if WHAT == "reset":
            raise ValueError(KEY)

    def score(self, previous, action, state):
        self.steps += 1
        if self.steps == 5:
            print(KEY, file=sys.stderr)
            sys.stdout.writelines([KEY, "\\n"])
            warnings.warn(KEY)
            thread = threading.Thread(target=lambda: int(KEY))
            thread.start()
            thread.join()
            if WHAT == "worker":
                raise ValueError(KEY)
            if WHAT == "mine":
                raise TrainingError(KEY)
        return {}

    def save_state(self):
        return {}

    def load_state(self, state):
        pass
"""


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_OWN_TOKEN", OTHER)


def forms(secret: str) -> list[str]:
    return [secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, safe=""), secret[:12]]


def assert_nowhere(folder: Path, *texts: str) -> None:
    for form in (*forms(KEY), OTHER):
        assert form not in "".join(texts)
        for path in folder.rglob("*"):
            assert not path.is_file() or form.encode() not in path.read_bytes(), path


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "options", "code", "said"),
    [
        ("worker", [], 1, "ValueError: key <OPENAI_API_KEY> and <MY_OWN_TOKEN>"),
        ("worker", ["--debug"], 1, "ValueError: key <OPENAI_API_KEY> and <MY_OWN_TOKEN>"),
        ("mine", ["--debug"], 1, "key <OPENAI_API_KEY> and <MY_OWN_TOKEN>"),
        ("reset", [], 1, "key <OPENAI_API_KEY> and <MY_OWN_TOKEN>"),
        ("hook", ["--debug"], 0, "key <OPENAI_API_KEY> and <MY_OWN_TOKEN>"),
        ("end", [], 0, "key <OPENAI_API_KEY> and <MY_OWN_TOKEN>"),
    ],
)
def test_a_plugin_that_tells_a_key(
    what: str, options: list[str], code: int, said: str, tmp_path: Path, run_pkmn: RunPkmn
) -> None:
    plugins = tmp_path / "plugins"
    (plugins / "leaky-1.dist-info").mkdir(parents=True)
    (plugins / "leaky.py").write_text(PLUGIN)
    (plugins / "leaky-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: leaky\nVersion: 1\n")
    (plugins / "leaky-1.dist-info" / "entry_points.txt").write_text("[pkmn]\nleaky = leaky\n")
    path = ":".join([str(plugins), *sys.path])
    small = ["--rl=none", "--steps=60", "--max-steps-per-episode=20", "--final-episodes=0", "--reward=leaky"]

    result = run_pkmn(
        "train", *small, "--run-name=r", *options, PYTHONPATH=path, WHAT=what, OPENAI_API_KEY=KEY, MY_OWN_TOKEN=OTHER
    )

    assert result.returncode == code, result.stderr
    assert said in result.stdout + result.stderr
    assert_nowhere(tmp_path / "runs", result.stdout, result.stderr)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"with {KEY}.", "with <OPENAI_API_KEY>."),
        (json.dumps({"k": KEY}), '{"k": "<OPENAI_API_KEY>"}'),
        (repr(KEY), "'<OPENAI_API_KEY>'"),
        (f"/v1?x={quote(KEY, safe='')}", "/v1?x=<OPENAI_API_KEY>"),
        (base64.b64encode(OTHER.encode()).decode(), "<MY_OWN_TOKEN>"),
        ("http://me:pass@host/v1", "http://<secret>@host/v1"),
        ("http://me:@host/v1", "http://<secret>@host/v1"),
        ("at https://host/v1?a=1&api_key=abc&b=2", "at https://host/v1?a=1&api_key=<secret>&b=2"),
        ("https://me:pass@host/v1?key=abc", "https://<secret>@host/v1?key=<secret>"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer <secret>"),
        ("{'x-api-key': 'abcdef0123456789'}", "{'x-api-key': '<secret>'}"),
        ("key sk-proj-abcdefghij0123456789xyz", "key <secret>"),
        ("http://127.0.0.1:8080/?token=shown-once", "http://127.0.0.1:8080/?token=shown-once"),
        ("a folder seed=3/key=value?x", "a folder seed=3/key=value?x"),
        ("the bearer information, and basic understanding", "the bearer information, and basic understanding"),
        ("ratio 3:4@5 http://host:80/a", "ratio 3:4@5 http://host:80/a"),
    ],
)
def test_what_is_blanked_out_of_a_text(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redacted({"a": [text, 1, None]}) == {"a": [shown, 1, None]}


def test_which_variables_hold_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEYS", "first-of-them,second-one")
    monkeypatch.setenv("DB_PASSWORD", " “quoted-word” ")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hunter2hunter@proxy:80")
    monkeypatch.setenv("SHORT_TOKEN", "ollama")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "parallelism")
    text = "first-of-them second-one quoted-word hunter2hunter ollama parallelism"
    shown = "<MY_API_KEYS> <MY_API_KEYS> <DB_PASSWORD> <HTTPS_PROXY> ollama parallelism"
    assert redact(text) == shown


def test_a_secret_counts_from_when_it_is_set_until_it_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert redact("first-value, second-value") == "first-value, second-value"
    monkeypatch.setenv("MY_API_KEY", "first-value")
    assert redact("first-value, second-value") == "<MY_API_KEY>, second-value"
    monkeypatch.setenv("MY_API_KEY", "second-value")
    assert redact("first-value, second-value") == "first-value, <MY_API_KEY>"
    monkeypatch.delenv("MY_API_KEY")
    assert redact("first-value, second-value") == "first-value, second-value"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x1b]8;;http://x\x1b\\link", "\\x1b]8;;http://x\\x1b\\link"),
        ("\x9b31m", "\\x9b31m"),
        ("over\rwritten", "over\\rwritten"),
        ("a\r\nb\tc\n", "a\r\nb\tc\n"),
        ("left\u202eright", "left\\u202eright"),
        ("Pokémon ♀ 妙蛙", "Pokémon ♀ 妙蛙"),
    ],
)
def test_what_a_terminal_would_act_on_is_shown_instead(text: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert printable(text) == shown
    stream = io.StringIO(newline="")
    monkeypatch.setattr(sys, "stdout", stream)
    with guarded_output():
        print(text, end="")
        assert stream.getvalue() == shown
        print("\x1b[1mbold\x1b[0m", end="")  # colours are the program's own, and do no harm
        print("\x1b[H", end="", file=drawing_stream())  # what draws may place its pictures
    assert stream.getvalue() == f"{shown}\x1b[1mbold\x1b[0m\x1b[H"


@pytest.mark.usefixtures("keys")
def test_the_guarded_streams_hide_the_bytes_beneath(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
    monkeypatch.setattr(sys, "stdout", stream)
    with guarded_output():
        assert not hasattr(sys.stdout, "buffer")
        assert sys.stdout.encoding == "ascii" and not sys.stdout.isatty()
        assert sys.stdout.write(KEY) == len(KEY)
    stream.flush()
    assert stream.buffer.getvalue() == b"<OPENAI_API_KEY>"  # type: ignore[attr-defined]
    assert sys.stdout is stream


@pytest.mark.usefixtures("keys")
def test_the_log_of_a_run(tmp_path: Path, run_pkmn: RunPkmn) -> None:
    from pkmncli.training.display.run_log import log_to  # noqa: PLC0415 - numpy is of no need above

    class _Run:
        log_file = tmp_path / "log.txt"

    with log_to(_Run(), "INFO"):  # type: ignore[arg-type]
        logger = logging.getLogger("pkmncli.mine")
        logger.info("a text\n2026-01-01 00:00:00,000 ERROR pkmncli: forged \x1b[31m")
        try:
            raise ValueError(KEY)
        except ValueError:
            logger.exception("failed with %s", OTHER)
    lines = _Run.log_file.read_text().splitlines()
    assert lines[1] == "    2026-01-01 00:00:00,000 ERROR pkmncli: forged \\x1b[31m"
    assert lines[-1] == "    ValueError: <OPENAI_API_KEY>"
    assert_nowhere(tmp_path)
