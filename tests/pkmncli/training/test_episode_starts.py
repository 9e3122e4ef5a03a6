"""Episodes go on from where others got: sampled by seed, kept on disk, exact after a kill and with a lost worker."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.killed_training import train_until

from pkmncli.api import Action, Source
from pkmncli.config import resolve_settings
from pkmncli.config.starts_settings import StartsSettings
from pkmncli.plugins import get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.beginnings.starts_curriculum import StartsCurriculum
from pkmncli.training.workers.pool import WorkerPool

PILOT_ALONE = ["--rl=none", "--max-steps-per-episode=40", "--steps=400", "--save-interval=120", "--run-name=it"]
STARTS = ["--set=starts.furthest=0.4", "--set=starts.reached=0.3"]


def test_starts_are_sampled_by_their_shares() -> None:
    curriculum = StartsCurriculum(StartsSettings(furthest=0.5, reached=0.3))
    assert {curriculum.sample(seed) for seed in range(50)} == {""}, "nothing was reached yet"
    for place, state in ((0, "a"), (4, "c"), (2, "b"), (4, "later")):
        curriculum.add(place, state)
    sampled = [curriculum.sample(seed) for seed in range(2000)]
    assert sampled.count("") / 2000 == pytest.approx(0.2, abs=0.03)
    assert sampled.count("c") / 2000 == pytest.approx(0.5 + 0.1, abs=0.03)
    assert sampled.count("a") / 2000 == pytest.approx(0.1, abs=0.03)
    assert sampled.count("later") == 0


@given(
    furthest=st.floats(0, 0.5),
    reached=st.floats(0, 0.5),
    places=st.lists(st.integers(0, 30), unique=True),
    seeds=st.lists(st.integers(0, 2**32 - 1), max_size=20),
)
def test_a_saved_curriculum_samples_what_it_would_have_sampled(
    furthest: float, reached: float, places: list[int], seeds: list[int]
) -> None:
    first, second = (StartsCurriculum(StartsSettings(furthest=furthest, reached=reached)) for _ in range(2))
    for place in places:
        first.add(place, f"state {place}")
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert [first.sample(seed) for seed in seeds] == [second.sample(seed) for seed in seeds]
    assert {first.sample(seed) for seed in seeds} <= {"", *(f"state {place}" for place in places)}


def test_shares_that_are_more_than_all_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"1\.2 together"):
        StartsSettings(furthest=0.7, reached=0.5)


@pytest.mark.long
def test_a_training_goes_on_from_where_it_got(
    pkmn: Callable[..., Any], course: Callable[[Path], dict[str, Any]], tmp_path: Path
) -> None:
    result = pkmn("train", *PILOT_ALONE, *STARTS)
    assert result.code == 0, result.err
    run = tmp_path / "runs" / "it"
    found = course(run)
    further = [row for row in found["episodes"] if row["start"]]
    assert 0 < len(further) < len(found["episodes"])
    for row in further:
        assert (run / "starts" / f"{row['start']}.state").is_file()
        reached = json.loads(row["milestones"])
        assert (reached["game_started"], reached["downstairs"]) == (0, 0), "nothing is reached, or paid, again"
    splits = found["summary"]["milestones"]
    assert splits["outside"]["best_step"] > 0, "who begins outside says nothing about the way there"
    for row in (further[0], further[-1]):
        replayed = pkmn("replay", "it", "--episode", f"{row['environment']}.{row['episode']}")
        assert replayed.code == 0, replayed.err
    (run / "starts" / f"{further[0]['start']}.state").unlink()
    refused = pkmn("replay", "it", "--episode", f"0.{further[0]['episode']}")
    assert (refused.code, len(refused.err.splitlines())) == (5, 1)


@pytest.mark.long
@pytest.mark.parametrize("envs", [pytest.param(1, marks=pytest.mark.long), 2])
def test_a_killed_training_begins_its_episodes_where_it_would_have(
    envs: int, pkmn: Callable[..., Any], assert_same_course: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    arguments = [*PILOT_ALONE, *STARTS, f"--envs={envs}"]
    train_until(("open", ".step-000000360.tmp/meta.json", 1), tmp_path, *arguments)
    assert pkmn("train", "--resume", "it").code == 0
    assert pkmn("train", *arguments, "--run-name=whole").code == 0
    assert_same_course(tmp_path / "runs" / "it", tmp_path / "runs" / "whole")


@pytest.mark.long
def test_a_lost_worker_plays_its_episode_again_from_its_start(tmp_path: Path) -> None:
    settings = resolve_settings(
        {"mode": "rl-only", "max_steps_per_episode": 8, "seed": 3}, registry=get_registry(), environ={}
    )
    spec = worker_spec(settings, get_registry(), Purpose.TRAINING, num_envs=1)

    def step(pool: WorkerPool, action: int) -> int:
        result = pool.step(np.array([action]), np.array([Source.RL], np.uint8), np.zeros(1, np.float32))
        return int(result.records[0]["fine_hash"])

    def play(pool: WorkerPool, lose_at: int | None) -> list[int]:
        """Two episodes; the second begins where the first was after five steps, the third where nobody was."""
        pool.reset()
        hashes = [step(pool, Action.LEFT) for _ in range(5)]
        path = tmp_path / "some.state"
        path.write_bytes(pool.save()[0].environment)
        pool.begin_next_at(0, str(path))
        hashes += [step(pool, Action.LEFT) for _ in range(3)]
        pool.begin_next_at(0, "")
        for number in range(12):
            if number == lose_at:
                os.kill(pool.process_id(0), signal.SIGKILL)
            hashes.append(step(pool, Action.DOWN))
        return hashes

    with WorkerPool(spec) as pool:
        whole = play(pool, None)
    with WorkerPool(spec) as pool:
        assert play(pool, 4) == whole
        assert pool.losses == 1
    with WorkerPool(spec) as pool:
        assert play(pool, 7) == whole, "lost at the step that ends an episode"
        assert pool.losses == 1
