"""A test whether goals in numbers are enough to play: the pilot is cloned, then plays with goals from the rules.

    python benchmarks/goal_cloning.py --goal thorn_badge --seeds 0-39 --held-out 300-309
    python benchmarks/goal_cloning.py --goal cairn_badge --seeds 0-19 --held-out 300-309 --rounds 1 --processes 2
    python benchmarks/goal_cloning.py --goal cairn_badge --planes --json /tmp/cloning.json

The pilot plays one episode per seed, and every state is kept with the pilot's action. A network of 128 x 128 is
fitted to them by cross-entropy, and plays the held-out seeds alone: the rules set its goals and take no action. Each
further round is dataset aggregation: the network plays the seeds, the pilot's decisions in these states are added,
and the network is fitted again. The table says how often each milestone was reached, and in which situations and for
which of the pilot's reasons the network acts differently.

Source: Ross, Gordon and Bagnell, A Reduction of Imitation Learning and Structured Prediction to No-Regret Online
Learning, 2011.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

HIDDEN = 128
FORBIDDEN = -1e9

Weights = list[NDArray[np.float32]]
"""Weight and bias of each layer in turn."""


class Episode(NamedTuple):
    """Observations of an episode, the pilot's decisions, and the milestones reached."""

    inputs: NDArray[np.float32]
    masks: NDArray[np.bool_]
    labels: NDArray[np.int64]
    situations: list[str]
    reasons: list[str]
    milestones: dict[str, int]
    agreed: float


class Job(NamedTuple):
    """An episode to play: by the network if there are weights, else by the pilot."""

    seed: int
    goal: str
    steps: int
    planes: bool
    weights: Weights | None
    stochastic: bool = False
    goals: Literal["rules", "none"] = "rules"


def play(job: Job) -> Episode:
    """Play one episode, with the pilot's decision in every state as its label."""
    from pkmn_pyboy.environment import PokemonEnvironment  # noqa: PLC0415
    from pkmn_pyboy.pilot.pilot import RulesPilot  # noqa: PLC0415
    from pkmn_pyboy.settings import EnvironmentSettings  # noqa: PLC0415

    settings = EnvironmentSettings(
        observation_type="goal", max_steps_per_episode=job.steps, goal=job.goal, goals=job.goals
    )
    environment = PokemonEnvironment(settings)
    pilot = RulesPilot(environment)
    environment.guide(pilot)
    environment.reset(seed=job.seed)
    pilot.reset(job.seed)
    random = np.random.default_rng(job.seed)
    inputs, masks, labels, situations, reasons = [], [], [], [], []
    agreed, done = 0, False
    while not done:
        decision = pilot.act()
        observed = environment.observation()
        vector = as_vector(observed, planes=job.planes)
        allowed = observed["action_mask"].astype(bool)
        inputs.append(vector)
        masks.append(allowed)
        labels.append(decision.action)
        situations.append(environment.situations[environment.state.phase])
        reasons.append(decision.reason)
        action = decision.action
        if job.weights is not None:
            scores = np.where(allowed, scores_of(job.weights, vector), FORBIDDEN)
            if job.stochastic:
                scores = scores - np.log(-np.log(random.random(len(scores))))
            action = int(scores.argmax())
        agreed += action == decision.action
        _, terminated, truncated = environment.advance(action)
        done = terminated or truncated
    milestones = dict(zip(environment.milestone_names, environment.milestone_steps(), strict=True))
    environment.close()
    share = agreed / len(labels)
    return Episode(
        np.asarray(inputs), np.asarray(masks), np.asarray(labels), situations, reasons, milestones, share
    )  # fmt: skip


def as_vector(observed: dict[str, NDArray[Any]], *, planes: bool) -> NDArray[np.float32]:
    """Return the numbers of an observation side by side, and the bits of the map if wanted."""
    parts = [observed["goal"], observed["state_variables"]]
    if planes:
        tiles = observed["local_map"].reshape(-1)
        parts.append((tiles[:, None] >> np.arange(16, dtype=np.uint16) & 1).reshape(-1).astype(np.float32))
    return np.concatenate(parts)


def scores_of(weights: Weights, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a score for each action."""
    for layer in range(0, len(weights), 2):
        vector = weights[layer] @ vector + weights[layer + 1]
        if layer + 2 < len(weights):
            vector = np.maximum(vector, 0.0)
    return vector


def fit(episodes: list[Episode], epochs: int, seed: int) -> Weights:
    """Fit the network to the pilot's decisions."""
    import torch  # noqa: PLC0415

    torch.manual_seed(seed)
    inputs = torch.from_numpy(np.concatenate([one.inputs for one in episodes]))
    masks = torch.from_numpy(np.concatenate([one.masks for one in episodes]))
    labels = torch.from_numpy(np.concatenate([one.labels for one in episodes]))
    network = torch.nn.Sequential(
        torch.nn.Linear(inputs.shape[1], HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, masks.shape[1]),
    )
    batch = 256
    steps = epochs * -(-len(labels) // batch)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps)
    for _ in range(epochs):
        for rows in torch.split(torch.randperm(len(labels)), batch):
            scores = network(inputs[rows]).masked_fill(~masks[rows], FORBIDDEN)
            loss = torch.nn.functional.cross_entropy(scores, labels[rows])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return [parameter.detach().numpy() for parameter in network.parameters()]


def disagreements(episodes: list[Episode], weights: Weights) -> dict[str, Any]:
    """Return, by situation, the share of actions that equal the pilot's, and the reasons of those that do not."""
    right: dict[str, list[bool]] = {}
    wrong: Counter[str] = Counter()
    for one in episodes:
        scores = one.inputs
        for layer in range(0, len(weights), 2):
            scores = scores @ weights[layer].T + weights[layer + 1]
            if layer + 2 < len(weights):
                scores = np.maximum(scores, 0.0)
        chosen = np.where(one.masks, scores, FORBIDDEN).argmax(axis=1)
        for situation, reason, label, action in zip(one.situations, one.reasons, one.labels, chosen, strict=True):
            right.setdefault(situation, []).append(bool(label == action))
            if label != action:
                wrong[f"{situation}: {reason}: {label} not {action}"] += 1
    everything = [same for found in right.values() for same in found]
    shares = {name: round(statistics.fmean(found), 4) for name, found in sorted(right.items())}
    return {
        "all": round(statistics.fmean(everything), 4),
        "situations": shares,
        "wrong": dict(wrong.most_common(25)),
    }


def standing(episodes: list[Episode], goal: str) -> dict[str, Any]:
    """Return for each badge, and the goal, the number of episodes that reached it, with the median step."""
    names = [name for name in episodes[0].milestones if name.endswith("_badge") or name == goal]
    found = {}
    for name in names:
        steps = [one.milestones[name] for one in episodes if one.milestones[name] >= 0]
        found[name] = f"{len(steps)}/{len(episodes)}" + (f" at {statistics.median(steps):,.0f}" if steps else "")
        if name == goal:
            break
    return found


def numbers(text: str) -> list[int]:
    """Return "3", "0-9" or "1,4" as numbers."""
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        found.extend(range(int(low), int(high if dash else low) + 1))
    return found


def main() -> None:
    """Clone, play, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goal", default="thorn_badge", help="milestone that ends an episode")
    parser.add_argument("--seeds", type=numbers, default=numbers("0-39"), help="of the pilot's episodes")
    parser.add_argument("--held-out", type=numbers, default=numbers("300-309"), help="of those that are tested")
    parser.add_argument("--steps", type=int, default=1500, help="most steps of an episode")
    parser.add_argument("--rounds", type=int, default=0, help="rounds of dataset aggregation")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--planes", action="store_true", help="observe the map around the player too")
    parser.add_argument("--goals", choices=("rules", "none"), default="rules", help="whose goals are observed")
    parser.add_argument("--stochastic", action="store_true", help="sample actions instead of taking the likeliest")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report: list[dict[str, Any]] = []
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:

        def episodes(seeds: list[int], weights: Weights | None, *, stochastic: bool = False) -> list[Episode]:
            job = Job(0, options.goal, options.steps, options.planes, weights, stochastic, options.goals)
            return pool.map(play, [job._replace(seed=seed) for seed in seeds], 1)

        started = time.perf_counter()
        data = episodes(options.seeds, None)
        shown = episodes(options.held_out, None)
        print(f"pilot: {sum(len(one.labels) for one in data):,} steps, {time.perf_counter() - started:.0f} s;",
              standing(shown, options.goal), flush=True)  # fmt: skip
        for round_number in range(options.rounds + 1):
            started = time.perf_counter()
            weights = fit(data, options.epochs, round_number)
            fitted = time.perf_counter() - started
            alone = episodes(options.held_out, weights, stochastic=options.stochastic)
            found = {
                "round": round_number,
                "fit_s": round(fitted, 1),
                "alone": standing(alone, options.goal),
                "agreed": round(statistics.fmean(one.agreed for one in alone), 4),
                "pilot_states": disagreements(shown, weights),
                "own_states": disagreements(alone, weights),
                "stuck": {
                    str(seed): Counter(one.reasons[-200:]).most_common(3)
                    for seed, one in zip(options.held_out, alone, strict=True)
                    if one.milestones[options.goal] < 0
                },
            }
            report.append(found)
            print(json.dumps(found, indent=1), flush=True)
            if round_number < options.rounds:
                data += episodes(options.seeds, weights)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
