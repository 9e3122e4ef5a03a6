"""Registers the reward. The targets are strings, so that `pkmn --help` imports none of what they name."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_rewards(register: Register) -> None:
    """Adds ``coins``."""
    register(
        "coins",
        "pkmn_coin_reward.reward:CoinReward",
        config="pkmn_coin_reward.settings:CoinSettings",
        help="money gained, beyond the most of the episode",
    )
