"""Sampling by a vLLM server: its interface, the replies, trainings through it, and what is refused.

The server of these tests samples from a real base. PKMN_TEST_VLLM=URL, of a vLLM server that serves a folder of this
machine, runs the tests of the interface against it, too.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from support.commands import run_here
from support.variants import long_after
from support.vllm_server import VllmServer

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.population.replies import BASE
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training
from pkmn_multimodel.vllm_sampler import VllmSampler
from pkmncli.errors import LLMConnectionError, TrainingError

SMALL = {
    "num_models": 2,
    "model_types": ["qwen3"],
    "batch_size": 8,
    "learning_rate": 3e-3,
    "gamma": 0.5,
    "max_episodes": 100_000,
    "training_mode": "cooperative",
    "weight_update_strategy": "synchronized",
}
REAL = os.environ.get("PKMN_TEST_VLLM", "")


def make_training(seed: int = 0, tell: Any = lambda text: None, **settings: Any) -> Training:
    return Training(MultiModelConfig(**SMALL | settings), game_maker("coop-compete", 2, {}), seed, tell)


def written_base(folder: Path, seed: int = 0) -> Path:
    """A tiny base in a folder, as a server needs it."""
    made = make_training(seed, base="tiny").population
    made.model.unload().save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_base(tmp_path_factory.mktemp("base"))


@pytest.fixture
def server(base: Path) -> Iterator[VllmServer]:
    with VllmServer(base) as running:
        yield running


@pytest.fixture(params=["ours", *(["vllm"] if REAL else [])])
def any_server(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """Address and base of a server of these tests, and of a real one if there is one."""
    if request.param == "vllm":
        yield REAL, httpx.get(f"{REAL}/v1/models").json()["data"][0]["id"]
        return
    ours: VllmServer = request.getfixturevalue("server")
    yield ours.url, ours.base


# The interface, on which the server of these tests and vLLM must agree ------------------------------------------------


def completion(url: str, **body: Any) -> Any:
    fields = {"prompt": [5, 6, 7], "max_tokens": 6, "logprobs": 0, "return_token_ids": True, "top_p": 1.0, "top_k": 0}
    response = httpx.post(f"{url}/v1/completions", json={**fields, "ignore_eos": True, **body}, timeout=300)
    return response.status_code, response.json()


def tokens_of(answer: Any) -> list[list[int]]:
    return [choice["token_ids"] for choice in answer["choices"]]


def test_samples_of_a_prompt_differ_and_a_seed_repeats_them(any_server: tuple[str, str]) -> None:
    url, base = any_server
    asked = {"model": base, "n": 8, "seed": 11, "temperature": 1.5}
    (status, first), (_, again), (_, other) = (completion(url, **asked | one) for one in ({}, {}, {"seed": 12}))
    assert status == 200 and first["model"] == base
    assert len(tokens_of(first)) == 8 and len({tuple(row) for row in tokens_of(first)}) > 1
    assert tokens_of(first) == tokens_of(again) != tokens_of(other)
    for choice in first["choices"]:
        assert len(choice["logprobs"]["token_logprobs"]) == len(choice["token_ids"]) == 6


def test_equal_prompts_of_one_request_with_a_seed_get_equal_replies(any_server: tuple[str, str]) -> None:
    url, base = any_server
    _, answer = completion(url, model=base, prompt=[[5, 6, 7]] * 3, seed=11, temperature=1.5)
    assert len(answer["choices"]) == 3
    assert len({tuple(row) for row in tokens_of(answer)}) == 1


def test_a_reply_ends_with_the_token_that_stops_it(any_server: tuple[str, str]) -> None:
    url, base = any_server
    _, whole = completion(url, model=base, temperature=0.0)
    (tokens,) = tokens_of(whole)
    end = tokens[2]
    _, cut = completion(url, model=base, temperature=0.0, stop_token_ids=[end])
    assert tokens_of(cut) == [tokens[: tokens.index(end) + 1]]
    assert cut["choices"][0]["finish_reason"] == "stop"


def test_probabilities_are_those_before_the_temperature(any_server: tuple[str, str]) -> None:
    url, base = any_server
    _, likeliest = completion(url, model=base, temperature=0.0, max_tokens=1)
    (token,), (value,) = (
        likeliest["choices"][0]["token_ids"],
        likeliest["choices"][0]["logprobs"]["token_logprobs"],
    )
    _, warm = completion(url, model=base, temperature=0.01, max_tokens=1, seed=1)
    assert tokens_of(warm) == [[token]]
    assert warm["choices"][0]["logprobs"]["token_logprobs"] == pytest.approx([value], abs=1e-2)


def test_probabilities_of_a_prompt_are_told_of_each_token_but_the_first(any_server: tuple[str, str]) -> None:
    url, base = any_server
    _, answer = completion(url, model=base, max_tokens=1, prompt_logprobs=0)
    told = answer["choices"][0]["prompt_logprobs"]
    assert told[0] is None and [next(iter(one)) for one in told[1:]] == ["6", "7"]
    assert all(one[token]["logprob"] < 0 for one, token in zip(told[1:], ("6", "7"), strict=True))


def test_adapters_come_and_go(any_server: tuple[str, str], tmp_path: Path) -> None:
    url, base = any_server
    population = make_training(base=base).population
    place = str(population.write_adapter("model_0", tmp_path))

    def change(path: str, **body: Any) -> int:
        return httpx.post(f"{url}/v1/{path}", json=body, timeout=300).status_code

    assert completion(url, model="its")[0] == 404
    assert change("load_lora_adapter", lora_name="its", lora_path=str(tmp_path / "nowhere")) in (400, 404)
    assert change("load_lora_adapter", lora_name="its", lora_path=place) == 200
    assert change("load_lora_adapter", lora_name="its", lora_path=place) == 400
    assert "its" in [card["id"] for card in httpx.get(f"{url}/v1/models").json()["data"]]
    assert completion(url, model="its")[1]["model"] == "its"
    assert change("unload_lora_adapter", lora_name="its") == 200
    assert change("unload_lora_adapter", lora_name="its") == 404


def test_replies_are_of_the_current_weights_and_probabilities_of_the_trainer(any_server: tuple[str, str]) -> None:
    url, base = any_server
    training = make_training(base=base)
    population = training.population
    for weights in population.parameters_of("model_1").values():
        torch.nn.init.normal_(weights, std=0.2)
    population.note_change("model_1")
    prompts, adapters = ["Round 1."] * 6, ["model_0", "model_1", BASE] * 2
    with closing(VllmSampler(training.settings.model_copy(update={"sampler_url": url}), population)) as sampler:
        sampler.check("Round 1.")
        sampler.take_gaps()
        replies = sampler.sample(prompts, adapters, torch.Generator().manual_seed(4), max_new_tokens=6, temperature=1.5)
        assert 0 < sampler.take_gaps()["vllm/largest_gap"] < 0.1 or REAL
        before = population.version_of("model_1")
        assert [reply.adapter for reply in replies] == adapters
        assert replies[1].version == before and replies[1].text == population.tokenizer.decode(
            replies[1].tokens, skip_special_tokens=True
        )
        for reply in replies:
            expected = population.log_probs([reply], reply.adapter, 1.5).of_tokens()[0]
            assert torch.allclose(torch.tensor(reply.log_probs), expected, atol=1e-3)
        for weights in population.parameters_of("model_1").values():
            weights.data.neg_()
        population.note_change("model_1")
        again = sampler.sample(["Round 1."], ["model_1"], torch.Generator(), max_new_tokens=6)
        assert again[0].version == population.version_of("model_1") != before
        assert sampler.take_gaps()["vllm/gap"] < 0.1, "the server has the new weights"
    names = [card["id"] for card in httpx.get(f"{url}/v1/models").json()["data"]]
    assert not [name for name in names if "model_" in name], "closing unloads the adapters"


# Trainings ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_batch_is_sampled_by_the_server_alone_and_its_seeds_repeat(server: VllmServer, base: Path) -> None:
    def scores(**own: Any) -> list[float]:
        with closing(make_training(base=str(base), sampler="vllm", sampler_url=f"{server.url}/v1/", **own)) as training:
            return [training.batch().metrics["score"] for _ in range(2)]

    def completions() -> int:
        return sum(path == "/v1/completions" for path, _ in server.asked)

    first, asked = scores(), completions()
    assert asked >= 4
    assert scores() == first and completions() == 2 * asked
    assert not server.adapters
    with closing(make_training(base=str(base), sampler="vllm", sampler_url=server.url)) as training:
        training.evaluate(2)
    assert completions() == 2 * asked, "evaluations need no server"


@pytest.mark.long
def test_a_training_through_the_server_learns_as_the_ordinary_one(server: VllmServer, base: Path) -> None:
    reached = {}
    for sampler in ("in-process", "vllm"):
        own = {"sampler": sampler, "sampler_url": server.url, "batch_size": 32}
        with closing(make_training(base=str(base), **own)) as training:
            for _ in range(25):
                metrics = training.batch().metrics
                if np.mean([episode.score for episode in training.evaluate(8)]) >= 0.95:
                    break
            assert metrics.get("vllm/largest_gap", 0.0) < 1e-3
            reached[sampler] = float(np.mean([episode.score for episode in training.evaluate(20)]))
    assert min(reached.values()) >= 0.9, reached


@pytest.mark.long
def test_a_server_in_bfloat16_is_near_enough_and_learns(base: Path) -> None:
    with VllmServer(base, dtype=torch.bfloat16) as server:
        own = {"sampler": "vllm", "sampler_url": server.url, "league_every": 1, "league_share": 0.5}
        with closing(make_training(base=str(base), **own)) as training:
            gaps = [training.batch().metrics["vllm/gap"] for _ in range(4)]
        assert 1e-5 < max(gaps) < 0.1
        assert any(body["lora_name"].count("model_0-") for path, body in server.asked if "load" in path)


# The command, and what is refused -------------------------------------------------------------------------------------


def command(base: Path, url: str, folder: Path, *more: str, episodes: int = 16) -> Any:
    return run_here(
        *("multimodel", "train", "--models", "2", "--mode", "cooperative", "--update", "synchronized"),
        *("--base", str(base), "--episodes", str(episodes), "--save-dir", str(folder), "--run-name", "its"),
        *("--set", 'multimodel.model_types=["qwen3"]', "--set", "multimodel.batch_size=8"),
        *("--set", "multimodel.sampler=vllm", "--set", f"multimodel.sampler_url={url}", *more),
    )


def refused(result: Any, code: int, *words: str) -> None:
    """Checks that a command ended with one clear line."""
    lines = [line for line in result.err.splitlines() if all(word in line for word in words)]
    assert result.code == code and len(lines) == 1, result.err
    assert "Traceback" not in result.err


@pytest.mark.long
def test_the_command_trains_through_a_server_and_says_which(server: VllmServer, base: Path, tmp_path: Path) -> None:
    result = command(base, server.url, tmp_path)
    assert result.code == 0, result.err
    assert f"Replies are sampled by vLLM at {server.url.removeprefix('http://')} ({base})." in result.err + result.out
    found = json.loads(run_here("multimodel", "status", str(tmp_path / "its")).out)["adapters"]
    assert [one["updates"] for one in found.values()] == [2, 2]


@pytest.mark.long
def test_a_server_that_dies_leaves_a_run_that_another_one_resumes(
    server: VllmServer, base: Path, tmp_path: Path
) -> None:
    server.dies_after = 4  # both adapters twice: in the second batch
    run = tmp_path / "its"
    refused(command(base, server.url, tmp_path, episodes=64), 4, "can't be reached", "The run is saved", "--resume its")
    games = json.loads(run_here("multimodel", "status", str(run)).out)["games"]
    assert games == 8
    with VllmServer(base) as other:
        resumed = run_here(
            *("multimodel", "train", "--resume", str(run), "--episodes", str(games + 8)),
            *("--set", f"multimodel.sampler_url={other.url}"),
        )
        assert resumed.code == 0, resumed.err
        assert any(path == "/v1/completions" for path, _ in other.asked)


def test_no_server_is_one_line_with_what_to_do(base: Path, tmp_path: Path) -> None:
    with VllmServer(base) as gone:
        url = gone.url
    start = "Start it with: VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 vllm serve BASE --enable-lora --max-lora-rank 8"
    refused(command(base, url, tmp_path), 4, "can't be reached", start)


@pytest.mark.parametrize(
    ("own", "code", "words"),
    long_after(
        1,
        [
            ({"updates": False}, 4, ("answered 404", "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1")),
            ({"key": "secret-of-the-server"}, 4, ("answered 401", "VLLM_API_KEY")),
            ({"max_lora_rank": 4}, 4, ("LoRA rank 8 is greater than max_lora_rank 4", "--max-lora-rank 8")),
            ({"knows_token_ids": False}, 4, ("return_token_ids needs vLLM",)),
        ],
    ),
)
def test_a_server_that_does_not_fit_is_one_line(
    own: dict[str, Any], code: int, words: tuple[str, ...], base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    with VllmServer(base, **own) as server:
        refused(command(base, server.url, tmp_path), code, *words)


def test_the_key_of_the_environment_is_shown(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "secret-of-the-server")
    with VllmServer(base, key="secret-of-the-server") as server:
        told: list[str] = []
        own = {"base": str(base), "sampler": "vllm", "sampler_url": server.url}
        with closing(make_training(tell=told.append, **own)) as training:
            training.start()
    assert told and "secret" not in told[0]


@pytest.mark.long
def test_a_server_with_another_base_is_one_line(base: Path, tmp_path: Path) -> None:
    other = written_base(tmp_path / "other", seed=1)
    with VllmServer(other) as server:
        refused(command(base, server.url, tmp_path), 2, "multimodel.sampler_url", str(other), "not multimodel.base")


def test_a_server_that_does_not_answer_in_time_is_left(server: VllmServer, base: Path) -> None:
    server.waits = threading.Event()
    own = {"base": str(base), "sampler": "vllm", "sampler_url": server.url, "episode_timeout_s": 0.2}
    with closing(make_training(**own)) as training:
        with pytest.raises(LLMConnectionError, match=r"did not answer within 0\.2 s \(multimodel\.episode_timeout_s\)"):
            training.batch()
        server.waits.set()


@pytest.mark.long
def test_weights_that_the_server_does_not_have_are_an_error(server: VllmServer, base: Path) -> None:
    own = {"base": str(base), "sampler": "vllm", "sampler_url": server.url}
    with closing(make_training(**own)) as training:
        training.start()
        for weights in training.population.parameters_of("model_0").values():
            torch.nn.init.normal_(weights)  # without a new version
        with pytest.raises(TrainingError, match=r"the log-probabilities of vLLM at .* differ by"):
            training.batch()


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"base": "tiny"}, "sampler = vllm needs a base in a folder"),
        ({"base": "x", "weight_update_strategy": "federated"}, "federated changes the shared weights"),
    ],
)
def test_what_a_server_cannot_do_is_refused(own: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        MultiModelConfig(**SMALL | own, sampler="vllm")


def test_an_invalid_address_is_refused(base: Path) -> None:
    training = make_training(base=str(base), sampler="vllm", sampler_url="nowhere")
    with pytest.raises(LLMConnectionError, match="sampler_url is no address"):
        training.start()
    with pytest.raises(ValueError, match="without name, password"):
        MultiModelConfig(**SMALL, sampler_url="http://me:secret@host:1")
