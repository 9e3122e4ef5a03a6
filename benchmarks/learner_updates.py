"""Gradient steps per second of our DQN and PPO against stable-baselines3's `train()`, in turn on one device.

    python benchmarks/learner_updates.py --device cpu --pairs 5
    python benchmarks/learner_updates.py --device cuda --batches 32 256 --observe multi_modal goal --json updates.json

Both sides learn from the same steps of the game, played at random with masks, through the same network, with one-step
targets and without double and dueling. They see screens and state variables (multi_modal), or the numbers of goals and
a map. Ours includes sampling from the replay buffer, whose screens are packed, and the transfer to the device; theirs
includes the same. An update of PPO passes over a rollout of 4,096 steps ten times; ours first values the rollout again,
which theirs has done while acting.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_side import dqn_of, environment, environments, ppo_of
from stable_baselines3.common.logger import Logger
from training_spec import TrainingSpec

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.learner import PPO
from pkmn_ppo.settings import PPOSettings
from pkmncli.api import Source, Transitions
from pkmncli.learners.observations import MASK

Observes = Literal["multi_modal", "goal"]

ROLLOUT = 4_096
EPOCHS = 10
FOLDER = Path()


@dataclass(frozen=True)
class Played:
    """Successive steps of the game; arrays (n, ...), observations (n + 1, ...)."""

    observations: dict[str, NDArray[Any]]
    final: dict[int, dict[str, NDArray[Any]]]
    """Last observations of episodes, by the step that ended them."""
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    ended: NDArray[np.bool_]


def play(steps: int, observes: Observes) -> Played:
    """Play allowed actions at random."""
    env = environment(TrainingSpec("dqn", FOLDER, "", masks=True, observes=observes), reward_scale=0.1)
    game, random = env.unwrapped, np.random.default_rng(0)
    observation, _ = env.reset(seed=0)
    kept, final, actions, rewards, ended = [], {}, [], [], []
    for step in range(steps):
        mask = game.get_wrapper_attr("action_masks")()
        kept.append({**observation, MASK: mask.astype(np.int8)})
        action = int(random.choice(np.flatnonzero(mask)))
        observation, reward, terminated, truncated, _ = env.step(action)
        actions.append(action)
        rewards.append(reward)
        ended.append(terminated or truncated)
        if ended[-1]:
            final[step] = {**observation, MASK: game.get_wrapper_attr("action_masks")().astype(np.int8)}
            observation, _ = env.reset()
    kept.append({**observation, MASK: game.get_wrapper_attr("action_masks")().astype(np.int8)})
    env.close()
    columns = {name: np.stack([one[name] for one in kept]) for name in kept[0]}
    return Played(columns, final, np.array(actions), np.array(rewards, np.float32), np.array(ended))


def ours_observes(learner: DQN | PPO, played: Played, sampled_from_policy: bool) -> None:
    """Give all steps to a learner of ours; each as its own action if its policy is asked first."""
    for step in range(len(played.actions)):
        seen = {name: array[step : step + 1] for name, array in played.observations.items()}
        following = {name: array[step + 1 : step + 2] for name, array in played.observations.items()}
        if step in played.final:
            following = {name: array[None] for name, array in played.final[step].items()}
        actions = played.actions[step : step + 1]
        if sampled_from_policy:
            actions = learner.act(seen, explore=True)[0]
        ended = played.ended[step : step + 1]
        learner.observe(
            Transitions(
                observations=seen,
                actions=actions,
                rewards=played.rewards[step : step + 1] / 0.1,
                terminated=np.zeros(1, bool),
                truncated=ended,
                next_observations=following,
                sources=np.array([Source.RL], np.uint8),
            )
        )


def our_dqn(played: Played, batch: int, device: str, observes: Observes) -> Callable[[int], None]:
    """Sample and learn as the trainer does."""
    settings = DQNSettings(batch_size=batch, double=False, dueling=False, n_step=1, demonstration_margin=0)
    space, action_space = spaces_of(observes)
    learner = DQN(space, action_space, 1, 0, settings, device)
    ours_observes(learner, played, sampled_from_policy=False)

    def learn(updates: int) -> None:
        for _ in range(updates):
            learner.learn(learner.sample())

    return learn


def their_dqn(played: Played, batch: int, device: str, observes: Observes) -> Callable[[int], None]:
    """Run their `train()`, which samples as well."""
    spec = TrainingSpec("dqn", FOLDER, "", device=device, observes=observes)
    model = dqn_of(spec, environments(spec, 0.1), batch_size=batch, buffer_size=len(played.actions))
    model.set_logger(Logger(None, []))
    buffer: Any = model.replay_buffer
    for step in range(len(played.actions)):
        following = played.final.get(step) or {name: array[step + 1] for name, array in played.observations.items()}
        buffer.add(
            {name: array[step : step + 1] for name, array in played.observations.items() if name != MASK},
            {name: array[None] for name, array in following.items() if name != MASK},
            played.actions[step : step + 1],
            played.rewards[step : step + 1],
            played.ended[step : step + 1],
            [{"TimeLimit.truncated": bool(played.ended[step])}],
        )
    model.env.close()  # type: ignore[union-attr]
    return lambda updates: model.train(updates, batch)


def our_ppo(played: Played, batch: int, device: str, observes: Observes) -> Callable[[int], None]:
    """Learn repeatedly from one rollout."""
    settings = PPOSettings(batch_size=batch, n_steps=ROLLOUT, n_epochs=EPOCHS)
    learner = PPO(*spaces_of(observes), 1, 0, settings, device)
    ours_observes(learner, played, sampled_from_policy=True)
    sampled = learner.sample()
    assert sampled is not None

    def learn(rounds: int) -> None:
        for _ in range(rounds):
            learner.learn(sampled)

    return learn


def their_ppo(played: Played, batch: int, device: str, observes: Observes) -> Callable[[int], None]:
    """Run MaskablePPO's `train()` repeatedly on one rollout of random actions that its policy has valued."""
    spec = TrainingSpec("ppo", FOLDER, "", masks=True, device=device, observes=observes)
    model = ppo_of(spec, environments(spec, 0.1), n_steps=ROLLOUT, batch_size=batch, n_epochs=EPOCHS)
    assert isinstance(model, MaskablePPO)
    model.set_logger(Logger(None, []))
    buffer: Any = model.rollout_buffer
    starts = np.concatenate([[True], played.ended[:-1]])
    last = torch.zeros(1, 1)
    for step in range(ROLLOUT):
        seen = {name: array[step : step + 1] for name, array in played.observations.items() if name != MASK}
        masks = played.observations[MASK][step : step + 1]
        with torch.no_grad():
            tensors, _ = model.policy.obs_to_tensor(seen)
            action, last, log_prob = model.policy(tensors, action_masks=masks)
        buffer.add(
            seen,
            action.cpu().numpy().reshape(1, 1),
            played.rewards[step : step + 1],
            starts[step : step + 1],
            last,
            log_prob,
            action_masks=masks,
        )
    buffer.compute_returns_and_advantage(last, played.ended[ROLLOUT - 1 : ROLLOUT])
    model.env.close()  # type: ignore[union-attr]

    def learn(rounds: int) -> None:
        for _ in range(rounds):
            model.train()

    return learn


def spaces_of(observes: Observes) -> tuple[Any, Any]:
    """Return the spaces of our side, mask included."""
    env = environment(TrainingSpec("dqn", FOLDER, "", masks=True, observes=observes))
    spaces = env.unwrapped.observation_space, env.unwrapped.action_space
    env.close()
    return spaces


def rate(learn: Callable[[int], None], device: str, seconds: float, gradient_steps: int) -> float:
    """Return gradient steps per second of a function that takes a number of updates, over about ``seconds``."""
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        learn(1 if gradient_steps > 1 else 5)
        done += gradient_steps if gradient_steps > 1 else 5
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return done / (time.perf_counter() - began)


def main() -> None:
    """Measure in turn, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--learners", nargs="+", choices=("dqn", "ppo"), default=["dqn", "ppo"])
    parser.add_argument("--batches", nargs="+", type=int, default=[32, 256])
    parser.add_argument("--observe", nargs="+", choices=("multi_modal", "goal"), default=["multi_modal"])
    parser.add_argument("--pairs", type=int, default=5, help="turns of both sides")
    parser.add_argument("--seconds", type=float, default=5.0, help="of a turn of one side")
    parser.add_argument("--torch-threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20_000, help="of the game in the replay buffer")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    torch.set_num_threads(given.torch_threads)
    sides = {"dqn": (our_dqn, their_dqn), "ppo": (our_ppo, their_ppo)}
    found = []
    print(f"| gradient steps a second, {given.device} | ours | theirs | ours against theirs | range |")
    print("| --- | --- | --- | --- | --- |")
    for observes in given.observe:
        played = play(max(given.steps, ROLLOUT) if "dqn" in given.learners else ROLLOUT, observes)
        for learner, batch in itertools.product(given.learners, given.batches):
            both = [side(played, batch, given.device, observes) for side in sides[learner]]
            rates = race(both, given, 1 if learner == "dqn" else EPOCHS * -(-ROLLOUT // batch))
            ratios = sorted(our / their for our, their in zip(*rates, strict=True))
            ours, theirs = (median(one) for one in rates)
            cells = f"{ours:,.1f} | {theirs:,.1f} | {median(ratios):.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f}"
            print(f"| {learner}, {observes}, batch {batch:,} | {cells} |", flush=True)
            found.append(
                {"learner": learner, "batch": batch, "observes": observes, "device": given.device, "rates": rates}
            )
            if given.json is not None:
                given.json.write_text(json.dumps(found, indent=2), encoding="utf-8")


def race(both: Sequence[Callable[[int], None]], given: argparse.Namespace, gradient_steps: int) -> list[list[float]]:
    """Return gradient steps per second of each side, measured in turn."""
    for learn in both:
        learn(2)  # the first updates also allocate
    rates: list[list[float]] = [[], []]
    for turn in range(given.pairs):
        for index in (0, 1) if turn % 2 == 0 else (1, 0):
            rates[index].append(rate(both[index], given.device, given.seconds, gradient_steps))
    return rates


if __name__ == "__main__":
    main()
