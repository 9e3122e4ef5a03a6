"""Runs that a plugin's command makes refuse what does not suit them, in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command_runs import Pkmn, Register, course, error_of

from pkmncli import hookimpl
from pkmncli.api import find_run, runs
from pkmncli.errors import CheckpointError, ConfigurationError, PkmnError, PluginError, RunError
from pkmncli.testing import check_plugin


def test_only_one_process_has_it(tmp_path: Path) -> None:
    with runs.start("toy", save_dir=tmp_path, run_name="it") as run:
        run.checkpoint(0, {})
        with pytest.raises(RunError, match="in use by process"), runs.resume("it", save_dir=tmp_path):
            pytest.fail("it began")
    with pytest.raises(RunError, match="exists already"), runs.start("toy", save_dir=tmp_path, run_name="it"):
        pytest.fail("it began")


def test_a_start_that_failed_leaves_no_run_unless_something_was_saved(tmp_path: Path) -> None:
    for saved in (False, True):
        with pytest.raises(ZeroDivisionError), runs.start("toy", save_dir=tmp_path, run_name="it") as run:
            if saved:
                run.checkpoint(1, {})
            raise ZeroDivisionError
        assert (tmp_path / "it").exists() == saved


def test_what_is_for_trainings_says_whose_it_is(pkmn: Pkmn, tmp_path: Path) -> None:
    with runs.start("toy", save_dir=tmp_path / "runs", run_name="it") as run:
        run.checkpoint(0, {})
    for arguments, code in (
        (["replay", "it"], 5),
        (["train", "--resume", "it"], 5),
        (["train", "--start-from", "it", "--quiet"], 5),
        (["export", "it", "--policy"], 2),
        (["eval", "it"], 5),
    ):
        assert "was made by 'pkmn toy'" in error_of(pkmn(*arguments), code)
    assert "is evaluated without it" in error_of(pkmn("eval", "it", "--mode=random"), 2)


def test_other_runs_are_not_resumed(shared_run: Callable[[], Path], pkmn: Pkmn, tmp_path: Path) -> None:
    assert "was made by 'pkmn train'" in error_of(pkmn("bandit", "--resume", str(shared_run())), 5)
    with runs.start("toy", save_dir=tmp_path, run_name="it"):
        pass
    for which, command, kind, problem in (
        ("it", "bandit", RunError, "made by 'pkmn toy', not by 'pkmn bandit'"),
        ("it", None, CheckpointError, "the run has no checkpoint"),
        ("that", None, RunError, "no run 'that'"),
    ):
        with pytest.raises(kind, match=problem), runs.resume(which, command, save_dir=tmp_path):
            pytest.fail("it began")
    (tmp_path / "it" / "config.toml").write_text("command = 'toy'")
    with pytest.raises(RunError, match="was cut off"), runs.resume("it", save_dir=tmp_path):
        pytest.fail("it began")


def test_a_damaged_checkpoint_is_set_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with runs.start("toy", save_dir=tmp_path, run_name="it") as run:
        for step in (1, 2):
            run.metrics(step, {"loss": float(step)})
            run.checkpoint(step, {"at": step, "weights": np.full(2, step)})
    path = tmp_path / "it" / "checkpoints" / "step-000000002" / "learner.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with runs.resume("it", save_dir=tmp_path) as run:
        assert run.state is not None
        assert (run.step, run.state["at"], run.state["weights"].tolist()) == (1, 1, [1, 1])
    assert "the checkpoint is damaged" in capsys.readouterr().err
    assert [row["value"] for row in course(tmp_path / "it")["metrics"]] == [1.0]


def test_lost_names_are_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with runs.start("toy", save_dir=tmp_path, run_name="it", names={"actions": ["up"]}) as run:
        run.checkpoint(0, {})
    (tmp_path / "it" / "names.json").write_text("{")
    with runs.resume("it", save_dir=tmp_path):
        pass
    assert "names.json is damaged: it is written anew" in capsys.readouterr().err
    assert json.loads((tmp_path / "it" / "names.json").read_text())["game"] == "toy"


def test_settings_of_a_run_stay(pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("bandit", "--pulls=10", "--run-name=it").code == 0
    assert "'bandit.arms' (option --arms) cannot change" in error_of(pkmn("bandit", "--resume=it", "--arms=9"), 2)
    assert "'seed' (option --set seed) cannot change" in error_of(pkmn("bandit", "--resume=it", "--set=seed=9"), 2)
    assert pkmn("bandit", "--resume=it", "--pulls=20", "--set=log_level=DEBUG").code == 0
    assert find_run("it", tmp_path / "runs").settings["bandit"]["pulls"] == 20
    with runs.start("toy", save_dir=tmp_path, run_name="toy") as run:
        run.checkpoint(0, {})
    with (
        pytest.raises(ConfigurationError, match=r"'toy\.rate' .* it has toy\.rate = None; start a new run$"),
        runs.resume("toy", settings={"rate": 0.5}, save_dir=tmp_path),
    ):
        pytest.fail("it began")


MISUSES: dict[str, tuple[Callable[[runs.CommandRun], object], type[PkmnError], str]] = {
    "step back": (lambda run: run.metrics(4, {"loss": 1.0}), RunError, "step 4 is recorded after step 5"),
    "saved step": (lambda run: run.episode(5, reward=1, steps=1), RunError, "after step 5 was saved"),
    "decision twice": (lambda run: [run.decision(6, 0), run.decision(6, 0)], RunError, "decision of step 6 follows"),
    "environment": (lambda run: run.decision(6, 0, environment=1), RunError, "has no environment 1"),
    "environment of an episode": (
        lambda run: run.episode(6, reward=1, steps=1, environment=7),
        RunError,
        "has no environment 7",
    ),
    "object in state": (lambda run: run.checkpoint(6, {"it": object()}), ConfigurationError, "state 'it' is neither"),
    "texts in state": (lambda run: run.checkpoint(6, {"it": np.array(["a"])}), ConfigurationError, "can't be saved"),
    "own result": (lambda run: run.finish({"total_steps": 1}), ConfigurationError, "in the summary of every run"),
    "finished": (lambda run: [run.finish(), run.metrics(9, {"loss": 1.0})], RunError, "is finished"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_explained(name: str, tmp_path: Path) -> None:
    misuse, kind, problem = MISUSES[name]
    with runs.start("toy", save_dir=tmp_path) as run:
        run.checkpoint(5, {})
        with pytest.raises(kind, match=problem):
            misuse(run)


class Evaluated:
    """Plugin whose command has an evaluation."""

    def __init__(self, evaluate: Callable[..., Any]) -> None:
        self.evaluate = evaluate

    @hookimpl
    def pkmn_register_commands(self, register: Any) -> None:
        register("toy", lambda: None, help="a toy", evaluate=self.evaluate)


def test_an_evaluation_that_fails_is_explained(register_beside: Register, tmp_path: Path) -> None:
    results: list[Any] = [{"reward": 1}, {"avg_reward": object()}]
    register_beside(Evaluated(lambda _run, _state, _episodes, _seed: results.pop()), "toy")
    with runs.start("toy", save_dir=tmp_path, run_name="it") as run:
        run.checkpoint(0, {})
    for problem in ("not JSON serializable", "gives no avg_reward"):
        with pytest.raises(PluginError, match=problem):
            runs.evaluate("it", save_dir=tmp_path)


def test_the_check_of_plugins_tries_the_evaluation() -> None:
    check_plugin(Evaluated(lambda run, state, episodes, seed: {}))
    with pytest.raises(AssertionError, match="must take"):
        check_plugin(Evaluated(lambda run: {}))


def test_what_the_check_refuses_leaves_no_folder(tmp_path: Path) -> None:
    def check(settings: Any) -> None:
        raise ConfigurationError(f"arms = {settings['arms']}: too many")

    with (
        pytest.raises(ConfigurationError, match="arms = 99: too many"),
        runs.start("toy", {"arms": 99}, save_dir=tmp_path / "runs", check=check),
    ):
        pytest.fail("it began")
    assert not (tmp_path / "runs").exists()
