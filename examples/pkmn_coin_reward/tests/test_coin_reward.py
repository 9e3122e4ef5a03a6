"""Tests as a plugin author writes them: the contract as a whole, then what the reward does."""

from types import SimpleNamespace

from pkmn_coin_reward import plugin
from pkmn_coin_reward.reward import CoinReward
from pkmn_coin_reward.settings import CoinSettings

from pkmncli.testing import check_plugin


def test_the_plugin_keeps_the_contracts() -> None:
    assert [(entry.kind, entry.name) for entry in check_plugin(plugin)] == [("rewards", "coins")]


def test_money_pays_once() -> None:
    reward = CoinReward(CoinSettings(per_thousand=2))
    reward.reset(money(3000))
    assert reward.score(money(3000), 0, money(3500)) == {"coins": 1.0}
    assert reward.score(money(3500), 0, money(100)) == {}
    assert reward.score(money(100), 0, money(3500)) == {}


def test_a_resumed_run_pays_on_from_where_it_was() -> None:
    reward, resumed = CoinReward(), CoinReward()
    reward.reset(money(3000))
    reward.score(money(3000), 0, money(5000))
    resumed.load_state(reward.save_state())
    assert resumed.score(money(5000), 0, money(6000)) == reward.score(money(5000), 0, money(6000)) == {"coins": 1.0}


def money(amount: int) -> SimpleNamespace:
    return SimpleNamespace(money=amount)
