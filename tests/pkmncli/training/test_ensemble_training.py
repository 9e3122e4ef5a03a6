"""A training that several models advise: one answer is followed, all are counted and written down, resume is exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import SMALL, run_here
from support.killed_training import train_until

REPLY = {"skill": "press", "confidence": 0.5, "reason": "a test"}
SCRIPT = "\n".join(
    f"[[reply]]\nmodel = '{model}'\n{what}"
    for model, what in (
        ("a", f"text = '{json.dumps(REPLY | {'goal': 'walk', 'presses': ['right', 'up', 'up']})}'"),
        ("b", f"text = '{json.dumps(REPLY | {'goal': 'look', 'presses': ['a', 'b'], 'confidence': 0.9})}'"),
        ("b", f"text = '{json.dumps(REPLY | {'goal': 'walk too', 'presses': ['right', 'up', 'up']})}'"),
        ("mute", "text = ''"),
    )
)

Course = Callable[[Path], dict[str, Any]]


def advised(folder: Path, *more: str) -> list[str]:
    path = folder / "script.toml"
    path.write_text(SCRIPT)
    return [f"--set=scripted.file={path}", "--llm-wait", "--llm-interval=10", "--set=llm_allowance=1", *more]


THREE = ("--llm-ensemble=scripted:a,scripted:b,scripted:mute", "--llm-ensemble-by=record", "--run-name=it")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a training that nothing stopped, and what it printed."""
    folder = tmp_path_factory.mktemp("whole")
    result = run_here("train", *SMALL, *advised(folder, *THREE), f"--save-dir={folder}")
    assert result.code == 0, result.err
    return folder / "it", result.out + result.err


@pytest.mark.long
def test_every_answer_is_counted_and_written_down_and_one_is_followed(whole: tuple[Path, str], course: Course) -> None:
    folder, printed = whole
    found = course(folder)
    llm, rows = found["summary"]["llm"], found["advice"]
    assert list(llm["models"]) == ["scripted:a", "scripted:b", "scripted:mute"]
    assert llm["models"]["scripted:a"]["requests"] == len(rows)
    assert llm["models"]["scripted:mute"]["empty"] == len(rows)
    assert llm["prompt_tokens"] == sum(one["prompt_tokens"] for one in llm["models"].values())
    assert llm["prompt_tokens"] == sum(row["prompt_tokens"] for row in rows)
    assert "  scripted:b: " in printed
    chosen = set()
    for row in rows:
        members = {one["name"]: one for one in row["members"]}
        assert members["scripted:mute"]["advice"] is None
        assert members["scripted:mute"]["problem"]
        agreed = [name for name, one in members.items() if one["agreed"]]
        assert f"scripted:{row['model']}" in agreed
        wanted = [members[name]["advice"]["presses"] for name in agreed]
        assert all(presses == json.loads(row["advice"])["presses"] for presses in wanted)
        chosen.update(agreed)
    assert chosen == {"scripted:a", "scripted:b"}
    assert {row["model"] for row in found["decisions"]} == {"", "a", "b"}
    tried = sum(one["tried"] for one in llm["models"].values())
    assert 0 < tried <= sum(one["given"] for one in llm["models"].values())


@pytest.mark.long
@pytest.mark.parametrize("flushes", [8, 4])
def test_a_killed_training_chooses_alike_when_it_resumes(
    flushes: int,
    pkmn: Callable[..., Any],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    whole: tuple[Path, str],
    tmp_path: Path,
) -> None:
    train_until(("os.rename", "decisions", flushes), tmp_path, *small_training, *advised(tmp_path, *THREE))
    assert pkmn("train", "--resume", "it").code == 0
    assert_same_course(tmp_path / "runs" / "it", whole[0])


def test_one_question_can_be_put_to_all_of_them(pkmn: Callable[..., Any], tmp_path: Path) -> None:
    advised(tmp_path)
    asked = ["llm", "ask", THREE[0], f"--set=scripted.file={tmp_path / 'script.toml'}"]
    shown = pkmn(*asked)
    assert shown.code == 0, shown.err
    for line in ("answered by scripted:a", "no advice from scripted:mute: it is empty", "--- understood, as scripted:"):
        assert line in shown.out
    members = json.loads(pkmn(*asked, "--json").out)["members"]
    assert [one["name"] for one in members] == ["scripted:a", "scripted:b", "scripted:mute"]
    assert any(one["agreed"] for one in members)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--llm-ensemble=scripted:a"], 2, "'scripted:a' is alone: name at least two models"),
        (["--llm-ensemble=scripted:a,scripted:a"], 2, "'scripted:a' is named twice"),
        (["--llm-ensemble=scripted:a,scripted:"], 2, "write BACKEND:MODEL"),
        (["--llm-ensemble=scripted:a,,none"], 2, "write BACKEND:MODEL"),
        (["--llm-ensemble=scripted:a,scriptd:b"], 2, "setting 'llm_ensemble' (option --llm-ensemble): "),
        (["--llm-ensemble=scripted:a,scripted:b", "--llm=ollama"], 2, "llm_ensemble (option --llm-ensemble) names all"),
        (["--llm-ensemble=scripted:a,scripted:b", "--llm-model=c"], 2, "leave one of them out"),
        (["--llm-ensemble=scripted:a,scripted:b", "--llm-ensemble-by=luck"], 2, "'vote' or 'record'"),
        (["--llm-ensemble=scripted:a,scripted:b", "--llm-budget-usd=1"], 2, "--llm-price a=PROMPT/REPLY"),
        (["--llm-ensemble=scripted:a,scripted:c"], 4, "are of other models than c"),
    ],
)
def test_wrong_ensembles_are_refused_in_one_line(
    options: list[str], code: int, said: str, pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    result = pkmn("train", *small_training, *advised(tmp_path, *options))
    assert result.code == code
    assert said in result.err
    assert "Traceback" not in result.err
