"""Questions beside the training: one for each environment, nothing waited for, nothing out of date delivered."""

from __future__ import annotations

import threading
from pathlib import Path

import psutil
import pytest
from support.llm_fakes import GOOD, REQUEST, FakeBackend, client_of

from pkmncli.api import LLMReply, LLMRequest
from pkmncli.errors import RunError
from pkmncli.llm.cache import ReplyCache
from pkmncli.llm.requests import AdviceRequests, Delivery

PATIENCE_S = 30.0


class Gate:
    """A backend's answer that comes when the test says so."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.entered = threading.Semaphore(0)
        self.left = threading.Semaphore(0)

    def __call__(self, request: LLMRequest) -> LLMReply:
        self.entered.release()
        assert self.opened.wait(PATIENCE_S)
        self.left.release()
        return LLMReply(GOOD, "fake")


def _deliveries(requests: AdviceRequests, count: int) -> list[Delivery]:
    found: list[Delivery] = []
    waiting = threading.Event()
    for _ in range(3000):
        found += requests.poll()
        if len(found) >= count:
            break
        waiting.wait(0.01)
    return found


def test_an_answer_is_picked_up_when_it_has_come_and_not_before() -> None:
    gate = Gate()
    requests = AdviceRequests(client_of(FakeBackend([gate])), 2)
    requests.ask(1, REQUEST, asked_at=40, event="new map")
    assert gate.entered.acquire(timeout=PATIENCE_S)
    assert requests.poll() == []
    assert requests.is_open(1)
    assert not requests.is_open(0)
    gate.opened.set()
    (delivery,) = _deliveries(requests, 1)
    assert (delivery.environment, delivery.asked_at, delivery.event) == (1, 40, "new map")
    assert delivery.answer.advice is not None
    assert not requests.is_open(1)


def test_a_question_that_never_ends_is_given_up() -> None:
    gate = Gate()
    requests = AdviceRequests(client_of(FakeBackend([gate])), 1, patience_s=0.0)
    requests.ask(0, REQUEST, asked_at=1, event="interval")
    assert gate.entered.acquire(timeout=PATIENCE_S)
    assert requests.poll() == []
    assert not requests.is_open(0)
    assert requests.given_up == 1
    gate.opened.set()


def test_no_more_questions_are_open_than_may_be() -> None:
    gate = Gate()
    requests = AdviceRequests(client_of(FakeBackend([gate])), 5, most_open=2)
    for environment in (0, 1):
        assert requests.has_room
        requests.ask(environment, REQUEST, asked_at=0, event="interval")
    assert not requests.has_room
    gate.opened.set()
    _deliveries(requests, 2)
    assert requests.has_room


def test_an_advisor_that_waits_answers_in_the_order_of_the_questions() -> None:
    gate, backend = Gate(), FakeBackend()
    backend.answers = [gate]
    requests = AdviceRequests(client_of(backend), 2, waits=True)
    requests.ask(0, REQUEST, asked_at=7, event="interval")
    assert gate.entered.acquire(timeout=PATIENCE_S)
    requests.ask(1, REQUEST, asked_at=8, event="interval")
    assert len(backend.asked) == 1, "the second waits for the first"
    gate.opened.set()
    assert requests.wait(lambda: False)
    assert [delivery.asked_at for delivery in requests.poll()] == [7, 8]


def test_an_interruption_ends_the_waiting_and_leaves_the_question_open() -> None:
    gate, backend = Gate(), FakeBackend()
    backend.answers = [gate]
    requests = AdviceRequests(client_of(backend), 1, waits=True)
    requests.ask(0, REQUEST, asked_at=7, event="interval")
    assert not requests.wait(lambda: True)
    assert requests.is_open(0)
    assert not requests.poll()
    gate.opened.set()


def test_closing_waits_for_nobody() -> None:
    gate, backend = Gate(), FakeBackend()
    backend.answers = [gate]
    requests = AdviceRequests(client_of(backend), 1)
    requests.ask(0, REQUEST, asked_at=0, event="interval")
    assert gate.entered.acquire(timeout=PATIENCE_S)
    requests.close()
    assert backend.closed
    assert not gate.left.acquire(blocking=False)
    gate.opened.set()


def test_two_caches_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "c.sqlite"
    with ReplyCache(path) as one, ReplyCache(path) as two:
        threads = [
            threading.Thread(target=lambda cache=cache, n=n: cache.put(f"{n % 40}", LLMReply(f"{n % 40}", "m")))
            for n in range(80)
            for cache in (one, two)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(one) == len(two) == 40
        reply = two.get("7")
        assert reply is not None
        assert reply.text == "7"


def test_a_file_that_is_no_cache_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(RunError, match="llm-cache-path") as error:
        ReplyCache(path)
    assert "\n" not in str(error.value)
    assert str(path) not in [file.path for file in psutil.Process().open_files()]
    with pytest.raises(RunError):
        ReplyCache(tmp_path / "none.sqlite", read_only=True)
