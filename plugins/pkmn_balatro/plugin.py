"""Registration of the environment of the card game Balatro, of its encoder, and of its players by rules."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register

_SETTINGS = "pkmn_balatro.settings:BalatroSettings"


@hookimpl
def pkmn_register_environments(register: Register) -> None:
    """Register ``balatro``."""
    register(
        "balatro",
        "pkmn_balatro.environment:BalatroEnvironment",
        config=_SETTINGS,
        help="the card game Balatro, simulated: poker hands, jokers, shops and bosses",
        play="pkmn_balatro.play.command:play",
    )


@hookimpl
def pkmn_register_encoders(register: Register) -> None:
    """Register ``balatro`` and ``balatro-actions``."""
    register(
        "balatro",
        "pkmn_balatro.encoder:BalatroEncoder",
        config=_SETTINGS,
        help="observations of balatro: one network for all cards, learned numbers for jokers and items",
    )
    register(
        "balatro-actions",
        "pkmn_balatro.action_encoder:ActionEncoder",
        config=_SETTINGS,
        help="the same, and a score for each play, discard and item from what it is about",
    )


@hookimpl
def pkmn_register_pilots(register: Register) -> None:
    """Register ``planning``, ``greedy`` and ``random``."""
    register(
        "planning",
        "pkmn_balatro.pilot.players:PlanningPlayer",
        config="pkmn_balatro.pilot.settings:PlanningSettings",
        help="plays balatro by expected scores, and buys what raises them most",
    )
    register(
        "greedy",
        "pkmn_balatro.pilot.players:GreedyPlayer",
        help="plays balatro: always the play that scores most, without discards",
    )
    register(
        "random",
        "pkmn_balatro.pilot.random_pilot:RandomPlayer",
        help="plays balatro: any action that is allowed",
    )
