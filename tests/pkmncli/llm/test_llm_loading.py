"""A model that has to be loaded first gets the time for it, and its loading is not broken off again and again."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Event

import pytest
from support.llm_fakes import GOOD, REQUEST, Clock, FakeBackend

from pkmncli.api import Action, LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.llm.client import LLMClient
from pkmncli.llm.loading import LONGEST_S, Loading
from pkmncli.llm.manager import LLMManager
from pkmncli.llm.retry import Backoff, CircuitBreaker
from pkmncli.llm.usage import Usage

LATE = LLMFailure(LLMFault.TIMEOUT, "it did not answer in time")
LOADS = LLMFailure(LLMFault.LOADING, "it answered 503 (Loading model)")
SHORT = replace(REQUEST, timeout_s=1.0)


def client(
    backend: FakeBackend, told: list[str], limit_s: float | None = 10.0, clock: Clock | None = None
) -> LLMClient:
    return LLMClient(
        backend,
        "fake",
        Usage(),
        CircuitBreaker(clock or Clock()),
        Backoff(attempts=3, first_s=0.0),
        loading=Loading(limit_s, told.append),
        report=told.append,
    )


def times(backend: FakeBackend) -> list[float]:
    return [round(request.timeout_s) for request in backend.asked]


def test_the_first_answer_has_the_time_of_a_loading_and_the_next_its_own() -> None:
    backend = FakeBackend()
    one = client(backend, [])
    assert one.ask(SHORT).advice is not None
    assert one.ask(SHORT).advice is not None
    assert times(backend) == [10, 1]


def test_without_a_time_for_loading_every_answer_has_its_own() -> None:
    backend = FakeBackend()
    client(backend, [], None).ask(SHORT)
    assert times(backend) == [1]


def test_a_question_that_may_take_longer_than_a_loading_does() -> None:
    backend = FakeBackend()
    client(backend, []).ask(replace(REQUEST, timeout_s=20.0))
    assert times(backend) == [20]


def test_a_loading_that_takes_too_long_is_left_alone_at_once_and_has_longer_the_next_time() -> None:
    clock, told = Clock(), []  # type: tuple[Clock, list[str]]
    backend = FakeBackend([LATE, LATE, LATE, LATE, GOOD, GOOD])
    one = client(backend, told, clock=clock)
    assert one.ask(SHORT).fault is LLMFault.TIMEOUT
    assert times(backend) == [10], "it is asked once, not five times"
    assert sum("No advice" in line for line in told) == 1
    assert not one.ask(SHORT).asked, "and left alone for now"
    for _ in range(4):
        clock.now += 1000
        one.ask(SHORT)
    assert times(backend) == [10, 20, 40, 40, 40]
    assert one.ask(SHORT).advice is not None
    assert times(backend)[-1] == 1


def test_after_an_answer_that_did_not_come_the_model_may_have_been_put_away() -> None:
    backend = FakeBackend([GOOD, LATE, GOOD, GOOD])
    one = client(backend, [])
    assert [one.ask(SHORT).fault for _ in range(4)] == [None, LLMFault.TIMEOUT, None, None]
    assert times(backend) == [1 * 10, 1, 10, 1]


def test_a_server_that_says_that_it_loads_is_asked_until_it_has() -> None:
    backend = FakeBackend([LOADS, LOADS, GOOD])
    usage = Usage()
    one = client(backend, [])
    one.usage = usage
    answer = one.ask(SHORT)
    assert answer.advice is not None
    assert len(backend.asked) == 3
    assert usage.summary()["faults"] == {}
    assert usage.requests == 1, "it is one question"


def test_a_server_that_never_ends_loading_is_told_as_such() -> None:
    told: list[str] = []
    backend = FakeBackend([LOADS])
    answer = client(backend, told, 0.3).ask(replace(REQUEST, timeout_s=0.1))
    assert answer.fault is LLMFault.LOADING
    assert "Loading model" in answer.problem
    assert sum("No advice" in line for line in told) == 1


def test_a_server_that_falls_silent_while_it_loads_was_loading() -> None:
    answer = client(FakeBackend([LOADS, LATE]), []).ask(SHORT)
    assert answer.fault is LLMFault.LOADING


def test_the_end_of_a_run_ends_the_waiting_for_a_loading() -> None:
    one = client(FakeBackend([LOADS]), [], 600.0)
    one.stopping.set()
    began = time.monotonic()
    assert one.ask(SHORT).fault is LLMFault.LOADING
    assert time.monotonic() - began < 60


def test_a_loading_is_told_once_while_it_is_waited_for() -> None:
    told: list[str] = []
    heard = Event()

    def tell(text: str) -> None:
        told.append(text)
        heard.set()

    loading = Loading(60.0, tell)
    with loading.watched(0.01, 60.0):
        assert heard.wait(60)
    with loading.watched(0.01, 60.0):
        pass
    assert len(told) == 1
    assert "60 s" in told[0] and "llm_load_timeout_s" in told[0]
    with Loading(60.0, told.append).watched(30.0, 30.0):
        pass
    assert len(told) == 1


def test_no_loading_has_for_ever() -> None:
    loading = Loading(3000.0)
    loading.late(3000.0)
    assert loading.time_for(1.0) == LONGEST_S


def test_the_documents_manager_gives_its_first_answer_that_time_too() -> None:
    backend = FakeBackend([LATE, GOOD, GOOD])
    manager = LLMManager(backend, timeout_s=1.0, load_timeout_s=10.0)
    assert [manager.get_action("what now?")[0] for _ in range(3)] == [Action.NONE, Action.UP, Action.UP]
    assert times(backend) == [10, 20, 1]


# Replies that end before an answer -----------------------------------------------------------------------------------


def test_an_empty_answer_of_so_many_tokens_used_them_up() -> None:
    told: list[str] = []
    one = client(FakeBackend([lambda request: LLMReply("", "tiny", completion_tokens=request.max_tokens)]), told)
    one.ask(SHORT)
    assert len(told) == 1 and "used up its 300 tokens before it answered" in told[0]


@pytest.mark.parametrize(
    ("text", "parsed", "cut", "said", "asked"),
    [
        ("", None, True, ("before it answered", "--llm-reply-tokens", "ollama.think=false"), 2),
        ("<think>so it is", None, True, ("before it answered", "--llm-reply-tokens", "ollama.think=false"), 2),
        ('{"goal": "wal', None, True, ("in the middle of its answer", "--llm-reply-tokens"), 2),
        ("", None, False, (), 2),
        (GOOD, None, False, (), 1),
    ],
)
def test_tokens_that_are_used_up_are_told_once_with_what_mends_it(
    text: str, parsed: object, cut: bool, said: tuple[str, ...], asked: int
) -> None:
    def answer(request: LLMRequest) -> LLMReply:
        return LLMReply(text, "tiny", parsed=parsed, cut=cut)

    told: list[str] = []
    backend = FakeBackend([answer])
    one = client(backend, told)
    for _ in range(3):
        one.ask(replace(REQUEST, max_tokens=1234))
    assert len(backend.asked) == 3 * asked
    assert len(told) == bool(said)
    for part in (*said, *(("1,234 tokens", "tiny") if said else ())):
        assert part in told[0]
    usage = one.usage.summary()
    empty = text in ("", "<think>so it is")
    assert (usage["empty"], usage["cut"]) == (3 * empty, 3 * (cut and not empty))
