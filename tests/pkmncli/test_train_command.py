"""``pkmn train``: what it leaves behind, and one clear line for everything that a user can get wrong."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.variants import long_after

from pkmncli.runs import Run

Pkmn = Callable[..., Any]

SUMMARY = {
    "alone",
    "metrics",
    "demonstration_steps",
    "pretrain_updates",
    "started_from",
    "total_episodes",
    "total_steps",
    "best_reward",
    "final_avg_reward",
    "avg_episode_length",
    "avg_llm_usage",
    "curriculum",
    "curriculum_stage_reached",
    "curriculum_advancements",
    "strategy_switches",
    "success_rate",
    "final_evaluation",
    "episodes_per_hour",
    "updates",
    "elapsed_s",
    "steps_per_second",
    "source_shares",
    "recent_learner_share",
    "milestones",
    "journey",
    "workers_lost",
}


@pytest.fixture
def rom(tmp_path: Path) -> Path:
    """A copy of the bundled game's image, to be damaged."""
    from pkmncli.plugins import get_registry  # noqa: PLC0415

    folder: Path = get_registry().get("games", "quillwood").load()
    copy = tmp_path / "game.gbc"
    copy.write_bytes((folder / "quillwood.gbc").read_bytes())
    return copy


# What it leaves behind -----------------------------------------------------------------------------------------------


def test_a_run_folder_holds_what_it_promises(
    run_pkmn: Callable[..., subprocess.CompletedProcess[str]],
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    result = run_pkmn("train", *small_training, python=("-m", "pkmncli"))
    assert (result.returncode, result.stderr) == (0, "")
    starting, first, second, *_ = result.stdout.splitlines()
    assert starting == "Starting 1 environment and dqn."
    assert first.startswith("Training dqn on Quillwood for 240 steps with 1 environment: about ")
    (folder,) = (tmp_path / "runs").iterdir()
    assert second.startswith(f"Writing to {folder}, about ")
    assert {path.name for path in folder.iterdir()} == {
        "config.toml",
        "command.txt",
        "versions.json",
        "names.json",
        "summary.json",
        "log.txt",
        "tables.jsonl",
        "run.lock",
        "metrics",
        "tensorboard",
        "decisions",
        "episodes",
        "checkpoints",
    }
    assert set(Run(folder).read_summary()) == SUMMARY
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    # another process, another command line and another folder: the same course
    assert_same_course(folder, shared_run())


@pytest.mark.long
@pytest.mark.parametrize(("mode", "envs"), [("rl-only", 1), ("adaptive", 2)])
def test_tables_and_summary_say_the_same(
    mode: str, envs: int, shared_run: Callable[..., Path], course: Callable[[Path], dict[str, Any]]
) -> None:
    content = course(shared_run(mode, envs))
    decisions, episodes, summary = content["decisions"], content["episodes"], content["summary"]
    assert [row["global_step"] for row in decisions] == list(range(1, 241))
    assert [row["environment"] for row in decisions] == [step % envs for step in range(240)]
    assert summary["total_steps"] == 240
    assert summary["total_episodes"] == len(episodes) == envs * (240 // envs // 30)
    assert summary["updates"] > 10
    assert sum(summary["source_shares"].values()) == pytest.approx(1)
    assert (summary["source_shares"]["rule"] > 0) == (mode == "adaptive")
    for episode in episodes:
        own = [
            row
            for row in decisions
            if (row["environment"], row["episode"]) == (episode["environment"], episode["episode"])
        ]
        assert [row["step"] for row in own] == list(range(1, episode["steps"] + 1))
        assert np.frombuffer(episode["presses"], "<u2").tolist() == [row["action"] for row in own]
        assert episode["total_reward"] == pytest.approx(sum(row["reward"] for row in own))
        assert [row["done"] for row in own if "done" in row] in ([], [False] * 29 + [True])
        actions = [-1] * 6 + [row["action"] for row in own]
        assert [[row[f"previous_{back}"] for back in range(6, 0, -1)] for row in own] == [
            actions[step : step + 6] for step in range(len(own))
        ]


@pytest.mark.long
def test_another_seed_is_another_course(
    pkmn: Pkmn,
    shared_run: Callable[..., Path],
    small_training: list[str],
    course: Callable[[Path], dict[str, Any]],
    tmp_path: Path,
) -> None:
    options = ["--mode=rl-only", "--steps=30", "--seed=1", "--run-name=other"]
    assert pkmn("train", *small_training, *options).code == 0
    here, there = course(tmp_path / "runs" / "other"), course(shared_run("rl-only"))
    assert [row["fine_hash"] for row in here["decisions"]] != [row["fine_hash"] for row in there["decisions"][:30]]


# Run folders that cannot be used -------------------------------------------------------------------------------------


@pytest.fixture
def small_run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    """A finished training of its own, which a test may damage."""
    return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))


def one_line(result: Any, code: int) -> str:
    """Return the text on standard error, which has to be one line and nothing else."""
    assert result.code == code, result.err
    assert len(result.err.splitlines()) == 1, result.err
    assert "Traceback" not in result.err
    text: str = result.err
    return text


@pytest.mark.long
def test_a_run_in_use_is_told_with_the_process_that_uses_it(pkmn: Pkmn, small_run: Run) -> None:
    before = sorted(small_run.folder.rglob("*"))
    with small_run.locked():
        text = one_line(pkmn("train", "--resume", "it", "--steps=250"), 5)
    assert f"in use by process {os.getpid()}" in text
    assert sorted(small_run.folder.rglob("*")) == before
    assert pkmn("train", "--resume", "it", "--steps=250").code == 0, "it is free again"


def test_a_run_of_another_layout_is_left_alone(pkmn: Pkmn, small_run: Run) -> None:
    versions = json.loads(small_run.versions_file.read_text())
    small_run.versions_file.write_text(json.dumps({**versions, "layout": 99}))
    text = one_line(pkmn("train", "--resume", "it", "--steps=250"), 5)
    assert "layout 99" in text and "pip install" in text


@pytest.mark.parametrize(
    "damaged",
    long_after(1, ["learner.safetensors", "worker-00.state", "meta.json", "buffer/replay-000000.safetensors"]),
)
def test_a_damaged_checkpoint_is_passed_over_and_told(damaged: str, pkmn: Pkmn, small_run: Run) -> None:
    path = small_run.checkpoints.folder / "step-000000240" / damaged
    path.write_bytes(path.read_bytes()[:-10])
    result = pkmn("train", "--resume", "it", "--steps=250")
    assert str(path) in one_line(result, 0)
    assert "going on from the checkpoint before it" in result.err
    assert "Going on from step 160." in result.out
    assert small_run.read_summary()["total_steps"] == 250
    assert (small_run.folder / "superseded" / "step-000000240").is_dir()
    if damaged == "meta.json":
        assert pkmn("train", "--resume", "it", "--steps=260", "--quiet").err == "", "the damage is behind it"


def test_without_a_whole_checkpoint_there_is_no_going_on(pkmn: Pkmn, small_run: Run) -> None:
    for folder in small_run.checkpoints.folder.glob("step-*"):
        (folder / "learner.safetensors").unlink()
    result = pkmn("train", "--resume", "it", "--steps=250")
    assert result.code == 5
    assert result.err.splitlines()[-1] == "none of the run's checkpoints can be used: start a new run"


@pytest.fixture
def largest_file() -> Iterator[Callable[[int], None]]:
    """Limits how large the files may get that this process writes; the system then says what it says of a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda nbytes: resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.long
def test_a_full_disk_ends_the_training_and_keeps_the_checkpoint_before(
    pkmn: Pkmn, small_training: list[str], largest_file: Callable[[int], None], tmp_path: Path
) -> None:
    largest_file(350_000)  # less than the screens of 160 steps
    text = one_line(pkmn("train", *small_training, "--observation-type=multi_modal", "--run-name=it"), 5)
    assert "step-000000160" in text
    assert "disk is full" in text
    run = Run(tmp_path / "runs" / "it")
    assert run.checkpoints.names() == ["step-000000000", "step-000000080"]
    largest_file(resource.RLIM_INFINITY)
    assert pkmn("train", "--resume", "it", "--steps=170").code == 0
    assert run.read_summary()["total_steps"] == 170


def test_a_run_that_grows_over_its_limit_is_saved_and_says_how_to_go_on(
    pkmn: Pkmn, small_training: list[str], tmp_path: Path
) -> None:
    text = one_line(pkmn("train", *small_training, "--disk-limit-gb=0.0006", "--run-name=it"), 5)
    assert f"pkmn train --resume {tmp_path / 'runs' / 'it'} --disk-limit-gb" in text


@pytest.mark.long
def test_what_a_run_is_cannot_change_when_it_goes_on(pkmn: Pkmn, small_run: Run) -> None:
    for option in ("--seed=5", "--envs=2", "--mode=rl-only", "--set=dqn.batch_size=9"):
        text = one_line(pkmn("train", "--resume", "it", option), 2)
        assert "cannot change when a run is resumed" in text
    assert "leave out --config" in one_line(pkmn("train", "--resume", "it", "--config=x.toml"), 2)
    assert "write: pkmn train --resume it" in one_line(pkmn("train", "it"), 2)


# Wrong input ---------------------------------------------------------------------------------------------------------


def damage(path: Path, change: Callable[[bytearray], bytes | bytearray], name: str = "game.gbc") -> str:
    content = change(bytearray(path.read_bytes()))
    path.unlink()
    path.with_name(name).write_bytes(content)
    return f"--rom={name}"


def with_byte(position: int, value: int) -> Callable[[bytearray], bytearray]:
    def change(content: bytearray) -> bytearray:
        content[position] = value
        return content

    return change


def other_title(content: bytearray) -> bytearray:
    content[0x134:0x138] = b"NOPE"
    checksum = 0
    for byte in content[0x134:0x14D]:
        checksum = (checksum - byte - 1) & 0xFF
    content[0x14D] = checksum
    return content


ROMS: dict[str, tuple[Callable[[Path], str], str]] = {
    "missing": (lambda rom: "--rom=nowhere.gbc", "No cartridge image at "),
    "a folder": (lambda rom: f"--rom={rom.parent}", "is a folder"),
    "empty": (lambda rom: damage(rom, lambda content: b""), "is empty"),
    "cut off": (lambda rom: damage(rom, lambda content: content[:-1000]), "no multiple of 16 KiB"),
    "of another console": (lambda rom: damage(rom, lambda content: content, "game.gba"), "Game Boy Advance"),
    "an archive": (lambda rom: damage(rom, lambda content: b"PK\3\4" + content, "game.zip"), "unpack it"),
    "a damaged header": (lambda rom: damage(rom, with_byte(0x14D, 0)), "checksum"),
    "an unknown game": (lambda rom: damage(rom, other_title), "is no known game"),
}


@pytest.mark.parametrize("kind", ROMS)
def test_a_wrong_image_is_one_line_and_leaves_nothing(
    kind: str, pkmn: Pkmn, rom: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    make, expected = ROMS[kind]
    text = one_line(pkmn("train", make(rom)), 3)
    assert expected in text
    assert capfd.readouterr() == ("", ""), "a worker said something of its own"
    assert not (tmp_path / "runs").exists()


@pytest.fixture
def state(pkmn: Pkmn, small_run: Run, tmp_path: Path) -> Path:
    """A saved state of the bundled game, outside the run."""
    copy = tmp_path / "start.state"
    copy.write_bytes((small_run.checkpoints.resolve() / "worker-00.state").read_bytes())
    return copy


@pytest.mark.long
def test_start_states(pkmn: Pkmn, state: Path, small_training: list[str], tmp_path: Path) -> None:
    """A good one is begun from; missing, cut off, of another game or no state at all are one line each."""
    runs = set((tmp_path / "runs").iterdir())
    whole = state.read_bytes()
    for name, content, expected in (
        ("cut.state", whole[:-1000], "cut off"),
        ("short.state", whole[:40], "cut off"),
        ("empty.state", b"", "empty"),
        (
            "other.state",
            re.sub(rb'"rom_sha1":"...', b'"rom_sha1":"000', whole, count=1),
            "use the image it was made with",
        ),
        ("text.state", b"hello" * 100, "state"),
    ):
        (tmp_path / name).write_bytes(content)
        assert expected in one_line(pkmn("train", *small_training, f"--init-state={name}"), 3), name
    assert "nowhere.state" in one_line(pkmn("train", "--init-state=nowhere.state"), 3)
    assert set((tmp_path / "runs").iterdir()) == runs
    assert pkmn("train", *small_training, "--steps=10", f"--init-state={state}").code == 0


USAGE = {
    ("--rl=dqm",): "dqn",
    ("--pilot=rulez",): "rules",
    ("--strategy=adaptiv",): "adaptive",
    ("--game=quilwood",): "quillwood",
    ("--reward=progres",): "progress",
    ("--reward=progress=much",): "progress=much",
    ("--llm=olama",): "llm",
    ("--set=dqn.learning_rat=1",): "dqn.learning_rate",
    ("--set=dqn.learning_rate=fast",): "dqn.learning_rate",
    ("--set=dqm.learning_rate=1",): "[dqn]",
    ("--set=learning_rate",): "learning_rate",
    ("--steps=0",): "steps",
    ("--steps=-5",): "steps",
    ("--steps=many",): "steps",
    ("--envs=0",): "envs",
    ("--episodes=0",): "episodes",
    ("--seed=-1",): "seed",
    ("--mode=rlonly",): "rl-only",
    ("--observation-type=pixels",): "observation_type",
    ("--device=gpu",): "device",
    ("--rl=none", "--mode=rl-only"): "--mode llm-only",
    ("--pilot=none",): "--mode rl-only",
    ("--config=nowhere.toml",): "nowhere.toml",
    ("--config=typo.toml",): "learning_rate",
    ("--config=broken.toml",): "broken.toml",
    ("--config=typo.json",): "max_steps_per_episode",
    ("--goal=the_moon",): "the_moon",
    ("--device=cuda",): "cuda",
    ("--stepps=5",): "--steps",
}


@pytest.mark.parametrize("options", USAGE, ids=" ".join)
def test_wrong_usage_is_a_line_or_two_and_leaves_nothing(
    options: tuple[str, ...], pkmn: Pkmn, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "typo.toml").write_text("[dqn]\nlearning_rats = 1\n")
    (tmp_path / "broken.toml").write_text("steps = = 5\n")
    (tmp_path / "typo.json").write_text('{"max_steps_per_episodes": 5}')
    result = pkmn("train", *options)
    assert result.code == 2, result.err
    assert USAGE[options] in result.err
    assert "Traceback" not in result.err
    lines = [line for line in result.err.splitlines() if line.strip()]
    assert 1 <= len([line for line in lines if not line.startswith(("Usage:", "Try "))]) <= 2, result.err
    assert result.out in ("", "Starting 1 environment and dqn.\n")
    assert capfd.readouterr() == ("", "")
    assert not (tmp_path / "runs").exists()


def test_a_name_that_is_taken_or_unfit(pkmn: Pkmn, small_run: Run, tmp_path: Path) -> None:
    assert "exists already" in one_line(pkmn("train", "--run-name=it"), 5)
    assert "run name" in one_line(pkmn("train", "--run-name=../it"), 2)
    (tmp_path / "file").write_text("")
    assert "file" in one_line(pkmn("train", "--save-dir=file"), 5)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["it"]


# The live page -------------------------------------------------------------------------------------------------------


def test_a_live_page_that_nothing_can_serve_is_refused_before_anything_is_trained(
    run_pkmn: Callable[..., subprocess.CompletedProcess[str]], small_training: list[str], tmp_path: Path
) -> None:
    result = run_pkmn("train", *small_training, "--dashboard", PKMN_DISABLE_PLUGINS="dashboard")
    assert (result.returncode, result.stdout) == (2, "")
    assert "dashboard" in result.stderr and len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.long
def test_a_port_without_a_live_page_is_told_and_no_web_is_the_last_word(
    pkmn: Pkmn, small_training: list[str], tmp_path: Path
) -> None:
    (tmp_path / "port.toml").write_text("web_port = 18400\n")
    for arguments in (["--config=port.toml"], ["--web-port=18400", "--no-web"]):
        result = pkmn("train", *small_training, "--steps=10", "--no-rl", *arguments)
        assert result.code == 0, result.err
        assert "web_port: no effect, since no live page is asked for (--dashboard)" in result.err
        assert "Live page" not in result.out


@pytest.mark.long
def test_the_next_step_of_a_training_by_episodes_trains_on(pkmn: Pkmn) -> None:
    result = pkmn("train", "--episodes=1", "--max-steps-per-episode=3", "--run-name=it")
    assert "pkmn train --resume --episodes 2" in result.out, result.err
    assert "2 episodes" in pkmn("train", "--resume", "--episodes=2").out
