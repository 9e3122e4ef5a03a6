"""``pkmn replay``: a recorded episode plays again in any process, on film too, and a difference is noticed."""

from __future__ import annotations

import gc
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageSequence

from pkmncli.api import Environment
from pkmncli.config import ResolvedSettings
from pkmncli.plugins import get_registry
from pkmncli.replay import RecordedEpisode, replay
from pkmncli.runs import Run
from pkmncli.training.assembly import environment_spec, open_store

Pkmn = Callable[..., Any]


@pytest.fixture
def run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))


@pytest.fixture
def two_environments(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    return Run(shutil.copytree(shared_run("adaptive", 2), tmp_path / "runs" / "it"))


def recorded(run: Run) -> list[RecordedEpisode]:
    store = open_store(get_registry(), run.folder)
    rows = store.read("episodes")
    store.close()
    return [RecordedEpisode.from_row(row) for row in rows]


def environment_of(run: Run) -> Environment:
    settings = ResolvedSettings.from_run(run.folder, get_registry())
    environment: Environment = environment_spec(settings, get_registry()).build()
    return environment


def rewrite(run: Run, **columns: Any) -> None:
    """Changes the recorded episodes, as damage or another version would have them."""
    store = open_store(get_registry(), run.folder)
    rows = store.read("episodes")
    store.close()
    shutil.rmtree(run.folder / "episodes")
    store = open_store(get_registry(), run.folder)
    store.append("episodes", {name: [columns.get(name, itemgetter(name))(row) for row in rows] for name in rows[0]})
    store.close()


def test_every_episode_of_a_training_replays(pkmn: Pkmn, two_environments: Run) -> None:
    episodes = recorded(two_environments)
    environment = environment_of(two_environments)
    try:
        for episode in episodes:
            agreement = replay(environment, episode)
            assert agreement.equal
            assert (agreement.steps, agreement.memory_checks) == (30, 1)
    finally:
        environment.close()
    assert len(episodes) == 8


def test_it_agrees_in_another_process(run_pkmn: Callable[..., subprocess.CompletedProcess[str]], run: Run) -> None:
    result = run_pkmn("replay", "it", "--verify", python=("-m", "pkmncli"))
    assert (result.returncode, result.stderr) == (0, "")
    best = max(recorded(run), key=lambda episode: episode.total_reward)
    assert result.stdout.splitlines() == [
        f"it, {best.title}: 30 steps, reward {best.total_reward:.2f}, time-limit.",
        "The replay agrees: equal state after each of 30 steps, equal work RAM at 1 checks.",
    ]


@pytest.mark.parametrize(
    ("which", "title"),
    [
        ("last", "episode 3 of environment 1"),
        ("1.2", "episode 2 of environment 1"),
        ("0", "episode 0 of environment 0"),
    ],
)
def test_episodes_by_name(which: str, title: str, pkmn: Pkmn, two_environments: Run) -> None:
    result = pkmn("replay", "--episode", which)
    assert (result.code, result.err) == (0, "")
    assert title in result.out


@pytest.mark.parametrize("which", ["8", "-1", "1.9", "2.0", "worst", "."])
def test_an_episode_that_does_not_exist_is_told(which: str, pkmn: Pkmn, two_environments: Run) -> None:
    result = pkmn("replay", f"--episode={which}")
    assert result.code == 5
    assert len(result.err.splitlines()) == 1


def test_a_run_without_an_episode_is_told(pkmn: Pkmn, run: Run) -> None:
    shutil.rmtree(run.folder / "episodes")
    result = pkmn("replay")
    assert result.code == 5
    assert result.err == "the run has no finished episode yet; replay works as soon as one has ended\n"


def changed(data: bytes, position: int, value: int) -> bytes:
    content = bytearray(data)
    content[position] = value
    return bytes(content)


def test_a_changed_press_is_noticed(pkmn: Pkmn, run: Run) -> None:
    """Whatever is pressed instead at the first step that did something, the state after it is another."""
    episode = recorded(run)[-1]
    hashes = episode.fine_hashes.tolist()
    step = next(n for n in range(1, 30) if hashes[n] != hashes[n - 1] and episode.presses[n] != 8)
    rewrite(run, presses=lambda row: changed(row["presses"], step, 8))
    result = pkmn("replay", "--episode=last", "--verify")
    assert result.code == 5
    assert f"differs from the record at step {step + 1}: the game's state is another" in result.err
    assert len(result.err.splitlines()) == 1


def test_a_changed_hash_is_noticed(pkmn: Pkmn, run: Run) -> None:
    rewrite(run, fine_hashes=lambda row: changed(row["fine_hashes"], 8 * 17, row["fine_hashes"][8 * 17] ^ 1))
    result = pkmn("replay", "--verify")
    assert result.code == 5
    assert "differs from the record at step 18" in result.err


def test_changed_work_ram_is_noticed(pkmn: Pkmn, run: Run) -> None:
    rewrite(run, memory_hashes=lambda row: changed(row["memory_hashes"], 11, row["memory_hashes"][11] ^ 1))
    result = pkmn("replay")
    assert result.code == 5
    assert "differs from the record at step 30: the state is the same, but work RAM is not" in result.err


def test_another_seed_does_not_agree(run: Run) -> None:
    environment = environment_of(run)
    try:
        differing = 0
        for episode in recorded(run):
            assert replay(environment, episode).equal
            differing += not replay(environment, replace(episode, seed=episode.seed + 1)).equal
    finally:
        environment.close()
    assert differing >= 4  # some seeds begin alike: there are only so many ways to stand in a room


def pictures(film: Path) -> NDArray[np.uint8]:
    """The pictures of a film, (n, height, width, 3)."""
    if film.suffix == ".gif":
        with Image.open(film) as image:
            return np.stack([np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)])
    frames = imageio_ffmpeg.read_frames(str(film))
    width, height = next(frames)["size"]
    found = np.stack([np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in frames])
    del frames
    gc.collect()  # imageio_ffmpeg leaves the pipes to its program for the garbage collector to close
    return found


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["best.mp4", "best.gif"])
def test_a_film_shows_the_episode(name: str, pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    result = pkmn("replay", "--video", name)
    assert (result.code, result.err) == (0, "")
    assert f"Wrote {name}." in result.out
    assert "The replay agrees" in result.out
    frames = pictures(tmp_path / name)
    assert len(frames) == 30 if name == "best.mp4" else 2 <= len(frames) <= 30
    height, width = frames.shape[1:3]
    assert width / height == pytest.approx(160 / 144, rel=0.02)
    assert len(np.unique(frames[0].reshape(-1, 3), axis=0)) > 4, "there is something to see"
    assert (frames[0] != frames[-1]).any(), "and it moves"
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "runs"]


def test_an_unknown_kind_of_film_is_told(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    result = pkmn("replay", "--video=best.xyz")
    assert result.code == 2
    assert ".mp4" in result.err
    assert not (tmp_path / "best.xyz").exists()


def test_an_evaluation_replays(pkmn: Pkmn, run: Run) -> None:
    missing = pkmn("replay", "--evaluation")
    assert missing.code == 5 and "pkmn eval it" in missing.err
    assert pkmn("eval", "--episodes=2", "--max-steps-per-episode=25", "--mode=random").code == 0
    result = pkmn("replay", "--evaluation", "--episode=last")
    assert (result.code, result.err) == (0, "")
    assert "equal state after each of 25 steps" in result.out
