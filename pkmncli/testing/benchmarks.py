"""Measurements of a user's trainer or agent: speed, memory, decision time. `pkmn bench` measures pkmncli itself."""

from __future__ import annotations

import contextlib
import time
from statistics import median, quantiles
from typing import Any

import psutil

from pkmncli.hybrid.agent import HybridAgent
from pkmncli.testing.trainers import create_mock_environment
from pkmncli.training.hybrid_trainer import HybridLLMRLTrainer

SECONDS_BETWEEN_SAMPLES = 0.5
MOST_EPISODES = 1_000_000
"""Budget of a training that a duration ends."""


def benchmark_training_speed(trainer: HybridLLMRLTrainer, episodes: int = 100) -> dict[str, float]:
    """Train, and return steps per second and episodes per hour, without start-up."""
    summary = trainer.train(total_episodes=episodes, save_interval=None, eval_interval=None)
    return {
        "episodes": summary["total_episodes"],
        "steps_per_second": summary["steps_per_second"],
        "episodes_per_hour": summary["episodes_per_hour"],
    }


def benchmark_memory_usage(trainer: HybridLLMRLTrainer, duration: float = 60) -> dict[str, float]:
    """Train for a while, and return the memory used, workers included.

    Args:
        trainer: stopped after ``duration``; unsaved results are lost.
        duration: seconds.

    Returns:
        ``peak_bytes``, ``mean_bytes`` and ``samples``: resident memory of all its processes together, so that shared
        memory counts for each.
    """
    samples: list[int] = []
    ends = time.monotonic() + duration
    taken = 0.0

    def sample(*_arguments: Any) -> None:
        nonlocal taken
        now = time.monotonic()
        if now - taken >= SECONDS_BETWEEN_SAMPLES:
            taken = now
            samples.append(_resident_bytes())
        if now >= ends:
            raise _Enough

    trainer.register_callback("step_batch", sample)
    trainer.register_callback("episode_end", sample)
    with contextlib.suppress(_Enough):
        trainer.train(total_episodes=MOST_EPISODES, save_interval=None, eval_interval=None)
    return {"peak_bytes": max(samples), "mean_bytes": sum(samples) / len(samples), "samples": len(samples)}


def benchmark_decision_latency(agent: HybridAgent, samples: int = 1000) -> dict[str, float]:
    """Let an agent decide in the bundled game. Return median and 95th percentile of the time, in milliseconds.

    Args:
        agent: the agent.
        samples: number of decisions, at least 2.
    """
    environment = create_mock_environment()
    taken: list[float] = []
    try:
        observation, info = environment.reset(seed=0)
        for _ in range(samples):
            began = time.perf_counter()
            action = agent.get_action(observation, info)
            taken.append((time.perf_counter() - began) * 1000)
            observation, _, terminated, truncated, info = environment.step(action)
            if terminated or truncated:
                observation, info = environment.reset()
    finally:
        environment.close()
    return {"samples": samples, "median_ms": median(taken), "p95_ms": quantiles(taken, n=20)[-1]}


class _Enough(Exception):  # noqa: N818 - an end, not an error
    pass


def _resident_bytes() -> int:
    process = psutil.Process()
    total: int = process.memory_info().rss
    for child in process.children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.Error:  # the process has just ended
            continue
    return total
