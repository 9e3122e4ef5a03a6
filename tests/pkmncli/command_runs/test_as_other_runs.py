"""Runs that a plugin's command makes are runs as any other: drawn, compared, exported, followed and watched."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command_runs import Pkmn, Register, error_of

from pkmncli import hookimpl
from pkmncli.api import EpisodeSummary, RunInfo, find_run, runs
from pkmncli.api.live import LiveTraining
from pkmncli.errors import ConfigurationError
from pkmncli.training.display import live_board


@pytest.mark.long
def test_commands_for_runs_work_on_it(pkmn: Pkmn, tmp_path: Path) -> None:
    for seed in (0, 1):
        assert pkmn("bandit", "--pulls=300", f"--seed={seed}", f"--run-name=seed-{seed}").code == 0
    assert pkmn("plot", "seed-0", "--metric=bandit/regret", "--out=plot.png").code == 0
    assert "there are bandit/regret, episode/" in error_of(pkmn("plot", "seed-0", "--metric=none"), 2)
    found = json.loads(pkmn("compare", "runs", "--format=json").out)
    assert [group["seeds"] for group in found["groups"]] == [[0, 1]]
    assert found == json.loads(json.dumps(runs.compare(["runs"])))
    assert runs.compare(["runs"], metric="bandit/regret", last=3)["score"].startswith("bandit/regret")
    assert "300 rows" in pkmn("export", "seed-0", "--to=out").out
    assert (tmp_path / "out" / "decisions.csv").read_text().count("best of a sampled world") == 300
    assert "300" in pkmn("analyze-patterns", "seed-0").out
    evaluated = json.loads(pkmn("eval", "seed-0", "--json", "--episodes=50").out)
    assert evaluated["avg_reward"] == runs.evaluate("seed-0", episodes=50)["avg_reward"]
    summary = json.loads((tmp_path / "runs" / "seed-0" / "summary.json").read_text())
    assert (summary["total_steps"], summary["total_episodes"], summary["finished"]) == (300, 3, True)
    assert summary["favourite_arm"] == summary["best_arm"]


def test_evaluations_of_all_runs_are_what_is_compared(pkmn: Pkmn, tmp_path: Path) -> None:
    for seed in (0, 1):
        assert pkmn("bandit", "--pulls=200", f"--seed={seed}", f"--run-name=seed-{seed}").code == 0
        runs.evaluate(f"seed-{seed}", save_dir=tmp_path / "runs")
    assert runs.compare(["runs"])["score"] == "mean reward of the latest evaluation"


def test_it_is_compared_with_a_training(shared_run: Callable[[], Path], pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("bandit", "--pulls=200", "--run-name=it").code == 0
    found = runs.compare([shared_run(), tmp_path / "runs" / "it"])
    assert [group["label"] for group in found["groups"]] == ["command=train", "command=bandit"]


def test_settings_are_there_with_their_origin(pkmn: Pkmn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.toml").write_text("seed = 3\n[bandit]\nsave_interval = 50\n")
    assert pkmn("bandit", "--arms=3", "--set=bandit.pulls=100", "--config=own.toml", "--run-name=it").code == 0
    text = (tmp_path / "runs" / "it" / "config.toml").read_text()
    for line in (
        'command = "bandit" # made by pkmn bandit',
        "seed = 3 # own.toml:1",
        "arms = 3 # option --arms",
        "pulls = 100 # option --set bandit.pulls",
        "save_interval = 50 # own.toml:3",
        "keep_checkpoints = 3 # default",
    ):
        assert line in text
    assert find_run("it").settings["bandit"] == {"arms": 3, "pulls": 100, "save_interval": 50}
    assert "bandit" in (tmp_path / "runs" / "it" / "command.txt").read_text()
    monkeypatch.setenv("PKMN_BANDIT__ARMS", "7")
    with runs.start("bandit", {"pulls": 1}, save_dir=tmp_path / "runs", run_name="of-environment") as run:
        assert run.settings.arms == 7


def test_wrong_settings_are_refused_before_there_is_a_run(pkmn: Pkmn, tmp_path: Path) -> None:
    assert "must be at least 2" in error_of(pkmn("bandit", "--arms=1"), 2)
    assert "is none of 'pkmn bandit'" in error_of(pkmn("bandit", "--set=dqn.gamma=0.9"), 2)
    assert "is none of 'pkmn bandit'" in error_of(pkmn("bandit", "--set=rl=ppo"), 2)
    with pytest.raises(ConfigurationError, match="no plain values"), runs.start("own", {"it": object()}):
        pytest.fail("it began")
    with pytest.raises(ConfigurationError, match="has the name of a setting"), runs.start("steps"):
        pytest.fail("it began")
    assert not (tmp_path / "runs").exists()


class Follower:
    """Plugin with every hook of a run, and a tracker."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.rows = 0
        self.tracked: dict[int, float] = {}

    @hookimpl
    def pkmn_register_trackers(self, register: Any) -> None:
        register("kept", self.track, help="keeps metrics")

    def track(self, _run: RunInfo, step: int, _settings: None) -> Follower:
        self.events.append(f"tracker from {step}")
        return self

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        if "toy/loss" in metrics:
            self.tracked[step] = metrics["toy/loss"]

    def flush(self) -> None:
        self.events.append("flushed")

    def close(self, summary: Mapping[str, Any] | None) -> None:
        self.events.append("closed" if summary is None else f"closed with {summary['total_steps']}")

    @hookimpl
    def pkmn_run_started(self, run: RunInfo, step: int) -> None:
        self.events.append(f"{run.settings['']['command']} from {step}")

    @hookimpl
    def pkmn_steps_logged(self, batch: Mapping[str, Any]) -> None:
        self.rows += len(batch["action"])

    @hookimpl
    def pkmn_episode_finished(self, episode: EpisodeSummary) -> None:
        self.events.append(f"episode {episode.episode} of {episode.environment}")

    @hookimpl
    def pkmn_checkpoint_saved(self, path: Path) -> None:
        self.events.append(path.name)

    @hookimpl
    def pkmn_run_finished(self, summary: Mapping[str, Any]) -> None:
        self.events.append(f"finished {summary['best']}")

    @hookimpl
    def pkmn_run_ended(self) -> None:
        self.events.append("ended")


def test_hooks_and_trackers_follow_it(
    register_beside: Register, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    follower = Follower()
    register_beside(follower, "follower")
    monkeypatch.setenv("PKMN_TRACK", '["kept"]')
    with runs.start("toy", {"rate": 0.5}, save_dir=tmp_path, run_name="it", environments=2) as run:
        run.decision(1, 0, environment=1, reward=2.0)
        run.metrics(2, {"toy/loss": 0.5})
        run.episode(2, reward=1.0, steps=2, environment=1, success=True)
        run.checkpoint(2, {"weights": np.ones(3)})
        run.finish({"best": 7})
    assert follower.events == [
        *("toy from 0", "tracker from 0", "episode 0 of 1", "flushed", "step-000000002"),
        *("finished 7", "closed with 2", "ended"),
    ]
    assert (follower.tracked, follower.rows) == ({2: 0.5}, 1)
    with pytest.raises(ZeroDivisionError), runs.resume("it", save_dir=tmp_path) as run:
        assert run.state is not None
        run.episode(3, reward=1 / int(run.state["weights"][0] - 1), steps=1)
    assert follower.events[-4:] == ["toy from 2", "tracker from 2", "ended", "closed"]


def test_viewers_watch_it_and_steer_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_board, "SECONDS_BETWEEN_LOOKS", 0.0)
    monkeypatch.setattr(live_board, "SECONDS_BETWEEN_STANDINGS", 0.0)
    with runs.start("toy", save_dir=tmp_path) as run:
        viewer = LiveTraining.attach(run.folder)
        assert viewer is not None
        viewer.watch(60, 0)
        run.decision(1, 3, reward=0.5)
        run.live(fraction_done=0.25, progress={"epoch": 4})
        assert (viewer.state().steps, viewer.state().fraction_done) == (1, 0.25)
        assert viewer.records()["action"].tolist() == [3]
        assert viewer.standings()[0].progress == {"epoch": 4}
        viewer.save_checkpoint()
        run.live()
        assert run.checkpoint_requested
        run.checkpoint(1, {})
        assert not run.checkpoint_requested
        viewer.save_start(0)
        run.live()
        assert "no start states" in viewer.state().message
        assert not run.stop_requested
        viewer.stop()
        run.live()
        assert run.stop_requested
        assert not run.finish()["finished"]
        assert run.exit_code == 130
