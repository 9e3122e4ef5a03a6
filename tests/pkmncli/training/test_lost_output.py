"""What is printed can be lost, or can't be shown: a training goes on, saves and ends with its own exit code."""

from __future__ import annotations

import contextlib
import encodings.aliases
import io
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from support.variants import long_after
from support.warm_python import WarmProcess

from pkmncli import standard_streams
from pkmncli.runs import Run
from pkmncli.training.interrupts import InterruptFlag

COMMAND = [sys.executable, "-m", "pkmncli"]
TRAIN = ["train", "--no-rl", "--steps=240", "--max-steps-per-episode=60", "--save-interval=80", "--run-name=it"]
ENDLESS = [*TRAIN, "--steps=1000000", "--save-interval=500000"]


def environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PKMN_")} | more


def start(folder: Path, arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, **{"env": environment(), "stderr": subprocess.PIPE} | options
    )


@contextlib.contextmanager
def full_device() -> Iterator[IO[bytes]]:
    with Path("/dev/full").open("wb") as file:
        yield file


def finished(folder: Path, steps: int = 240) -> Run:
    run = Run(folder / "runs" / "it")
    assert run.read_summary()["total_steps"] == steps
    assert run.checkpoints.names()[-1] == f"step-{steps:09d}"
    assert run.log_file.read_text().count("environment 0, episode") == steps // 60
    return run


@pytest.mark.long
def test_a_reader_that_goes_away_ends_nothing(tmp_path: Path) -> None:
    with WarmProcess(*TRAIN, cwd=tmp_path, env=environment()) as process:
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait(timeout=60) == 0, error
    assert "Traceback" not in error
    assert "standard output can't be written (Broken pipe): the training goes on" in error or "The run is in" in error
    finished(tmp_path)


@pytest.mark.long
def test_a_full_device_ends_nothing(tmp_path: Path) -> None:
    with full_device() as full, WarmProcess(*TRAIN, cwd=tmp_path, env=environment(), to=(full, None)) as process:
        _, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    first, *rest = error.splitlines()
    assert first == (
        "standard output can't be written (No space left on device): the training goes on, and so does its log.txt"
    )
    assert any(line.startswith("The run is in ") for line in rest), "it is still told how it ended"
    assert "standard output can't be written" in finished(tmp_path).log_file.read_text()


@pytest.mark.long
def test_neither_output_nor_error_can_be_written(tmp_path: Path) -> None:
    with full_device() as full, WarmProcess(*TRAIN, cwd=tmp_path, env=environment(), to=(full, full)) as process:
        assert process.wait(timeout=60) == 0
    finished(tmp_path)


@pytest.mark.long
def test_all_standard_streams_are_closed(tmp_path: Path) -> None:
    arguments = " ".join([*COMMAND, *TRAIN])
    done = subprocess.run(
        f"exec {arguments} <&- >&- 2>&-", shell=True, cwd=tmp_path, env=environment(), timeout=60, check=False
    )
    assert done.returncode == 0
    finished(tmp_path)


@pytest.mark.parametrize(
    ("number", "code"), long_after(1, [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
)
def test_a_signal_saves_where_the_output_went_with_it(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """As Ctrl-C behind ``| tee`` does, which ends that, too."""
    with WarmProcess(*ENDLESS, cwd=tmp_path, env=environment()) as process:
        while "Ctrl-C saves" not in process.stdout.readline():
            pass
        process.stdout.close()
        process.send_signal(number)
        error = process.stderr.read()
        assert process.wait(timeout=60) == code, error
    run = Run(tmp_path / "runs" / "it")
    assert "pkmn train --resume runs/it" in error, "the line that goes on is not lost"
    assert run.checkpoints.names()[-1] == f"step-{run.read_summary()['total_steps']:09d}"


@pytest.mark.long
@pytest.mark.parametrize("ignored", [False, True])
def test_a_terminal_that_goes_away(ignored: bool, tmp_path: Path) -> None:
    """Its end is a SIGHUP for those in front; who ignores that, as by nohup, trains on to the end."""
    leader, follower = pty.openpty()

    def in_front() -> None:
        os.setsid()
        import fcntl  # noqa: PLC0415 - in the child
        import termios  # noqa: PLC0415

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)

    arguments = [*TRAIN, "--steps=3000"] if ignored else ENDLESS
    streams = {"stdin": follower, "stdout": follower, "stderr": follower}
    process = start(tmp_path, arguments, preexec_fn=in_front, env=environment(TERM="xterm"), **streams)
    os.close(follower)
    seen = b""
    while b"steps/s" not in seen.partition(b"Ctrl-C saves")[2]:  # the live view
        seen += os.read(leader, 65536)
    os.close(leader)
    assert process.wait(timeout=120) == (0 if ignored else 129)
    run = Run(tmp_path / "runs" / "it")
    steps = run.read_summary()["total_steps"]
    assert run.checkpoints.names()[-1] == f"step-{steps:09d}"
    assert steps == 3000 if ignored else steps > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "utf-16"},
        {"PYTHONIOENCODING": "idna"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
def test_a_terminal_without_utf_8_gets_other_characters(variables: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / ("Pokémon 中" if "PYTHONIOENCODING" in variables else "plain")
    folder.mkdir()
    process = start(folder, TRAIN, stdout=subprocess.PIPE, env=environment(**variables))
    out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, b"")
    finished(folder)
    encoding = "utf-16" if "utf-16" in variables.values() else "ascii"
    place = folder.name if encoding == "utf-16" else folder.name.encode("ascii", "replace").decode()
    assert f"{place}/runs/it" in out.decode(encoding)


ENCODINGS = sorted({*encodings.aliases.aliases.values(), "idna", "punycode", "undefined", "utf_8_sig"})


@pytest.mark.parametrize("errors", ["strict", "surrogateescape", "backslashreplace", "surrogatepass", "nonsense"])
def test_every_encoding_that_python_can_be_given_does(errors: str) -> None:
    for name in ENCODINGS:
        encoding, handler = standard_streams.for_printing(name, errors)
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=handler)
        stream.write("Pokémon │█ 中 \U0001f600 \udc80\ud83d\n" * 2)
        stream.flush()


@pytest.mark.parametrize(
    ("command", "code"),
    long_after(1, [(["--version"], 1), (["--help"], 1), (["plugins"], 1), (["plugins", "--json"], 1)]),
)
def test_a_result_that_is_lost_is_told(command: list[str], code: int, tmp_path: Path) -> None:
    with full_device() as full:
        process = start(tmp_path, command, stdout=full)
        _, error = process.communicate(timeout=60)
    assert error.decode() == (
        "standard output could not be written, and a part of the result is lost: No space left on device\n"
    )
    assert process.returncode == code


@pytest.mark.long
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    process = start(tmp_path, ["plugins", "--json"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, b"")


@pytest.mark.long
def test_a_script_that_trains_keeps_its_own_streams(tmp_path: Path) -> None:
    script = """
import os, sys
from pkmncli import HybridLLMRLTrainer
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry
before = sys.stdout
options = {"rl": "none", "steps": 120, "max_steps_per_episode": 60, "run_name": "it"}
trainer = HybridLLMRLTrainer.from_settings(resolve_settings(options, registry=get_registry()))
trainer.train()
assert sys.stdout is before
sys.stderr.write("steps %d" % trainer.summary["total_steps"])
os._exit(7)  # the script's own stream fails when it is written out
"""
    with full_device() as full:
        process = subprocess.Popen(
            [sys.executable, "-c", script], cwd=tmp_path, env=environment(), stdout=full, stderr=subprocess.PIPE
        )
        _, error = process.communicate(timeout=60)
    assert process.returncode == 7, error
    assert error.decode().endswith("steps 120")


def test_a_write_that_would_block_waits(tmp_path: Path) -> None:
    """The other end of a pipe may have been set not to block, by whoever gave it to us."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    size = 300_000
    code = (
        f"import sys; from pkmncli import standard_streams as s; s.install(); print('x' * {size}); sys.stdout.flush()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        read = pipe.read()
    assert process.wait(timeout=60) == 0
    assert len(read) == size + 1


def test_what_is_no_stream_of_pythons_own_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with standard_streams.Installed():
        assert sys.stdout is before
        assert standard_streams.lost_output() is None


def test_an_ignored_hangup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with InterruptFlag() as interrupted:
            signal.raise_signal(signal.SIGHUP)
            assert not interrupted
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
