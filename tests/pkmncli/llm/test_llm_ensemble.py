"""Several models that are asked together: each with its own faults and accounting, budgets in common."""

from __future__ import annotations

import threading
from dataclasses import replace

from support.llm_fakes import GOOD, REQUEST, FakeBackend, client_of

from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest, Price
from pkmncli.llm.client import Answer, LLMClient
from pkmncli.llm.ensemble import LATE, EnsembleClient
from pkmncli.llm.usage import RepeatedAnswer, Usage

SOON = replace(REQUEST, timeout_s=0.05)


def answers(found: Answer) -> dict[str, Answer]:
    return dict(found.members)


def test_every_model_answers_the_same_question_in_the_given_order() -> None:
    first, second = FakeBackend(), FakeBackend(["nonsense", "nonsense"], model="other")
    found = EnsembleClient({"b": client_of(first), "a": client_of(second)}, waits=True).ask(REQUEST)
    assert [name for name, _ in found.members] == ["b", "a"]
    assert found.advice is None
    assert answers(found)["b"].advice is not None
    assert answers(found)["a"].replies[-1].model == "other"
    assert answers(found)["a"].advice is None


def test_a_failing_model_is_left_out_and_left_alone_while_the_other_is_asked_on() -> None:
    told: list[str] = []
    broken = FakeBackend([LLMFailure(LLMFault.AUTHENTICATION, "its key is refused")])
    ensemble = EnsembleClient({"bad": client_of(broken, told=told), "good": client_of(FakeBackend())}, waits=True)
    first, second = (answers(ensemble.ask(REQUEST)) for _ in range(2))
    assert first["bad"].fault is LLMFault.AUTHENTICATION
    assert not second["bad"].asked
    assert all(one["good"].advice is not None for one in (first, second))
    assert len(broken.asked) == 1
    assert len(told) == 1
    assert ensemble.usage.summary()["models"]["bad"]["faults"] == {LLMFault.AUTHENTICATION: 1}


def test_a_late_model_keeps_nobody_waiting_and_is_asked_again_once_it_has_answered() -> None:
    gate, answered = threading.Event(), threading.Event()

    def slow(request: LLMRequest) -> LLMReply:
        gate.wait(30)
        answered.set()
        return LLMReply(GOOD, "slow")

    backend = FakeBackend([slow])
    ensemble = EnsembleClient({"slow": client_of(backend), "fast": client_of(FakeBackend())})
    assert answers(ensemble.ask(SOON))["slow"].problem == LATE
    assert not answers(ensemble.ask(SOON))["slow"].asked
    assert len(backend.asked) == 1
    gate.set()
    assert answered.wait(30)
    while not answers(ensemble.ask(REQUEST))["slow"].asked:  # its thread is ending
        pass
    assert len(backend.asked) == 2


def test_a_late_model_is_waited_for_if_no_other_has_answered() -> None:
    gate = threading.Event()

    def slow(request: LLMRequest) -> LLMReply:
        gate.wait(30)
        return LLMReply(GOOD, "slow")

    broken = FakeBackend([LLMFailure(LLMFault.NO_MODEL, "no such model")])
    ensemble = EnsembleClient({"slow": client_of(FakeBackend([slow])), "bad": client_of(broken)})
    threading.Timer(0.3, gate.set).start()
    assert answers(ensemble.ask(SOON))["slow"].advice is not None


def test_figures_are_kept_for_each_model_and_for_all() -> None:
    cheap, free = Usage(price=Price(10.0, 20.0)), Usage()
    ensemble = EnsembleClient(
        {"cheap": client_of(FakeBackend(), usage=cheap), "free": client_of(FakeBackend(), usage=free)}, waits=True
    )
    ensemble.ask(REQUEST)
    ensemble.usage.add_repeated(RepeatedAnswer("schema", 1, False, 100, 20, 0.2, member="free"))
    found = ensemble.usage.summary()
    assert found["requests"] == found["replies"] == 3
    assert [found["models"][name]["replies"] for name in ("cheap", "free")] == [1, 2]
    assert ensemble.usage.tokens == 360
    assert found["cost_usd"] == ensemble.usage.cost_usd == (100 * 10 + 20 * 20) / 1e6
    assert found["models"]["free"]["cost_usd"] is None
    assert found["latency_p50_s"] == 0.2


def with_a_budget(told: list[str]) -> EnsembleClient:
    def client() -> LLMClient:
        return client_of(FakeBackend(), usage=Usage(budget_tokens=200), told=told)

    return EnsembleClient({"a": client(), "b": client()}, waits=True)


def test_a_budget_is_that_of_all_models_together() -> None:
    told: list[str] = []
    ensemble = with_a_budget(told)
    assert all(one.advice is not None for one in answers(ensemble.ask(REQUEST)).values())  # 120 tokens each
    assert not any(one.asked for one in answers(ensemble.ask(REQUEST)).values())
    assert "200 tokens" in told[0]
    told_again: list[str] = []
    resumed = with_a_budget(told_again)
    resumed.load_state_dict(ensemble.state_dict())
    assert not any(one.asked for one in answers(resumed.ask(REQUEST)).values())
    assert not told_again


def test_the_accounting_of_every_model_is_resumed() -> None:
    def ensemble() -> EnsembleClient:
        return EnsembleClient({"a": client_of(FakeBackend()), "b": client_of(FakeBackend())}, waits=True)

    before, after = ensemble(), ensemble()
    before.ask(REQUEST)
    after.load_state_dict(before.state_dict())
    assert after.usage.summary() == before.usage.summary()
    assert after.usage.tokens == 240


def test_closing_closes_every_backend() -> None:
    backends = [FakeBackend(), FakeBackend()]
    EnsembleClient({str(number): client_of(one) for number, one in enumerate(backends)}).close()
    assert all(backend.closed for backend in backends)
