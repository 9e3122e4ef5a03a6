"""Rewards that come with the environment: names, import targets and a line of help. Nothing is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class BuiltInReward(NamedTuple):
    """Import targets of a reward and its settings, as ``"package.module:Name"``."""

    target: str
    config: str
    help: str


BUILT_IN_REWARDS: Mapping[str, BuiltInReward] = {
    "progress": BuiltInReward(
        "pkmn_pyboy.rewards.progress:ProgressReward",
        "pkmn_pyboy.rewards.progress:ProgressSettings",
        "Pokemon, levels, milestones and badges",
    ),
    "exploration": BuiltInReward(
        "pkmn_pyboy.rewards.exploration:ExplorationReward",
        "pkmn_pyboy.rewards.exploration:ExplorationSettings",
        "tiles and maps seen for the first time in an episode",
    ),
    "battle": BuiltInReward(
        "pkmn_pyboy.rewards.battle:BattleReward",
        "pkmn_pyboy.rewards.battle:BattleSettings",
        "battles won; what one pays before is taken back unless it is won",
    ),
    "health": BuiltInReward(
        "pkmn_pyboy.rewards.health:HealthReward",
        "pkmn_pyboy.rewards.health:HealthSettings",
        "getting weak costs, healing pays it back, fainting costs",
    ),
    "money": BuiltInReward(
        "pkmn_pyboy.rewards.money:MoneyReward",
        "pkmn_pyboy.rewards.money:MoneySettings",
        "money beyond the most of the episode",
    ),
    "stuck": BuiltInReward(
        "pkmn_pyboy.rewards.stuck:StuckReward",
        "pkmn_pyboy.rewards.stuck:StuckSettings",
        "penalties for nothing new, for walking into walls and for the same talk again",
    ),
    "time": BuiltInReward(
        "pkmn_pyboy.rewards.time:TimeReward",
        "pkmn_pyboy.rewards.time:TimeSettings",
        "a small penalty for each step",
    ),
    "potential": BuiltInReward(
        "pkmn_pyboy.rewards.potential:PotentialReward",
        "pkmn_pyboy.rewards.potential:PotentialSettings",
        "difference of a potential, which no loop can farm",
    ),
}
