"""Learning of two adapters on a real base: reward curve, and games against scripted players before and after.

    python benchmarks/multimodel_learning.py --base SmolLM2-135M-Instruct.Q4_1.gguf

The game is that of shared coins. First the adapters imitate random players, which teaches the form of a reply and no
preference. From this start each mode is trained with each strategy. Before and after, games of held-out seeds are
played by sampling. In ``cooperative`` a game is won if the two models share more coins than two scripted players do in
the same game. In ``competitive`` a model meets a scripted player, in either place, and the larger gain wins. A tie is
half a point. Intervals are 95%, from bootstrap samples of whole games. Seconds are processor time, or time with
``--device cuda``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.players import ScriptedPlayer
from pkmn_multimodel.recording import flat, nested
from pkmn_multimodel.rollouts import Episode, play
from pkmn_multimodel.settings import MultiModelConfig, TrainingMode, WeightUpdateStrategy
from pkmn_multimodel.training import EVALUATION_SEED, Training
from pkmncli.comparison.measures import bootstrap_interval, mean

MODES, UPDATES = ("cooperative", "competitive"), ("synchronized", "asynchronous")
PLACES = ("model_0", "model_1")


def main() -> None:
    """Train by each mode and strategy from the same start and print tables; with ``--out`` also write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--base", required=True)
    parser.add_argument("--modes", nargs="+", choices=("cooperative", "competitive"), default=MODES)
    parser.add_argument("--updates", nargs="+", choices=("synchronized", "asynchronous"), default=UPDATES)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--imitated", type=int, default=10, help="batches of random games that teach the form")
    parser.add_argument("--games", type=int, default=8, help="games of a batch")
    parser.add_argument("--rounds", type=int, default=1, help="rounds of a game")
    parser.add_argument("--held-out", type=int, default=40, help="games of an evaluation")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--strength", type=float, default=0.5, help="of the scripted players")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto", choices=("auto", "float32", "bfloat16"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = MultiModelConfig.model_validate(
        {
            "base": options.base,
            "num_models": 2,
            "model_types": ["llama3"],
            "training_mode": "cooperative",
            "weight_update_strategy": "synchronized",
            "batch_size": options.games,
            "max_episodes": 1 << 30,
            "learning_rate": options.learning_rate,
            "gamma": 0.5,
            "kl_coef": 0.0,
            "max_new_tokens": 3,
            "chat_template": False,
            "imitation_games": options.games * options.imitated,
            "device": options.device,
            "precision": options.precision,
        }
    )
    training = Training(settings, game_maker("coop-compete", 2, {"rounds": options.rounds}), options.seed)
    found: dict[str, Any] = {"options": {name: str(value) for name, value in vars(options).items()}}

    def evaluate(when: str) -> dict[str, Any]:
        figures = evaluated(training, options.held_out, options.strength)
        shown = (f"{name} {value:.2f} ({low:.2f} to {high:.2f})" for name, (value, low, high) in figures.items())
        print(f"{when}: " + "  ".join(shown), flush=True)
        return figures

    found["untaught"] = evaluate("base without adapters")
    found["form"] = trained(training, options.imitated)
    start = flat(training.state_dict())
    for mode in options.modes:
        for update in options.updates:
            settings.training_mode, settings.weight_update_strategy = TrainingMode(mode), WeightUpdateStrategy(update)
            training.load_state_dict(nested(start))
            its = found[f"{mode}, {update}"] = {"before": evaluate(f"{mode}, {update}, before")}
            its |= trained(training, options.batches)
            its["after"] = evaluate(f"{mode}, {update}, after")
            if options.out is not None:
                options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def trained(training: Training, batches: int) -> dict[str, Any]:
    """Train for some batches. Return the curve and the seconds."""
    clock = time.process_time if training.population.device == "cpu" else time.perf_counter
    began, curve = clock(), []
    for number in range(batches):
        metrics = training.batch().metrics
        curve.append({name: metrics[name] for name in ("score", "reward", "valid_replies")})
        print(f"  batch {number + 1:3}  " + "  ".join(f"{name} {value:6.2f}" for name, value in curve[-1].items()))
        sys.stdout.flush()
    seconds = clock() - began
    print(f"  {seconds:.0f} s")
    return {"curve": curve, "seconds": seconds}


def evaluated(training: Training, games: int, strength: float) -> dict[str, Any]:
    """Return score, valid replies and points against scripted players, each as (mean, low, high)."""
    seeds = range(EVALUATION_SEED, EVALUATION_SEED + games)
    own = played(training, seeds, [{place: place for place in PLACES} for _ in seeds], strength)
    if training.settings.training_mode is TrainingMode.COOPERATIVE:
        scripts = played(training, seeds, [dict.fromkeys(PLACES, "script") for _ in seeds], strength)
        points = [half(one.score - other.score) for one, other in zip(own, scripts, strict=True)]
    else:
        chosen = [PLACES[number % 2] for number in range(games)]
        seats = [{place: place if place == one else "script" for place in PLACES} for one in chosen]
        met = played(training, seeds, seats, strength)
        points = [half(2 * it.gains[one] - sum(it.gains.values())) for it, one in zip(met, chosen, strict=True)]
    return {
        "score": interval([episode.score for episode in own]),
        "valid_replies": interval([episode.valid / episode.replies for episode in own]),
        "points": interval(points),
    }


def played(training: Training, seeds: range, seats: list[dict[str, str]], strength: float) -> list[Episode]:
    """Play games of these seeds by sampling, with a scripted player in the places named ``script``."""
    settings = training.settings
    return play(
        training.game,
        seeds,
        seats,
        training.population,
        {"script": ScriptedPlayer(strength, seed=1)},
        torch.Generator().manual_seed(0),
        max_new_tokens=settings.max_new_tokens,
        temperature=settings.temperature,
        gamma=settings.gamma,
    )


def half(lead: float) -> float:
    """Return the points of a game: 1 for a lead, 0.5 for a tie."""
    return 0.5 if abs(lead) < 1e-9 else float(lead > 0)


def interval(values: list[float]) -> tuple[float, float, float]:
    """Return mean and 95% bootstrap interval."""
    low, high = bootstrap_interval([np.array(values, np.float64)], mean)
    return float(np.mean(values)), float(low), float(high)


if __name__ == "__main__":
    main()
