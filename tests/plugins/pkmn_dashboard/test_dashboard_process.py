"""The process that serves the page: it ends with the training however that ends, and costs it nothing when it dies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest
from support.dashboard_training import DEADLINE_S, PageTraining, page_training, wait_until

from pkmn_dashboard.ports import LOOPBACK, address, is_loopback, listen
from pkmncli.api.live import LiveTraining
from pkmncli.errors import ConfigurationError

EVENTS_BESIDE_IT = 60
"""That another viewer gets while one never reads."""


@pytest.mark.long
def test_the_server_never_outlives_the_training(tmp_path: Path) -> None:
    with page_training(tmp_path) as training:
        wait_until(lambda: training.get("state"))
        server = training.server()
        assert server.nice() > psutil.Process(training.process.pid).nice(), "the training goes first"
        training.process.kill()
        gone, _ = psutil.wait_procs([server], timeout=DEADLINE_S)
        assert gone == [server]
    assert (training.folder / "live.json").exists(), "a killed training leaves it behind"


@pytest.mark.long
def test_a_server_or_viewer_that_dies_costs_the_training_nothing(tmp_path: Path) -> None:
    with page_training(tmp_path) as training:
        host, port = training.url.removeprefix("http://").rstrip("/").split(":")
        request = "GET /api/events?rate=15 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with socket.socket() as silent, socket.create_connection((host, int(port)), DEADLINE_S) as other:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what is sent to it soon finds no room
            silent.connect((host, int(port)))
            silent.sendall(request.encode())  # asks, and never reads
            other.sendall(request.encode())
            began = wait_until(lambda: training.get("state")["steps"])
            received = b""
            while received.count(b"event: live") < EVENTS_BESIDE_IT:
                received += other.recv(65536)
            wait_until(lambda: training.get("state")["steps"] > began + 100)
            server = training.server()
            waiting = [one for one in server.net_connections() if one.status == psutil.CONN_ESTABLISHED]
            assert len(waiting) >= 2, "the one that never reads is still there"
            server.kill()
        live = LiveTraining.attach(training.folder)
        assert live is not None
        live.watch(DEADLINE_S, 0)
        last = live.state().steps
        wait_until(lambda: live.state().steps > last + 100)
        live.stop()
        assert training.process.wait(DEADLINE_S) == 130
    assert len(list((training.folder / "checkpoints").glob("step-*"))) >= 1


@pytest.mark.long
def test_a_run_that_trains_elsewhere_is_shown_and_steered_too(tmp_path: Path) -> None:
    with page_training(tmp_path) as training:
        command = [sys.executable, "-m", "pkmncli", "dashboard", "it", "--web-port=18090"]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                said = ""
                while not said.startswith("Showing "):
                    said = process.stdout.readline()
                other = PageTraining(training.process, said.split(" at ")[1].strip(), training.folder)
                wait_until(lambda: other.get("state")["steps"])
                assert other.get("run")["screen_shape"] == [144, 160, 3]
                other.post("pause")
                wait_until(lambda: training.get("state")["run"] == "paused")
                training.process.kill()
                wait_until(lambda: other.get("state")["run"] == "ended")
            finally:
                process.terminate()
                process.wait(DEADLINE_S)


def test_a_port_that_is_taken_gives_way_to_the_next() -> None:
    with listen(LOOPBACK, 18200) as first, listen(LOOPBACK, first.getsockname()[1]) as second:
        assert second.getsockname()[1] > first.getsockname()[1]
        assert address(second) == f"http://127.0.0.1:{second.getsockname()[1]}/"
    with pytest.raises(ConfigurationError, match="this machine has no such address"):
        listen("203.0.113.7", 18200)


@pytest.mark.parametrize(
    ("host", "loopback"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("lan", False)]
)
def test_only_this_machines_own_addresses_need_no_token(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.long
def test_beyond_this_machine_the_token_is_printed_and_needed(finished_run: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pkmncli", "dashboard", str(finished_run), "--host=0.0.0.0", "--web-port=18300"]
    aside = tmp_path / "aside"
    aside.mkdir()
    environment = {**os.environ, "TMPDIR": str(aside)}
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            said = ""
            while "?token=" not in said:
                said = process.stdout.readline()
            port = said.split("/?token=")[0].rsplit(":", 1)[1]
            token = said.split("?token=")[1].strip()
            assert len(token) >= 32
            for headers, status in (("", b"401"), (f"Authorization: Bearer {token}\r\n", b"200")):
                answer = ask(int(port), headers)
                assert answer.split()[1] == status, answer
            assert list(aside.glob("pkmn-duckdb-*")), "nothing is put aside where others look"
        finally:
            process.terminate()
            process.wait(DEADLINE_S)
    assert not list(aside.iterdir()), "nothing is left behind"


def ask(port: int, headers: str) -> bytes:
    def attempt() -> bytes:
        try:
            with socket.create_connection((LOOPBACK, port)) as connection:
                connection.sendall(f"GET /api/run HTTP/1.0\r\nHost: {LOOPBACK}\r\n{headers}\r\n".encode())
                return connection.recv(100)
        except OSError:
            return b""

    answer: bytes = wait_until(attempt)
    return answer


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there are no hangups")
def test_a_hangup_ends_the_page_orderly_unless_it_is_to_be_ignored(finished_run: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pkmncli", "dashboard", str(finished_run), "--web-port=18280"]
    for wrapper, code in (([], 0), (["nohup"], None)):
        with subprocess.Popen([*wrapper, *command], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                line = ""
                while not line.startswith("Showing "):
                    line = process.stdout.readline()
                    assert line, "no page is served"
                url = f"{line.split(' at ')[1].strip()}api/run"
                wait_until(lambda url=url: _answers(url))
                process.send_signal(signal.SIGHUP)
                if code is None:
                    with pytest.raises(subprocess.TimeoutExpired):
                        process.wait(2)
                    assert _answers(url)
                else:
                    assert process.wait(30) == code
            finally:
                process.kill()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=30):
            return True
    except OSError:
        return False
