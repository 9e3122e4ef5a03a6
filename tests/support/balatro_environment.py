"""Environments of Balatro for tests: begun episodes, actions by name, and random play."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator.run import Phase


def begun(seed: int = 0, **settings: Any) -> BalatroEnvironment:
    environment = BalatroEnvironment(BalatroSettings(**settings))
    environment.reset(seed=seed)
    return environment


def act(environment: BalatroEnvironment, *names: str) -> tuple[float, bool, bool]:
    result = (0.0, False, False)
    for name in names:
        number = environment.actions.names.index(name)
        assert environment.action_masks()[number], f"{name} is not allowed: {environment.status()}"
        result = environment.advance(number)
    return result


def random_play(
    environment: BalatroEnvironment, seed: int, steps: int, help_share: float = 0.0
) -> Iterator[tuple[int, float, bool]]:
    """Take random allowed actions, and yield each with its reward and whether the episode ended.

    With a share of help, blinds become easy at times, so that shops, packs and later antes are seen.
    """
    choose = random.Random(seed)
    for _ in range(steps):
        run = environment.game.run
        if run.phase == Phase.PLAY and choose.random() < help_share:
            run.target = min(run.target, 1)
            run.money += 10
        action = int(choose.choice(np.flatnonzero(environment.action_masks())))
        reward, terminated, truncated = environment.advance(action)
        yield action, reward, terminated or truncated
        if terminated or truncated:
            return
