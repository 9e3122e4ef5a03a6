"""Services whose list of models is missing, empty or under other names."""

from __future__ import annotations

import pytest
from support.asked_services import REMOTE, REQUEST, assert_answers
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import GOOD, BuildBackend
from support.variants import long_after

from pkmncli.api import LLMFailure, LLMFault
from pkmncli.errors import LLMConnectionError


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    "listing",
    [
        *(Behaviour(status=status, message="no such place") for status in (400, 404, 405, 501)),
        Behaviour(status=503, message="Loading model"),
        Behaviour(status=403, message="You have insufficient permissions: missing scopes: api.model.read"),
        Behaviour(body=b"{}"),
        Behaviour(body=b'{"data": null}'),
    ],
    ids=lambda listing: str(listing.body or listing.status),
)
def test_a_service_without_a_list_is_asked_all_the_same_with_a_remark(
    name: str, listing: Behaviour, build: BuildBackend
) -> None:
    with FaultServer(Behaviour(text=GOOD)) as server:
        server.listing = listing
        assert_answers(build(name, server.url), MODEL, "It lists no models: the first question shows")


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_an_empty_list_is_as_good_as_none(name: str, build: BuildBackend) -> None:
    with FaultServer(Behaviour(text=GOOD)) as server:
        server.models = []
        assert_answers(build(name, server.url), MODEL, "It lists no models")


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("model", "listed"), [("tiny", "models/tiny"), ("tiny", "tiny:latest"), ("some/tiny:nitro", "some/tiny")]
)
def test_a_model_that_is_listed_under_another_name_is_asked_by_its_own(
    name: str, model: str, listed: str, build: BuildBackend
) -> None:
    with FaultServer(Behaviour(text=GOOD)) as server:
        server.models = [listed]
        assert_answers(build(name, server.url, model), model)
        assert server.asked[0].body["model"] == model


@pytest.mark.parametrize("name", long_after(1, REMOTE))
def test_a_model_that_is_not_listed_must_answer_unless_a_setting_goes_past_the_list(
    name: str, server: FaultServer, build: BuildBackend
) -> None:
    server.answer(Behaviour(text=GOOD))
    assert_answers(build(name, server.url, "alias"), "alias", "does not list 'alias', but it answers", "tiny")
    assert [one.body["model"] for one in server.asked] == ["alias"] * 2
    server.answer(Behaviour(status=404, message="what is alias?"), Behaviour(text=GOOD))
    with pytest.raises(LLMConnectionError, match="no model 'alias'"):
        build(name, server.url, "alias").check()
    assert_answers(build(name, server.url, "alias", listed_only=False), "alias")
    server.answer(Behaviour(status=503, message="busy"), Behaviour(text=GOOD))
    assert_answers(build(name, server.url, "alias"), "did not answer yet", "busy")


@pytest.mark.parametrize("name", ["ollama", "openai"])
def test_a_model_that_can_be_talked_to_is_chosen_before_others(name: str, build: BuildBackend) -> None:
    with FaultServer(Behaviour(text=GOOD)) as server:
        server.models = ["nomic-embed-text", "whisper-1", "tiny"]
        assert_answers(build(name, server.url, None), "tiny")
        assert server.asked[0].body["model"].startswith("tiny")
        server.models = ["nomic-embed-text", "whisper-1"]
        with pytest.raises(LLMConnectionError, match="only nomic-embed-text"):
            build(name, server.url, None).check()


@pytest.mark.parametrize("name", REMOTE)
def test_a_model_that_does_not_talk_is_told(name: str, server: FaultServer, build: BuildBackend) -> None:
    server.answer(Behaviour(status=400, message='"nomic-embed-text" does not support chat'))
    with pytest.raises(LLMFailure, match="no model to talk to, choose another with --llm-model") as failure:
        build(name, server.url).complete(REQUEST)
    assert failure.value.fault is LLMFault.NO_MODEL
    assert len(server.asked) == 1
