"""``pkmn eval``: the same result however it is spread over processes, kept so that its episodes can be replayed."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.variants import long_after

from pkmn_dqn.learner import DQN
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.assembly import open_store
from pkmncli.training.evaluation import baselines, evaluation

Pkmn = Callable[..., Any]

KEYS = {
    "run",
    "checkpoint",
    "mode",
    "stochastic",
    "seed",
    "episodes",
    "avg_reward",
    "std_reward",
    "avg_length",
    "avg_llm_usage",
    "goal",
    "metrics",
    "reached",
    "goal_share",
    "goal_low",
    "goal_high",
    "goal_steps",
    "milestones",
}


@pytest.fixture
def run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    """A finished training of its own to evaluate, since evaluations are kept in the run."""
    return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))


def evaluated(run: Run) -> list[list[dict[str, Any]]]:
    """The episodes of each evaluation, in the order in which they were made."""
    found = []
    for folder in sorted((run.folder / "evaluations").iterdir(), key=lambda folder: folder.stat().st_mtime_ns):
        store = open_store(get_registry(), folder)
        found.append(store.read("episodes"))
        store.close()
    return found


def result_of(result: Any) -> dict[str, Any]:
    assert (result.code, result.err) == (0, "")
    content: dict[str, Any] = json.loads(result.out)
    return content


@pytest.mark.parametrize("mode", long_after(1, ["rl-only", "adaptive", "llm-only", "random"]))
def test_one_environment_or_two_now_or_later_the_result_is_the_same(mode: str, pkmn: Pkmn, run: Run) -> None:
    options = ["eval", "it", f"--mode={mode}", "--episodes=3", "--max-steps-per-episode=25", "--json"]
    first = result_of(pkmn(*options, "--envs=1"))
    again = result_of(pkmn(*options, "--envs=2"))
    assert first == again
    assert set(first) == (KEYS | {"pilot", "random", "verdict"} if mode == "rl-only" else KEYS)
    assert (first["run"], first["checkpoint"], first["mode"]) == ("it", "step-000000240", mode)
    assert (first["episodes"], first["avg_length"], first["goal_share"]) == (3, 25, 0)
    assert set(first["milestones"]["game_started"]) == {"episodes", "share", "low", "high", "median_step"}
    one, two = evaluated(run)
    for left, right in zip(one, two, strict=True):
        differing = {name for name in left if left[name] != right[name]}
        assert differing <= {"environment", "episode"}
    if mode == "random":
        assert len({bytes(episode["fine_hashes"]) for episode in one}) == 3, "each episode has a course of its own"


@pytest.mark.long
def test_seeds(pkmn: Pkmn, run: Run) -> None:
    """Another seed plays other episodes, and none is one that training played."""
    options = ["eval", "it", "--episodes=2", "--max-steps-per-episode=25", "--mode=random", "--json"]
    results = [result_of(pkmn(*options, *seed)) for seed in ((), ("--seed=7",))]
    assert [result["seed"] for result in results] == [0, 7], "the run's seed is the default"
    own, other = evaluated(run)
    store = open_store(get_registry(), run.folder)
    trained = {row["seed"] for row in store.read("episodes")}
    store.close()
    seeds = [row["seed"] for row in own + other]
    assert len(set(seeds) | trained) == len(seeds) + len(trained)
    assert [row["fine_hashes"] for row in own] != [row["fine_hashes"] for row in other]


def test_a_run_without_a_learner_is_not_proposed_to_be_played_by_one(pkmn: Pkmn) -> None:
    assert pkmn("train", "--no-rl", "--steps=40", "--final-episodes=0", "--run-name=rules").code == 0
    shown = pkmn("eval", "rules", "--mode=llm-only", "--episodes=1", "--max-steps-per-episode=20")
    assert shown.code == 0, shown.err
    following = [line.split("  ")[1] for line in shown.out.partition("Next:\n")[2].splitlines()]
    assert following == ["pkmn replay --evaluation --video best.mp4", "pkmn watch --mode rules"]


def test_a_table_for_people(pkmn: Pkmn, run: Run) -> None:
    result = pkmn("eval", "it", "--episodes=2", "--max-steps-per-episode=25", "--checkpoint=80")
    assert result.code == 0, result.err
    assert result.out.startswith(
        "Evaluating it, step-000000080: the learner alone.\n"
        "It decides every step, and always takes its best action.\n"
        "2 episodes from held-out starts (seed 0), each to thorn_badge or at most 25 steps.\n"
    )
    assert (
        "The learner alone reaches thorn_badge in 0 of 2 starts (0% to 66%); the pilot in 0, random play in"
        in result.out
    )
    rows = [line.split() for line in result.out.splitlines()]
    assert ["learner", "alone", "0", "of", "2", "0%", "to", "66%", "-"] in [row[:9] for row in rows]
    assert any(row[:2] == ["game_started", "100%"] for row in rows)
    assert "Not to be compared with the training's reward" in result.out
    assert "pkmn replay --evaluation --video best.mp4" in result.out


@pytest.mark.long
def test_pilot_and_random_play_are_played_once(pkmn: Pkmn, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["eval", "it", "--max-steps-per-episode=25", "--json"]
    first = result_of(pkmn(*options, "--episodes=3"))
    assert first["pilot"]["avg_reward"] > first["random"]["avg_reward"]
    monkeypatch.setattr(baselines, "evaluate", None)  # not to be called
    again = result_of(pkmn(*options, "--episodes=2"))
    assert (again["pilot"]["episodes"], again["pilot"]["goal"]) == (2, "thorn_badge")
    without = result_of(pkmn(*options, "--episodes=4", "--no-baselines"))
    assert "pilot" not in without and "random" not in without
    assert without["verdict"].startswith("The learner alone reaches thorn_badge in 0 of 4 starts (0% to 49%). It")
    monkeypatch.setattr(baselines, "evaluate", evaluation.evaluate)
    other = result_of(pkmn(*options, "--episodes=2", "--goal=downstairs"))
    assert other["pilot"]["reached"] == 2, "another goal is another start to be played"


def test_what_was_found_is_shown_where_the_run_can_not_keep_it(pkmn: Pkmn, run: Run) -> None:
    for name in ("baselines.json", "evaluations"):  # neither file nor folder can be made where the other kind stands
        path = run.folder / name
        path.mkdir() if name.endswith(".json") else path.touch()
    result = pkmn("eval", "it", "--episodes=1", "--max-steps-per-episode=5")
    assert result.code == 5
    assert "The learner alone reaches thorn_badge in 0 of 1 starts" in result.out
    assert "random play in 0" in result.out
    told = [line for line in result.err.splitlines() if line]
    assert ["baselines.json" in line for line in told] == [True, True, False], result.err
    assert "evaluations" in told[2]


@pytest.mark.parametrize("damage", long_after(1, [[{}], 7, [{"reward": 1.0}]]))
def test_damaged_results_of_pilot_and_random_play_are_played_again(damage: Any, pkmn: Pkmn, run: Run) -> None:
    options = ["eval", "it", "--episodes=1", "--max-steps-per-episode=5", "--json"]
    before = result_of(pkmn(*options))
    path = run.folder / "baselines.json"
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()), damage)))
    assert result_of(pkmn(*options)) == before


@pytest.mark.long
def test_pilot_and_random_play_as_they_do_alone(pkmn: Pkmn, run: Run) -> None:
    options = ["eval", "it", "--episodes=2", "--max-steps-per-episode=25", "--json"]
    beside = result_of(pkmn(*options))
    for who, mode in (("pilot", "llm-only"), ("random", "random")):
        alone = result_of(pkmn(*options, f"--mode={mode}"))
        assert beside[who] == {name: alone[name] for name in beside[who]}


@pytest.mark.long
def test_a_learner_that_can_draw_its_presses_does(pkmn: Pkmn, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def sample(
        self: Any, observations: dict[str, Any], random: np.random.Generator
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        allowed = np.flatnonzero(observations["action_mask"][0])
        return np.array([random.choice(allowed)]), np.ones(1, np.float32)

    monkeypatch.setattr(DQN, "sample_actions", sample, raising=False)
    options = ["eval", "it", "--episodes=3", "--max-steps-per-episode=25", "--json", "--no-baselines"]
    first, again = (result_of(pkmn(*options, "--stochastic", f"--envs={envs}")) for envs in (1, 2))
    assert first == again
    assert first["stochastic"] and first["avg_reward"] != result_of(pkmn(*options))["avg_reward"]
    assert len({bytes(row["presses"]) for row in evaluated(run)[0]}) == 3


def test_drawing_is_refused_where_nobody_can(pkmn: Pkmn, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(DQN, "sample_actions", raising=False)
    result = pkmn("eval", "it", "--stochastic", "--episodes=1", "--json")
    assert (result.code, result.err) == (
        2,
        "--stochastic: this learner can't sample its actions (it has no sample_actions); leave it out\n",
    )
    result = pkmn("eval", "it", "--stochastic", "--mode=adaptive")
    assert (result.code, result.err.count("\n")) == (2, 1)


def test_an_interrupted_evaluation_keeps_what_was_played(pkmn: Pkmn, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    report = evaluation.RunningEpisode.summarize

    def interrupt(*arguments: Any, **keywords: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return report(*arguments, **keywords)

    monkeypatch.setattr(evaluation.RunningEpisode, "summarize", interrupt)
    result = pkmn("eval", "it", "--episodes=50", "--max-steps-per-episode=5", "--envs=1", "--json")
    assert (result.code, result.err) == (130, "")
    played = json.loads(result.out)["episodes"]
    assert 1 <= played <= 2
    (kept,) = evaluated(run)
    assert len(kept) == played
    told = pkmn("eval", "it", "--episodes=50", "--max-steps-per-episode=5", "--envs=1")
    assert (told.code, told.err.splitlines()[-1]) == (
        130,
        f"Interrupted: {played} of 50 episodes, without pilot and random play.",
    )


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (["--checkpoint=best"], 5, "latest"),
        (["--checkpoint=99"], 5, "step-000000080"),
        (["--checkpoint=lates"], 5, "did you mean 'latest'?"),
        (["--mode=rl"], 2, "rl-only"),
        (["--episodes=0"], 2, "episodes"),
        (["--goal=the_moon"], 2, "the_moon"),
    ],
)
def test_wrong_usage_is_told(options: list[str], code: int, expected: str, pkmn: Pkmn, run: Run) -> None:
    result = pkmn("eval", "it", *options)
    assert result.code == code, result.err
    assert expected in result.err
    assert "Traceback" not in result.err
    assert not (run.folder / "evaluations").exists()


@pytest.mark.long
@pytest.mark.parametrize("mode", ["rl-only", "adaptive"])
def test_a_run_with_a_language_model_is_evaluated_without_it(
    mode: str, pkmn: Pkmn, small_training: tuple[str, ...], tmp_path: Path
) -> None:
    script = tmp_path / "replies.toml"
    script.write_text("[[reply]]\ntext = 'go north'\n")
    advised = [*small_training, "--llm=scripted", "--llm-wait", f"--set=scripted.file={script}", "--run-name=advised"]
    assert pkmn("train", *advised).code == 0
    script.unlink()
    options = [f"--mode={mode}", "--episodes=1", "--max-steps-per-episode=5", "--json"]
    assert result_of(pkmn("eval", "advised", *options))["avg_llm_usage"] == 0.0


def test_a_run_that_does_not_exist(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    result = pkmn("eval", "iit")
    assert (result.code, result.err) == (5, f"no run 'iit' here or in {tmp_path / 'runs'}; did you mean 'it'?\n")


def test_a_damaged_checkpoint_is_told_and_the_one_before_is_evaluated(pkmn: Pkmn, run: Run) -> None:
    path = run.checkpoints.resolve() / "learner.safetensors"
    path.write_bytes(b"")
    result = pkmn("eval", "it", "--episodes=1", "--max-steps-per-episode=5", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["checkpoint"] < path.parent.name
    assert f"{path} is not what was written" in result.err
    assert result.err.count("\n") == 1
