"""A training with a language model: what it advises is carried out, written down, and repeated when a run goes on."""

from __future__ import annotations

import itertools
import json
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import SMALL, run_here
from support.killed_training import train_until
from support.variants import long_after

from pkmncli.api import LLMReply, LLMRequest, Source
from pkmncli.errors import EmulatorError
from pkmncli.runs import Run
from pkmncli.testing.scripted import ScriptedBackend
from pkmncli.training import session

ADVICE = {"skill": "press", "map": None, "x": None, "y": None, "confidence": 0.8, "reason": "a test"}
WALK = json.dumps(ADVICE | {"goal": "walk", "presses": ["right", "up", "up"]})
PACE = json.dumps(ADVICE | {"goal": "pace", "presses": ["left", "right"] * 3})
NAP = json.dumps(ADVICE | {"goal": "nap", "presses": ["none"] * 4})
LOOK = json.dumps(ADVICE | {"goal": "look", "presses": ["a", "b"]})

KILLED_AFTER_ADVICE = ("os.rename", "decisions", 4)

Course = Callable[[Path], dict[str, Any]]


def scripted(folder: Path) -> list[str]:
    """Options of a training that a script in ``folder`` advises, the same every time."""
    path = folder / "script.toml"
    path.write_text(
        f"[[reply]]\ntext = '{WALK}'\n[[reply]]\ntext = '{LOOK}'\n[[reply]]\ntext = 'go north'\n[[reply]]\ntext = ''\n"
    )
    advised = ["--llm=scripted", f"--set=scripted.file={path}", "--llm-wait", "--llm-interval=10"]
    return [*advised, "--set=llm_allowance=1", "--run-name=it"]


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    return scripted(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a training with :func:`scripted` that nothing stopped, to be left as it is, and what it printed."""
    folder = tmp_path_factory.mktemp("whole")
    result = run_here("train", *SMALL, *scripted(folder), f"--save-dir={folder}")
    assert result.code == 0, result.err
    return folder / "it", result.out


def _run(folder: Path, name: str = "it") -> Path:
    return folder / "runs" / name


@pytest.mark.long
def test_advice_is_carried_out_counted_and_written_down(whole: tuple[Path, str], course: Course) -> None:
    folder, printed = whole
    assert "Advice: 4 replies" in printed
    found = course(folder)
    sources = Counter(row["source"] for row in found["decisions"])
    assert sources[Source.LLM] > 20
    for row in found["decisions"]:
        assert (row["model"] == "script") == (row["source"] == Source.LLM)
        if row["source"] == Source.LLM:
            assert row["reason"].startswith("advice: ")
    assert {"schema", "prose"} <= {row["reading"] for row in found["advice"]}
    assert all(row["asked_at"] < row["global_step"] for row in found["advice"])
    assert all("Goal: " in row["prompt"] for row in found["advice"])
    assert all(row["advice"] or row["problem"] for row in found["advice"])
    llm = found["summary"]["llm"]
    assert llm["requests"] == llm["replies"] >= len(found["advice"])
    assert 0 < llm["validity_rate"] < 1
    assert llm["llm_steps"] == sources[Source.LLM]
    assert 0 < llm["coverage"] <= 1
    followed = {row["global_step"] for row in found["advice"] if row["followed"]}
    first_llm = next(row["global_step"] for row in found["decisions"] if row["source"] == Source.LLM)
    assert min(followed) <= first_llm


@pytest.mark.long
@pytest.mark.parametrize("allowance", long_after(1, [1, 0.03]))
def test_a_killed_training_repeats_the_advice_that_it_had(
    allowance: float,
    pkmn: Callable[..., Any],
    small_training: list[str],
    script: list[str],
    assert_same_course: Callable[[Path, Path], None],
    whole: tuple[Path, str],
    tmp_path: Path,
) -> None:
    """With answers that come at once, what goes on is equal, row by row, to what was never killed."""
    arguments = [*small_training, *script, f"--set=llm_allowance={allowance}"]
    train_until(KILLED_AFTER_ADVICE, tmp_path, *arguments)
    assert pkmn("train", "--resume", "it").code == 0
    unbroken, _ = whole
    if allowance != 1:
        assert pkmn("train", *arguments, "--run-name=whole").code == 0
        unbroken = _run(tmp_path, "whole")
    assert_same_course(_run(tmp_path), unbroken)


@pytest.mark.long
@pytest.mark.parametrize("flushes", [5, pytest.param(6, marks=pytest.mark.long)])
def test_what_changed_is_told_alike_after_a_kill(
    flushes: int,
    pkmn: Callable[..., Any],
    small_training: list[str],
    script: list[str],
    course: Course,
    tmp_path: Path,
) -> None:
    """Prompts say what changed since the question before, also where that one was answered before the kill."""
    arguments = [*small_training, *script, "--mode=llm-only", "--llm-interval=20", "--max-steps-per-episode=120"]
    train_until(("os.rename", "advice", flushes), tmp_path, *arguments)
    assert pkmn("train", "--resume", "it").code == 0
    assert pkmn("train", *arguments, "--run-name=whole").code == 0
    killed, whole = (course(_run(tmp_path, name))["advice"] for name in ("it", "whole"))
    assert killed == whole


@pytest.mark.long
def test_ctrl_c_while_an_answer_is_waited_for_leaves_the_question_open(
    pkmn: Callable[..., Any],
    small_training: list[str],
    script: list[str],
    course: Course,
    whole: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The run that goes on asks it again in the same words, and takes the steps of one that was never stopped."""
    arguments = [*small_training, *script]
    answer, ended, asked = ScriptedBackend.complete, threading.Event(), itertools.count(1)

    def hang_at_the_fifth(backend: ScriptedBackend, request: LLMRequest) -> LLMReply:
        if next(asked) == 5:
            signal.raise_signal(signal.SIGINT)
            ended.wait()
        return answer(backend, request)

    with monkeypatch.context() as patch:
        patch.setattr(ScriptedBackend, "complete", hang_at_the_fifth)
        stopped = pkmn("train", *arguments)
        ended.set()
    assert stopped.code == 130
    steps = json.loads((_run(tmp_path) / "summary.json").read_text())["total_steps"]
    assert 0 < steps < 240
    assert pkmn("train", "--resume", "it").code == 0
    stopped_once, unbroken = course(_run(tmp_path)), course(whole[0])
    for table in ("decisions", "episodes", "advice"):
        assert stopped_once[table] == unbroken[table]


@pytest.mark.long
def test_a_prompt_has_what_always_failed_there_unless_lessons_are_off(
    pkmn: Callable[..., Any], small_training: list[str], course: Course, tmp_path: Path
) -> None:
    path = tmp_path / "script.toml"
    path.write_text(f"[[reply]]\ntext = '{NAP}'\n")
    options = ["--llm=scripted", f"--set=scripted.file={path}", "--llm-wait", "--llm-interval=5", "--mode=llm-only"]
    options.append("--set=llm_allowance=1")
    prompts = {}
    for name, lessons in (("with", []), ("without", ["--set=lessons=false"])):
        assert pkmn("train", *small_training, *options, *lessons, f"--run-name={name}").code == 0
        found = course(_run(tmp_path, name))
        prompts[name] = [row["prompt"] for row in found["advice"]]
    told = "press none, none, none, none: brought nothing here in 3 tries"
    assert any(told in prompt for prompt in prompts["with"])
    assert not any(told in prompt for prompt in prompts["without"])


@pytest.mark.long
def test_what_the_journal_holds_is_not_asked_again(
    pkmn: Callable[..., Any], small_training: list[str], script: list[str], course: Course, tmp_path: Path
) -> None:
    """The script is another one when the run goes on: steps that have their journal keep to it."""
    train_until(KILLED_AFTER_ADVICE, tmp_path, *small_training, *script)
    before = advice_of(_run(tmp_path))
    journal_ends = max(row["global_step"] for row in before)
    other = f"[[reply]]\ntext = '{WALK}'\n".replace("walk", "other")
    (tmp_path / "script.toml").write_text(other)
    assert pkmn("train", "--resume", "it").code == 0
    after = course(_run(tmp_path))["advice"]
    assert after[: len(before)] == before
    assert {row["global_step"] > journal_ends for row in after if '"other"' in row["advice"]} == {True}


def advice_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of advice in a run that was killed, which has no summary."""
    from pkmncli.plugins import get_registry  # noqa: PLC0415
    from pkmncli.training.assembly import open_store  # noqa: PLC0415

    store = open_store(get_registry(), folder)
    rows = store.read("advice")
    store.close()
    return [{name: row[name] for name in row if name not in {"time", "latency_s"}} for row in rows]


@pytest.mark.long
def test_a_training_from_the_cache_alone_needs_no_model_and_repeats_itself(
    pkmn: Callable[..., Any],
    small_training: list[str],
    script: list[str],
    assert_same_course: Callable[[Path, Path], None],
    course: Course,
    tmp_path: Path,
) -> None:
    cache = f"--llm-cache-path={tmp_path / 'replies.sqlite'}"
    assert pkmn("train", *small_training, *script, cache, "--llm-cache=readwrite", "--run-name=first").code == 0
    (tmp_path / "script.toml").unlink()
    script.remove("--llm-wait")
    for name in ("one", "two"):
        result = pkmn("train", *small_training, *script, cache, "--llm-cache=only", f"--run-name={name}")
        assert result.code == 0, result.err
    assert_same_course(_run(tmp_path, "one"), _run(tmp_path, "two"))
    first, one = course(_run(tmp_path, "first")), course(_run(tmp_path, "one"))
    assert one["decisions"] == first["decisions"]
    assert one["summary"]["llm"]["requests"] == 0
    assert one["summary"]["llm"]["from_cache"] > 0


def test_a_model_that_cannot_be_reached_ends_the_training_before_it_begins(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    missing = f"--set=scripted.file={tmp_path / 'none.toml'}"
    result = pkmn("train", *small_training, "--llm=scripted", missing)
    assert result.code == 4
    assert len(result.err.splitlines()) == 1
    assert "none.toml" in result.err
    assert list(tmp_path.glob("runs/*")) == []


@pytest.mark.long
def test_a_model_is_closed_once_whether_or_not_its_training_begins(
    pkmn: Callable[..., Any], small_training: list[str], script: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    monkeypatch.setattr(ScriptedBackend, "close", lambda backend: closed.append(backend.model))
    assert pkmn("train", *small_training, *script).code == 0
    assert len(closed) == 1

    def no_workers(*given: Any, **named: Any) -> None:
        raise EmulatorError("none can be started")

    monkeypatch.setattr(session, "WorkerPool", no_workers)
    refused = pkmn("train", *small_training, *script, "--run-name=refused")
    assert "none can be started" in refused.err
    assert len(closed) == 2


@pytest.mark.long
def test_an_optional_model_that_cannot_be_reached_is_told_and_done_without(
    pkmn: Callable[..., Any], small_training: list[str], course: Course, tmp_path: Path
) -> None:
    missing = f"--set=scripted.file={tmp_path / 'none.toml'}"
    result = pkmn("train", *small_training, "--llm=scripted", missing, "--llm-optional", "--run-name=it")
    assert result.code == 0, result.err
    assert "none.toml" in result.out
    assert all(row["source"] != Source.LLM for row in course(_run(tmp_path))["decisions"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--mode=rl-only", "--llm=scripted"], "takes no advice"),
        (["--llm=scripted", "--llm-prompt=none.toml"], "can't be read"),
        (["--llm=nobody"], "no llm backend"),
        (["--llm=scripted", "--llm-cache=some"], "llm_cache"),
        (["--llm=scripted", "--llm-cache=only", "--llm-cache-path=none.sqlite"], "llm-cache-path"),
    ],
)
def test_options_that_cannot_be_are_told_in_one_line(
    options: list[str], says: str, pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    result = pkmn("train", *small_training, *options)
    assert result.code in (2, 5)
    assert says in result.err
    assert "Traceback" not in result.err
    assert list(tmp_path.glob("runs/*")) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("strategy", "low", "high"), [pytest.param("llm_heavy", 0.7, 0.9, marks=pytest.mark.long), ("rule_heavy", 0.1, 0.3)]
)
def test_the_model_has_the_share_that_the_strategy_gives_it(
    strategy: str, low: float, high: float, pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "script.toml"
    path.write_text(f"[[reply]]\ntext = '{PACE}'\n")
    options = ["--llm=scripted", f"--set=scripted.file={path}", "--llm-wait", "--llm-interval=4", "--steps=900"]
    config = tmp_path / "c.toml"
    config.write_text(f'strategy = "{strategy}"\nllm_allowance = 1\n')
    result = pkmn(
        "train", *small_training, *options, f"--config={config}", "--run-name=it", "--max-steps-per-episode=60"
    )
    assert result.code == 0, result.err
    llm = Run(_run(tmp_path)).read_summary()["llm"]
    assert low < llm["share_of_covered"] < high
