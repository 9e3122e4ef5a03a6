"""MaskablePPO of sb3-contrib in Balatro: one training, then the runs that `balatro_players.py` measures players on.

    python benchmarks/balatro_maskable_ppo.py --steps 100000
    python benchmarks/balatro_maskable_ppo.py --steps 100000 --encoder --seeds 10000-10049

It needs `pip install -c constraints.txt -e '.[examples]'`. The numbers are the library's defaults, with an
entropy weight of 0.01 and eight environments that fill a rollout of 2,048 steps. The network is the library's for
several inputs, which sees kinds of jokers and items as numbers from 0 to 1; with --encoder it is this program's encoder
`balatro`. The milliseconds of a decision include the observation.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from balatro_players import HELD_OUT, begun, numbers, played, print_table

from pkmn_balatro.framework import create_trainer, get_default_config
from pkmn_balatro.utils import create_balatro_env

ENVIRONMENTS = 8
ROLLOUT = 2048


def trained(steps: int, seed: int, encoder: bool, hand_positions: int) -> Any:
    """Return a trainer that has trained."""
    config = get_default_config("SB3-PPO")
    config.total_timesteps, config.n_envs, config.seed = steps, ENVIRONMENTS, seed
    config.use_feature_extractor = encoder
    config.normalize_obs = config.normalize_reward = False
    config.eval_freq = config.checkpoint_freq = 10 * steps
    config.save_dir = tempfile.mkdtemp()
    config.hyperparams.algorithm_specific |= {"n_steps": ROLLOUT // ENVIRONMENTS, "batch_size": 64, "ent_coef": 0.01}
    config.hyperparams.policy_net_arch = config.hyperparams.value_net_arch = [64, 64]
    trainer = create_trainer(create_balatro_env(seed=seed, hand_positions=hand_positions), config)
    trainer.train()
    return trainer


def choice(trainer: Any, environment: Any) -> int:
    """Return the likeliest action for an environment's observation."""
    observation = dict(environment.observation())
    largest = environment.observation_space["kinds"].nvec - 1
    observation["kinds"] = (observation["kinds"] / largest).astype("float32")
    return int(trainer.predict(observation, environment.action_masks().astype(bool)))


def main() -> None:
    """Train, play and print."""
    import torch  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=numbers, default=numbers(HELD_OUT), help="of the runs that are played")
    parser.add_argument("--encoder", action="store_true", help="read observations by the encoder balatro")
    parser.add_argument("--hand-positions", type=int, default=8)
    parser.add_argument("--json", type=Path, help="file for all results")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    before = time.process_time()
    trainer = trained(chosen.steps, chosen.seed, chosen.encoder, chosen.hand_positions)
    print(f"{trainer.model.num_timesteps:,} steps in {time.process_time() - before:.0f} s of the processor", flush=True)
    results = []
    for seed in chosen.seeds:
        environment = begun(seed, {"hand_positions": chosen.hand_positions})
        results.append(played("MaskablePPO", seed, environment, partial(choice, trainer, environment)))
    print_table(results)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(results, indent=1))
    trainer.close()


if __name__ == "__main__":
    main()
