"""A question on its way: cache, budgets, second attempts, the breaker, one repair, prose, no advice."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.llm_fakes import GOOD, REQUEST, Clock, FakeBackend, client_of

from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest, Price
from pkmncli.llm.cache import CacheUse, ReplyCache, cache_key
from pkmncli.llm.prompts import estimated_tokens
from pkmncli.llm.replies import Reading
from pkmncli.llm.retry import Backoff, CircuitBreaker
from pkmncli.llm.usage import Usage, price_of
from pkmncli.testing.scripted import ScriptedBackend, ScriptedSettings


def _failure(fault: LLMFault, retry_after_s: float | None = None) -> LLMFailure:
    return LLMFailure(fault, f"it said {fault}", retry_after_s=retry_after_s)


def test_a_good_reply_is_advice_and_is_counted() -> None:
    usage = Usage(Price(1.0, 10.0))
    answer = client_of(FakeBackend(), usage=usage).ask(REQUEST)
    assert answer.advice is not None
    assert answer.reading is Reading.SCHEMA
    assert (usage.requests, usage.replies, usage.tokens) == (1, 1, 120)
    assert usage.cost_usd == pytest.approx((100 * 1 + 20 * 10) / 1e6)
    assert usage.summary()["validity_rate"] == 1.0


def test_a_useless_reply_is_shown_to_the_model_once_and_then_read_as_words() -> None:
    backend = FakeBackend(["go north", "go north still"])
    answer = client_of(backend).ask(REQUEST)
    assert answer.reading is Reading.PROSE
    assert len(backend.asked) == 2
    assert "go north" in backend.asked[1].prompt
    assert backend.asked[1].prompt.startswith(REQUEST.prompt)


def test_words_of_a_reply_that_has_all_its_tokens_are_no_command() -> None:
    """Whatever the service says of its end, or doesn't."""

    def cut(request: LLMRequest) -> LLMReply:
        return LLMReply("I would go up", "m", completion_tokens=request.max_tokens)

    answer = client_of(FakeBackend([cut])).ask(REQUEST)
    assert answer.advice is None
    assert "llm_reply_tokens" in answer.problem


def test_a_model_that_thinks_gets_more_tokens_from_then_on_and_after_a_resume_too() -> None:
    def think(request: LLMRequest) -> LLMReply:
        short = request.max_tokens < 1000
        return LLMReply("<think>Well," if short else f"<think>Well, up.</think>{GOOD}", "m", cut=short)

    told: list[str] = []
    backend = FakeBackend([think])
    client = client_of(backend, told=told)
    client.may_grow = True
    for _ in range(2):
        assert client.ask(REQUEST).advice is not None
    assert [one.max_tokens for one in backend.asked] == [300, 4000, 4000]
    assert len(told) == 1
    assert "used up its 300 tokens before it answered: it has 4,000 from now on" in told[0]
    resumed = client_of(backend)
    resumed.load_state_dict(client.state_dict())
    resumed.ask(REQUEST)
    assert backend.asked[-1].max_tokens == 4000


def test_a_model_that_thinks_gets_more_tokens_in_a_conversation_and_in_a_repair_too() -> None:
    def think(request: LLMRequest) -> LLMReply:
        return LLMReply("<think>Well,", "m", cut=True) if request.max_tokens < 1000 else LLMReply("Go up.", "m")

    backend = FakeBackend([think])
    client = client_of(backend)
    client.may_grow = True
    assert client.answer(REQUEST).text == "Go up."
    assert [one.max_tokens for one in backend.asked] == [300, 4000]

    backend = FakeBackend(["Hm.", think, GOOD])
    client = client_of(backend)
    client.may_grow = True
    assert client.ask(REQUEST).advice is not None
    assert [one.max_tokens for one in backend.asked] == [300, 300, 4000]


def test_a_model_that_thinks_keeps_the_tokens_that_the_user_chose() -> None:
    backend = FakeBackend([lambda request: LLMReply("<think>Well,", "m", cut=True)])
    assert client_of(backend).ask(REQUEST).advice is None
    assert {one.max_tokens for one in backend.asked} == {300}


def test_a_repair_that_comes_good_counts_as_asked_for() -> None:
    usage = Usage()
    answer = client_of(FakeBackend(['{"skill": "press"}', GOOD]), usage=usage).ask(REQUEST)
    assert answer.reading is Reading.SCHEMA
    assert [reply.text for reply in answer.replies] == ['{"skill": "press"}', GOOD]
    assert usage.repaired == 1


def test_what_says_nothing_twice_is_no_advice_and_says_why() -> None:
    answer = client_of(FakeBackend(["hm", ""])).ask(REQUEST)
    assert answer.advice is None
    assert answer.reading is Reading.NOTHING
    assert answer.problem


@pytest.mark.parametrize(
    ("fault", "attempts"),
    [
        (LLMFault.OVERLOADED, 3),
        (LLMFault.UNREACHABLE, 3),
        (LLMFault.BROKEN, 3),
        (LLMFault.TIMEOUT, 1),
        (LLMFault.AUTHENTICATION, 1),
        (LLMFault.NO_MODEL, 1),
        (LLMFault.TOO_LONG, 1),
        (LLMFault.REFUSED, 1),
    ],
)
def test_only_what_may_pass_is_tried_again(fault: LLMFault, attempts: int) -> None:
    backend, usage = FakeBackend([_failure(fault)]), Usage()
    answer = client_of(backend, usage=usage, failures=99).ask(REQUEST)
    assert answer.advice is None
    assert answer.fault is fault
    assert len(backend.asked) == attempts
    assert usage.faults[fault] == attempts


def test_a_service_that_fails_is_left_alone_tried_now_and_then_and_welcomed_back() -> None:
    clock, told = Clock(), list[str]()
    backend = FakeBackend([_failure(LLMFault.TIMEOUT)] * 4 + [GOOD])
    client = client_of(backend, clock=clock, failures=3, told=told)
    for _ in range(3):
        client.ask(REQUEST)
    assert client.breaker.is_open
    assert not client.ask(REQUEST).asked
    assert len(backend.asked) == 3
    clock.now += 5.1
    assert client.ask(REQUEST).asked
    assert not client.ask(REQUEST).asked, "the trial failed, so it is left alone for longer"
    clock.now += 9.0
    assert not client.ask(REQUEST).asked
    clock.now += 1.1
    assert client.ask(REQUEST).advice is not None
    assert not client.breaker.is_open
    assert len(told) == 2, told
    assert "No advice" in told[0]
    assert "again" in told[1]


def test_only_one_request_tries_a_service_that_is_left_alone() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock, failures=1)
    first = breaker.allows()
    assert first is not None
    breaker.failed(_failure(LLMFault.TIMEOUT), first)
    clock.now = 100
    assert [breaker.allows() is not None for _ in range(3)] == [True, False, False]


def test_what_had_left_before_a_service_was_given_up_proves_nothing_about_it() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock, failures=1)
    early = [breaker.allows() for _ in range(9)]
    for one in early[:8]:
        assert one is not None
        breaker.failed(_failure(LLMFault.TIMEOUT), one)
    late = early[8]
    assert late is not None
    assert not breaker.succeeded(late)
    assert breaker.is_open
    clock.now = breaker.pause_s
    assert breaker.allows() is not None, "eight failures at once are one reason to wait, not eight"


def test_a_service_that_says_when_it_wants_to_be_asked_is_left_alone_by_all_until_then() -> None:
    clock, told = Clock(), list[str]()
    backend = FakeBackend([_failure(LLMFault.OVERLOADED, retry_after_s=50), GOOD])
    client = client_of(backend, clock=clock, failures=5, told=told)
    assert client.ask(REQUEST).fault is LLMFault.OVERLOADED
    clock.now = 49
    assert not client.ask(REQUEST).asked
    clock.now = 51
    assert client.ask(REQUEST).advice is not None


def test_a_wrong_key_closes_the_door_at_once() -> None:
    told: list[str] = []
    client = client_of(FakeBackend([_failure(LLMFault.AUTHENTICATION)]), told=told)
    client.ask(REQUEST)
    assert client.breaker.is_open
    assert len(told) == 1


def test_what_the_service_wants_to_wait_is_waited_at_least() -> None:
    backoff = Backoff(first_s=1.0, most_s=8.0)
    limited = _failure(LLMFault.OVERLOADED, retry_after_s=20)
    assert backoff.delay_s(1, limited) >= 20
    plain = _failure(LLMFault.OVERLOADED)
    assert [backoff.delay_s(n, plain, lambda: 1.0) for n in (1, 2, 3, 4, 9)] == [1, 2, 4, 8, 8]
    assert backoff.delay_s(3, plain, lambda: 0.0) == 2


def test_a_spent_budget_ends_the_asking_and_is_told_once() -> None:
    told: list[str] = []
    backend, usage = FakeBackend(), Usage(budget_tokens=240)
    client = client_of(backend, usage=usage, told=told)
    answers = [client.ask(REQUEST) for _ in range(4)]
    assert [answer.asked for answer in answers] == [True, True, False, False]
    assert len(backend.asked) == 2
    assert len(told) == 1
    assert "240 tokens" in told[0]


def test_a_budget_of_dollars_is_kept_where_the_price_is_known() -> None:
    assert not Usage(None, budget_usd=0.0001, prompt_tokens=10**9).spent
    assert "$0.5" in Usage(Price(2.5, 10.0), budget_usd=0.5, prompt_tokens=300_000).spent


def test_prices_are_those_of_the_longest_beginning() -> None:
    prices = {"big": Price(2.5, 10.0), "big-mini": Price(0.15, 0.6)}
    assert price_of("big-mini-2030-01-01", prices) == Price(0.15, 0.6)
    assert price_of("big-2", prices) == Price(2.5, 10.0)
    assert price_of("small", prices) is None


def test_a_reply_that_is_kept_is_not_asked_for_again(tmp_path: Path) -> None:
    with ReplyCache(tmp_path / "c.sqlite") as cache:
        first, second = FakeBackend(), FakeBackend(["never"])
        one = client_of(first, cache=cache, cache_use=CacheUse.READWRITE).ask(REQUEST)
        two = client_of(second, cache=cache, cache_use=CacheUse.READWRITE).ask(REQUEST)
        assert two.cached
        assert two.advice == one.advice
        assert second.asked == []
        assert len(cache) == 1


def test_with_the_cache_alone_nobody_is_asked(tmp_path: Path) -> None:
    with ReplyCache(tmp_path / "c.sqlite") as cache:
        backend = FakeBackend()
        answer = client_of(backend, cache=cache, cache_use=CacheUse.ONLY).ask(REQUEST)
        assert (answer.advice, answer.asked, backend.asked) == (None, False, [])


def test_reading_only_adds_nothing(tmp_path: Path) -> None:
    with ReplyCache(tmp_path / "c.sqlite") as cache:
        assert client_of(FakeBackend(), cache=cache, cache_use=CacheUse.READ).ask(REQUEST).advice is not None
        assert len(cache) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "else"},
        {"system": "else"},
        {"schema": {"type": "object"}},
        {"images": (b"png",)},
        {"max_tokens": 7},
        {"temperature": 0.5},
        {"seed": 1},
    ],
)
def test_everything_that_decides_a_reply_is_part_of_its_key(change: dict[str, object]) -> None:
    from dataclasses import replace  # noqa: PLC0415

    assert cache_key("b", "m", REQUEST) != cache_key("b", "m", replace(REQUEST, **change))


def test_backend_and_model_are_part_of_the_key_and_patience_is_not() -> None:
    from dataclasses import replace  # noqa: PLC0415

    keys = {cache_key("b", "m", REQUEST), cache_key("c", "m", REQUEST), cache_key("b", "n", REQUEST)}
    assert len(keys) == 3
    assert cache_key("b", "m", REQUEST) == cache_key("b", "m", replace(REQUEST, timeout_s=1.0))


@pytest.mark.parametrize("entry", ["{", "[]", "7", '{"text": 7, "model": "m"}', '{"text": null, "model": "m"}'])
def test_a_damaged_entry_of_the_cache_counts_as_none(entry: str, tmp_path: Path) -> None:
    import sqlite3  # noqa: PLC0415
    from contextlib import closing  # noqa: PLC0415

    with ReplyCache(tmp_path / "c.sqlite") as cache:
        cache.put("k", LLMReply("up", "m", cut=True, problem="p"))
        assert cache.get("k") == LLMReply("up", "m", cut=True, problem="p")
        with closing(sqlite3.connect(tmp_path / "c.sqlite")) as database, database:
            database.execute("UPDATE replies SET reply = ?", (entry,))
        assert cache.get("k") is None


@pytest.mark.parametrize("result", [ZeroDivisionError("oh"), None, "a text", LLMReply(None, "m")])  # type: ignore[arg-type]
def test_a_backend_that_breaks_its_contract_ends_no_training(result: object) -> None:
    def broken(request: object) -> LLMReply:
        if isinstance(result, Exception):
            raise result
        return result  # type: ignore[return-value]

    answer = client_of(FakeBackend([broken])).ask(REQUEST)
    assert answer.fault is LLMFault.BROKEN
    assert answer.advice is None


def test_a_key_that_a_model_echoes_is_blanked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1")
    text = GOOD.replace('"g"', '"my key is sk-very-secret-1"')
    parsed = LLMReply(text, "m", parsed={"goal": ["sk-very-secret-1"]})
    answer = client_of(FakeBackend([lambda request: parsed])).ask(REQUEST)
    assert "sk-very-secret-1" not in repr(answer)


def test_a_model_that_was_not_there_at_first_is_settled_when_it_is() -> None:
    backend = FakeBackend()
    client = client_of(backend)
    client.settled = False
    checked: list[bool] = []
    backend.check = lambda: str(checked.append(True))  # type: ignore[method-assign]
    client.ask(REQUEST)
    client.ask(REQUEST)
    assert checked == [True]


def test_a_script_gives_the_same_answer_to_the_same_prompt(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        '[[reply]]\nwhen = "what"\ntext = "north"\n[[reply]]\ntext = "east"\n[[reply]]\nfault = "timeout"\n'
    )
    backend = ScriptedBackend(ScriptedSettings(file=path), None)
    assert "3 replies" in backend.check()
    assert backend.complete(REQUEST).text == "north"


def test_a_repair_keeps_to_the_length_and_shows_what_fits_of_the_reply() -> None:
    request = LLMRequest("system", "what now? " * 30)
    backend = FakeBackend(["nonsense " * 500, GOOD])
    client = client_of(backend, most_tokens=300)
    assert client.ask(request).advice is not None
    assert len(backend.asked) == 2
    repair = backend.asked[1]
    assert "nonsense" in repair.prompt
    assert estimated_tokens(repair.system) + estimated_tokens(repair.prompt) <= 300


def test_a_question_that_leaves_no_room_for_a_repair_gets_none() -> None:
    request = LLMRequest("system", "what now? " * 30)
    backend = FakeBackend(["nonsense", GOOD])
    assert client_of(backend, most_tokens=110).ask(request).advice is None
    assert len(backend.asked) == 1


def test_a_question_that_is_too_long_is_not_sent_and_told_once() -> None:
    told: list[str] = []
    backend = FakeBackend([GOOD])
    client = client_of(backend, most_tokens=50, told=told)
    answers = [client.ask(LLMRequest("system", "what now? " * 30)) for _ in range(2)]
    assert not backend.asked
    assert [answer.asked for answer in answers] == [False, False]
    assert len(told) == 1
    assert "max_context_length" in told[0]
