"""Tests as a plugin author writes them: the contract as a whole, then that a run learns and resumes exactly."""

from pathlib import Path

from pkmn_bandit import plugin
from pkmn_bandit.bandit import Thompson, chances
from pkmn_bandit.command import evaluate, train

from pkmncli.api import find_run, open_tables, runs
from pkmncli.testing import check_plugin


def test_the_plugin_keeps_the_contracts() -> None:
    assert [(entry.kind, entry.name) for entry in check_plugin(plugin)] == [("commands", "bandit")]


def test_the_arm_that_always_pays_is_found() -> None:
    learner = Thompson(3, seed=0)
    pulled = []
    for _ in range(200):
        pulled.append(learner.choose())
        learner.learn(pulled[-1], float(pulled[-1] == 2))
    assert pulled[-100:] == [2] * 100


def test_a_resumed_run_goes_the_same_way(register_beside, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    register_beside(plugin)
    for name, pulls in (("whole", 900), ("parts", 500)):
        with runs.start("bandit", {"pulls": pulls}, seed=2, save_dir=tmp_path, run_name=name) as run:
            train(run)
    with runs.resume("parts", "bandit", {"pulls": 900}, may_change=("pulls",), save_dir=tmp_path) as run:
        train(run)
    first, second = (rewards(tmp_path / name) for name in ("whole", "parts"))
    assert first == second
    assert len(first) == 900
    state = runs.read_state("parts", save_dir=tmp_path)
    assert evaluate(find_run("parts", tmp_path), state, 1000, 0)["avg_reward"] > 95 * chances(5, 2).max()


def rewards(folder: Path) -> list[tuple[int, int, float]]:
    store = open_tables(folder)
    rows = store.read("decisions")
    store.close()
    return [(row["global_step"], row["action"], row["reward"]) for row in rows]
