"""Opening and closing of packs: those bought in the shop, and those of tags."""

from __future__ import annotations

from typing import Final

from pkmn_balatro.simulator import jokers, packs, rounds, tags
from pkmn_balatro.simulator.jokers import Event
from pkmn_balatro.simulator.run import Phase, Run

PACK_TAGS: Final = {
    tags.STANDARD: 3 * packs.STANDARD + 2,
    tags.CHARM: 3 * packs.ARCANA + 2,
    tags.METEOR: 3 * packs.CELESTIAL + 2,
    tags.BUFFOON: 3 * packs.BUFFOON + 2,
    tags.ETHEREAL: 3 * packs.SPECTRAL,
}
"""Pack that each tag opens."""


def open_pack(run: Run, pack: int, *, from_shop: bool) -> None:
    """Open a pack: choose its items, and deal a hand for those that are used on cards."""
    run.phase = Phase.PACK.value
    run.shop_after_pack = from_shop
    run.pack_kind = pack
    run.pack = packs.items_of(run, pack)
    run.picks_left = packs.PACKS[pack].picks
    if packs.deals_a_hand(pack):
        rounds.deal_for_pack(run)
    jokers.notify(run, Event.PACK_OPENED)


def close_pack(run: Run) -> None:
    """Close the open pack and continue where it was opened."""
    rounds.return_hand(run)
    run.pack = []
    run.picks_left = 0
    run.pack_kind = -1
    if run.shop_after_pack:
        run.phase = Phase.SHOP.value
    else:
        run.phase = Phase.BLIND.value
        open_waiting_pack(run)


def open_waiting_pack(run: Run) -> None:
    """Open the pack of the first waiting tag that has one."""
    for tag in run.tags:
        if tag in PACK_TAGS:
            run.tags.remove(tag)
            open_pack(run, PACK_TAGS[tag], from_shop=False)
            return
