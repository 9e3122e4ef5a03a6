"""The options of the pilot's benchmark are checked before anything is played."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks/pilot.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pilot_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_and_ranges(benchmark: ModuleType) -> None:
    assert benchmark.numbers("3") == [3]
    assert benchmark.numbers("0-2, 7,1") == [0, 1, 2, 7]


@pytest.mark.parametrize("option", ["--seeds", "--partners"])
@pytest.mark.parametrize("text", ["x", "-1", "", "0,,1", "3-1", "1-", "²"])
def test_what_is_no_number_is_refused_in_one_line(
    option: str, text: str, benchmark: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["pilot.py", f"{option}={text}"])
    with pytest.raises(SystemExit) as ended:
        benchmark.main()
    assert ended.value.code == 2
    assert f"argument {option}: " in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--partners", "0,4"], "there is no partner 4; there are 3"), (["--rom", "none.gbc"], "none.gbc")],
)
def test_what_the_game_has_not_is_refused_before_it_is_played(
    arguments: list[str],
    says: str,
    benchmark: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["pilot.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        benchmark.main()
    assert ended.value.code == 2
    assert says in capsys.readouterr().err.splitlines()[-1]
