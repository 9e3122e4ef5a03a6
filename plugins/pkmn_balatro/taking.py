"""Actions of the list, taken in a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pkmn_balatro import actions as at
from pkmn_balatro.simulator.cards import CHIPS
from pkmn_balatro.simulator.consumables import DEATH
from pkmn_balatro.simulator.run import Category, Run

if TYPE_CHECKING:
    from pkmn_balatro.simulator.game import Game


def act(game: Game, action: int) -> None:
    """Take an action without cards or targets, and not one of those that have no effect on the game."""
    if action == at.LEAVE_SHOP:
        game.leave_shop()
    elif action == at.SELECT_BLIND:
        game.select_blind()
    elif action >= at.SELL_CONSUMABLE:
        game.sell_consumable(action - at.SELL_CONSUMABLE)
    elif action >= at.SELL_JOKER:
        game.sell_joker(action - at.SELL_JOKER)
    elif action >= at.OPEN_PACK:
        game.open_pack(action - at.OPEN_PACK)
    elif action >= at.BUY_VOUCHER:
        game.buy_voucher(action - at.BUY_VOUCHER)
    elif action >= at.BUY:
        game.buy(action - at.BUY)
    elif action == at.REROLL_SHOP:
        game.reroll()
    elif action == at.SKIP_BLIND:
        game.skip_blind()
    elif action == at.REROLL_BOSS:
        game.reroll_boss()
    else:
        game.skip_pack()


def use(game: Game, action: int, targets: Sequence[int]) -> None:
    """Use a consumable, or pick an item, on targets."""
    targets = in_order(game, action, targets)
    if action >= at.USE:
        game.use(action - at.USE, targets)
    else:
        game.pick(action - at.PICK, targets)


def consumable_of(run: Run, action: int) -> int:
    """Return the kind of the consumable that a use or pick takes; -1 for another item."""
    if action >= at.USE:
        return run.consumables[action - at.USE] & 0xFF
    offer = run.pack[action - at.PICK]
    return offer.item & 0xFF if offer.category == Category.CONSUMABLE else -1


def in_order(game: Game, action: int, targets: Sequence[int]) -> Sequence[int]:
    """Return positions in the hand in the order in which a use or pick takes them.

    Death turns the card of fewer chips into the other one.
    """
    if consumable_of(game.run, action) != DEATH:
        return targets
    hand = game.run.hand
    return sorted(targets, key=lambda place: (CHIPS[hand[place] & 0xF], hand[place] >> 6 & 0x3FF))
