"""A run says the same wherever its folder lies, whatever that folder is called, and however it is reached."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.variants import long_after

from pkmn_decisions.store.schema import TABLES
from pkmn_decisions.store.store import DuckDBStore

Pkmn = Callable[..., Any]
SharedRun = Callable[..., Path]

_LONG = re.compile(r"\d+\.\d{9,}")

FOLDERS = [
    "reward=9/source=7/environment=5/global_step=1",
    "a*",
    "it's",
    "seed=3",
    "name=baseline/steps=1500/value=x",
    "[a]",
    "a?b",
    "{a,b}",
    'say "x"',
    "two\nlines",
    "100%41",
    "a#b;c&d",
    "trailing blank ",
    "-leading",
    "~",
    "~root",
    "back\\slash",
    "back\\slash*",
    "$HOME",
    "s3:/bucket",
    "http:/host",
    "\x01\x7f",
    "\u00fc\u0308\U0001f3ae",
    "n" * 255,
    "/".join(["deep" * 20] * 20),
    os.fsdecode(b"no\xffutf8"),
    os.fsdecode(b"no\xffutf8*=1"),
]


COMMANDS = (
    ("analyze-patterns", "--format=json", "--min-frequency=2"),
    ("export", "--overwrite"),
    ("compare", "--metric=episode/reward"),
    ("plot",),
    ("replay", "--verify", "--episode=2"),
)

SLOW = ("compare", "plot", "replay")


def answers(pkmn: Pkmn, run: Path, out: Path, other: Path, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what the commands say of a run, beside an ``other`` one, and the tables that they write to ``out``."""
    found: dict[str, Any] = {}
    written = {"plot": f"--out={out / 'plot.html'}", "export": f"--to={out}"}
    more = written | {"compare": str(other)}
    for command in COMMANDS:
        if command[0] in leave_out:
            continue
        result = pkmn(*command, str(run), *([more[command[0]]] if command[0] in more else []))
        assert result.code == 0, result.err
        if command[0] not in written:
            # the order in which threads sum differs from call to call
            text = _LONG.sub(lambda match: f"{float(match[0]):.9g}", result.out)
            found[command[0]] = (text, result.err)
    return found | {path.name: path.read_bytes() for path in out.glob("*.csv")}


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return {}


@pytest.fixture
def at_home(kept: dict[str, Any], pkmn: Pkmn, shared_run: SharedRun, tmp_path_factory: Any) -> dict[str, Any]:
    """Answers of the commands for the run where it was made."""
    if not kept:
        kept |= answers(pkmn, shared_run(), tmp_path_factory.mktemp("out"), shared_run("adaptive", 2))
    return kept


def moved(shared_run: SharedRun, folder: Path) -> Path:
    """Return a copy of the run in another folder, named as before."""
    folder.mkdir(parents=True)
    return Path(shutil.copytree(shared_run(), folder / shared_run().name))


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_changes_no_value(
    folder: str, at_home: dict[str, Any], pkmn: Pkmn, shared_run: SharedRun, tmp_path: Path
) -> None:
    # another run's rows lie where a name that is taken for a pattern would look
    for near in ("a", "ab", "axb", "a1"):
        (other := tmp_path / near).mkdir()
        shutil.copytree(shared_run("adaptive", 2), other / shared_run().name)
    out = tmp_path / "out"
    out.mkdir()
    leave_out = () if "=" in folder else SLOW
    run = moved(shared_run, tmp_path / folder)
    expected = {name: found for name, found in at_home.items() if name not in leave_out}
    assert answers(pkmn, run, out, shared_run("adaptive", 2), leave_out) == expected
    with DuckDBStore(Path(folder) / run.name) as relative, DuckDBStore(shared_run()) as original:
        for table in TABLES:
            assert relative.read(table) == original.read(table)


@pytest.mark.parametrize("folder", long_after(1, ["seed=3", "a*", "say 'x'", os.fsdecode(b"no\xffutf8")]))
def test_an_export_goes_to_any_folder(
    folder: str, at_home: dict[str, Any], pkmn: Pkmn, shared_run: SharedRun, tmp_path: Path
) -> None:
    (tmp_path / "ab").mkdir()
    out = tmp_path / folder
    result = pkmn("export", str(shared_run()), f"--to={out}")
    assert result.code == 0
    assert {path.name: path.read_bytes() for path in out.glob("*.csv")}.items() <= at_home.items()
    (line,) = (line for line in result.out.splitlines() if "import duckdb" in line)
    if folder.isascii():
        names: dict[str, Any] = {}
        exec(line.strip(), names)
        assert names["tables"]["episodes"].aggregate("min(seed)").fetchall() != [(3,)]


@pytest.mark.long
def test_a_run_behind_a_link_and_one_that_cannot_be_written_say_the_same(
    at_home: dict[str, Any], pkmn: Pkmn, shared_run: SharedRun, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    run = moved(shared_run, tmp_path / "kept")
    (tmp_path / "steps=7").mkdir()
    (tmp_path / "steps=7" / run.name).symlink_to(run, target_is_directory=True)
    for path in (*run.rglob("*"), run):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert answers(pkmn, tmp_path / "steps=7" / run.name, out, shared_run("adaptive", 2)) == at_home
    finally:
        for path in (run, *run.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.long
def test_a_run_that_moved_goes_on(shared_run: SharedRun, pkmn: Pkmn, tmp_path: Path) -> None:
    run = moved(shared_run, tmp_path / "reward=9" / "step=3")
    assert pkmn("train", "--resume", str(run), "--steps=300").code == 0
    with DuckDBStore(run) as store, DuckDBStore(shared_run()) as original:
        rows = store.read("decisions", "global_step <= 200")
        assert rows == original.read("decisions", "global_step <= 200")
        assert len({row["reward"] for row in rows}) > 2
        assert [row["global_step"] for row in store.read("decisions")] == list(range(1, 301))


def test_a_folder_that_no_settings_file_can_name_takes_no_run(pkmn: Pkmn, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"no\xffutf8")
    result = pkmn("train", f"--save-dir={folder}", "--steps=10")
    assert result.code == 5
    assert "no UTF-8" in result.err
    assert not folder.exists()


READERS = {
    "decisions": (
        ("analyze-patterns",),
        ("export", "--overwrite"),
        ("plot", "--out=plot.html"),
        ("replay", "--verify"),
    ),
    "episodes": (("analyze-patterns",), ("export", "--overwrite"), ("replay", "--verify")),
    "metrics": (("export", "--overwrite"), ("compare",), ("plot", "--out=plot.html")),
}
"""The commands that read each table."""


@pytest.mark.long
@pytest.mark.parametrize("table", READERS)
def test_commands_tell_of_tables_that_are_gone_and_of_damaged_ones(
    table: str, pkmn: Pkmn, shared_run: SharedRun, tmp_path: Path
) -> None:
    gone, damaged = (moved(shared_run, tmp_path / name) for name in ("gone", "damaged"))
    shutil.rmtree(gone / table)
    file = min((damaged / table).iterdir())
    file.write_bytes(file.read_bytes()[:-1])
    for command in READERS[table]:
        beside = (str(shared_run("adaptive", 2)),) if command[0] == "compare" else ()
        told = pkmn(*command, str(gone), *beside)
        assert re.search(rf"gone/.*{table}.* (is|are) missing", told.err), (command, told)
        assert told.code == (5 if (table, command[0]) == ("episodes", "replay") else 0), (command, told)
        refused = pkmn(*command, str(damaged), *beside)
        assert refused.code == 5, (command, refused)
        assert f"{file} is not what was recorded" in refused.err
        assert len(refused.err.splitlines()) == 1
    for run in (gone, damaged):
        result = pkmn("train", "--resume", str(run), "--steps=260", "--final-episodes=0", "--quiet")
        assert result.code == 0, result.err
        (line,) = result.err.splitlines()
        assert re.search(rf"{table}.*(missing|is not what was recorded)", line)


@pytest.mark.long
def test_checkpoints_on_a_disk_that_is_not_there_are_not_taken_for_none(
    pkmn: Pkmn, shared_run: SharedRun, tmp_path: Path
) -> None:
    run = moved(shared_run, tmp_path / "run")
    disk = tmp_path / "disk"
    shutil.move(run / "checkpoints", disk)
    (run / "checkpoints").symlink_to(disk, target_is_directory=True)
    assert pkmn("eval", str(run), "--episodes=1", "--max-steps-per-episode=5", "--no-baselines").code == 0

    disk.rename(tmp_path / "away")
    for command in (["eval", str(run)], ["train", "--resume", str(run), "--steps=260"]):
        result = pkmn(*command)
        assert result.code == 5
        assert f"checkpoints leads to {disk}, which is not there" in result.err and len(result.err.splitlines()) == 1
