"""A real model in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.real_answers import assert_answers_by_schema, assert_says_when_it_was_cut, assert_too_long, request

from pkmn_local.backend import LocalBackend
from pkmn_local.settings import LocalSettings
from pkmncli.api import LLMFailure, LLMFault
from pkmncli.errors import LLMConnectionError


@pytest.fixture(scope="module")
def local(smollm2: Path) -> Iterator[LocalBackend]:
    backend = LocalBackend(LocalSettings(model_path=smollm2, context_tokens=2048), None)
    assert "SmolLM2" in backend.check()
    yield backend
    backend.close()


@pytest.mark.long
def test_a_model_file_answers_by_schema(local: LocalBackend) -> None:
    assert_answers_by_schema(local)


@pytest.mark.long
def test_a_model_file_says_when_it_was_cut(local: LocalBackend) -> None:
    assert_says_when_it_was_cut(local)


@pytest.mark.long
def test_a_model_file_repeats_itself_where_it_is_cold(local: LocalBackend) -> None:
    one, two = (local.complete(request("Say something.", seed=3)).text for _ in range(2))
    assert one == two
    assert one


def test_a_model_file_refuses_what_is_too_long(local: LocalBackend) -> None:
    assert_too_long(local)


@pytest.mark.long
def test_a_model_file_that_takes_its_time_is_left_and_asked_again(local: LocalBackend) -> None:
    with pytest.raises(LLMFailure) as caught:
        local.complete(request("Tell a long story.", max_tokens=1500, timeout_s=0.05))
    assert caught.value.fault is LLMFault.TIMEOUT
    assert_answers_by_schema(local)


@pytest.mark.long
def test_the_end_of_a_run_ends_a_long_answer(smollm2: Path) -> None:
    from threading import Thread  # noqa: PLC0415

    backend = LocalBackend(LocalSettings(model_path=smollm2), None)
    backend.check()
    failures = []

    def ask() -> None:
        try:
            backend.complete(request("Tell a very long story.", max_tokens=3000))
        except LLMFailure as failure:
            failures.append(failure)

    thread = Thread(target=ask)
    thread.start()
    backend.close()
    thread.join()
    assert len(failures) == 1
    with pytest.raises(LLMFailure):
        backend.complete(request())


def test_a_file_that_is_no_model_is_told_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF and no more")
    backend = LocalBackend(LocalSettings(model_path=path), None)
    with pytest.raises(LLMConnectionError, match=r"broken\.gguf"):
        backend.check()
    with pytest.raises(LLMFailure) as caught:
        backend.complete(request())
    assert caught.value.fault is LLMFault.NO_MODEL


def test_a_file_that_is_gone_is_no_model(tmp_path: Path) -> None:
    backend = LocalBackend(None, str(tmp_path / "gone.gguf"))
    with pytest.raises(LLMConnectionError, match=r"gone\.gguf"):
        backend.check()
    with pytest.raises(LLMFailure) as caught:
        backend.complete(request())
    assert caught.value.fault is LLMFault.NO_MODEL
