"""A killed and resumed training against an uninterrupted one: equal bit for bit, in decisions and weights.

    python benchmarks/kill_and_resume.py --steps 20000 --kills 20 --envs 1
    python benchmarks/kill_and_resume.py --steps 20000 --kills 20 --envs 2 --llm-cache-only

One training runs without interruption. Another one with the same seed is sent SIGKILL after a random time, resumes with
`pkmn train --resume`, and so on. Then all decisions are compared column by column, except times, and all files of
weights and optimizer byte by byte. With --llm-cache-only both get advice from replies that a first training has kept.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

REPLY = (
    '{{"goal": "{0}", "skill": "press", "presses": {1}, "map": null, "x": null, "y": null, "confidence": 0.8, '
    '"reason": "{0}"}}'
)
ADVICE = "\n".join(
    f"[[reply]]\ntext = '{text}'"
    for text in (REPLY.format("look", '["a", "b"]'), REPLY.format("walk", '["right", "up", "up"]'), "go north")
)
START_S = 4.0
"""Approximate seconds until a process trains."""


def pkmn(*arguments: str) -> list[str]:
    """Return the command line of a training."""
    return [sys.executable, "-m", "pkmncli", "train", "--quiet", *arguments]


def train(folder: Path, *arguments: str) -> float:
    """Train to the end. Return the seconds that it took."""
    began = time.monotonic()
    subprocess.run(pkmn(*arguments), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def train_with_kills(folder: Path, arguments: list[str], kills: int, seconds: float, draw: random.Random) -> int:
    """Train to the end with several kills. Return how many of them hit the running training."""
    found = 0
    command = pkmn(*arguments)
    for _ in range(kills):
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(START_S + draw.uniform(0, 2 * seconds / kills))
        except subprocess.TimeoutExpired:
            found += 1
        process.kill()
        process.wait()
        if any((folder / "runs" / "killed" / "checkpoints").glob("step-*")):
            command = pkmn("--resume", "killed")
    train(folder, "--resume", "killed")
    return found


def differences(one: Path, other: Path) -> list[str]:
    """Return the differences between two runs; empty if they are equal."""
    found = []
    for table, left_out in (("decisions", "time, latency_s"), ("episodes", ""), ("advice", "time, latency_s")):
        parts = [path / table / "*.parquet" for path in (one, other)]
        if not all(list(part.parent.glob("*.parquet")) for part in parts):
            continue
        columns = f"* EXCLUDE ({left_out})" if left_out else "*"
        first, second = (
            f"SELECT {columns} FROM read_parquet('{part}', hive_partitioning = false, union_by_name = true)"
            for part in parts
        )
        counts = [duckdb.sql(f"SELECT count(*) FROM ({rows})").fetchall()[0][0] for rows in (first, second)]
        apart = duckdb.sql(f"SELECT count(*) FROM (({first}) EXCEPT ALL ({second}))").fetchall()[0][0]
        print(f"  {table}: {counts[0]:,} and {counts[1]:,} rows, {apart:,} of them different")
        if apart or counts[0] != counts[1]:
            found.append(table)
    newest = [max(path.glob("checkpoints/step-*")) for path in (one, other)]
    files = [{path.relative_to(folder): path for path in folder.rglob("*.safetensors")} for folder in newest]
    same = [
        name for name in files[0] if name in files[1] and files[0][name].read_bytes() == files[1][name].read_bytes()
    ]
    print(f"  {newest[0].name}: {len(same)} of {len(files[0])} files of tensors are the same")
    return found + [str(name) for name in files[0].keys() | files[1].keys() if name not in same]


def main() -> None:
    """Compare, and exit with 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--envs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--llm-cache-only", action="store_true", help="advised, from replies that were kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pkmn-kills-") as name:
        folder = Path(name)
        common = [
            f"--steps={options.steps}",
            f"--envs={options.envs}",
            f"--seed={options.seed}",
            "--save-interval=1000",
        ]
        if options.llm_cache_only:
            (folder / "advice.toml").write_text(ADVICE, encoding="utf-8")
            common += ["--llm=scripted", "--set=scripted.file=advice.toml", "--llm-cache-path=replies.sqlite"]
            train(folder, *common, "--llm-wait", "--llm-cache=readwrite", "--run-name=first")
            common += ["--llm-cache=only"]
        seconds = train(folder, *common, "--run-name=whole")
        draw = random.Random(options.seed)
        found = train_with_kills(folder, [*common, "--run-name=killed"], options.kills, seconds, draw)
        print(f"{options.envs} environments, {options.steps:,} steps, killed {found} times while it ran:")
        apart = differences(folder / "runs" / "whole", folder / "runs" / "killed")
    sys.exit(f"different: {', '.join(apart)}" if apart else 0)


if __name__ == "__main__":
    main()
