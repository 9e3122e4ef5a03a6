"""Environments with hundreds and thousands of actions, through every command."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.card_game import PLUGIN
from support.killed_training import train_until
from support.strange_plugins import install
from support.terminal_session import terminal_session

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmncli.errors import EnvironmentSetupError
from pkmncli.plugins import get_registry, set_registry
from pkmncli.runs import Run
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import open_store
from pkmncli.training.display import console
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import PartSpec, WorkerSpec

Pkmn = Callable[..., Any]

TRAINING = [
    "train", "--env=cards", "--mode=rl-only", "--seed=3", "--save-interval=80",
]  # fmt: skip
LEARNERS = {
    "dqn": ["--set=dqn.learning_starts=40", "--set=dqn.batch_size=8"],
    "ppo": ["--set=ppo.n_steps=20", "--set=ppo.batch_size=10"],
}


@pytest.fixture(autouse=True)
def _card_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The card game is an installed plugin, here and in other processes."""
    install(tmp_path / "site", "card_game_plugin", PLUGIN)
    monkeypatch.syspath_prepend(tmp_path / "site")
    tests = str(Path(__file__).parents[2])
    path = os.pathsep.join([str(tmp_path / "site"), tests, os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    previous = set_registry(None)
    yield
    set_registry(previous)


def rows_of(folder: Path, table: str) -> list[dict[str, Any]]:
    store = open_store(get_registry(), folder)
    try:
        return [{name: value for name, value in row.items() if name != "time"} for row in store.read(table)]
    finally:
        store.close()


def pool_of(**settings: Any) -> WorkerPool:
    part = PartSpec("support.card_game:Cards", "support.card_game:CardSettings", settings)
    return WorkerPool(WorkerSpec(part, None, seed=1, purpose=Purpose.TRAINING, num_envs=1))


@pytest.mark.long
def test_a_short_training_with_thousands_of_actions_is_replayed_and_analysed(
    pkmn: Pkmn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "LINE_SECONDS", 0.0)
    result = pkmn(*TRAINING, "--rl=dqn", "--set=cards.actions=4096", "--steps=60", "--run-name=it")
    assert result.code == 0, result.err
    names = re.findall(r"(?:the )?(\w+) \d+%", result.out.partition("Decided by: ")[2].partition("\n")[0])
    assert names == ["learner", "exploration"]
    line = result.out.rpartition("decided by ")[2].partition("\n")[0]
    assert all(f"{name} " in line for name in names), "it says the same as before the end"
    assert pkmn("replay", "it", "--verify").code == 0
    taken = [row["action"] for row in rows_of(tmp_path / "runs" / "it", "decisions")]
    result = pkmn("analyze-patterns", "it", "--show=sequences", "--min-frequency=1", "--format=json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["sequences"]
    lasting = [one["actions"] for one in found]
    assert lasting and all(f",{text(one)}," in f",{text(taken)}," for one in lasting)
    assert found[0]["action_names"] == [f"action_{action}" for action in found[0]["actions"]]


def test_decisions_kept_elsewhere_keep_the_names_of_their_actions(pkmn: Pkmn, tmp_path: Path) -> None:
    elsewhere = tmp_path / "decisions.db"
    options = ["--rl=ppo", "--mode=rl-only", "--steps=40", "--run-name=it", f"--set=decision_db_path={elsewhere}"]
    result = pkmn("train", "--env=cards", "--set=cards.actions=12", *options)
    assert result.code == 0, result.err
    with DecisionHistoryAnalyzer(str(elsewhere)) as analyzer:
        patterns = analyzer.analyze_patterns(1)
    assert {one["action_name"] for one in patterns} <= {f"action_{number}" for number in range(12)}
    assert {one["context"]["phase_name"] for one in patterns} == {"draw", "discard"}


def text(actions: list[int]) -> str:
    return ",".join(map(str, actions))


@pytest.mark.long
@pytest.mark.parametrize(
    ("learner", "actions", "kind", "last"),
    [
        ("dqn", 500, "discrete", "action_499"),
        ("dqn", 4096, "discrete", "action_4095"),
        ("ppo", 500, "multi", "action_9_49"),
        ("ppo", 4096, "binary", "_".join(["action", *"1" * 12])),
    ],
)
def test_a_killed_training_goes_on_exactly_and_every_command_reads_it(
    learner: str, actions: int, kind: str, last: str, pkmn: Pkmn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = [*TRAINING[1:], f"--rl={learner}", f"--set=cards.actions={actions}", f"--set=cards.kind={kind}"]
    training += [*LEARNERS[learner], "--steps=200"]
    monkeypatch.setattr(console, "LINE_SECONDS", 0.0)
    result = pkmn("train", *training, "--run-name=whole")
    assert result.code == 0, result.err
    assert "decided by" in result.out
    train_until(("open", ".step-000000160.tmp/meta.json", 1), tmp_path, *training, "--run-name=killed")
    assert pkmn("train", "--resume", "killed").code == 0
    whole, killed = (Run(tmp_path / "runs" / name) for name in ("whole", "killed"))
    decisions, episodes = rows_of(whole.folder, "decisions"), rows_of(whole.folder, "episodes")
    assert rows_of(killed.folder, "decisions") == decisions
    assert rows_of(killed.folder, "episodes") == episodes
    taken = [row["action"] for row in decisions]
    assert max(taken) > actions // 2
    assert decisions[-1]["x"] >= 300 and decisions[-1]["opponent"] == 100_000
    assert np.frombuffer(episodes[0]["presses"], "<u2").tolist() == taken[: episodes[0]["steps"]]
    names = json.loads((whole.folder / "names.json").read_text())["actions"]
    assert (len(names), names[-1]) == (actions, last)

    for command in (
        ("eval", "whole", "--episodes=2"),
        ("replay", "whole", "--verify"),
        ("replay", "whole", "--video", "film.gif", "--overlay"),
        ("compare", "whole", "killed"),
        ("export", "whole", "--to=tables", "--policy"),
    ):
        result = pkmn(*command)
        assert result.code == 0, (command, result.err)
    result = pkmn("analyze-patterns", "whole", "--by=previous", "--min-frequency=1", "--format=json", "--limit=200")
    assert result.code == 0, result.err
    named = {pattern["action_name"] for pattern in json.loads(result.out)["patterns"]}
    assert named <= {names[action] for action in taken}


@pytest.mark.long
def test_a_training_in_a_terminal_shows_the_names_of_the_actions(tmp_path: Path) -> None:
    options = ["--steps=400", "--set=cards.step_s=0.005", "--set=cards.actions=500", "--rl=dqn"]
    with terminal_session([*TRAINING, *options, "--run-name=it"], tmp_path) as session:
        session.wait_for(r"action_\d{2,3}\b")
        assert session.end() == 0


@pytest.mark.parametrize(
    ("kind", "actions", "last"),
    [("multi", 500, "action_9_49"), ("binary", 64, "action_1_1_1_1_1_1"), ("from_five", 30, "action_34")],
)
@pytest.mark.parametrize("masked", [True, False])
def test_learners_see_numbers_and_the_environment_its_own_actions(
    kind: str, actions: int, last: str, *, masked: bool
) -> None:
    with pool_of(kind=kind, actions=actions, masked=masked) as pool:
        pool.reset()
        assert (int(pool.action_space.n), pool.action_names.names[-1]) == (actions, last)
        for _ in range(30):
            mask = pool.observations()["action_mask"][0]
            assert mask.sum() == (actions // 2 if masked else actions)
            action = int(np.flatnonzero(mask)[-1])
            result = pool.step(np.array([action]), np.zeros(1, np.uint8), np.zeros(1, np.float32))
            assert result.records["action"].tolist() == [action]
        states = pool.save()
        expected = pool.call(0, "milestones"), pool.observations()["bits"].tolist()
        pool.load(states, [log.state_dict() for log in pool.logs()])
        assert (pool.call(0, "milestones"), pool.observations()["bits"].tolist()) == expected


def test_the_speed_is_measured_with_allowed_actions_past_the_end_of_episodes() -> None:
    with pool_of(actions=500, rounds=3) as pool:
        pool.reset()
        before = pool.save()
        assert pool.call(0, "time_steps", 20) > 0
        assert pool.save() == before


def test_a_mask_of_another_length_is_refused_with_the_number_of_actions() -> None:
    part = PartSpec("support.card_game:WronglyMasked", "support.card_game:CardSettings", {"actions": 8})
    needed = "the action mask has 7 entries; needed is one for each of the 8"
    with (
        WorkerPool(WorkerSpec(part, None, 1, Purpose.TRAINING, 1)) as pool,
        pytest.raises(EnvironmentSetupError, match=needed),
    ):
        pool.reset()


def test_too_many_or_continuous_actions_are_refused_in_one_line(pkmn: Pkmn) -> None:
    result = pkmn(*TRAINING, "--steps=10", "--set=cards.kind=binary", "--set=cards.actions=131072")
    assert (result.code, len(result.err.splitlines())) == (3, 1), result.err
    assert "more than 65,536 actions" in result.err
