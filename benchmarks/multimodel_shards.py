"""Speed and memory of one base sharded over the graphics cards of a machine, beside the same training on one card.

    python benchmarks/multimodel_shards.py --base random:7b --actors 2 --device cuda --precision bfloat16

Two adapters play the game of shared coins. First one process trains on one card, then as many processes as there are
actors share the base. The tokens a second are those of replies in sampling, and those of prompts and replies in
learning; medians over the batches, of which the first does not count. Memory is what ``nvidia-smi`` says of each card
after a batch. A base ``random:SIZE`` has random weights, as in ``multimodel_speed.py``.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import torch
from multimodel_speed import PROMPT, random_base

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.population.tiny import tiny_model
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training


def main() -> None:
    """Measure each engine and print a line for it; with ``--out`` also write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--base", required=True)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--engines", nargs="+", choices=("in-process", "sharded"), default=("in-process", "sharded"))
    parser.add_argument("--games", type=int, default=64, help="games of a batch")
    parser.add_argument("--tokens", type=int, default=8, help="most tokens of a reply")
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    found: dict[str, Any] = {}
    with base_folder(options.base, options.device, options.precision) as base:
        for engine in options.engines:
            found[engine] = _measured(options, base, engine)
            print(f"{engine}: " + ", ".join(f"{name} {value}" for name, value in found[engine].items()), flush=True)
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


@contextmanager
def base_folder(base: str, device: str, precision: str) -> Iterator[str]:
    """Yield the base's folder; one with random weights is made there and removed.

    Args:
        base: folder, or ``random:SIZE``.
        device: where random weights are made.
        precision: ``float32`` or ``bfloat16``.
    """
    kind, _, shape = base.partition(":")
    if kind != "random":
        yield base
        return
    with tempfile.TemporaryDirectory() as folder:
        _, tokenizer = tiny_model([(PROMPT.format(1, 1), ("keep", "share"))], 0, steps=1)
        random_base(shape, tokenizer, device, precision).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        if device == "cuda":
            torch.cuda.empty_cache()
        yield folder


def settings_of(options: argparse.Namespace, base: str, **others: Any) -> MultiModelConfig:
    """Return the settings of a training by the options of a benchmark.

    Args:
        options: with tokens, device and precision.
        base: folder.
        others: further settings.
    """
    return MultiModelConfig.model_validate(
        {
            "base": base,
            "num_models": 2,
            "model_types": ["llama3"],
            "weight_update_strategy": "synchronized",
            "max_episodes": 1 << 30,
            "max_new_tokens": options.tokens,
            "kv_cache_size": 0,
            "kl_coef": 0.0,
            "device": options.device,
            "precision": options.precision,
            **others,
        }
    )


def batch_speeds(training: Training, number: int, games: int) -> dict[str, float]:
    """Play a batch of games and learn from it. Return the tokens a second of both, and of the whole batch.

    Args:
        training: of one or several processes.
        number: of the batch, from 0; the same number is the same games.
        games: of the batch.
    """
    began = time.perf_counter()
    episodes = training.play(range(number * games, (number + 1) * games))
    played = time.perf_counter()
    training.updates.learn(episodes)
    ended = time.perf_counter()
    replies = [turn.reply for episode in episodes for turn in episode.turns]
    told = sum(len(reply.tokens) for reply in replies)
    read = told + sum(len(reply.prompt_ids) for reply in replies)
    return {"sampling": told / (played - began), "learning": read / (ended - played), "batch": told / (ended - began)}


def _measured(options: argparse.Namespace, base: str, engine: str) -> dict[str, Any]:
    settings = settings_of(options, base, engine=engine, actors=options.actors if engine == "sharded" else 1)
    began = time.perf_counter()
    with closing(Training(settings, game_maker("coop-compete", 2, {"rounds": 1}), 0)) as training:
        training.start()
        start = time.perf_counter() - began
        speeds = [batch_speeds(training, number, options.games) for number in range(options.batches + 1)][1:]
        memory = _memory() if options.device == "cuda" else []
    del training
    gc.collect()
    if options.device == "cuda":
        torch.cuda.empty_cache()  # so that the next engine's memory is counted alone
    return {
        **{
            f"{name}, tokens/s": round(statistics.median(each[name] for each in speeds), 1)
            for name in ("sampling", "learning")
        },
        "MiB of each card": memory,
        "seconds to start": round(start, 1),
    }


def _memory() -> list[int]:
    """Return the MiB that are used of each card."""
    asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return [int(line) for line in subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()]


if __name__ == "__main__":
    main()
