"""Registration of the reward. Targets are strings, so that `pkmn --help` does not import them."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_rewards(register: Register) -> None:
    """Register ``coins``."""
    register(
        "coins",
        "pkmn_coin_reward.reward:CoinReward",
        config="pkmn_coin_reward.settings:CoinSettings",
        help="money gained, beyond the most of the episode",
    )
