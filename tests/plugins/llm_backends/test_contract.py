"""The contract of backends, the same for all: a reply, or the one exception with the right fault, in time, no key."""

from __future__ import annotations

import logging
import socket
from typing import Any

import pytest
from pydantic import ValidationError
from support.fault_server import MODEL, Behaviour, FaultServer, never
from support.faults import FAILURES, GOOD, KEY, READINGS, BuildBackend, Case
from support.reply_forms import FORM

from pkmncli.api import LLMFailure, LLMFault, LLMRequest
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.client import LLMClient
from pkmncli.llm.retry import Backoff, CircuitBreaker
from pkmncli.llm.usage import Usage


def request(timeout_s: float = 60.0, **values: Any) -> LLMRequest:
    return LLMRequest("you advise", "what now?", timeout_s=timeout_s, **values)


def failure_of(backend: Any, timeout_s: float = 60.0) -> LLMFailure:
    with pytest.raises(LLMFailure) as caught:
        backend.complete(request(timeout_s))
    text = str(caught.value)
    assert text and "\n" not in text and len(text) < 400
    assert KEY not in text
    return caught.value


@pytest.fixture(scope="module")
def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.mark.parametrize("case", FAILURES, ids=lambda case: case.name)
def test_what_goes_wrong_is_told_by_its_fault(
    case: Case, backend: Any, server: FaultServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.answer(case.behaviour)
    with caplog.at_level(logging.DEBUG):
        failure = failure_of(backend, case.timeout_s)
    assert failure.fault is case.fault
    assert failure.retry_after_s == case.retry_after_s
    late = case.fault is LLMFault.TIMEOUT and not server.asked  # the time can end before a busy server has read it
    assert len(server.asked) == 1 or late or case.behaviour.status == 307
    assert KEY not in caplog.text


def test_after_a_fault_the_next_question_is_answered(backend: Any, server: FaultServer) -> None:
    server.answer(Behaviour(status=404), Behaviour(text="here again"))
    assert failure_of(backend).fault is LLMFault.NO_MODEL
    assert backend.complete(request()).text == "here again"


def test_a_reply_has_text_model_and_tokens(backend: Any, server: FaultServer) -> None:
    server.answer(Behaviour(text="go north"))
    reply = backend.complete(request())
    assert (reply.text, reply.model, reply.prompt_tokens, reply.completion_tokens) == ("go north", MODEL, 12, 3)
    assert reply.latency_s > 0
    assert "what now?" in str(server.asked[0].body)
    assert "you advise" in str(server.asked[0].body)


@pytest.mark.parametrize(("text", "reading"), READINGS.values(), ids=READINGS)
def test_any_text_is_read_and_none_stops_anything(text: str, reading: str, backend: Any, server: FaultServer) -> None:
    server.answer(Behaviour(text=text))
    client = LLMClient(backend, "it", Usage(), CircuitBreaker(lambda: 0.0), Backoff(attempts=1), form=FORM)
    answer = client.ask(request(schema=FORM.schema))
    assert answer.fault is None
    assert answer.reading == reading
    assert (answer.advice is None) == (reading == "nothing")


def test_what_is_no_text_to_any_file_becomes_one(backend: Any, server: FaultServer) -> None:
    server.answer(Behaviour(text="a \ud800 b"))
    assert backend.complete(request()).text == "a ? b"


def test_a_key_that_comes_back_in_a_reply_is_blanked_out(backend: Any, server: FaultServer) -> None:
    server.answer(Behaviour(text=f"your key is {KEY}"))
    assert KEY not in backend.complete(request()).text


def test_silence_is_left_by_the_time_that_a_request_has(backend: Any, server: FaultServer) -> None:
    """The time is the request's own: the same client waits longer for the next."""
    server.answer(Behaviour(text="at first"), Behaviour(send=never), Behaviour(text="now"))
    assert backend.complete(request()).text == "at first", "from here on the client is loaded, and reaches the server"
    assert failure_of(backend, 1.0).fault is LLMFault.TIMEOUT
    assert backend.complete(request()).text == "now"


REMOTE = ("ollama", "openai", "anthropic")


@pytest.mark.parametrize("name", REMOTE)
def test_nobody_there_is_unreachable(name: str, build: BuildBackend, closed_port: int) -> None:
    backend = build(name, f"http://127.0.0.1:{closed_port}")
    assert failure_of(backend).fault is LLMFault.UNREACHABLE
    with pytest.raises(LLMConnectionError) as caught:
        backend.check()
    assert f"127.0.0.1:{closed_port}" in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(LLMConnectionError):
        backend.models()
    backend.close()


@pytest.mark.parametrize("name", REMOTE)
def test_a_host_without_an_address_is_unreachable(name: str, build: BuildBackend) -> None:
    backend = build(name, "http://nowhere.invalid:9")
    failure = failure_of(backend)
    assert failure.fault is LLMFault.UNREACHABLE
    assert "nowhere.invalid" in str(failure)
    backend.close()


@pytest.mark.parametrize("name", REMOTE)
def test_a_resolver_that_never_answers_holds_nobody(
    name: str, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading  # noqa: PLC0415

    released = threading.Event()

    def hang(*_: object, **__: object) -> Any:
        released.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    backend = build(name, "http://slow.invalid:9")
    assert failure_of(backend, 0.3).fault is LLMFault.TIMEOUT
    assert not released.is_set()
    released.set()
    backend.close()


ADDRESSES = (("ollama", "OLLAMA_HOST"), ("openai", "OPENAI_BASE_URL"), ("anthropic", "ANTHROPIC_BASE_URL"))


@pytest.mark.parametrize(("name", "variable"), ADDRESSES)
def test_a_password_in_an_address_is_not_told(
    name: str, variable: str, build: BuildBackend, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"http://someone:hush-hush@127.0.0.1:{closed_port}"
    with pytest.raises(ValidationError) as refused:
        build(name, address)
    assert "hush-hush" not in str(refused.value)
    monkeypatch.setenv(variable, address)
    backend = build(name, None)
    assert "hush-hush" not in str(failure_of(backend))
    with pytest.raises(LLMConnectionError) as caught:
        backend.check()
    assert "hush-hush" not in str(caught.value)
    backend.close()


def test_a_check_says_which_model_answers_where(backend: Any, server: FaultServer) -> None:
    line = backend.check()
    assert MODEL in line
    assert str(server.port) in line
    assert KEY not in line
    assert any(name.startswith(MODEL) for name in backend.models())


@pytest.mark.parametrize("name", REMOTE)
def test_a_check_of_a_model_that_is_not_there_says_what_is(name: str, build: BuildBackend, server: FaultServer) -> None:
    server.answer(Behaviour(status=404, message="no model of this name"))
    backend = build(name, server.url, "huge")
    with pytest.raises(LLMConnectionError) as caught:
        backend.check()
    assert "'huge'" in str(caught.value)
    assert MODEL in str(caught.value)
    backend.close()


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    "listing",
    [Behaviour(body=b"{}"), Behaviour(body=b"<html>"), Behaviour(status=401), Behaviour(status=500), Behaviour(text=1)],
    ids=["{}", "page", "401", "500", "wrong types"],
)
def test_a_check_that_gets_no_list_is_one_line(name: str, listing: Behaviour, build: BuildBackend) -> None:
    with FaultServer() as server:
        server.listing = listing
        backend = build(name, server.url)
        try:
            assert "\n" not in backend.check()
        except LLMConnectionError as error:
            assert "\n" not in str(error)
            assert KEY not in str(error)
        backend.close()


def test_many_ask_at_once(backend: Any, server: FaultServer) -> None:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    server.answer(Behaviour(text=GOOD))
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: backend.complete(request()), range(24)))
    assert {reply.text for reply in replies} == {GOOD}
    assert len(server.asked) == 24
