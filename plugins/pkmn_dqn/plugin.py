"""The plugin that registers the DQN learner."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_algorithms(register: Register) -> None:
    """Register the algorithm ``dqn``."""
    register(
        "dqn",
        "pkmn_dqn.learner:DQN",
        config="pkmn_dqn.settings:DQNSettings",
        help="Deep Q-learning: double, dueling, n-step; learns from the actions of all sides",
        presets="pkmn_dqn:presets",
    )
