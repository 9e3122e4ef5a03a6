"""``pkmn replay``: a recorded episode plays again in any process, on film too, and a difference is noticed."""

from __future__ import annotations

import contextlib
import gc
import re
import shutil
import signal
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
from support.variants import long_after

from pkmn_pyboy.emulation.emulator import Emulator
from pkmncli.api import Action, Environment
from pkmncli.config import ResolvedSettings
from pkmncli.plugins import get_registry
from pkmncli.replay.play_again import replay
from pkmncli.replay.showing import open_episode
from pkmncli.replay.shown import Show
from pkmncli.runs import Run
from pkmncli.training.assembly import environment_spec, open_store
from pkmncli.training.recording.recorded_episode import RecordedEpisode

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
    (run.folder / "tables.jsonl").unlink()  # so that nobody misses them
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


@pytest.mark.long
def test_it_agrees_in_another_process(run_pkmn: Callable[..., subprocess.CompletedProcess[str]], run: Run) -> None:
    result = run_pkmn("replay", "it", "--verify", python=("-m", "pkmncli"))
    assert (result.returncode, result.stderr) == (0, "")
    best = max(recorded(run), key=lambda episode: episode.total_reward)
    assert result.stdout.splitlines() == [
        f"it, {best.title}: 30 steps, reward {best.total_reward:.2f}, time-limit.",
        "The replay agrees: equal state after each of 30 steps, equal memory at 1 check.",
    ]


@pytest.mark.parametrize(
    ("which", "title"),
    long_after(
        1,
        [
            ("last", "episode 3 of environment 1"),
            ("1.2", "episode 2 of environment 1"),
            ("0", "episode 0 of environment 0"),
        ],
    ),
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
    (run.folder / "tables.jsonl").unlink()
    result = pkmn("replay")
    assert result.code == 5
    assert result.err == "the run has no finished episode yet; replay works as soon as one has ended\n"


def changed(data: bytes, position: int, value: int) -> bytes:
    content = bytearray(data)
    content[position] = value
    return bytes(content)


def test_a_changed_press_is_noticed(pkmn: Pkmn, run: Run) -> None:
    """Another action at the first step that changed something leads to another state."""
    episode = recorded(run)[-1]
    hashes = episode.fine_hashes.tolist()
    step = next(n for n in range(1, 30) if hashes[n] != hashes[n - 1] and episode.actions[n] != 8)
    rewrite(run, presses=lambda row: changed(row["presses"], 2 * step, 8))
    result = pkmn("replay", "--episode=last", "--verify")
    assert result.code == 5
    assert f"differs from the record at step {step + 1}: the game's state is another" in result.err
    assert len(result.err.splitlines()) == 1


def test_a_changed_hash_is_noticed(pkmn: Pkmn, run: Run) -> None:
    rewrite(run, fine_hashes=lambda row: changed(row["fine_hashes"], 8 * 17, row["fine_hashes"][8 * 17] ^ 1))
    result = pkmn("replay", "--verify")
    assert result.code == 5
    assert "differs from the record at step 18" in result.err


@pytest.mark.long
def test_changed_work_ram_is_noticed(pkmn: Pkmn, run: Run) -> None:
    rewrite(run, memory_hashes=lambda row: changed(row["memory_hashes"], 11, row["memory_hashes"][11] ^ 1))
    result = pkmn("replay")
    assert result.code == 5
    assert "differs from the record at step 30: the state is the same, but the memory is not" in result.err


def test_a_hash_of_an_earlier_version_of_the_environment_is_accepted(run: Run) -> None:
    environment = environment_of(run)
    try:
        episode = recorded(run)[0]
        older = replace(episode, memory_hashes={step: own ^ 1 for step, own in episode.memory_hashes.items()})
        assert not replay(environment, older).equal
        environment.earlier_memory_hashes = lambda: [environment.memory_hash() ^ 1]  # type: ignore[attr-defined]
        agreement = replay(environment, older)
        assert agreement.equal
        assert agreement.memory_checks == len(older.memory_hashes) > 0
    finally:
        environment.close()


@pytest.mark.long
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


@pytest.mark.long
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


def folder_of(path: Path) -> NDArray[np.uint8]:
    """The pictures of a folder, in the order of their names."""
    return np.stack([np.asarray(Image.open(file).convert("RGB")) for file in sorted(path.glob("*.png"))])


@pytest.mark.long
def test_a_folder_of_pictures_holds_every_step_four_times_as_large(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    result = pkmn("replay", "--video", "pictures")
    assert (result.code, result.err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir())[::29] == ["000001.png", "000030.png"]
    found = folder_of(tmp_path / "pictures")
    assert found.shape == (30, 576, 640, 3)
    small = found[:, ::4, ::4]
    assert (found == small.repeat(4, axis=1).repeat(4, axis=2)).all(), "each pixel is a square"
    again = pkmn("replay", "--video", "pictures")
    assert again.code == 2 and "empty folder" in again.err


@pytest.mark.long
def test_an_overlay_leaves_the_picture_whole_and_says_below_what_was_decided(
    pkmn: Pkmn, run: Run, tmp_path: Path
) -> None:
    assert pkmn("replay", "--video", "plain").code == 0
    assert pkmn("replay", "--video", "told", "--overlay").code == 0
    plain, told = folder_of(tmp_path / "plain"), folder_of(tmp_path / "told")
    assert told.shape == (30, 736, 640, 3)
    assert (told[:, :576] == plain).all()
    below = told[:, 576:720]
    assert (told[:, 720:] == below[0, 0, 0]).all(), "the last line stands clear of the edge"
    background = below[0, 0, 0]
    written = (below != background).any(axis=-1)
    assert all((page.reshape(4, 36, 640).any(axis=(1, 2)))[:3].all() for page in written), "progress, place, press"
    assert len(np.unique(below.reshape(30, -1), axis=0)) == 30, "each step says something of its own"


@pytest.mark.long
def test_captions_are_those_of_the_recorded_decisions(run: Run) -> None:
    store = open_store(get_registry(), run.folder)
    rows = store.read("decisions", "environment = 0 AND episode = 0")
    store.close()
    shown = open_episode(str(run.folder), None, get_registry(), "0.0")
    try:
        said = []
        while shown.advance():
            said.append(shown.lines())
    finally:
        shown.environment.close()
    assert [lines[3] for lines in said] == [row["reason"] for row in rows]
    who = {0: "the learner", 1: "exploration", 2: "the rules"}
    assert [lines[2] for lines in said] == [
        f"{Action(row['action']).name.lower()}, by {who[row['source']]}, confidence {row['confidence']:.2f}"
        for row in rows
    ]
    assert said[0][1].startswith("Home 2F (")
    assert said[29][0].startswith("step 30 of 30   reward ") and said[29][0].endswith("outside")
    total = sum(row["reward"] for row in rows)
    assert f"reward {total:,.1f} " in said[29][0]


@pytest.mark.long
def test_two_runs_stand_side_by_side_until_both_are_over(
    pkmn: Pkmn, run: Run, shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    other = shutil.copytree(shared_run("adaptive", 2), tmp_path / "runs" / "other")
    result = pkmn("replay", "it", "--beside", "other", "--video", "both")
    assert (result.code, result.err) == (0, "")
    assert result.out.count("The replay agrees") == 2
    both = folder_of(tmp_path / "both")
    assert both.shape == (30, 772, 1296, 3), "with a line that says which run it is, and a line between them"
    assert len({tuple(pixel) for pixel in both[0, :, 640:656].reshape(-1, 3)}) == 1
    assert pkmn("replay", str(other), "--video", "alone").code == 0
    assert (both[:, :576, 656:] == folder_of(tmp_path / "alone")).all()


@pytest.mark.long
def test_it_can_begin_at_a_milestone(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    best = max(recorded(run), key=lambda episode: episode.total_reward)
    assert pkmn("replay", "--video", "late", "--from", "outside").code == 0
    assert pkmn("replay", "--video", "all").code == 0
    late, whole = folder_of(tmp_path / "late"), folder_of(tmp_path / "all")
    assert len(late) == 30 - best.milestones["outside"] + 1 < 30
    assert (late == whole[-len(late) :]).all()
    assert pkmn("replay", "--video", "end", "--from", "30").code == 0
    assert len(folder_of(tmp_path / "end")) == 1
    seen = pkmn("replay", "--terminal", "--speed=100", "--from", "30").out
    assert seen.count("step 30 of 30   reward") == 1 and "step 29 of 30" not in seen
    for wrong, said in (("outsid", "did you mean outside?"), ("31", "is over after 30 steps")):
        result = pkmn("replay", "--video", "none", "--from", wrong)
        assert result.code == 5 and said in result.err and len(result.err.splitlines()) == 1
    assert not (tmp_path / "none").exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", long_after(1, ["best.mp4", "best.gif", "best"]))
def test_ctrl_c_while_filming_leaves_nothing(
    name: str, pkmn: Pkmn, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = 0
    picture = Show.picture

    def interrupted(show: Show) -> NDArray[np.uint8]:
        nonlocal frames
        frames += 1
        if frames == 10:
            signal.raise_signal(signal.SIGINT)
        return picture(show)

    monkeypatch.setattr(Show, "picture", interrupted)
    result = pkmn("replay", "--video", name, "--overlay")
    assert (result.code, result.err) == (130, f"Stopped; {name} was not written.\n")
    assert frames == 10, "it stops at once"
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.long
def test_a_terminal_shows_the_game_and_the_words_below(pkmn: Pkmn, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "30")
    plain = pkmn("replay", "--terminal", "--speed=100")
    told = pkmn("replay", "--terminal", "--speed=100", "--overlay", "--beside=it")
    assert (plain.code, told.code) == (0, 0)
    assert "step 30 of 30   reward" in plain.out and "by the rules" not in plain.out
    pages = told.out.split("\x1b[H")[1:]
    assert len(pages) == 30
    assert re.search(r"\w+, by (the rules|the learner|exploration), confidence \d\.\d\d   \|   \w+, by ", pages[9])
    assert all(page.count("\n") <= 30 for page in pages[:-1]), "it fits"


@pytest.mark.parametrize("options", long_after(1, [[], ["--verify"]]))
def test_ctrl_c_within_a_step_is_not_swallowed(
    options: list[str], pkmn: Pkmn, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that a signal raises within PyBoy's compiled code would be printed and lost."""
    steps = 0
    press = Emulator.press

    def interrupted(emulator: Emulator, *arguments: Any, **keywords: Any) -> Any:
        nonlocal steps
        steps += 1
        with contextlib.suppress(KeyboardInterrupt):  # as a function that may not raise does
            if steps == 5:
                signal.raise_signal(signal.SIGINT)
            return press(emulator, *arguments, **keywords)

    monkeypatch.setattr(Emulator, "press", interrupted)
    assert pkmn("replay", *options).code == 130


def test_ways_to_show_it_go_one_by_one(pkmn: Pkmn, run: Run) -> None:
    for options, said in (
        (("--video=a.mp4", "--terminal"), "choose one of --video"),
        (("--window", "--verify"), "choose one of --video"),
        (("--overlay", "--beside=it"), "--overlay, --beside: choose how to show it"),
        (("--from=outside", "--verify"), "--from: choose how to show it"),
    ):
        result = pkmn("replay", *options)
        assert result.code == 2 and said in result.err and len(result.err.splitlines()) == 1


def test_a_window_without_a_display_is_told(pkmn: Pkmn, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    result = pkmn("replay", "--window")
    assert result.code == 2
    assert result.err.startswith("--window: ") and result.err.endswith("use --terminal, or --video FILE\n")
    assert len(result.err.splitlines()) == 1


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_evaluation_can_be_filmed(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    options = ("--episodes=2", "--max-steps-per-episode=12", "--mode=random")
    result = pkmn("eval", *options, "--video=best.mp4", "--videos=all")
    assert (result.code, result.err.strip()) == (0, "")
    assert "Wrote best.mp4." in result.out
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["episode-0.mp4", "episode-1.mp4"]
    assert len(pictures(tmp_path / "all" / "episode-1.mp4")) == 12
    wrong = pkmn("eval", *options, "--video=best.avi")
    assert wrong.code == 2 and ".mp4" in wrong.err, "told before anything is played"


def test_an_unknown_kind_of_film_is_told(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    result = pkmn("replay", "--video=best.xyz")
    assert result.code == 2
    assert ".mp4" in result.err
    assert not (tmp_path / "best.xyz").exists()


@pytest.mark.long
def test_an_evaluation_replays(pkmn: Pkmn, run: Run) -> None:
    missing = pkmn("replay", "--evaluation")
    assert missing.code == 5 and "pkmn eval it" in missing.err
    assert pkmn("eval", "--episodes=2", "--max-steps-per-episode=25", "--mode=random").code == 0
    result = pkmn("replay", "--evaluation", "--episode=last")
    assert (result.code, result.err) == (0, "")
    assert "equal state after each of 25 steps" in result.out
