"""A second signal ends at once, wherever the program is, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil
import pytest
from support.processes import training_processes
from support.strange_plugins import environment_with, install, install_reward
from support.variants import long_after
from support.warm_python import WarmProcess

from pkmncli.training.interrupts import SECONDS_OF_A_REQUEST, InterruptFlag

TRAIN = ["train", "--no-rl", "--steps=100000", "--max-steps-per-episode=50", "--run-name=it"]
LIMIT_S = 60
"""Far beyond the two seconds that it takes, and short of a worker's timeout and two goes of it."""

IN_A_CALL = """
from hashlib import pbkdf2_hmac
from pathlib import Path
from pkmncli import hookimpl

@hookimpl
def pkmn_episode_finished(run, episode):
    Path("stuck").touch()
    pbkdf2_hmac("sha256", b"", b"", 2_000_000_000)  # in C, where Python hears of no signal
"""


HANDS_ON = """
import time
from pathlib import Path
from pkmncli import hookimpl

@hookimpl
def pkmn_register_commands(register):
    register("wait-here", "hands_on:wait", help="Wait.")

def wait() -> None:
    \"\"\"Wait.\"\"\"
    Path("stuck").touch()
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        raise ValueError("a schema that could not be built")
"""


def wait_for(path: Path, process: WarmProcess) -> None:
    ends = time.monotonic() + LIMIT_S
    while not path.exists():
        assert process.poll() is None and time.monotonic() < ends, process.communicate()
        time.sleep(0.05)


def children_of(process: WarmProcess) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def all_gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=LIMIT_S)
    return not alive


@pytest.mark.long
@pytest.mark.parametrize(
    "place", long_after(1, ["a worker's endless loop", "a call that does not return", "a stopped worker"])
)
def test_it_ends_wherever_the_program_is(place: str, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    arguments = list(TRAIN)
    if place == "a call that does not return":
        install(plugins, "stuck_hook", IN_A_CALL)
    else:
        loop = "while self.steps > 300:\n    pass" if "loop" in place else ""
        install_reward(plugins, f"if self.steps > 300:\n    Path('stuck').touch()\n{loop}\nreturn 1.0")
        arguments.append("--reward=strange")
    process = WarmProcess(*arguments, cwd=tmp_path, env=environment_with(plugins))
    wait_for(tmp_path / "stuck", process)
    children = children_of(process)
    if place == "a stopped worker":
        for worker in training_processes(process.pid):
            worker.suspend()
        time.sleep(0.5)  # that it is being waited for
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=LIMIT_S)
    assert time.monotonic() - began < LIMIT_S / 2
    assert process.returncode == 130
    last_words = "Stopped without saving. Go on from the last checkpoint: pkmn train --resume runs/it"
    assert error.splitlines()[-1] == last_words
    assert all_gone(children)


@pytest.mark.long
def test_a_killed_training_leaves_no_worker_in_an_endless_loop(tmp_path: Path) -> None:
    install_reward(tmp_path / "plugins", "while self.steps > 300:\n    Path('stuck').touch()\nreturn 1.0")
    environment = environment_with(tmp_path / "plugins")
    with WarmProcess(*TRAIN, "--reward=strange", cwd=tmp_path, env=environment) as process:
        wait_for(tmp_path / "stuck", process)
        children = children_of(process)
        process.kill()
    assert children and all_gone(children)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_that_comes_twice_is_one_request(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell hands on the hangup of its terminal, and timeout(1) sends its signal to the group as well."""
    monkeypatch.setattr("pkmncli.training.interrupts.time.monotonic", lambda: 100.0)
    with InterruptFlag() as interrupted:
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert interrupted and not interrupted.insisted
        assert interrupted.exit_code == 128 + number


def test_a_second_sigterm_insists(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("pkmncli.training.interrupts.time.monotonic", lambda: now)
    with InterruptFlag() as interrupted:
        signal.raise_signal(signal.SIGTERM)
        now += 2 * SECONDS_OF_A_REQUEST
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(LIMIT_S)
    assert interrupted.insisted


def test_an_interrupt_that_a_library_hands_on_as_an_error_of_its_own_is_one(tmp_path: Path) -> None:
    install(tmp_path / "plugins", "hands_on", HANDS_ON)
    process = WarmProcess("wait-here", cwd=tmp_path, env=environment_with(tmp_path / "plugins"))
    wait_for(tmp_path / "stuck", process)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=LIMIT_S) == ("", "")
    assert process.returncode == 130
