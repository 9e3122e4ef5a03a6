"""Trackers get the rows of the run's own tables, each once, however often the training was interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.tracked import stored, tracked

from pkmncli import hookimpl
from pkmncli.errors import RunError
from pkmncli.plugins import get_registry
from pkmncli.training import trainer
from pkmncli.training.recording.recorder import Recorder


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "METRICS_INTERVAL", 20)


def test_none_writes_nothing(pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path) -> None:
    assert pkmn("train", *small_training, "--steps=30", "--run-name=it", "--track=none").code == 0
    assert not (tmp_path / "runs" / "it" / "tensorboard").exists()


@pytest.mark.parametrize("names", [["wandbb"], ["none", "tensorboard"], ["tensorboard", "tensorboard"]])
def test_a_wrong_tracker_is_told(names: list[str], pkmn: Callable[..., Any], tmp_path: Path) -> None:
    result = pkmn("train", *(f"--track={name}" for name in names))
    assert result.code == 2
    assert "'track'" in result.err and len(result.err.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


class Failing:
    """A tracker that breaks in the middle."""

    closed: ClassVar[list[object]] = []
    error: ClassVar[BaseException] = OSError("the server went away")

    def __init__(self, run: Any, step: int, settings: object) -> None:
        self.calls = 0

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self.calls += 1
        if self.calls > 3:
            raise self.error

    def flush(self) -> None: ...

    def close(self, summary: object) -> None:
        self.closed.append(summary)
        raise OSError("and stays away")


@pytest.mark.long
@pytest.mark.parametrize("error", [OSError("the server went away"), asyncio.CancelledError("a task was cancelled")])
def test_a_tracker_that_fails_is_told_once_and_takes_nothing_with_it(
    error: BaseException,
    pkmn: Callable[..., Any],
    small_training: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Failing, "error", error)
    monkeypatch.setattr(Failing, "closed", [])

    class Inline:
        @hookimpl
        def pkmn_register_trackers(self, register: Callable[..., None]) -> None:
            register("failing", Failing, help="breaks")

    registry = get_registry()
    registry.register_plugin(Inline(), "inline")
    try:
        result = pkmn("train", *small_training, "--run-name=it", "--track=failing", "--track=tensorboard")
    finally:
        registry.unregister_plugin("inline")
    assert result.code == 0
    told = "the tracker 'failing' failed and is left out for the rest of the run: "
    assert result.err == f"{told}{type(error).__name__}: {error}\n"
    assert Failing.closed == [None], "it may hold a file or a process"
    run = tmp_path / "runs" / "it"
    assert tracked(run) == stored(run)
    assert [plugin.name for plugin in registry.plugins if "tracker" in plugin.name] == []


@pytest.mark.long
def test_plugins_are_told_of_the_end_of_a_training_that_an_error_ends(
    pkmn: Callable[..., Any], small_training: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []

    class Inline:
        @hookimpl
        def pkmn_run_finished(self) -> None:
            told.append("finished")

        @hookimpl
        def pkmn_run_ended(self, run: Any) -> None:
            told.append(f"{run.folder.name} ended")

    def full(_recorder: Recorder) -> None:
        raise RunError("the disk is full")

    registry = get_registry()
    registry.register_plugin(Inline(), "inline")
    try:
        assert pkmn("train", *small_training, "--steps=40", "--run-name=whole").code == 0
        monkeypatch.setattr(Recorder, "flush_is_due", True)
        monkeypatch.setattr(Recorder, "begin_flush", full)
        assert pkmn("train", *small_training, "--steps=40", "--run-name=broken").code == 5
    finally:
        registry.unregister_plugin("inline")
    assert told == ["finished", "whole ended", "broken ended"]
