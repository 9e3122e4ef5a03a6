"""Skills that advice can ask for, such as "play the best flush" or "buy the joker Blueprint", as actions.

A pilot declares :data:`SKILLS` and asks :func:`action_of` for the next action of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pkmn_balatro import actions as at
from pkmn_balatro.simulator.consumables import CONSUMABLES
from pkmn_balatro.simulator.jokers.kinds import JOKERS
from pkmn_balatro.simulator.run import HANDS
from pkmn_balatro.words import best_play_actions, offer_name
from pkmncli.api import Argument, Skill

if TYPE_CHECKING:
    from pkmn_balatro.environment import BalatroEnvironment

HAND: Final = Argument("hand")
CARDS: Final = Argument("cards")
ITEM: Final = Argument("item")

SKILLS: Final = (
    Skill(
        "play_hand",
        "play the cards of a poker hand that score most, such as hand=flush; or cards by place, such as cards=1 2 5",
        (HAND, CARDS),
        (("hand",), ("cards",)),
        ("play",),
    ),
    Skill("discard_cards", "discard cards by place, such as cards=3 4", (CARDS,), (("cards",),), ("discard",)),
    Skill(
        "buy_item",
        "buy a joker, card, voucher or pack of the shop by name, or take one of the open pack, such as item=Blueprint",
        (ITEM,),
        (("item",),),
        ("buy", "pick"),
    ),
    Skill(
        "use_item",
        "use a consumable by name, such as item=Mars; with cards=2 4 on cards of the hand",
        (ITEM, CARDS),
        (("item",),),
        ("use",),
    ),
    Skill("sell_item", "sell a joker or consumable by name", (ITEM,), (("item",),), ("sell",)),
    Skill("select_next", "begin the next blind", (), (), ("select",), "select_blind"),
    Skill("skip_next", "skip the next blind for its tag", (), (), ("skip",), "skip_blind"),
    Skill("reroll_offers", "pay for other cards in the shop", (), (), ("reroll",), "reroll_shop"),
    Skill("leave", "leave the shop, or close the open pack", (), (), ("leave", "next round"), "leave_shop"),
)
"""Skills with their arguments."""


def action_of(environment: BalatroEnvironment, skill: str, arguments: Mapping[str, Any]) -> int | None:
    """Return the next action of a skill; None if it can't be carried out now. The mask allows the action.

    Args:
        environment: the environment, at a step.
        skill: name of one of :data:`SKILLS`.
        arguments: its arguments, by name; texts, or None.
    """
    found = _action(environment, skill, arguments)
    if found is None or not environment.action_masks()[found]:
        return None
    return found


def _action(environment: BalatroEnvironment, skill: str, arguments: Mapping[str, Any]) -> int | None:
    run, actions = environment.game.run, environment.actions
    item = _folded(arguments.get("item"))
    cards = _positions(arguments.get("cards"), len(environment.visible_places))
    if skill == "play_hand":
        if cards:
            return actions.play_of(cards) if len(cards) <= at.MOST_PLAYED else None
        return _best_of(environment, _folded(arguments.get("hand")))
    if skill == "discard_cards":
        return actions.discard_of(cards) if cards and len(cards) <= at.MOST_PLAYED else None
    if skill == "buy_item":
        for first, offers in (
            (at.PICK, run.pack),
            (at.BUY, run.shop),
            (at.BUY_VOUCHER, run.shop_vouchers),
            (at.OPEN_PACK, run.shop_packs),
        ):
            place = _find(item, [offer_name(offer) for offer in offers])
            if place is not None:
                return first + place
        return None
    if skill == "use_item":
        if environment.pending is not None:
            return actions.choice_of(cards) if cards and len(cards) <= at.MOST_TARGETS else at.CANCEL
        place = _find(item, [CONSUMABLES[kind & 0xFF].name for kind in run.consumables])
        return None if place is None or place >= at.MOST_CONSUMABLES else at.USE + place
    if skill == "sell_item":
        place = _find(item, [JOKERS[joker.kind].name for joker in run.jokers])
        if place is not None:
            return at.SELL_JOKER + place if place < at.MOST_JOKERS else None
        place = _find(item, [CONSUMABLES[kind & 0xFF].name for kind in run.consumables])
        return None if place is None or place >= at.MOST_CONSUMABLES else at.SELL_CONSUMABLE + place
    if skill == "leave" and run.pack:
        return at.SKIP_PACK
    names = {one.name: one.action for one in SKILLS if one.action}
    return at.SIMPLE.index(names[skill]) if skill in names else None


def _best_of(environment: BalatroEnvironment, hand: str) -> int | None:
    """Return the play that scores most, of a poker hand if one is named."""
    wanted = _find(hand, HANDS) if hand and hand != "best" else None
    if hand and hand != "best" and wanted is None:
        return None
    plays = best_play_actions(environment)
    return next((action for _total, kind, action in plays if wanted is None or kind == wanted), None)


def _find(name: str, names: Sequence[str]) -> int | None:
    """Return the place of a name, or else of the only one that contains it; None if there is none."""
    folded = [one.casefold() for one in names]
    if name in folded:
        return folded.index(name)
    near = [place for place, one in enumerate(folded) if name and name in one]
    return near[0] if len(near) == 1 else None


def _folded(value: Any) -> str:
    return " ".join(str(value or "").replace("_", " ").split()).casefold()


def _positions(value: Any, count: int) -> tuple[int, ...]:
    """Return the positions that a text such as ``1, 2 5`` names; none if one of them is no place of the hand."""
    numbers = str(value or "").replace(",", " ").replace("_", " ").split()
    if not all(number.isascii() and number.isdigit() and 1 <= int(number) <= count for number in numbers):
        return ()
    return tuple(sorted({int(number) - 1 for number in numbers}))
