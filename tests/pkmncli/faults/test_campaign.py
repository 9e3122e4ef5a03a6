"""Faults at random moments: the training goes on, or goes on from where it was saved, to the same end.

`make test-faults` tries each a hundred times and prints a table, `make test-long` each once. Faults at chosen moments
are in `tests/pkmncli/training`, and in `make test`.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from support.faulty_trainings import (
    COURSE,
    DOCUMENTED,
    Ended,
    MakeTally,
    Part,
    command,
    compare,
    newest_run,
    resume,
    run_to_end,
    started,
    wait_a_little,
)
from support.killed_training import CRASH

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="the faults are made with what Linux offers"),
]

COURSE_S = 8.0
"""About how long the training takes, for random moments in it."""

MOMENTS = (
    ("os.rename", "decisions"),
    ("os.rename", "episodes"),
    ("os.rename", "checkpoints"),
    ("os.rename", "index.json"),
    ("open", "learner.safetensors"),
    ("open", "meta.json"),
    ("open", "decisions"),
    ("os.mkdir", "step-"),
    ("shutil.rmtree", "step-"),
)
"""Writes of tables and checkpoints, as Python's audit events tell of them."""


def test_a_killed_training_goes_on(
    tmp_path: Path, undisturbed: Path, tries: int, chance: random.Random, tally: MakeTally
) -> None:
    row = tally("SIGKILL of the training, then --resume")
    for number in range(tries):
        folder = tmp_path / str(number)
        folder.mkdir()
        with started(folder, *COURSE, "--run-name=it") as training:
            wait_a_little(chance, COURSE_S, lambda: training.process.poll() is not None)
            training.process.kill()
        ended = resume(folder)
        same, lost = compare(undisturbed, newest_run(folder)) if ended.code == 0 else (False, 0)
        row.add(same, lost)
        assert same, ended.said
        shutil.rmtree(folder)


def test_a_training_that_is_killed_while_it_writes_goes_on(
    tmp_path: Path, undisturbed: Path, tries: int, chance: random.Random, tally: MakeTally
) -> None:
    row = tally("SIGKILL in a write of a table or checkpoint, then --resume")
    for number in range(tries):
        folder = tmp_path / str(number)
        folder.mkdir()
        event, path = chance.choice(MOMENTS)
        crash = [sys.executable, str(CRASH), event, path, str(chance.randint(1, 12)), "--"]
        given = command(*COURSE, "--run-name=it")
        given["args"] = [*crash, "train", *given["args"][4:]]
        subprocess.run(**given, cwd=folder, capture_output=True, check=False, timeout=300)
        ended = resume(folder)
        same, lost = compare(undisturbed, newest_run(folder)) if ended.code == 0 else (False, 0)
        row.add(same, lost)
        assert same, f"{event} {path}: {ended.said}"
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("part", "signals"),
    [
        ("worker", [signal.SIGKILL]),
        ("learner", [signal.SIGKILL]),
        ("parent", [signal.SIGSTOP, signal.SIGCONT]),
        ("worker", [signal.SIGSTOP, signal.SIGCONT]),
        ("learner", [signal.SIGSTOP, signal.SIGCONT]),
    ],
)
def test_a_training_outlives_what_its_processes_are_sent(
    part: Part,
    signals: list[signal.Signals],
    tmp_path: Path,
    undisturbed: Path,
    tries: int,
    chance: random.Random,
    tally: MakeTally,
) -> None:
    """As many signals as tries, some in each training, each at a random moment."""
    row = tally(f"{' and '.join(one.name for one in signals)} of the {part}")
    sent = number = 0
    while sent < tries:
        folder = tmp_path / str(number)
        folder.mkdir()
        number += 1
        now = 0
        with started(folder, *COURSE, "--run-name=it") as training:
            while training.process.poll() is None and not list((folder / "runs/it/checkpoints").glob("step-*")):
                time.sleep(0.02)  # a worker that is killed twice while it starts ends the training
            while sent + now < tries and now < 5 and training.process.poll() is None:
                wait_a_little(chance, COURSE_S / 4)
                process = training.find(part)
                if process is None:
                    break
                with contextlib.suppress(psutil.Error):
                    for one in signals:
                        process.send_signal(one)
                        time.sleep(chance.uniform(0, 0.5) if one is signal.SIGSTOP else 0)
                    now += 1
            ended = training.end()
        same, lost = compare(undisturbed, folder / "runs" / "it") if ended.code == 0 else (False, 0)
        for _ in range(now):
            row.add(same, lost)
        sent += max(now, 1)
        assert same, ended.said
        shutil.rmtree(folder)


def test_a_full_disk_ends_a_training_that_then_goes_on(
    tmp_path: Path, undisturbed: Path, tries: int, chance: random.Random, tally: MakeTally
) -> None:
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("a small file system can't be mounted here: it takes the rights of root")
    row = tally("disk full at a random size, then --resume elsewhere")
    whole = sum(file.stat().st_size for file in undisturbed.rglob("*") if file.is_file())
    for number in range(tries):
        folder = tmp_path / str(number)
        (folder / "small").mkdir(parents=True)
        given = command(*COURSE, "--run-name=it", "--save-dir=small/runs")
        kilobytes = chance.randint(40, max(41, whole // 1024))
        script = f'mount -t tmpfs -o size={kilobytes}k tmpfs small && "$@"; code=$?; cp -a small/runs . ; exit $code'
        process = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, "sh", *given["args"]],
            env=given["env"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        said = process.stdout + process.stderr
        assert "Traceback" not in said, said
        assert process.returncode == 0 or (process.returncode == 5 and "disk is full" in said), said
        ended = resume(folder)
        same, lost = compare(undisturbed, newest_run(folder)) if ended.code == 0 else (False, 0)
        row.add(same, lost)
        assert same, f"{kilobytes} kB: {ended.said}"
        shutil.rmtree(folder)


@pytest.mark.parametrize("how", ["deleted", "renamed"])
def test_a_run_folder_that_vanishes_is_told(
    how: str, tmp_path: Path, tries: int, chance: random.Random, tally: MakeTally
) -> None:
    """Exit code 0 is only for a run that can be opened."""
    row = tally(f"run folder {how} while training")
    for number in range(tries):
        folder = tmp_path / str(number)
        folder.mkdir()
        run = folder / "runs" / "it"
        with started(folder, *COURSE, "--run-name=it") as training:
            wait_a_little(chance, COURSE_S, lambda: training.process.poll() is not None)
            with contextlib.suppress(OSError):
                if how == "deleted":
                    shutil.rmtree(run)
                else:
                    run.rename(folder / "moved")
            ended = training.end()
        opened = run_to_end(folder, "--resume", "it", "--steps=2000").code if ended.code == 0 else None
        fine = ended.code in DOCUMENTED and "Traceback" not in ended.said and (ended.code != 0 or opened == 0)
        row.add(fine)
        assert fine, ended.said
        shutil.rmtree(folder)


def test_a_worker_without_memory_is_replaced_or_told(
    tmp_path: Path, undisturbed: Path, tries: int, chance: random.Random, tally: MakeTally
) -> None:
    row = tally("a worker may take no more memory")
    for number in range(tries):
        folder = tmp_path / str(number)
        folder.mkdir()
        with started(folder, *COURSE, "--run-name=it") as training:
            worker = training.find("worker")
            while training.process.poll() is None and not list((folder / "runs/it").glob("checkpoints/step-*[1-9]*")):
                time.sleep(0.05)  # a worker that starts needs more
            with contextlib.suppress(psutil.Error, ProcessLookupError, AttributeError):
                assert worker is not None
                size = worker.memory_info().vms
                resource.prlimit(worker.pid, resource.RLIMIT_AS, (size, size))
            ended = training.end()
        same, lost = compare(undisturbed, folder / "runs" / "it") if ended.code == 0 else (False, 0)
        row.add(same, lost)
        assert same, ended.said
        shutil.rmtree(folder)


@pytest.mark.parametrize(("limit", "range_"), [("nofile", (8, 60)), ("nproc", (1, 12))])
def test_small_limits_of_the_system_are_told(
    limit: str, range_: tuple[int, int], tmp_path: Path, tries: int, chance: random.Random, tally: MakeTally
) -> None:
    row = tally(f"ulimit of {limit}")
    tmp_path.chmod(0o777)
    user: list[str] = []
    if limit == "nproc":  # it limits nobody who has the rights of root
        user = ["setpriv", "--reuid=54321", "--clear-groups"]
        can = subprocess.run([*user, sys.executable, "-c", "import pkmncli"], check=False, capture_output=True, cwd="/")
        if can.returncode:
            pytest.skip("no other user can run this installation")
        for parent in list(tmp_path.parents)[:3]:
            parent.chmod(0o755)
    for number in range(tries):
        folder = tmp_path / str(number)
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        given = command("--steps=200", "--rl=none", "--max-steps-per-episode=50", "--run-name=it", HOME=str(folder))
        given["args"] = ["prlimit", f"--{limit}={chance.randint(*range_)}", *user, *given["args"]]
        process = subprocess.run(**given, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        said = process.stdout + process.stderr
        if said.startswith("setpriv: failed to execute"):
            continue  # too few processes for that, so the program never began
        fine = process.returncode in DOCUMENTED and "Traceback" not in said and "unexpected error" not in said
        row.add(fine)
        assert fine, f"{given['args'][1]}: {said}"


CLOCK = """
import random, time
_real, _draw = time.time, random.Random(int({seed}))
_shift = [0.0]
def _jumping():
    if _draw.random() < 0.02:
        _shift[0] = _draw.choice([-1, 1]) * 10 ** _draw.uniform(0, 8.5)
    return _real() + _shift[0]
time.time = _jumping
"""


def test_a_clock_that_jumps_changes_nothing(
    tmp_path: Path, undisturbed: Path, tries: int, chance: random.Random, tally: MakeTally
) -> None:
    row = tally("the clock jumps by seconds to years, both ways")
    for number in range(tries):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(CLOCK.format(seed=chance.randint(0, 10**6)))
        paths = os.pathsep.join([str(folder), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
        ended = run_to_end(folder, *COURSE, "--run-name=it", PYTHONPATH=paths)
        same, lost = compare(undisturbed, folder / "runs" / "it") if ended.code == 0 else (False, 0)
        row.add(same, lost)
        assert same, ended.said
        shutil.rmtree(folder)


def pkmn(folder: Path, *arguments: str) -> Ended:
    """Run another command of ``pkmn``."""
    given = command()
    given["args"] = [*given["args"][:3], *arguments]
    process = subprocess.run(**given, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    return Ended(process.returncode, process.stdout, process.stderr)


def test_readers_disturb_no_training(
    tmp_path: Path, undisturbed: Path, tries: int, chance: random.Random, tally: MakeTally
) -> None:
    """A second training of the run is refused; analysis, export and evaluation read it meanwhile."""
    row = tally("a second training, an analysis, an export and a replay of a run that trains")
    readers: tuple[Callable[[Path], Ended], ...] = (
        lambda folder: pkmn(folder, "analyze-patterns", "it", "--min-frequency=3"),
        lambda folder: pkmn(folder, "export", "it", "--to", f"exported-{time.monotonic_ns()}"),
        lambda folder: pkmn(folder, "replay", "it", "--episode=0", "--verify"),
        lambda folder: pkmn(folder, "plot", "it", "--out", "plots"),
    )
    for number in range(tries):
        folder = tmp_path / str(number)
        folder.mkdir()
        with started(folder, *COURSE, "--run-name=it") as training:
            training.find("worker")
            while training.process.poll() is None and not list((folder / "runs/it").glob("checkpoints/step-*[1-9]*")):
                time.sleep(0.05)
            second = pkmn(folder, "train", "--resume", "it")
            said = [chance.choice(readers)(folder) for _ in range(2)]
            ended = training.end()
        same, lost = compare(undisturbed, folder / "runs" / "it") if ended.code == 0 else (False, 0)
        fine = same and (second.code != 0 or ended.code == 0)
        fine = fine and all(one.code in DOCUMENTED and "Traceback" not in one.said for one in said)
        row.add(fine, lost)
        assert fine, "\n".join(one.said for one in (ended, second, *said))
        shutil.rmtree(folder)
