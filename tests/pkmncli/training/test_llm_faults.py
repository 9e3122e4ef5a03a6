"""A training whose language model fails: it goes on to its end, labels nothing wrongly, and says once what is wrong."""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.fault_server import Behaviour, FaultServer, endless, half, hang_up, never, slowly_from_the_start
from support.faults import GOOD, KEY, READINGS
from support.variants import long_after

from pkmncli.advice import build as advice_parts
from pkmncli.api import LLMFault, Source
from pkmncli.llm.retry import CircuitBreaker

STEPS = 100
ADVISED = [
    "--mode=llm-only",
    "--no-llm-probe",
    f"--steps={STEPS}",
    "--llm-interval=5",
    "--max-steps-per-episode=50",
    "--run-name=it",
]
AT_ONCE = {"retry-after": "0"}

Course = Callable[[Path], dict[str, Any]]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(advice_parts, "LLMClient", functools.partial(advice_parts.LLMClient, backoff=_soon()))


def _soon() -> Any:
    from pkmncli.llm.retry import Backoff  # noqa: PLC0415

    return Backoff(attempts=2, first_s=0.01)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def at(server: FaultServer) -> list[str]:
    return ["--llm=openai", f"--set=openai.base_url={server.url}/v1"]


def patience(folder: Path, seconds: float, loading: float = 600) -> str:
    """Return the option for the seconds that an answer may take, and those of a model that may still be loading."""
    path = folder / "patience.toml"
    path.write_text(f"llm_timeout_s = {seconds}\nllm_load_timeout_s = {loading}\n")
    return f"--config={path}"


def assert_nowhere(secret: str, folder: Path, *texts: str) -> None:
    assert secret not in "".join(texts)
    for path in folder.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


FAULTS = [
    (Behaviour(send=endless), LLMFault.BROKEN),
    (Behaviour(send=hang_up), LLMFault.UNREACHABLE),
    (Behaviour(send=half), LLMFault.UNREACHABLE),
    (Behaviour(send=never), LLMFault.TIMEOUT),
    (Behaviour(send=slowly_from_the_start), LLMFault.TIMEOUT),
    (Behaviour(status=429, headers=AT_ONCE), LLMFault.OVERLOADED),
    (Behaviour(status=503, headers=AT_ONCE), LLMFault.OVERLOADED),
    (Behaviour(status=401, message=f"Incorrect API key provided: {KEY}"), LLMFault.AUTHENTICATION),
    (Behaviour(status=404, message="the model was unloaded"), LLMFault.NO_MODEL),
    (Behaviour(status=408), LLMFault.TIMEOUT),
    (Behaviour(status=413), LLMFault.TOO_LONG),
    (Behaviour(status=400, message=f"{KEY} is not what we like"), LLMFault.REFUSED),
    (Behaviour(body=b"<html>", content_type="text/html"), LLMFault.BROKEN),
    (Behaviour(body=b"{}"), LLMFault.BROKEN),
    (Behaviour(body=b'{"model": "tiny", "choices": [{"mess'), LLMFault.BROKEN),
    (Behaviour(text="x" * 10_000_000), LLMFault.BROKEN),
    (Behaviour(status=500), LLMFault.BROKEN),
]
"""What a server may do, and what each is told as."""


@pytest.mark.long
def test_a_training_outlives_all_faults(
    pkmn: Callable[..., Any],
    server: FaultServer,
    course: Course,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It is always asked again.
    monkeypatch.setattr(advice_parts, "CircuitBreaker", functools.partial(CircuitBreaker, pause_s=0.0))
    server.answer(*(behaviour for behaviour, _ in FAULTS))
    result = pkmn("train", *ADVISED, *at(server), "--llm-wait", patience(tmp_path, 0.3, loading=0.3))
    assert result.code == 0, result.err
    assert len(server.asked) > len(FAULTS)
    said = result.out + result.err
    assert said.count("No advice: ") == 1, said
    assert "Traceback" not in said
    found = course(tmp_path / "runs" / "it")
    assert len(found["decisions"]) == STEPS
    assert all(row["source"] != Source.LLM and row["model"] == "" for row in found["decisions"])
    llm = found["summary"]["llm"]
    assert set(llm["faults"]) == {str(fault) for _, fault in FAULTS}
    assert (llm["replies"], llm["llm_steps"], llm["coverage"]) == (0, 0, 0.0)
    assert all(row["problem"] and not row["advice"] for row in found["advice"])
    assert_nowhere(KEY, tmp_path, said)


@pytest.mark.long
def test_replies_of_no_use_are_no_advice(
    pkmn: Callable[..., Any], server: FaultServer, course: Course, tmp_path: Path
) -> None:
    """Each reply is followed by the same one to the repair."""
    texts = [text for text, reading in READINGS.values() if reading == "nothing"]
    server.answer(*(Behaviour(text=text) for text in texts for _ in range(2)))
    result = pkmn("train", *ADVISED, *at(server), "--llm-wait")
    assert result.code == 0, result.err
    found = course(tmp_path / "runs" / "it")
    assert len(found["decisions"]) == STEPS
    assert all(row["source"] != Source.LLM for row in found["decisions"])
    assert found["summary"]["llm"]["validity_rate"] == 0
    assert len(server.asked) >= 2 * len(texts)
    assert len(found["advice"]) >= len(texts)


@pytest.mark.long
def test_nothing_waits_for_a_model_that_never_answers(
    pkmn: Callable[..., Any], server: FaultServer, course: Course, tmp_path: Path
) -> None:
    """The request has ten minutes; the training has ended long before."""
    server.answer(Behaviour(send=never))
    result = pkmn("train", *ADVISED, *at(server), patience(tmp_path, 600))
    assert result.code == 0, result.err
    assert len(course(tmp_path / "runs" / "it")["decisions"]) == STEPS
    assert len(server.asked) == 1, "one question at a time for each environment"


@pytest.mark.long
def test_a_server_that_is_away_for_a_while_is_told_twice_and_comes_back(
    pkmn: Callable[..., Any],
    server: FaultServer,
    course: Course,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(advice_parts, "CircuitBreaker", functools.partial(CircuitBreaker, failures=2, pause_s=0.0))
    server.answer(Behaviour(text=GOOD), Behaviour(text=GOOD), *[Behaviour(send=hang_up)] * 5, Behaviour(text=GOOD))
    result = pkmn("train", *ADVISED, *at(server), "--llm-wait")
    assert result.code == 0, result.err
    said = result.out + result.err
    assert said.count("No advice: ") == 1, said
    assert said.count("answers again") == 1, said
    found = course(tmp_path / "runs" / "it")
    advised = [row["global_step"] for row in found["decisions"] if row["source"] == Source.LLM]
    failed = [row["global_step"] for row in found["advice"] if not row["advice"]]
    assert failed
    assert min(advised) < min(failed) < max(failed) < max(advised)


@pytest.mark.long
def test_nobody_there_at_the_start_is_an_error_of_one_line_unless_it_may_be(
    pkmn: Callable[..., Any], course: Course, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    nobody = ["--llm=openai", f"--set=openai.base_url=http://127.0.0.1:{port}/v1"]
    result = pkmn("train", *ADVISED, *nobody)
    assert result.code == 4
    assert len(result.err.splitlines()) == 1
    assert f"127.0.0.1:{port}" in result.err
    assert list(tmp_path.glob("runs/*")) == []
    result = pkmn("train", *ADVISED, *nobody, "--llm-optional", "--llm-wait")
    assert result.code == 0, result.err
    assert "Going on without its advice" in result.out
    assert all(row["source"] != Source.LLM for row in course(tmp_path / "runs" / "it")["decisions"])


def test_without_a_key_the_line_names_the_variable(pkmn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    result = pkmn("train", *ADVISED, "--llm=openai", "--set=openai.base_url=https://service.invalid/v1")
    assert result.code == 4
    assert len(result.err.splitlines()) == 1
    assert "OPENAI_API_KEY" in result.err


SECRET = "hush-hush-0815"


@pytest.mark.parametrize(
    ("llm", "setting", "address"),
    [
        ("openai", "openai.base_url", f"http://me:{SECRET}@127.0.0.1:9/v1"),
        ("openai", "openai.base_url", f"http://127.0.0.1:9/v1?key={SECRET}"),
        ("vllm", "vllm.base_url", f"http://me:{SECRET}@127.0.0.1:9/v1"),
        ("ollama", "ollama.host", f"me:{SECRET}@127.0.0.1:9"),
        ("anthropic", "anthropic.base_url", f"http://{SECRET}@127.0.0.1:9"),
    ],
)
def test_a_secret_in_an_address_is_refused_and_written_nowhere(
    llm: str, setting: str, address: str, pkmn: Callable[..., Any], tmp_path: Path
) -> None:
    result = pkmn("train", *ADVISED, f"--llm={llm}", f"--set={setting}={address}", "--llm-optional")
    assert result.code == 2
    assert f"setting '{setting}' (option --set {setting}): must be an address without" in result.err
    assert_nowhere(SECRET, tmp_path, result.out, result.err)


@pytest.mark.parametrize(
    ("llm", "variable", "path"),
    long_after(
        1,
        [("openai", "OPENAI_BASE_URL", "/v1"), ("ollama", "OLLAMA_HOST", ""), ("anthropic", "ANTHROPIC_BASE_URL", "")],
    ),
)
def test_a_secret_in_an_address_of_the_environment_stays_there(
    llm: str,
    variable: str,
    path: str,
    pkmn: Callable[..., Any],
    server: FaultServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv(variable, server.url.replace("//", f"//me:{SECRET}@") + path)
    server.answer(Behaviour(text=GOOD), Behaviour(send=hang_up), Behaviour(text=GOOD))
    cache = ["--llm-cache=readwrite", f"--llm-cache-path={tmp_path / 'replies.sqlite'}"]
    result = pkmn("train", *ADVISED, f"--llm={llm}", "--llm-wait", *cache)
    assert result.code == 0, result.err
    assert server.asked
    assert_nowhere(SECRET, tmp_path, result.out, result.err)
