"""The default report over millions of decisions, and its question about single patterns in SQLite with an index.

    python benchmarks/decisions.py --decisions 10_000_000 --folder /tmp/decisions

The rows are written with the store, from random walks, conversations and fights. The folder is kept, and used again if
it exists. Each question runs in its own process; its peak of memory is the kernel's figure (Linux).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.api import DECISION_HORIZON, REMEMBERED_ACTIONS
from pkmncli.runs import create_run

EPISODE_STEPS = 2000
ENVIRONMENTS = 4
REASONS = [f"on the way to place {number}" for number in range(30)]
WALKING, TALKING, FIGHTING = 0, 2, 6
PAYS_AT, PAYS_ACTION = 5, 4
"""A map on which one action pays more often than others, for the analysis to find."""

COST = """
used = resource.getrusage(resource.RUSAGE_SELF)
with open("/proc/self/status") as status:  # the peak of getrusage is never below the one of the process before exec
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
print(seconds, used.ru_utime + used.ru_stime, peak / 2**20, file=sys.stderr)
"""

REPORT_CODE = f"""
import sys, time, resource
from pkmncli.cli import run
began = time.perf_counter()
code = run(["analyze-patterns", *sys.argv[1:]])
seconds = time.perf_counter() - began
{COST}
sys.exit(code)
"""

SQLITE_QUESTION = """
    SELECT map_id, phase, battle, action, count(*) AS frequency, sum(near_return > 0) AS successes,
        avg(reward) AS mean_reward, avg(near_return) AS mean_return, sum(source = 0), sum(source = 1), sum(source = 2),
        sum(source = 3)
    FROM decisions GROUP BY map_id, phase, battle, action HAVING frequency >= 3
"""


def play(episodes: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Return the columns of several episodes at once: shape (steps, episodes)."""
    shape = (EPISODE_STEPS, episodes)
    columns: dict[str, NDArray[Any]] = {
        name: np.zeros(shape, kind)
        for name, kind in (
            ("map_id", "u4"), ("x", "i4"), ("y", "i4"), ("phase", "u4"), ("battle", "u4"), ("action", "i4"),
            ("source", "u1"), ("reward", "f4"), ("confidence", "f4"), ("coarse_hash", "u8"),
        )
    }  # fmt: skip
    place = rng.integers(0, 12, episodes)
    x, y = rng.integers(0, 20, episodes), rng.integers(0, 18, episodes)
    phase, action = np.zeros(episodes, int), rng.integers(4, 8, episodes)
    luck = np.zeros(episodes)
    stuck = np.zeros(episodes, bool)
    source = rng.integers(0, 4, episodes)
    for step in range(EPISODE_STEPS):
        drawn = rng.random((6, episodes))
        phase = np.where(drawn[0] < 0.06, rng.choice([WALKING, WALKING, TALKING, FIGHTING], episodes), phase)
        source = np.where(drawn[1] < 0.1, rng.choice(4, episodes, p=[0.4, 0.2, 0.3, 0.1]), source)
        fresh = np.where(phase == WALKING, rng.integers(4, 9, episodes), rng.choice([0, 0, 0, 1, 5], episodes))
        action = np.where(drawn[2] < np.where(phase == WALKING, 0.7, 0.5), action, fresh)
        stuck = np.where(drawn[3] < 0.002, ~stuck & (rng.random(episodes) < 0.2), stuck)
        action = np.where(stuck, 4 + step % 2, action)
        walks = (phase == WALKING) & (drawn[4] < 0.8)
        # The luck of an episode lasts for some time: rewards of nearby steps are correlated.
        luck = 0.98 * luck + rng.normal(0, 0.2, episodes)
        chance = 0.01 * np.exp(luck) + 0.03 * ((place == PAYS_AT) & (action == PAYS_ACTION) & (phase == WALKING))
        values = {
            "map_id": 24 * 256 + place, "x": x, "y": y, "phase": phase, "battle": phase == FIGHTING, "action": action,
            "source": source, "reward": np.where((drawn[5] < chance) & ~stuck, 1.0, 0.0),
            "confidence": np.clip(rng.normal(0.5, 0.2, episodes) + 0.1 * (source == 2), 0, 1),
            "coarse_hash": (((24 * 256 + place) * 65536 + x * 256 + y) * 16 + phase).astype(np.uint64)
            * np.uint64(0x9E3779B97F4A7C15),
        }  # fmt: skip
        for name, value in values.items():
            columns[name][step] = value
        y = np.clip(y + walks * ((action == 5).astype(int) - (action == 4)), 0, 17)
        x = np.clip(x + walks * ((action == 7).astype(int) - (action == 6)), 0, 19)
        place = np.where(rng.random(episodes) < 0.01, rng.integers(0, 12, episodes), place)
    for back in range(1, REMEMBERED_ACTIONS + 1):
        columns[f"previous_{back}"] = np.full(shape, -1, np.int32)
        columns[f"previous_{back}"][back:] = columns["action"][:-back]
    return columns


def near_returns(reward: NDArray[Any]) -> NDArray[np.float32]:
    """Return the sum of each reward and the following ones of its episode, shape (steps, episodes)."""
    sums = np.concatenate([np.zeros((1, reward.shape[1])), np.cumsum(reward, axis=0, dtype=float)])
    ends = np.minimum(np.arange(len(reward)) + DECISION_HORIZON, len(reward))
    near: NDArray[np.float32] = (sums[ends] - sums[:-1]).astype(np.float32)
    return near


def write(folder: Path, decisions: int, seed: int) -> None:
    """Write a run's decisions with the store."""
    from pkmn_decisions.store.store import DuckDBStore  # noqa: PLC0415 - the timed processes import it themselves

    rng = np.random.default_rng(seed)
    rounds = -(-decisions // (EPISODE_STEPS * ENVIRONMENTS))
    row = np.arange(EPISODE_STEPS)
    with DuckDBStore(folder) as store:
        played: dict[str, NDArray[Any]] = {}
        goes_on = np.zeros(0, np.uint64)
        at_once = 250
        for number in range(rounds):
            if number % at_once == 0:
                played = play(at_once * ENVIRONMENTS, rng)
                played["near_return"] = near_returns(played["reward"])
                # A conversation or a fight changes the state at each action, though nobody moves.
                goes_on = (played["phase"] != WALKING) * row[:, None].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            lanes = slice(number % at_once * ENVIRONMENTS, (number % at_once + 1) * ENVIRONMENTS)
            rows = EPISODE_STEPS * ENVIRONMENTS
            steps = np.arange(number * rows, (number + 1) * rows) + 1
            ends = np.repeat(row == EPISODE_STEPS - 1, ENVIRONMENTS)
            store.append(
                "decisions",
                {
                    **{name: np.ascontiguousarray(value[:, lanes]).ravel() for name, value in played.items()},
                    "global_step": steps,
                    "environment": np.tile(np.arange(ENVIRONMENTS), EPISODE_STEPS),
                    "episode": np.full(rows, number),
                    "step": np.repeat(row + 1, ENVIRONMENTS),
                    "time": 1.8e9 + steps / 500,
                    "terminated": np.zeros(rows, bool),
                    "truncated": ends,
                    "opponent": np.zeros(rows, np.uint32),
                    "health": np.ones(rows, np.float32),
                    "milestones": np.zeros(rows, np.uint16),
                    "frames": np.repeat(row * 24, ENVIRONMENTS),
                    "fine_hash": (played["coarse_hash"][:, lanes] + goes_on[:, lanes]).ravel(),
                    "reason": [REASONS[index] for index in rng.integers(0, len(REASONS), rows)],
                },
            )


SQLITE_CODE = f"""
import resource, sqlite3, sys, time
with sqlite3.connect(sys.argv[1]) as database:
    began = time.perf_counter()
    database.execute(sys.argv[2]).fetchall()
    seconds = time.perf_counter() - began
{COST}
"""


def ask(code: str, *arguments: str) -> tuple[float, float, float]:
    """Return the cost of a question in its own process: seconds, processor seconds, and peak memory in GiB."""
    output = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    seconds, processor, peak = map(float, output.stderr.split()[-3:])
    return seconds, processor, peak


def copy_to_sqlite(folder: Path, path: Path, *, covering: bool) -> None:
    """Copy the columns that the question needs, with an index on the grouped columns, or on all if ``covering``."""
    import duckdb  # noqa: PLC0415

    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE decisions (map_id INTEGER, phase INTEGER, battle INTEGER, action INTEGER, source INTEGER, "
            "reward REAL, near_return REAL)"
        )
        rows = duckdb.connect().execute(
            "SELECT map_id, phase, battle, action, source, reward, near_return "
            f"FROM read_parquet('{folder}/decisions/*.parquet', hive_partitioning = false)"
        )
        while chunk := rows.fetchmany(100_000):
            database.executemany("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)", chunk)
        more = ", source, reward, near_return" if covering else ""
        database.execute(f"CREATE INDEX by_situation ON decisions (map_id, phase, battle, action{more})")


def main() -> None:
    """Write the rows if they do not exist yet, ask, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path("benchmark-decisions"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--covering", action="store_true", help="give SQLite an index of all columns, the best that it can be given"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    run = given.folder / f"decisions-{given.decisions}"
    if not (run / "summary.json").exists():
        began = time.perf_counter()
        shutil.rmtree(run, ignore_errors=True)
        create_run(given.folder, "drawn", "none", name=run.name)
        (run / "config.toml").write_text('rl = "none"\n[curriculum]\n', encoding="utf-8")
        write(run, given.decisions, given.seed)
        (run / "summary.json").write_text(json.dumps({}) + "\n", encoding="utf-8")
        print(f"written in {time.perf_counter() - began:.0f} s")
    database = run / ("covering.sqlite" if given.covering else "decisions.sqlite")
    if not database.exists():
        began = time.perf_counter()
        copy_to_sqlite(run, database, covering=given.covering)
        print(f"copied to SQLite in {time.perf_counter() - began:.0f} s")
    kinds = {
        "default report": (REPORT_CODE, str(run)),
        "patterns only": (REPORT_CODE, str(run), "--show", "patterns"),
        "SQLite": (SQLITE_CODE, str(database), SQLITE_QUESTION),
    }
    print(f"{'':20}{'seconds':>10}{'processor':>12}{'memory':>12}")
    for _ in range(given.repeat):
        taken = {name: ask(*kind) for name, kind in kinds.items()}
        for name, (seconds, processor, peak) in taken.items():
            print(f"{name:20}{seconds:>8.2f} s{processor:>10.2f} s{peak:>8.2f} GiB")
        ratio, used = (taken["SQLite"][which] / taken["patterns only"][which] for which in (0, 1))
        print(f"SQLite takes {ratio:.1f} times as long as the patterns only, {used:.1f} times the processor's time\n")


if __name__ == "__main__":
    main()
