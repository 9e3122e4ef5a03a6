"""Measure of how well each encoder imitates the planning player of Balatro, on the same recorded decisions.

    python benchmarks/balatro_imitation.py --record decisions.npz
    python benchmarks/balatro_imitation.py --decisions decisions.npz --encoder balatro balatro-actions --updates 700

`planning` decides 25,000 times with few draws; one action in twenty is a random one instead, so that it also meets
states that it would avoid. A network of `ppo` learns the decisions by cross-entropy. One run in seven is held out: in
its decisions with more than one allowed action, the share of equal actions is counted. Then the network plays alone,
always its likeliest action.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from balatro_players import begun, numbers, played, print_table
from numpy.typing import NDArray
from torch import Tensor

from pkmn_balatro.action_encoder import ActionEncoder
from pkmn_balatro.actions import ActionList
from pkmn_balatro.encoder import BalatroEncoder
from pkmn_balatro.pilot.players import PlanningPlayer
from pkmn_balatro.pilot.settings import PlanningSettings
from pkmn_balatro.settings import BalatroSettings
from pkmn_ppo.policy import ActorCritic
from pkmn_ppo.settings import PPOSettings
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.observations import layout_of

ENCODERS: Final[Mapping[str, Callable[..., Any]]] = {"balatro": BalatroEncoder, "balatro-actions": ActionEncoder}
HAND_POSITIONS: Final = 8
FIRST_SEED: Final = 500_000
RANDOM_SHARE: Final = 0.05
HELD_OUT: Final = 7
BATCH: Final = 128


def record(steps: int) -> dict[str, NDArray[Any]]:
    """Return decisions of the planning player: vectors and masks of observations, actions, and seeds of the runs."""
    found: dict[str, list[Any]] = {"vector": [], "action_mask": [], "action": [], "run": []}
    luck, seed = np.random.default_rng(FIRST_SEED), FIRST_SEED
    while len(found["action"]) < steps:
        environment = begun(seed, {"hand_positions": HAND_POSITIONS})
        layout = layout_of(environment.observation_space, environment.action_space, "ppo")
        player = PlanningPlayer(environment, PlanningSettings(draws=3, hands=5))
        player.reset(seed)
        ended = False
        while not ended:
            columns = layout.encode({name: one[None] for name, one in environment.observation().items()})
            chosen = taken = player.act(None).action
            for name, value in (("action", chosen), ("run", seed), *((name, one[0]) for name, one in columns.items())):
                found[name].append(value)
            if luck.random() < RANDOM_SHARE:
                taken = int(luck.choice(np.flatnonzero(environment.action_masks())))
            _, terminated, truncated = environment.advance(taken)
            ended = terminated or truncated
        seed += 1
    return {name: np.array(values) for name, values in found.items()}


def trained(encoder: str, decisions: Mapping[str, NDArray[Any]], updates: int) -> ActorCritic:
    """Return a network that has learned the decisions of the runs that are not held out."""
    torch.manual_seed(0)
    settings = BalatroSettings(hand_positions=HAND_POSITIONS)
    environment = begun(0, {"hand_positions": HAND_POSITIONS})
    layout = layout_of(environment.observation_space, environment.action_space, "ppo")
    network = ActorCritic(layout, PPOSettings(), EncoderFactory(encoder, ENCODERS[encoder], settings))
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    rows, luck = np.flatnonzero(decisions["run"] % HELD_OUT), np.random.default_rng(0)
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - 0.9 * update / updates)
        chosen = luck.choice(rows, BATCH)
        policy, _, _ = network(batch(decisions, chosen))
        loss = -policy.log_prob(torch.from_numpy(decisions["action"][chosen])).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
    return network


def batch(decisions: Mapping[str, NDArray[Any]], rows: NDArray[Any]) -> dict[str, Tensor]:
    """Return the observations of some decisions."""
    return {name: torch.from_numpy(decisions[name][rows]) for name in ("vector", "action_mask")}


def agreement(network: ActorCritic, decisions: Mapping[str, NDArray[Any]]) -> dict[str, float]:
    """Return the share of equal actions by kind, on the runs that are held out."""
    listed = ActionList(HAND_POSITIONS)
    rows = np.flatnonzero((decisions["run"] % HELD_OUT == 0) & (decisions["action_mask"].sum(axis=1) > 1))
    with torch.no_grad():
        parts = [network(batch(decisions, some))[0].scores.argmax(dim=1) for some in np.array_split(rows, 20)]
    equal, shown = torch.cat(parts).numpy() == decisions["action"][rows], decisions["action"][rows]
    ends = {
        "other": (0, listed.play),
        "play": (listed.play, listed.discard),
        "discard": (listed.discard, listed.choose),
    }
    found = {name: float(equal[(shown >= low) & (shown < high)].mean()) for name, (low, high) in ends.items()}
    return {"all": float(equal.mean()), **found}


def play(encoder: str, network: ActorCritic, seed: int) -> dict[str, Any]:
    """Play a run by the likeliest actions."""
    environment = begun(seed, {"hand_positions": HAND_POSITIONS})
    layout = layout_of(environment.observation_space, environment.action_space, "ppo")

    def choose() -> int:
        columns = layout.encode({name: one[None] for name, one in environment.observation().items()})
        with torch.no_grad():
            policy, _, _ = network({name: torch.from_numpy(one) for name, one in columns.items()})
        return int(policy.scores.argmax())

    return played(encoder, seed, environment, choose)


def main() -> None:
    """Record, or train and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--record", type=Path, help="file for decisions of the planning player")
    parser.add_argument("--steps", type=int, default=25_000, help="decisions to record")
    parser.add_argument("--decisions", type=Path, help="file to learn from")
    parser.add_argument("--encoder", nargs="+", choices=list(ENCODERS), default=list(ENCODERS))
    parser.add_argument("--updates", type=int, default=700)
    parser.add_argument("--seeds", type=numbers, default=numbers("700-739"), help="of the runs that are played")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.record is not None:
        np.savez_compressed(chosen.record, **record(chosen.steps))  # type: ignore[arg-type]
    if chosen.decisions is None:
        return
    with np.load(chosen.decisions) as file:
        decisions = dict(file)
    results = []
    for encoder in chosen.encoder:
        before = time.process_time()
        network = trained(encoder, decisions, chosen.updates)
        spent = time.process_time() - before
        shares = ", ".join(f"{name} {share:.1%}" for name, share in agreement(network, decisions).items())
        print(f"{encoder}: equal actions {shares}; {spent:.0f} s of the processor", flush=True)
        results += [play(encoder, network, seed) for seed in chosen.seeds]
    print_table(results)


if __name__ == "__main__":
    main()
