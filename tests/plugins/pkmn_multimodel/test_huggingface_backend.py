"""A model of the Hugging Face format that advises: its replies, the adapter of a run, and what it refuses."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.commands import run_here
from support.reply_forms import FORM

from pkmn_multimodel import backend as module
from pkmn_multimodel.backend import HuggingFaceBackend
from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.population.tiny import tiny_model
from pkmn_multimodel.settings import HuggingFaceSettings
from pkmncli.api import LLMFailure, LLMFault, LLMRequest
from pkmncli.errors import LLMConnectionError

TRAIN = (
    *("multimodel", "train", "--models", "2", "--mode", "cooperative", "--update", "synchronized", "--episodes", "8"),
    *("--set", 'multimodel.model_types=["qwen3"]', "--set", "multimodel.batch_size=8"),
    *("--set", "multimodel.learning_rate=0.1", "--run-name", "it"),
)


def request(**values: Any) -> LLMRequest:
    return LLMRequest("you advise", "Where to?", **{"max_tokens": 12, "seed": 3} | values)


def backend(model: Path | str | None, **settings: Any) -> HuggingFaceBackend:
    return HuggingFaceBackend(HuggingFaceSettings(**settings), None if model is None else str(model))


def text(one: HuggingFaceBackend, **values: Any) -> str:
    return one.complete(request(**values)).text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a very small model, which knows the first question of a game."""
    path, game = tmp_path_factory.mktemp("model"), game_maker("coop-compete", 2, {})()
    prompts, _ = game.reset(seed=0)
    model, tokenizer = tiny_model([(prompts[agent], game.options(agent)) for agent in game.agents])
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.mark.long
def test_a_folder_answers_with_text_name_and_tokens_the_same_every_time(folder: Path) -> None:
    one, other = backend(folder), backend(folder)
    assert str(folder) in one.check()
    reply = one.complete(request())
    assert reply.model == str(folder)
    assert reply.prompt_tokens > 3
    assert 0 < reply.completion_tokens <= 12
    assert reply.text == text(other)
    sampled = text(one, temperature=9.0)
    assert sampled == text(other, temperature=9.0)
    assert sampled != text(other, temperature=9.0, seed=4)


def test_a_schema_makes_even_such_a_model_advise(folder: Path) -> None:
    pytest.importorskip("xgrammar")
    one = backend(folder)
    fields = {"skill": {"enum": ["heal", "flee"]}, "confidence": {"const": 0.5}}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    read = FORM.read(one.complete(request(schema=schema, max_tokens=40)), expires_after=9)
    assert read.advice is not None
    assert read.advice.skill in {"heal", "flee"}


@pytest.mark.long
def test_the_adapter_of_a_run_answers_otherwise_than_its_base(folder: Path, tmp_path: Path) -> None:
    made = run_here(*TRAIN, "--base", str(folder), "--save-dir", str(tmp_path))
    assert made.code == 0, made.err
    adapted = backend(None, adapter=f"{tmp_path / 'it'}:model_0")
    assert f"{folder}+it:model_0" in adapted.check()
    answers = [text(one, temperature=9.0, max_tokens=60) for one in (adapted, backend(folder))]
    assert answers[0] != answers[1]
    with pytest.raises(LLMConnectionError, match="no adapter 'model_7'; it has model_0, model_1"):
        backend(None, adapter=f"{tmp_path / 'it'}:model_7").check()
    other = tmp_path / "other"
    model, tokenizer = tiny_model([("Where to?", ["east", "west"])], seed=5, steps=0)
    model.save_pretrained(other)
    tokenizer.save_pretrained(other)
    with pytest.raises(LLMConnectionError, match="of another base model"):
        backend(other, adapter=f"{tmp_path / 'it'}:model_0").check()


@pytest.mark.parametrize(
    ("model", "settings", "said"),
    [
        (None, {}, "huggingface needs a model: --llm-model"),
        ("/nowhere/at/all", {}, "--llm-model = /nowhere/at/all: no model is there"),
        (None, {"adapter": "it"}, "write RUN:model_0"),
        (None, {"adapter": "/nowhere/at/all:model_0"}, "/nowhere/at/all"),
    ],
)
def test_what_is_not_there_is_one_line(model: str | None, settings: dict[str, str], said: str) -> None:
    one = backend(model, **settings)
    with pytest.raises(LLMConnectionError) as caught:
        one.check()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(LLMFailure) as failure:
        one.complete(request())
    assert failure.value.fault is LLMFault.NO_MODEL


def test_a_question_that_is_too_long_or_has_no_time_is_a_fault(folder: Path) -> None:
    one = backend(folder)
    one.check()
    with pytest.raises(LLMFailure) as failure:
        one.complete(request(max_tokens=5000))
    assert failure.value.fault is LLMFault.TOO_LONG
    with pytest.raises(LLMFailure) as failure:
        one.complete(request(max_tokens=900, temperature=9.0, timeout_s=0.02))
    assert failure.value.fault is LLMFault.TIMEOUT
    one.close()
    with pytest.raises(LLMFailure):
        one.complete(request())


def test_to_close_it_waits_until_an_open_question_has_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, ended = threading.Event(), []

    @contextmanager
    def generating(*given: Any) -> Iterator[None]:
        asked.set()
        yield
        time.sleep(0.3)
        ended.append("generation")

    monkeypatch.setattr(module, "fitting_threads", generating)
    one = backend(folder)
    with ThreadPoolExecutor(1) as other:
        open_question = other.submit(one.complete, request(max_tokens=900, temperature=9.0))
        assert asked.wait(60)
        one.close()
        assert ended == ["generation"]
        with pytest.raises(LLMFailure):
            open_question.result()
