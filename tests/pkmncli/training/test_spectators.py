"""Viewers of a training in another process: they see its progress, and no request of theirs changes its course."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from support.warm_python import WarmProcess
from support.worker_pools import make_spec, take, with_environment

from pkmncli.api import RunInfo
from pkmncli.api.live import BOARD_FILE, LIVE_FILE, LiveBoard, LiveTraining, is_running, process_began
from pkmncli.errors import TrainingError
from pkmncli.runs import Run
from pkmncli.training.display import live_board
from pkmncli.training.display.live_board import LiveBoardServer
from pkmncli.training.display.status import Status
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.recorder import Recorder
from pkmncli.training.workers.pool import WorkerPool

DEADLINE_S = 90.0


def wait_until(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        answer = what()
        if answer:
            return answer
        time.sleep(0.005)
    raise AssertionError("waited in vain")


@contextmanager
def watched(folder: Path, *arguments: str) -> Iterator[tuple[LiveTraining, WarmProcess]]:
    """A training in a process of its own, and a view of it as soon as there is one."""
    with WarmProcess("train", "--run-name=it", *arguments, cwd=folder) as process:
        try:
            yield wait_until(lambda: LiveTraining.attach(folder / "runs" / "it")), process
        finally:
            process.kill()


class Standing:
    """A training between two steps, as the live board sees it."""

    run = RunInfo(Path(), {})
    fraction_done = 0.0
    steps_per_second = 12.5

    def __init__(self, save: Callable[[], None] = lambda: None) -> None:
        self.statistics = TrainingStatistics()
        self.save_checkpoint = save

    def interrupted(self) -> bool:
        return False

    def status(self) -> Status:
        raise AssertionError("a live board shows numbers of its own")

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()


def paused_at(live: LiveTraining) -> int:
    live.watch(DEADLINE_S, 10)
    wait_until(lambda: live.state().steps)
    live.pause(True)
    return int(wait_until(lambda: live.state().paused and live.state()).steps)


@pytest.mark.long
@pytest.mark.parametrize("envs", [1, 2])
def test_a_paused_training_takes_exactly_the_steps_of_one_that_was_not(
    envs: int,
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    unwatched = shared_run("adaptive", envs)
    with watched(tmp_path, *small_training, f"--envs={envs}") as (live, process):
        steps = paused_at(live)
        assert steps < 240, "it was paused on its way"
        live.save_start(envs - 1)
        wait_until(lambda: live.state().answers == 1)
        live.save_checkpoint()
        wait_until(lambda: live.state().answers == 2)
        assert live.state().message == f"Checkpoint of step {steps:,} saved."
        assert live.state().steps == steps, "it stood still meanwhile"
        live.pause(False)
        assert process.wait(DEADLINE_S) == 0, process.stderr.read()
    folder = tmp_path / "runs" / "it"
    assert not (folder / LIVE_FILE).exists() and not (folder / BOARD_FILE).exists()
    assert_same_course(folder, unwatched)


@pytest.mark.long
def test_a_pause_counts_for_no_time_and_is_left_by_stop(small_training: list[str], tmp_path: Path) -> None:
    with watched(tmp_path, *small_training, "--steps=100000", "--save-interval=100000") as (live, process):
        steps = paused_at(live)
        before = live.state().elapsed_s
        live.save_checkpoint()
        wait_until(lambda: live.state().answers)
        assert live.state().elapsed_s == before
        live.stop()
        assert process.wait(DEADLINE_S) == 130
        said = process.stdout.read()
        assert "Interrupted, and saved." in said
        assert said.count("Paused from the live page, until it is resumed there.") == 1
    log = (tmp_path / "runs" / "it" / "log.txt").read_text()
    assert f"a viewer paused the training at step {steps}" in log and "the pause ended after" in log
    run = Run(tmp_path / "runs" / "it")
    assert run.read_summary()["total_steps"] == steps
    assert run.checkpoints.names()[-1] == f"step-{steps:09}"


@pytest.mark.long
def test_ctrl_c_ends_a_training_that_stands_still(small_training: list[str], tmp_path: Path) -> None:
    with watched(tmp_path, *small_training, "--steps=100000", "--save-interval=100000") as (live, process):
        steps = paused_at(live)
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE_S) == 130
    assert Run(tmp_path / "runs" / "it").read_summary()["total_steps"] == steps


@pytest.mark.long
def test_a_start_that_was_saved_is_one_to_begin_in(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    with watched(tmp_path, *small_training, "--steps=100000", "--save-interval=100000") as (live, process):
        paused_at(live)
        live.save_start(0)
        message = wait_until(lambda: live.state().answers and live.state().message)
        live.stop()
        process.wait(DEADLINE_S)
    assert message.startswith("State of environment 0 saved. Begin there: pkmn train --init-state ")
    path = message.rpartition(" ")[2]
    result = pkmn("train", *small_training, f"--init-state={path}", "--steps=40")
    assert result.code == 0, result.err


@pytest.mark.long
def test_whoever_looks_sees_every_environment_and_nobody_sees_an_old_board(
    small_training: list[str], tmp_path: Path
) -> None:
    with watched(tmp_path, *small_training, "--steps=100000", "--envs=2") as (live, process):
        paused_at(live)
        screens = live.screens()
        assert screens is not None and screens.shape == (2, 144, 160, 3) and live.screen_shape == (144, 160, 3)
        assert all(len(np.unique(screen)) > 1 for screen in screens)
        assert (live.records()["step"] > 0).all()
        folder = tmp_path / "runs" / "it"
        assert (folder / BOARD_FILE).stat().st_mode & 0o077 == 0, "only the same user may steer it"
        process.kill()
        process.wait()
        wait_until(lambda: not live.running)
        assert LiveTraining.attach(folder) is None, "the files of a killed training are no training"
    assert LiveTraining.attach(tmp_path) is None
    (tmp_path / LIVE_FILE).write_text(f'{{"process_id": {os.getpid()}}}')
    assert LiveTraining.attach(tmp_path) is None, "nor is a damaged file"


@pytest.mark.long
@pytest.mark.parametrize("nbytes", [0, 10, 5000])
def test_a_board_that_is_cut_off_harms_nobody(nbytes: int, small_training: list[str], tmp_path: Path) -> None:
    """As by a program that copies files in place. Were it mapped, the system would end whoever reads it."""
    options = [*small_training, "--steps=100000", "--save-interval=100000", "--envs=2"]
    with watched(tmp_path, *options) as (live, process):
        live.watch(DEADLINE_S, 50)
        wait_until(lambda: live.state().steps)
        board = tmp_path / "runs" / "it" / BOARD_FILE
        for _ in range(3):
            os.truncate(board, nbytes)
            live.state(), live.records(), live.standings(), live.screens()
            wait_until(lambda: board.stat().st_size > nbytes)
        again = wait_until(lambda: LiveTraining.attach(tmp_path / "runs" / "it"))
        again.watch(DEADLINE_S, 50)
        steps = again.state().steps
        wait_until(lambda: again.state().steps > steps + 10 and again.screens().any())
        assert not list((tmp_path / "runs" / "it" / "checkpoints").glob("step-*[1-9]*")), "nobody asked to save"
        again.stop()
        assert process.wait(DEADLINE_S) == 130


def test_no_viewer_takes_another_ones_pictures(tmp_path: Path) -> None:
    path = tmp_path / BOARD_FILE
    path.write_bytes(bytes(LiveBoard.size(1, (2, 2, 3))))
    boards = [LiveBoard(path, 1, (2, 2, 3)) for _ in range(3)]
    quick, slow, none = (LiveTraining(board, os.getpid(), 0.0, 1) for board in boards)
    requests = boards[0].requests

    def interval() -> float:
        return float(requests.read()["picture_interval_s"][0])

    quick.watch(60, 10)
    slow.watch(60, 2)
    none.watch(60, 0)
    assert interval() == 0.1, "the fastest sets the pace"
    quick.watch(60, 5)
    assert interval() == 0.2, "and may slow down itself"
    requests.set(pictures_until=0)
    slow.watch(60, 2)
    assert interval() == 0.5, "who is gone holds nobody to its pace"


@pytest.mark.long
def test_a_stop_after_the_last_step_is_no_interruption(
    small_training: list[str], pkmn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Recorder.finish

    def stop_and_finish(recorder: Recorder) -> None:
        live = LiveTraining.attach(Path("runs/it"))
        assert live is not None
        live.stop()
        finish(recorder)

    monkeypatch.setattr(Recorder, "finish", stop_and_finish)
    assert pkmn("train", *small_training, "--steps=40", "--run-name=it").code == 0


def test_an_environment_whose_picture_fails_plays_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(live_board, "SECONDS_BETWEEN_LOOKS", 0.0)
    with (
        WorkerPool(with_environment(make_spec(1), "support.odd_environments:Unseen")) as pool,
        LiveBoardServer(tmp_path, pool) as by,
    ):
        pool.reset()
        live = LiveTraining.attach(tmp_path)
        assert live is not None and live.screen_shape == (4, 5, 3)
        for _ in range(4):
            live.watch(60, 1e6)
            by.before_step(Standing())
            take(pool, np.zeros(1, np.int64))
        assert pool.losses == 0, "looking costs no worker"
        assert live.state().steps_per_second == 12.5
        screens = live.screens()
        assert screens is not None and not screens.any(), "no picture is better than an old one"
        (tmp_path / BOARD_FILE).unlink()
        assert pool.call(0, "view_onto", str(tmp_path / "none"), 1, (4, 5, 3))
    assert [record.message for record in caplog.records if "picture" in record.message] == [
        "viewers get no picture: the environment's view() has another shape than before: (3, 3, 3)",
        "viewers get no picture: the environment's view() failed: KeyError: 'no such palette'",
    ]


def test_what_a_training_does_instead_of_steps_is_shown_with_the_latest_step(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(live_board, "SECONDS_BETWEEN_LOOKS", 0.0)
    training = Standing()
    with WorkerPool(make_spec(1)) as pool, LiveBoardServer(tmp_path, pool) as by:
        pool.reset()
        by.on_start(training)
        live = LiveTraining.attach(tmp_path)
        assert live is not None
        live.watch(60, 0)
        by.before_step(training)
        board = LiveBoard(tmp_path / BOARD_FILE, 1, live.screen_shape)
        board.requests.set(watched_until=0.0)  # nobody does any more
        for training.statistics.steps in (1, 2, 3):
            take(pool, np.zeros(1, np.int64))
        by.on_activity("evaluating the learner alone")
        state = live.state()
        assert (state.doing, state.steps, live.records()["step"].tolist()) == ("evaluating the learner alone", 3, [3])
        [standing] = pool.standings()
        assert live.standings()[0].progress == dict(standing.progress)
        training.steps_per_second = 0.1  # while it evaluates
        by.on_activity("evaluating random play")
        assert (live.state().doing, live.state().steps_per_second) == ("evaluating random play", 12.5)
        by.before_step(training)
        assert live.state().doing == "", "though nobody watches"


def test_what_a_viewer_asks_for_and_cannot_be_saved_ends_no_training(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(live_board, "SECONDS_BETWEEN_LOOKS", 0.0)

    def full() -> None:
        raise TrainingError("the disk limit of 1 GB is reached")

    with WorkerPool(make_spec(1)) as pool, LiveBoardServer(tmp_path, pool) as by:
        pool.reset()
        live = LiveTraining.attach(tmp_path)
        assert live is not None
        answers = []
        (tmp_path / "starts").write_text("a file where a folder should be")
        for ask in (live.save_checkpoint, lambda: live.save_start(0)):
            ask()
            by.before_step(Standing(full))
            answers.append(live.state().message)
    assert answers[0] == "The checkpoint could not be saved: the disk limit of 1 GB is reached"
    assert answers[1].startswith("The state of environment 0 could not be saved: ")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the clock is all that there is")
def test_a_clock_that_is_set_ends_no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    began = process_began(process.pid)
    created = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: created(process) + 3600)  # as after a step
    assert is_running(process.pid, began)
    assert not is_running(process.pid, began - 2), "another process by that number"
    process.communicate(b"\n")
    assert not is_running(process.pid, began)
