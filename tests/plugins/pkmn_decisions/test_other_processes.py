"""A killed writer loses only unflushed decisions; readers never disturb and are never disturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.tables import decisions, metrics

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.errors import RunError

ROOT = Path(__file__).parents[3]
ENVIRON = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins"), str(ROOT / "tests")])}

WRITER = """
import sys
from pathlib import Path
from pkmn_decisions.store.store import DuckDBStore
from support.tables import decisions

store = DuckDBStore(Path(sys.argv[1]))
for first in range(1, 4001, 100):
    store.append("decisions", decisions(first, first + 99))
    store.flush()
    print(first + 99, flush=True)
store.append("decisions", decisions(4001, 4050))
print("not flushed", flush=True)
sys.stdin.read()
"""


def start_writer(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        env=ENVIRON,
    )


@pytest.mark.long
def test_a_killed_writer_loses_only_what_it_had_not_flushed(tmp_path: Path) -> None:
    with start_writer(tmp_path) as writer:
        assert writer.stdout is not None
        assert any(line == "not flushed\n" for line in writer.stdout)
        writer.send_signal(signal.SIGKILL)
        assert writer.wait() == -signal.SIGKILL
    with DuckDBStore(tmp_path) as store:
        assert [row["global_step"] for row in store.read("decisions")] == list(range(1, 4001))
        store.append("decisions", decisions(4001, 4010))
        store.flush()
        assert len(store.read("decisions", "global_step > 4000")) == 10
    assert all(path.suffix == ".parquet" for path in (tmp_path / "decisions").iterdir())


@pytest.mark.long
def test_readers_see_whole_flushes_while_another_process_writes(tmp_path: Path) -> None:
    analyzer = DecisionHistoryAnalyzer(tmp_path, threads=1)
    reader = DuckDBStore(tmp_path)
    with start_writer(tmp_path) as writer:
        assert writer.stdout is not None and writer.stdin is not None
        questions = 0
        for line in writer.stdout:
            if line == "not flushed\n":
                break
            flushed = int(line)
            if flushed % 500 == 0:
                questions += 1
                steps = [row["global_step"] for row in reader.read("decisions")]
                assert steps == list(range(1, len(steps) + 1))
                assert len(steps) >= flushed and len(steps) % 100 == 0
                assert sum(pattern["frequency"] for pattern in analyzer.analyze_patterns(1)) >= flushed
        writer.stdin.close()
        assert writer.wait() == 0
    assert questions == 8
    reader.close()


def test_half_a_file_left_by_a_killed_process_is_ignored_and_removed(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 10))
    leftover = tmp_path / "decisions" / "000000000011-000000000020.parquet.tmp"
    leftover.write_bytes(b"PAR1 half of")
    with DuckDBStore(tmp_path) as store:
        assert len(store.read("decisions")) == 10
        assert leftover.exists()  # it may belong to a process that is writing now
        store.append("decisions", decisions(11, 12))
    assert not leftover.exists()


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    # /dev/full takes no byte: the database meets the real error of a full disk there.
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with DuckDBStore(tmp_path) as store:
        store.append("metrics", metrics(1))
        store.flush()
        store.append("decisions", decisions(1, 10))
        (tmp_path / "decisions").mkdir()
        temporary = tmp_path / "decisions" / "000000000001-000000000010.parquet.tmp"
        temporary.symlink_to("/dev/full")
        with pytest.raises(RunError, match=r"Cannot write decisions to .*: the disk is full") as error:
            store.flush()
        assert "\n" not in str(error.value)
        assert list((tmp_path / "decisions").iterdir()) == []
        store.flush()
        assert len(store.read("decisions")) == 10


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("a file where the folder should be")
    store = DuckDBStore(tmp_path)
    store.append("metrics", metrics(1))
    with pytest.raises(RunError, match="Cannot write metrics to"):
        store.close()


GOES_BACK_AGAIN_AND_AGAIN = """
import sys
from pathlib import Path
from pkmn_decisions.store.store import DuckDBStore
from support.tables import decisions, episodes, metrics

step = 0
for back in (0, 3, 20, 1, 30, 8, 0, 12):
    with DuckDBStore(Path(sys.argv[1])) as store:
        step = max(0, step - back)
        store.supersede(step)
        for _ in range(6):
            store.append("decisions", decisions(step + 1, step + 7))
            store.append("metrics", metrics(step + 1, step + 7))
            store.append("episodes", episodes(step + 7))
            store.flush()
            step += 7
"""


@pytest.mark.long
def test_a_reader_takes_nothing_of_a_training_for_lost_or_strange(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", GOES_BACK_AGAIN_AND_AGAIN, str(tmp_path)], env=ENVIRON)
    looks, told = 0, []
    while writer.poll() is None or not looks:
        with DuckDBStore(tmp_path) as store:
            told += store.problems()
            steps = [row["global_step"] for row in store.read("decisions")]
        looks += 1
        assert steps == list(range(1, len(steps) + 1))
    assert (writer.returncode, told) == (0, [])
    assert steps
