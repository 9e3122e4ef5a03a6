"""``pkmn compare``: runs in groups, their scores, and errors that say what to do."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.variants import long_after

from pkmncli.config.run_file_end import with_end

Pkmn = Callable[..., Any]
MakeRun = Callable[..., Path]

SCORES = {0.99: [1.0, 5.0, 3.0, 4.0], 0.5: [2.0, 2.5, 0.5, 1.5]}


@pytest.fixture
def make_run(shared_run: Callable[..., Path], tmp_path: Path) -> MakeRun:
    """Make a finished run with other settings and another reward, from the files of a real one."""
    original = shared_run()

    def make(name: str, reward: float | None, *, settings: dict[str, str] | None = None, folder: str = "runs") -> Path:
        run = tmp_path / folder / name
        shutil.copytree(original / "metrics", run / "metrics")
        for file in ("versions.json", "tables.jsonl"):
            shutil.copy(original / file, run)
        lines = (original / "config.toml").read_text().splitlines()
        for key, value in (settings or {}).items():
            (place,) = (number for number, line in enumerate(lines) if line.startswith((f"{key} = ", f"# {key} is")))
            lines[place] = f"{key} = {value}  # option --{key}"
        (run / "config.toml").write_text("\n".join(lines) + "\n")
        summary = json.loads((original / "summary.json").read_text())
        (run / "summary.json").write_text(json.dumps({**summary, "final_avg_reward": reward}))
        return run

    return make


@pytest.fixture
def grid(make_run: MakeRun) -> None:
    """Make four seeds of two discounts."""
    for gamma, rewards in SCORES.items():
        for seed, reward in enumerate(rewards):
            make_run(f"g{gamma}-{seed}", reward, settings={"gamma": str(gamma), "seed": str(seed)})


def evaluate(run: Path, when: str, reward: float, mode: str = "rl-only", **result: Any) -> None:
    folder = run / "evaluations" / f"{when}-step-000000240-{mode}"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps({"mode": mode, "avg_reward": reward, **result}))


def compared(pkmn: Pkmn, *arguments: str) -> dict[str, Any]:
    result = pkmn("compare", *arguments, "--format=json")
    assert result.code == 0, result.err
    found: dict[str, Any] = json.loads(result.out)
    return found


@pytest.mark.long
@pytest.mark.usefixtures("grid")
def test_runs_that_differ_in_the_seed_alone_are_a_group(pkmn: Pkmn) -> None:
    found = compared(pkmn, "runs")
    assert compared(pkmn) == found, "all runs are compared where none is named"
    assert [group["label"] for group in found["groups"]] == ["dqn.gamma=0.5", "dqn.gamma=0.99"]
    worse, better = found["groups"]
    assert (better["scores"], better["seeds"]) == (SCORES[0.99], [0, 1, 2, 3])
    assert (better["interquartile_mean"]["value"], better["mean"]["value"]) == (3.5, 3.25)
    assert better["interquartile_mean"]["low"] < 3.5 < better["interquartile_mean"]["high"]
    (improvement,) = found["improvements"]
    assert (improvement["group"], improvement["other"]) == ("dqn.gamma=0.5", "dqn.gamma=0.99")
    assert improvement["probability"]["value"] == 3 / 16
    assert found["thresholds"][0] == 0.5 and found["thresholds"][-1] == 5.0
    assert worse["profile"][0] == 0.75 and worse["profile"][-1] == 0.0
    assert found["notes"] == []
    assert found["curve"] == "episode/reward"
    assert better["area_under_curve"]["value"] == pytest.approx(worse["area_under_curve"]["value"])


@pytest.mark.usefixtures("grid")
@pytest.mark.long
def test_groups_by_named_settings(pkmn: Pkmn) -> None:
    found = compared(pkmn, "runs", "--by=rl", "--by=seed")
    assert [group["label"] for group in found["groups"]] == [f"dqn, seed={seed}" for seed in range(4)]
    assert [sorted(group["scores"]) for group in found["groups"]] == [[1, 2], [2.5, 5], [0.5, 3], [1.5, 4]]


@pytest.mark.long
@pytest.mark.usefixtures("grid")
def test_formats(pkmn: Pkmn) -> None:
    table = pkmn("compare", "runs", "--target=3").out
    assert "Score: mean reward of the last training episodes." in table
    assert "dqn.gamma=0.99" in table and "interquartile mean" in table and "19%" in table and "gap" in table
    assert "| dqn.gamma=0.99 | 4 | 3.5 | " in pkmn("compare", "runs", "--format=markdown").out
    first, second = csv.DictReader(pkmn("compare", "runs", "--target=3", "--format=csv").out.splitlines())
    assert (first["group"], first["runs"], first["mean"]) == ("dqn.gamma=0.5", "4", "1.625")
    assert (second["interquartile_mean"], second["optimality_gap"]) == ("3.5", "0.5")
    assert second["scores"] == "1.0 5.0 3.0 4.0"


@pytest.mark.long
def test_the_latest_evaluation_of_the_learner_counts(pkmn: Pkmn, make_run: MakeRun) -> None:
    one, other = make_run("one", 50.0), make_run("other", 60.0)
    evaluate(one, "20260101-100000", 1.0)
    evaluate(one, "20260102-100000", 7.0)
    evaluate(one, "20260103-100000", 99.0, mode="random")
    evaluate(one, "20260104-100000", 99.0, stochastic=True)
    found = compared(pkmn, "one", "other")
    assert found["score"] == "mean reward of the last training episodes"
    assert found["groups"][0]["scores"] == [50.0, 60.0], "rewards of two kinds are never compared"
    assert found["groups"][0]["label"] == "dqn"
    assert found["notes"][0].startswith("only 1 of 2 runs is evaluated, so the reward in training is compared")
    summary = json.loads((other / "summary.json").read_text())
    (other / "summary.json").write_text(json.dumps({**summary, "final_evaluation": {"avg_reward": 3.0}}))
    assert compared(pkmn, "one", "other")["groups"][0]["scores"] == [7.0, 3.0]
    assert compared(pkmn, "one", "other")["score"] == "mean reward of the latest evaluation"


@pytest.mark.long
def test_the_learner_alone_has_columns_of_its_own(pkmn: Pkmn, make_run: MakeRun) -> None:
    beside = {"pilot": {"goal_share": 1.0}, "random": {"goal_share": 0.1}, "goal": "starter", "episodes": 10}
    for name, reward, reached in (("a", 50.0, 9), ("b", 70.0, 7)):
        evaluate(make_run(name, reward), "20260101-100000", reward / 10, reached=reached, **beside)
    evaluate(make_run("other", 60.0, settings={"gamma": "0.5"}), "20260101-100000", 6.0)
    found = compared(pkmn, "a", "b", "other")
    two, without = found["groups"]
    alone = two["learner_alone"]
    assert (alone["runs"], alone["goal"], alone["reached"], alone["episodes"], alone["share"]) == (
        2,
        "starter",
        16,
        20,
        0.8,
    )
    assert (alone["low"], alone["high"]) == pytest.approx((0.584, 0.919), abs=1e-3)
    assert (alone["reward"], alone["pilot_share"], alone["random_share"]) == (6.0, 1.0, 0.1)
    assert (two["training_reward"], without["training_reward"], without["learner_alone"]) == (60.0, 60.0, None)
    row = next(line for line in pkmn("compare", "a", "b", "other").out.splitlines() if "16 of 20" in line)
    assert " ".join(row.split()) == "dqn.gamma=0.99 2 starter 16 of 20 58% to 92% 6 100% 10% 60"
    first, _ = csv.DictReader(pkmn("compare", "a", "b", "other", "--format=csv").out.splitlines())
    assert (first["training_reward"], first["learner_alone_reached"], first["learner_alone_reward"]) == (
        "60.0",
        "16",
        "6.0",
    )


@pytest.mark.long
def test_runs_without_an_evaluation_are_listed_apart_with_the_command(pkmn: Pkmn, make_run: MakeRun) -> None:
    for name, reward in (("a", 1.0), ("b", 2.0)):
        evaluate(make_run(name, 500.0), "20260101-100000", reward)
    apart = make_run("c", 400.0)
    found = compared(pkmn)
    assert [group["scores"] for group in found["groups"]] == [[1.0, 2.0]]
    assert found["not_evaluated"] == [str(apart)]
    shown = pkmn("compare").out
    assert f"1 run has no evaluation and is not compared. To evaluate:\n  pkmn eval {apart}" in shown
    assert "400" not in shown


@pytest.mark.long
def test_equal_scores_and_single_runs_have_no_shares(pkmn: Pkmn, make_run: MakeRun) -> None:
    for name in ("a", "b"):
        make_run(name, 7.0)
    assert "Share of the runs" not in pkmn("compare").out
    make_run("c", 8.0, settings={"gamma": "0.5"})
    assert "Share of the runs" in pkmn("compare").out
    assert "Probability" not in pkmn("compare").out
    single = pkmn("compare", "a", "c").out
    assert "Share of the runs" not in single and "Intervals" not in single


@pytest.mark.long
def test_a_setting_that_an_older_run_lacks_counts_as_its_default(pkmn: Pkmn, make_run: MakeRun) -> None:
    old = make_run("old", 1.0)
    lines = [line for line in (old / "config.toml").read_text().splitlines()
             if not line.startswith(("llm_wait = ", "double = ", "# End of "))]  # fmt: skip
    (old / "config.toml").write_text(with_end("\n".join(lines) + "\n"))
    make_run("new", 1.0)
    assert [group["label"] for group in compared(pkmn)["groups"]] == ["dqn"]
    make_run("changed", 1.0, settings={"double": "false"})
    assert [(group["label"], group["runs"]) for group in compared(pkmn)["groups"]] == [
        ("dqn.double=false", ["changed"]), ("dqn.double=true", ["new", "old"]),
    ]  # fmt: skip


def test_a_metric_is_compared(pkmn: Pkmn, make_run: MakeRun) -> None:
    for name, steps in (("long", "60"), ("short", "30")):
        make_run(name, 1.0, settings={"max_steps_per_episode": steps})
    found = compared(pkmn, "long", "short", "--metric=episode/length", "--last=3")
    assert [group["label"] for group in found["groups"]] == ["max_steps_per_episode=60", "max_steps_per_episode=30"]
    assert [group["scores"] for group in found["groups"]] == [[30.0], [30.0]]
    assert found["groups"][0]["area_under_curve"] == {"value": 30.0, "low": None, "high": None}
    assert found["improvements"] == [], "the order of two runs is no probability"
    assert found["notes"] == ["2 groups have fewer than 3 runs: too few to estimate chance; train more seeds"]


@pytest.mark.usefixtures("grid")
@pytest.mark.long
def test_lower_is_better(pkmn: Pkmn) -> None:
    found = compared(pkmn, "runs", "--lower-is-better")
    assert found["improvements"][0]["probability"]["value"] == 13 / 16


@pytest.mark.long
def test_tasks_are_drawn_apart(pkmn: Pkmn, make_run: MakeRun) -> None:
    """The difference between tasks does not widen the interval."""
    for goal, level in (("outside", 1.0), ("starter", 100.0)):
        for seed in range(2):
            settings = {"goal": f'"{goal}"', "seed": str(seed)}
            make_run(f"{goal}-{seed}", level, settings=settings)
            make_run(f"double-{goal}-{seed}", level + 1, settings={**settings, "gamma": "0.5"})
    found = compared(pkmn, "runs", "--task=goal")
    assert [group["label"] for group in found["groups"]] == ["dqn.gamma=0.5", "dqn.gamma=0.99"]
    assert [group["mean"] for group in found["groups"]] == [
        {"value": 51.5, "low": 51.5, "high": 51.5},
        {"value": 50.5, "low": 50.5, "high": 50.5},
    ]
    assert found["improvements"][0]["probability"]["value"] == 1.0
    assert found["groups"][1]["runs"] == ["outside-0", "outside-1", "starter-0", "starter-1"]
    assert found["groups"][1]["scores"] == [1.0, 1.0, 100.0, 100.0]
    result = pkmn("compare", "runs/outside-0", "runs/starter-0", "runs/double-outside-0", "--task=goal")
    assert result.code == 2
    assert result.err.startswith("the group dqn.gamma=0.5 has no run with goal=starter: ")


def test_a_folder_may_have_runs_that_just_began(pkmn: Pkmn, make_run: MakeRun) -> None:
    for name in ("one", "other"):
        make_run(name, 1.0)
    (make_run("starting", 1.0) / "config.toml").unlink()
    make_run("young", None)
    found = compared(pkmn, "runs")
    assert found["groups"][0]["runs"] == ["one", "other"]
    assert found["notes"][0] == "1 run of the folder has nothing to compare, and is left out: young"


@pytest.mark.long
def test_learners_with_settings_of_their_own(pkmn: Pkmn, make_run: MakeRun) -> None:
    """A section that only one learner has adds nothing to the learner's name."""
    make_run("a", 1.0)
    make_run("b", 2.0, settings={"gamma": "0.5"})
    other = make_run("c", 3.0, settings={"rl": '"none"'})
    config = (other / "config.toml").read_text()
    start = config.index("[dqn]")
    without = config[:start] + config[config.index("\n[", start) :]
    (other / "config.toml").write_text(with_end(without[: without.rindex("# End of ")]))
    labels = [group["label"] for group in compared(pkmn, "a", "b", "c")["groups"]]
    assert labels == ["dqn, dqn.gamma=0.99", "dqn, dqn.gamma=0.5", "none"]


@pytest.mark.usefixtures("grid")
@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    long_after(
        1,
        [
            (["g0.5-0"], 2, "a comparison needs at least two runs: name them, or a folder of runs"),
            (["g0.5-0", "g0.5-0"], 2, "a comparison needs at least two runs: name them, or a folder of runs"),
            (["g0.5-0", "g0.5-9"], 5, "did you mean 'g0.5-3'?"),
            (["runs", "--by=dqn.gama"], 2, "no run has the setting 'dqn.gama': did you mean 'dqn.gamma'?"),
            (["runs", "--metric=episode/rewards"], 2, "no metric 'episode/rewards': did you mean 'episode/reward'?"),
            (["runs", "--target=nan"], 2, "--target nan: must be a finite number"),
            (["runs", "--plot=plot.pdf"], 2, "--plot plot.pdf: write it to a file that ends in .svg or .png"),
            (["--save-dir=elsewhere"], 5, "no run 'elsewhere'"),
            (["runs/g0.5-0/metrics"], 5, "is no run folder, and has none in it"),
        ],
    ),
)
def test_wrong_usage_is_told(arguments: list[str], code: int, expected: str, pkmn: Pkmn) -> None:
    result = pkmn("compare", *arguments)
    assert (result.code, result.out) == (code, "")
    assert expected in result.err
    assert result.err.count("\n") == 1


def test_a_run_without_an_episode_has_nothing_to_compare(pkmn: Pkmn, make_run: MakeRun) -> None:
    make_run("one", 1.0)
    run = make_run("young", None)
    result = pkmn("compare", "one", "young")
    assert (result.code, result.out) == (5, "")
    assert result.err == f"run {run} has nothing to compare yet: none of its episodes has ended\n"


@pytest.mark.long
@pytest.mark.usefixtures("grid")
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_plot(suffix: str, pkmn: Pkmn, tmp_path: Path) -> None:
    """It shows every group, and is the same file each time."""
    pytest.importorskip("matplotlib")
    files = [tmp_path / f"{name}{suffix}" for name in ("one", "other")]
    for file in files:
        result = pkmn("compare", "runs", f"--plot={file}")
        assert result.code == 0, result.err
        assert result.err == f"Wrote {file}.\n"
    assert files[0].read_bytes() == files[1].read_bytes()
    if suffix == ".svg":
        text = files[0].read_text()
        assert all(words in text for words in ("learning curves", "performance profile", "probability of improvement"))
        assert "dqn.gamma=0.99" in text
    else:
        assert files[0].read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("grid")
def test_without_matplotlib_one_line_says_what_brings_it(pkmn: Pkmn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = pkmn("compare", "runs", "--plot=plot.svg")
    assert (result.code, result.out) == (2, "")
    assert result.err == ("a plot needs matplotlib, which is not installed; run: pip install 'pkmncli[plot]'\n")


def test_the_benchmark_uses_these_measures() -> None:
    code = (
        "import numpy as np, sample_efficiency as benchmark\n"
        "print(benchmark.interquartile_mean([1, 2, 3, 4, 90]))\n"
        "print(benchmark.picture({'DQN alone': np.array([1, 2, 3])}, 5))"
    )
    folder = Path(__file__).parents[3] / "benchmarks"
    result = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("3.0\n<svg"), result.stderr
