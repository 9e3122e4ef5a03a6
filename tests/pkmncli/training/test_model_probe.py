"""Before a training: one or two real answers of the model say what it is good for; nothing is measured in vain."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.fault_server import Behaviour, FaultServer, Handler, hang_up
from support.faults import GOOD, KEY
from support.variants import long_after

from pkmncli.api import LLMReply, LLMRequest
from pkmncli.config import TrainSettings
from pkmncli.llm.client import LLMClient
from pkmncli.llm.ensemble import EnsembleClient
from pkmncli.llm.probe import ModelSpeed, measure
from pkmncli.llm.retry import CircuitBreaker
from pkmncli.llm.usage import Usage
from pkmncli.training.display.model_forecast import forecast

Pkmn = Callable[..., Any]

PLAYED = ["train", "--rl=none", "--steps=20", "--llm-interval=1000", "--max-steps-per-episode=50", "--run-name=it"]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(Behaviour(text=GOOD, send=slowly)) as running:
        yield running


def slowly(handler: Handler, answer: bytes) -> None:
    if handler.pause(0.1):
        handler.wfile.write(answer)


def at(server: FaultServer) -> list[str]:
    return ["--llm=openai", f"--set=openai.base_url={server.url}/v1"]


def questions(server: FaultServer) -> list[str]:
    return [one.body["messages"][1]["content"] for one in server.asked]


@pytest.mark.long
def test_a_training_says_what_its_model_is_good_for_and_its_resume_does_not(
    pkmn: Pkmn, server: FaultServer, course: Callable[..., Any], tmp_path: Any
) -> None:
    result = pkmn(*PLAYED, *at(server), "--llm-wait")
    assert result.code == 0, result.err
    assert re.search(
        r"^An answer of the language model takes [\d.]+ s, a step [\d.]+ ms\. With --llm-wait, 1,000 steps take about "
        r"[\d.]+ m?s instead of [\d.]+ m?s\.",
        result.out,
        re.MULTILINE,
    ), result.out
    first, again, *of_training = questions(server)
    assert again == f"Once more.\n\n{first}"
    assert of_training[0] == first, "what was asked before has changed nothing"
    llm = course(tmp_path / "runs" / "it")["summary"]["llm"]
    assert (llm["requests"], llm["replies"]) == (len(server.asked), len(server.asked)), "all of them count"

    server.answer(Behaviour(text=GOOD))
    result = pkmn("train", "--resume", "it", "--steps=30")
    assert result.code == 0, result.err
    assert "An answer of the language model takes" not in result.out
    assert not any(question.startswith("Once more.") for question in questions(server))


@pytest.mark.parametrize("option", long_after(1, ["--quiet", "--no-llm-probe"]))
def test_nothing_is_measured_where_nobody_reads_it(option: str, pkmn: Pkmn, server: FaultServer) -> None:
    result = pkmn(*PLAYED, *at(server), "--llm-wait", option)
    assert result.code == 0, result.err
    assert "An answer of the language model" not in result.out
    assert len(server.asked) == len(set(questions(server)))


@pytest.mark.long
def test_an_answer_without_advice_and_a_failure_are_said_before_the_training(pkmn: Pkmn, server: FaultServer) -> None:
    server.answer(Behaviour(text="Hmm?"))
    said = pkmn(*PLAYED, *at(server)).out
    assert re.search(r"^The language model answered in .*, but not with advice: .*pkmn llm ask", said, re.MULTILINE)
    server.answer(Behaviour(send=hang_up), Behaviour(text=GOOD))
    said = pkmn(*PLAYED[:-1], *at(server)).out
    assert re.search(r"^The language model gave no answer to a first question: .*127\.0\.0\.1", said, re.MULTILINE)


# The measurement ---------------------------------------------------------------------------------------------------


class Model:
    """Model in this process that answers when it is released."""

    model = "tiny"
    sees = False

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.released = threading.Event()

    def check(self) -> str:
        return ""

    def complete(self, request: LLMRequest) -> LLMReply:
        self.asked.append(request.prompt)
        self.released.wait(10)
        return LLMReply(GOOD, self.model, 100, 10)

    def models(self) -> list[str]:
        return [self.model]

    def close(self) -> None:
        self.released.set()


def client_of(model: Model, budget_tokens: int | None = None) -> LLMClient:
    return LLMClient(model, "tiny", Usage(budget_tokens=budget_tokens), CircuitBreaker(lambda: 0.0))


def test_a_model_that_still_loads_is_waited_for_only_so_long_and_its_request_goes_on() -> None:
    model, said = Model(), list[str]()
    client = client_of(model)
    speed = measure(client, LLMRequest("", "Go?"), interrupted=lambda: False, tell=said.append, limit_s=0.1)[""]
    assert (speed.answered, speed.problem) == (False, "")
    assert 0.1 <= speed.seconds < 5
    assert said == []
    model.close()
    assert forecast({"": speed}, TrainSettings(), 100, 1)[0].startswith("No answer of the language model within 0 s")


def test_a_budget_pays_for_the_measurement_and_ends_it() -> None:
    model = Model()
    model.close()
    client = client_of(model, budget_tokens=100)
    found = measure(client, LLMRequest("", "Go?"), interrupted=lambda: False, tell=str, limit_s=5)
    assert len(found) == 1
    assert (model.asked, client.usage.tokens) == (["Go?"], 110)
    assert measure(client, LLMRequest("", "Go?"), interrupted=lambda: False, tell=str, limit_s=5) == {}


def test_a_backend_that_need_not_be_measured_is_not_asked() -> None:
    model = Model()
    model.probed = False  # type: ignore[attr-defined]
    assert measure(client_of(model), LLMRequest("", "Go?"), interrupted=lambda: False, tell=str, limit_s=5) == {}
    assert model.asked == []


def test_each_model_of_an_ensemble_is_measured_and_the_slowest_decides_the_forecast() -> None:
    good, silent = Model(), Model()
    good.close()
    both = EnsembleClient({"a": client_of(good), "b": client_of(silent)})
    found = measure(both, LLMRequest("", "Go?"), interrupted=lambda: False, tell=str, limit_s=0.3)
    silent.close()
    assert {name: one.answered for name, one in found.items()} == {"a": True, "b": False}
    refused = {"b": ModelSpeed(0.1, answered=True, problem="it is empty"), "a": ModelSpeed(0.1, answered=True)}
    about_b, about_a = forecast(refused, TrainSettings(), 10, 1)
    assert about_b.startswith("b: The language model answered in 0.1 s, but not with advice: it is empty.")
    assert about_a.startswith("An answer of the language model takes 0.1 s")


# The words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "rate", "settings", "says"),
    [
        (0.01, 400, {}, "about 33 answers in 1,000 steps, in time for every action."),
        (0.1, 100, {}, "about 33 answers in 1,000 steps, each 10 steps late .* With --llm-wait the game waits: "),
        (0.5, 400, {}, "about 5 answers .* --llm-interval 200 asks no more than it can answer; with --llm-wait"),
        (3.7, 300, {}, "less than 1 answer .*, each 1,110 steps late .* Not worth it like this: with --llm-wait"),
        (30, 300, {}, "Not worth it on this machine: even with --llm-wait --llm-interval 300 .* about 2 min"),
        (3.7, 300, {"llm_wait": True}, "about 2 min instead of 3.3 s. With --llm-interval 300: 16 s."),
        (1, 1000, {"mode": "llm-only", "rl": "none", "pilot": "none", "llm": "x"}, "plays alone .* about 2 min"),
    ],
)
def test_speed_becomes_a_proposal(seconds: float, rate: float, settings: dict[str, Any], says: str) -> None:
    (line,) = forecast({"": ModelSpeed(seconds, answered=True)}, TrainSettings(**settings), rate, 1)
    assert re.search(says, line), line


def test_a_paid_service_answers_several_environments_at_the_same_time() -> None:
    alone, service = ModelSpeed(0.5, answered=True), ModelSpeed(0.5, answered=True, parallel=True)
    assert "about 2 answers" in forecast({"": alone}, TrainSettings(), 1000, 4)[0]
    assert "about 8 answers" in forecast({"": service}, TrainSettings(), 1000, 4)[0]
