"""The plugin that registers the learners PPO and A2C."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_algorithms(register: Register) -> None:
    """Register the algorithms ``ppo`` and ``a2c``."""
    register(
        "ppo",
        "pkmn_ppo.learner:PPO",
        config="pkmn_ppo.settings:PPOSettings",
        help="Proximal policy optimization: clipped updates over long rollouts, action masks in the policy itself",
        presets="pkmn_ppo:presets/ppo",
    )
    register(
        "a2c",
        "pkmn_ppo.learner:A2C",
        config="pkmn_ppo.settings:A2CSettings",
        help="Advantage actor-critic: one small update every few steps, action masks in the policy itself",
        presets="pkmn_ppo:presets/a2c",
    )
