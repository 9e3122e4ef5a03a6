"""Services as they are, from the command line: what `pkmn llm ask`, `doctor` and `train` make of them."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.fault_server import MODEL, Behaviour, FaultServer, loading, never
from support.faults import GOOD, KEY
from support.variants import long_after

from pkmncli import hookimpl
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest

Pkmn = Callable[..., Any]

ADDRESS = {"openai": "openai.base_url={url}/v1", "ollama": "ollama.host={url}", "anthropic": "anthropic.base_url={url}"}
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY")
FAR = "http://service.invalid:99"


def _thoughts(llm: str, **ending: str) -> bytes:
    """A reply of a model that thought until its tokens were used up."""
    if llm == "ollama":
        message = {"role": "assistant", "content": "", "thinking": "let me see, north is a wall"}
        return json.dumps({"model": MODEL, "message": message, "done": True, "done_reason": "length"}).encode()
    message = {"role": "assistant", "content": "", "reasoning_content": "let me see, north is a wall"}
    choice = {"index": 0, "message": message, "finish_reason": "length"}
    return json.dumps({"id": "1", "object": "chat.completion", "model": MODEL, "choices": [choice]}).encode()


def _no_system(body: Any) -> str:
    return "System role not supported" if any(one["role"] == "system" for one in body["messages"]) else ""


def _no_thinking(body: Any) -> str:
    allowed = body.get("enable_thinking") is False
    return "" if allowed else "parameter.enable_thinking must be set to false for non-streaming calls"


@dataclass(frozen=True)
class Case:
    """A service, an environment and settings, and what must be said."""

    name: str
    llm: str = "openai"
    behaviour: Behaviour = field(default_factory=lambda: Behaviour(text=GOOD))
    variables: Mapping[str, str] = field(default_factory=dict)
    sets: tuple[str, ...] = ()
    model: str | None = None
    models: tuple[str, ...] = (MODEL,)
    listing: Behaviour | None = None
    url: str | None = None
    """Where it is looked for, if not where it is."""
    code: int = 0
    """Of `ask` and of the doctor."""
    asked: tuple[str, ...] = ()
    """Said by `ask`, on standard error."""
    examined: tuple[str, ...] = ()
    """Said by the doctor."""
    doctor: int | None = None
    """Its code where it is another."""


CASES = (
    *(
        Case(f"{llm}: {name}", llm, variables=variables)
        for llm in ADDRESS
        for name, variables in {
            "a SOCKS proxy before this machine": {"ALL_PROXY": "socks5://127.0.0.1:1080"},
            "GNOME's proxy before this machine": {"ALL_PROXY": "socks://127.0.0.1:1080/"},
            "a proxy that is none before this machine": {"HTTP_PROXY": "foo:bar:baz"},
            "stale certificates for plain http": {"SSL_CERT_FILE": "/gone/cacert.pem", "SSL_CERT_DIR": "/gone"},
            "a key with a line end": dict.fromkeys(KEYS, f"{KEY}\r\n"),
        }.items()
    ),
    *(
        Case(f"{llm}: {name}", llm, url=url, variables=variables, code=4, asked=said, examined=said)
        for llm in ADDRESS
        for name, url, variables, said in (
            ("a proxy that is gone", FAR, {"HTTP_PROXY": "http://127.0.0.1:9"}, ("127.0.0.1:9 (HTTP_PROXY)",)),
            ("a SOCKS4 proxy", FAR, {"ALL_PROXY": "socks4://127.0.0.1:9"}, ("(ALL_PROXY) speaks socks4", "NO_PROXY")),
            ("a proxy that is none", FAR, {"ALL_PROXY": "foo:bar:baz"}, ("ALL_PROXY names no proxy",)),
            (
                "stale certificates",
                "https://service.invalid",
                {"SSL_CERT_FILE": "/gone/cacert.pem"},
                ("SSL_CERT_FILE names /gone/cacert.pem, which does not exist: mend or unset it",),
            ),
            ("a key in quotes", None, dict.fromkeys(KEYS, f"\u201c{KEY}\u201d"), ("typographic quotation mark",)),
            ("a key with a blank", None, dict.fromkeys(KEYS, f"{KEY} 1"), ("holds a blank",)),
        )
    ),
    Case("a variant of a listed model", model="some/tiny:nitro", models=("some/tiny",)),
    Case("a model listed with a path", model="tiny", models=("models/tiny",)),
    Case(
        "a model that is not listed",
        behaviour=Behaviour(status=404, message="no model of this name"),
        model="alias",
        code=4,
        asked=("has no model 'alias'", "listed_only"),
        examined=("has no model 'alias'",),
    ),
    Case("a model that is not listed, but answers", model="alias", asked=("does not list 'alias'",)),
    Case("a model that need not be listed", model="alias", sets=("openai.listed_only=false",)),
    Case(
        "no list",
        model="tiny",
        listing=Behaviour(status=404),
        asked=("lists no models",),
        examined=("lists no models",),
    ),
    Case("an empty list", model="tiny", models=(), asked=("lists no models",), examined=("lists no models",)),
    Case("embeddings first", "ollama", models=("nomic-embed-text", "tiny"), asked=("tiny:latest, installed",)),
    Case(
        "embeddings alone",
        "ollama",
        models=("nomic-embed-text",),
        code=4,
        asked=("only nomic-embed-text", "ollama pull"),
        examined=("only nomic-embed-text",),
    ),
    Case(
        "no model to talk to",
        "ollama",
        Behaviour(status=400, message='"tiny" does not support chat'),
        code=4,
        asked=("no model to talk to", "--llm-model"),
        examined=("no model to talk to",),
    ),
    Case("no system role", behaviour=Behaviour(text=GOOD, objects=_no_system), asked=("takes no system role",)),
    Case(
        "no thinking allowed",
        behaviour=Behaviour(text=GOOD, objects=_no_thinking),
        asked=("enable_thinking = false",),
        examined=("ok", "enable_thinking = false"),
    ),
    Case(
        "no thinking allowed, and none wanted",
        behaviour=Behaviour(text=GOOD, objects=_no_thinking),
        sets=("openai.extra_fields={enable_thinking=false}",),
    ),
    *(
        Case(
            f"{llm}: tokens used up by thinking",
            llm,
            Behaviour(body=_thoughts(llm)),
            asked=("used up its 300 tokens before it answered", "--llm-reply-tokens", "ollama.think=false"),
            examined=("used up 300 tokens without an answer", "--llm-reply-tokens", "ollama.think=false"),
            doctor=4,
        )
        for llm in ("openai", "ollama")
    ),
    Case("an empty answer", behaviour=Behaviour(text=""), examined=("gave an empty answer",), doctor=4),
    Case("a model that loads", "ollama", Behaviour(text=GOOD, send=loading(1.0))),
)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}:
            monkeypatch.delenv(name)
    for name in KEYS:
        monkeypatch.setenv(name, KEY)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def options_of(case: Case, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options that lead to the case's service, which is set up as it has it."""
    server.answer(case.behaviour)
    server.models, server.listing = list(case.models), case.listing
    for name, value in case.variables.items():
        monkeypatch.setenv(name, value)
    sets = (ADDRESS[case.llm].format(url=case.url or server.url), *case.sets)
    model = [] if case.model is None else [f"--llm-model={case.model}"]
    return [f"--llm={case.llm}", *model, *(f"--set={one}" for one in sets)]


def assert_said(text: str, *parts: str) -> None:
    for part in parts:
        assert part in text
    assert "Traceback" not in text
    assert "unexpected error" not in text
    assert KEY not in text


@pytest.mark.parametrize("case", long_after(1, CASES), ids=lambda case: case.name)
def test_a_service_is_asked_or_told_what_is_wrong(
    case: Case, pkmn: Pkmn, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_of(case, server, monkeypatch)
    asked = pkmn("llm", "ask", *options, "--llm-timeout-s=0.4" if case.name == "a model that loads" else "--seed=0")
    assert asked.code == case.code, asked.err
    assert_said(asked.err, *case.asked)
    examined = pkmn("doctor", *options)
    assert examined.code == (case.code if case.doctor is None else case.doctor), examined.out
    assert_said(examined.out + examined.err, *case.examined)
    assert examined.out.startswith("--" if examined.code else "ok")
    assert len(examined.out.splitlines()) == 1


ADVISED = ["--mode=llm-only", "--no-rl", "--steps=20", "--llm-interval=5", "--max-steps-per-episode=20", "--llm-wait"]


FAILING = [
    case
    for case in CASES
    if case.name
    in {
        "openai: a SOCKS4 proxy",
        "openai: stale certificates",
        "openai: a key in quotes",
        "a model that is not listed",
        "embeddings alone",
    }
]
"""One of each kind: the same check at the start stands before each of them."""


@pytest.mark.long
@pytest.mark.parametrize("case", FAILING, ids=lambda case: case.name)
def test_a_training_may_do_without_it(
    case: Case, pkmn: Pkmn, server: FaultServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = options_of(case, server, monkeypatch)
    result = pkmn("train", *ADVISED, *options, "--llm-optional", "--run-name=it")
    assert result.code == 0, result.err
    assert_said(result.out + result.err, *case.asked)
    summary = json.loads((tmp_path / "runs" / "it" / "summary.json").read_text())
    assert summary["total_steps"] == 20
    assert summary["llm"]["llm_steps"] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("behaviour", "options", "said"),
    [
        (Behaviour(send=never), ["--llm-timeout-s=0.2"], "raise --llm-load-timeout-s"),
        (Behaviour(status=503, message="Loading model"), ["--llm-timeout-s=0.1"], "still loading the model"),
        (Behaviour(status=401), [], "Its key was refused"),
        (Behaviour(status=400, message="not to our taste"), [], "refused the requests"),
        (Behaviour(body=_thoughts("openai")), [], "--set ollama.think=false"),
        (Behaviour(text="hm"), [], "could not be read"),
        (Behaviour(text=GOOD), [], "steps.\n"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_last_line_on_the_model_fits_what_happened(
    behaviour: Behaviour, options: list[str], said: str, pkmn: Pkmn, server: FaultServer
) -> None:
    server.answer(behaviour)
    at = ["--llm=openai", f"--set=openai.base_url={server.url}/v1"]
    result = pkmn("train", *ADVISED, *at, *options)
    assert result.code == 0, result.err
    line = next(line for line in f"{result.out}\n".splitlines(keepends=True) if line.startswith("Language model: "))
    assert said in line


@pytest.mark.long
def test_a_model_that_loads_longer_than_an_answer_may_take_is_loaded_once(
    pkmn: Pkmn, server: FaultServer, tmp_path: Path
) -> None:
    server.answer(Behaviour(text=GOOD, send=loading(1.5)))
    at = ["--llm=ollama", f"--set=ollama.host={server.url}"]
    result = pkmn("train", *ADVISED, *at, "--llm-timeout-s=0.5", "--llm-load-timeout-s=60", "--run-name=it")
    assert result.code == 0, result.err
    llm = json.loads((tmp_path / "runs" / "it" / "summary.json").read_text())["llm"]
    assert llm["faults"] == {}
    assert llm["replies"] == llm["requests"] > 0
    assert "the model may still be loading, for which it has 60 s" in result.out + result.err


# The doctor ----------------------------------------------------------------------------------------------------------


class _Broken:
    """A backend of somebody's that fails in a way of its own."""

    sees = False
    model = "broken"

    def __init__(self, settings: object, model: str | None) -> None:
        if model == "unbuilt":
            raise LookupError("not even that")

    def check(self) -> str:
        return "Advice: broken."

    def complete(self, request: LLMRequest) -> LLMReply:
        if self.model == "broken":
            raise ZeroDivisionError("of its own")
        raise LLMFailure(LLMFault.BROKEN, "as it may")

    def models(self) -> list[str]:
        raise RecursionError

    def close(self) -> None:
        raise RuntimeError("cannot even be closed")


class _Plugin:
    @staticmethod
    @hookimpl
    def pkmn_register_llm_backends(register: Any) -> None:
        register("broken", _Broken)


@pytest.mark.parametrize(("model", "said"), [(None, "ZeroDivisionError: of its own"), ("unbuilt", "not even that")])
def test_the_doctor_survives_what_it_examines(
    model: str | None, said: str, pkmn: Pkmn, register_plugin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("anthropic", "local", "ollama", "openai"):
        register_plugin(importlib.import_module(f"pkmn_{name}.plugin"), name)
    register_plugin(_Plugin())
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", "/gone/cacert.pem")
    monkeypatch.setenv("OLLAMA_HOST", "http://[::1")
    result = pkmn("doctor", *([] if model is None else ["--llm=broken", f"--llm-model={model}"]))
    assert result.code == (0 if model is None else 4), result.err
    assert_said(result.out, said)
    examined = {line[4:].split("  ")[0].strip() for line in result.out.splitlines()}
    if model is None:
        assert {f"model: {name}" for name in ("anthropic", "broken", "local", "ollama", "openai", "vllm")} <= examined


def test_the_doctor_survives_broken_metadata_and_a_game_that_does_not_start(
    pkmn: Pkmn, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.metadata  # noqa: PLC0415

    from pkmncli.commands import doctor  # noqa: PLC0415

    def version(part: str) -> Any:
        if part == "torch":
            raise KeyError("Version")
        return None

    def fails(*_arguments: object, **_options: object) -> None:
        raise ArithmeticError("it does not start")

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(doctor, "WorkerPool", fails)
    monkeypatch.setattr(doctor, "default_save_dir", lambda: Path("/proc/nowhere/runs"))
    result = pkmn("doctor")
    assert result.code == 0, result.err
    assert_said(result.out, "KeyError", "its metadata name no version", "ArithmeticError: it does not start")
