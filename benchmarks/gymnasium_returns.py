"""Returns of our learners and of stable-baselines3's on environments of Gymnasium, with the same settings.

    python benchmarks/gymnasium_returns.py --seeds 5 --jobs 2 --folder /tmp/returns

Every training is a process of one thread: ours is `pkmn train --env gym:...` and `pkmn eval`, theirs is their `learn`
and their `evaluate_policy`. Both evaluate 20 greedy episodes. Means over the seeds come with 95% intervals of the
bootstrap; the table says whether each mean is in the other's interval.

The networks are equal (one layer of 128 units that all share, one of 128 for each output) but for the first layer of
our `ppo`, which is normalised, and so are optimizer, schedules, batches, discount and the scale of rewards. Results are
kept in the folder as they come; existing results are not repeated. LunarLander needs the package box2d, MiniGrid the
package minigrid.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from pkmncli.api.runs import interval

EPISODES = 20
EVALUATION_SEED = 1_000_000
ROLLOUT = 2_048
UNITS = 128


class Numbers(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Wrapper of MiniGrid that shows its picture as numbers of about one, without the text."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        assert isinstance(env.observation_space, spaces.Dict)
        size = int(np.prod(env.observation_space["image"].shape or ()))
        self.observation_space = spaces.Box(0, 25.5, (size,), np.float32)

    def observation(self, observation: Any) -> Any:
        """Return the picture's numbers, a tenth of each, float32 (size,)."""
        return observation["image"].ravel().astype(np.float32) / 10


@dataclass(frozen=True)
class Task:
    """Environment and learner, and how long it is trained."""

    env: str
    learner: str
    steps: int
    package: str = ""
    """Module that registers the environment."""
    wrapped: bool = False

    @property
    def name(self) -> str:
        """Return the name in the table."""
        return f"{self.env}, {self.learner}, {self.steps:,} steps"


TASKS = (
    Task("CartPole-v1", "ppo", 25 * ROLLOUT),
    Task("CartPole-v1", "dqn", 50_000),
    Task("Acrobot-v1", "ppo", 40 * ROLLOUT),
    Task("LunarLander-v3", "ppo", 75 * ROLLOUT),
    Task("MiniGrid-Empty-5x5-v0", "ppo", 25 * ROLLOUT, "minigrid", wrapped=True),
)


def ours(task: Task, seed: int, folder: Path) -> float:
    """Train and evaluate with this program. Return the mean return."""
    settings = {
        "ppo": ("ppo.overlap=false", f"ppo.n_steps={ROLLOUT}"),
        "dqn": ("dqn.double=false", "dqn.dueling=false", "dqn.n_step=1", "dqn.vector_layer_norm=false"),
    }[task.learner]
    run = folder / f"run-{task.env}-{task.learner}-{seed}"
    command = [sys.executable, "-m", "pkmncli"]
    wrapper = ("--wrapper", f"{Path(__file__).stem}:Numbers") if task.wrapped else ()
    name = f"gym:{task.package}:{task.env}" if task.package else f"gym:{task.env}"
    train = [*command, "train", "--env", name, *wrapper, "--rl", task.learner, "--mode", "rl-only"]
    train += ["--steps", str(task.steps), "--seed", str(seed), "--final-episodes", "0", "--torch-threads", "1"]
    train += ["--device", "cpu", "--save-dir", str(folder), "--run-name", run.name, "--quiet"]
    for one in settings:
        train += ["--set", one]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path[1:]])}
    subprocess.run(train, check=True, env=environment, stdout=subprocess.DEVNULL)
    evaluate = [*command, "eval", str(run), "--mode", "rl-only", "--episodes", str(EPISODES), "--envs", "1"]
    evaluate += ["--seed", str(EVALUATION_SEED), "--json"]
    output = subprocess.run(evaluate, check=True, env=environment, capture_output=True, text=True).stdout
    return float(json.loads(output)["avg_reward"])


def theirs(task: Task, seed: int) -> float:
    """Train and evaluate with stable-baselines3. Return the mean return."""
    import torch  # noqa: PLC0415 - only in the process of a training
    from sb3_options import dqn_options, ppo_options  # noqa: PLC0415
    from stable_baselines3 import DQN, PPO  # noqa: PLC0415
    from stable_baselines3.common.evaluation import evaluate_policy  # noqa: PLC0415
    from stable_baselines3.common.monitor import Monitor  # noqa: PLC0415
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor  # noqa: PLC0415

    from pkmn_dqn.settings import DQNSettings  # noqa: PLC0415
    from pkmn_ppo.settings import PPOSettings  # noqa: PLC0415

    class Features(BaseFeaturesExtractor):
        """The layer that all outputs share."""

        def __init__(self, space: spaces.Box) -> None:
            super().__init__(space, UNITS)
            self.layers = torch.nn.Sequential(
                torch.nn.Flatten(), torch.nn.Linear(int(np.prod(space.shape)), UNITS), torch.nn.ReLU()
            )

        def forward(self, observations: torch.Tensor) -> torch.Tensor:
            return self.layers(observations)

    def environment(scale: float = 1.0) -> Any:
        if task.package:
            __import__(task.package)
        env = gymnasium.make(task.env)
        env = Numbers(env) if task.wrapped else env
        return Monitor(env) if scale == 1.0 else gymnasium.wrappers.TransformReward(env, lambda reward: reward * scale)

    torch.set_num_threads(1)
    network: dict[str, Any] = {"features_extractor_class": Features, "activation_fn": torch.nn.ReLU}
    settings = DQNSettings() if task.learner == "dqn" else PPOSettings()
    network["optimizer_kwargs"] = {"eps": settings.adam_epsilon}
    env, common = environment(settings.reward_scale), {"seed": seed, "device": "cpu"}
    model: DQN | PPO
    if isinstance(settings, DQNSettings):
        network["net_arch"] = [UNITS]
        model = DQN("MlpPolicy", env, **dqn_options(settings), **common, policy_kwargs=network)
    else:
        network["net_arch"] = {"pi": [UNITS], "vf": [UNITS]}
        model = PPO("MlpPolicy", env, n_steps=ROLLOUT, **ppo_options(settings), **common, policy_kwargs=network)
    model.learn(task.steps)
    judged = environment()
    judged.reset(seed=EVALUATION_SEED)
    return float(evaluate_policy(model, judged, n_eval_episodes=EPISODES, deterministic=True)[0])


def result(task: Task, side: str, seed: int, folder: Path) -> float:
    """Return the mean return of one training, from the folder if it is there."""
    kept = folder / f"{task.env}-{task.learner}-{task.steps}-{side}-{seed}.json"
    if not kept.exists():
        began = time.perf_counter()
        job = [sys.executable, __file__, "--folder", str(folder), "--one", f"{TASKS.index(task)} {side} {seed}"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        output = subprocess.run(job, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout
        kept.write_text(json.dumps({"return": float(output.split()[-1]), "seconds": time.perf_counter() - began}))
    found = json.loads(kept.read_text())
    print(f"{task.name}, {side}, seed {seed}: {found['return']:.1f} in {found['seconds']:.0f} s", flush=True)
    return float(found["return"])


def row(task: Task, ours_: list[float], theirs_: list[float]) -> str:
    """Return a line of the table."""
    our, their = interval(ours_, "mean"), interval(theirs_, "mean")
    assert our.low is not None and our.high is not None and their.low is not None and their.high is not None
    alike = our.low <= their.value <= our.high and their.low <= our.value <= their.high
    figures = " | ".join(f"{one.value:.1f} ({one.low:.1f} to {one.high:.1f})" for one in (our, their))
    return f"| {task.name} | {figures} | {'yes' if alike else 'no'} |"


def main() -> None:
    """Train what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", default="", help="part of the name of the tasks to train")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.one:
        number, side, seed = options.one.split()
        task = TASKS[int(number)]
        print(ours(task, int(seed), options.folder) if side == "ours" else theirs(task, int(seed)))
        return
    tasks = sorted((task for task in TASKS if options.only in task.name), key=lambda task: -task.steps)
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = {
            (task, side, seed): pool.submit(result, task, side, seed, options.folder)
            for task in tasks
            for seed in range(options.seeds)
            for side in ("ours", "theirs")
        }
    print("| environment | ours (95%) | stable-baselines3 (95%) | in each other's interval |")
    print("| --- | --- | --- | --- |")
    for task in tasks:
        found = [[jobs[task, side, seed].result() for seed in range(options.seeds)] for side in ("ours", "theirs")]
        print(row(task, *found))


if __name__ == "__main__":
    main()
