"""A class of the user's own as a backend, as the documents write it, and the manager that asks any backend."""

from __future__ import annotations

from typing import Any

import pytest
from support.llm_fakes import GOOD, FakeBackend, client_of

import pkmn_pyboy.plugin
from pkmncli import BaseLLMManager, LLMManager, hookimpl
from pkmncli.api import Action, ActionNames, LLMFailure, LLMFault, LLMRequest
from pkmncli.llm.replies import Reading, ReplyForm

REQUEST = LLMRequest("you advise", "what now?", timeout_s=60)


class MyService:
    """Stands for a user's own interface to a model."""

    def chat(self, context: str) -> str:
        return f"I read {len(context)} letters, and say: go north."


your_llm_api = MyService()


class CustomLLMManager(BaseLLMManager):
    """The documents' example, word for word."""

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        response = your_llm_api.chat(context)
        action = self.parse_action(response)
        metadata = {"source": "custom_llm", "confidence": 0.8}
        return action, metadata


class Odd(BaseLLMManager):
    """Gives what a test wants, or raises it."""

    given: Any = None

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        if isinstance(self.given, BaseException):
            raise self.given
        return self.given  # type: ignore[no-any-return]


def test_the_documents_example_advises() -> None:
    manager: Any = CustomLLMManager()
    answer = client_of(manager).ask(REQUEST)
    assert answer.reading is Reading.SCHEMA
    assert answer.advice is not None
    assert answer.advice.presses == (Action.UP,)
    assert answer.advice.confidence == 0.8
    assert answer.replies[0].model == "custom_llm"
    assert manager.check()
    assert manager.models() == ["CustomLLMManager"]


@pytest.mark.parametrize(
    ("response", "action"),
    [
        (GOOD, Action.UP),
        ("press A", Action.A),
        ("flee!", Action.B),
        ("attack it", Action.A),
        ("<think>north?</think> go west", Action.LEFT),
        ("hm", Action.NONE),
        ("", Action.NONE),
    ],
)
def test_actions_are_read_from_json_and_words(response: str, action: Action) -> None:
    assert CustomLLMManager().parse_action(response) == action


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (ConnectionRefusedError("nobody"), LLMFault.UNREACHABLE),
        (TimeoutError("late"), LLMFault.TIMEOUT),
        (KeyError("sk-secret"), LLMFault.BROKEN),
        (LLMFailure(LLMFault.OVERLOADED, "busy"), LLMFault.OVERLOADED),
        ((9, {}), LLMFault.BROKEN),
        ((-1, {}), LLMFault.BROKEN),
        ((True, {}), LLMFault.BROKEN),
        (("up", {}), LLMFault.BROKEN),
        (None, LLMFault.BROKEN),
        (5, LLMFault.BROKEN),
    ],
    ids=repr,
)
def test_whatever_a_class_of_ones_own_does_is_a_fault(given: Any, fault: LLMFault) -> None:
    manager = Odd()
    manager.given = given
    with pytest.raises(LLMFailure) as caught:
        manager.complete(REQUEST)
    assert caught.value.fault is fault
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("metadata", [None, {}, {"confidence": 0.0}, {"reason": 5}, {"reason": "x" * 5000}], ids=str)
def test_what_is_not_said_about_an_action_is_no_problem(metadata: Any) -> None:
    manager: Any = Odd()
    manager.given = (4, metadata)
    assert client_of(manager).ask(REQUEST).advice is not None


def test_a_confidence_that_is_none_is_no_advice_by_schema() -> None:
    manager: Any = Odd()
    manager.given = (4, {"confidence": 1e15})
    assert client_of(manager).ask(REQUEST).reading is not Reading.SCHEMA


def test_one_that_never_comes_back_is_left() -> None:
    from threading import Event  # noqa: PLC0415

    released = Event()

    class Slow(BaseLLMManager):
        def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
            released.wait(60)
            return 0, {}

    with pytest.raises(LLMFailure) as caught:
        Slow().complete(LLMRequest("", "what now?", timeout_s=0.1))
    released.set()
    assert caught.value.fault is LLMFault.TIMEOUT


def test_a_manager_asks_a_backend() -> None:
    manager = LLMManager(FakeBackend())
    action, metadata = manager.get_action("what now?")
    assert action == Action.UP
    assert metadata["confidence"] == 0.5
    assert metadata["source"] == "fake"


@pytest.mark.parametrize("answer", ["hm", LLMFailure(LLMFault.TIMEOUT, "late")], ids=["no use", "fault"])
def test_a_manager_without_advice_presses_nothing_and_says_why(answer: Any) -> None:
    action, metadata = LLMManager(FakeBackend([answer])).get_action("what now?")
    assert action == Action.NONE
    assert metadata["confidence"] == 0
    assert metadata["error"]


def test_a_manager_is_a_backend_too() -> None:
    backend = FakeBackend()
    manager = LLMManager(backend)
    assert manager.check() == "Advice: fake."
    assert client_of(manager).ask(REQUEST).advice is not None  # type: ignore[arg-type]
    manager.close()
    assert backend.closed


def test_a_registered_class_is_found_by_its_name(register_plugin: Any) -> None:
    class Plugin:
        @hookimpl
        def pkmn_register_llm_backends(self, register: Any) -> None:
            register("mine", CustomLLMManager)

    register_plugin(Plugin(), "mine")
    register_plugin(pkmn_pyboy.plugin, "pyboy")
    manager = LLMManager.named("mine")
    assert manager.get_action("what now?")[0] == Action.UP


@pytest.mark.long
def test_a_manager_may_give_any_action_of_many() -> None:
    manager: Any = Odd()
    manager.form = ReplyForm((), ActionNames(tuple(f"action_{number}" for number in range(4096))))
    manager.given = (4095, {"confidence": 0.5})
    request = LLMRequest("you advise", "what now?", manager.form.schema, timeout_s=60)
    read = manager.form.read(manager.complete(request), expires_after=9)
    assert read.advice.presses == (4095,)
    manager.given = (4096, {})
    with pytest.raises(LLMFailure, match="0 to 4095"):
        manager.complete(request)
