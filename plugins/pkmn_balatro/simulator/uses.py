"""Use of consumables: when it is allowed, and what each does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pkmn_balatro.simulator import consumables as kinds
from pkmn_balatro.simulator import jokers, pools, rounds, shop
from pkmn_balatro.simulator.blinds import active_boss, disable_boss, refresh_debuffs
from pkmn_balatro.simulator.cards import (
    ACE,
    BLUE_SEAL,
    BONUS,
    CLUBS,
    DIAMONDS,
    GLASS,
    GOLD,
    GOLD_SEAL,
    HEARTS,
    JACK,
    KING,
    LUCKY,
    MULT,
    NEGATIVE,
    NO_EDITION,
    POLYCHROME,
    PURPLE_SEAL,
    RED_SEAL,
    ROUND_FLAGS,
    SPADES,
    STEEL,
    STONE,
    WILD,
    edition_of,
    make_card,
    rank_of,
    with_edition,
    with_enhancement,
    with_rank,
    with_seal,
    with_suit,
)
from pkmn_balatro.simulator.jokers import Event
from pkmn_balatro.simulator.jokers.create import empty_slots
from pkmn_balatro.simulator.run import HANDS, Joker, Phase, Run
from pkmn_balatro.simulator.tags import DOUBLE

_ENHANCE: Final = {
    kinds.MAGICIAN: LUCKY,
    kinds.EMPRESS: MULT,
    kinds.HIEROPHANT: BONUS,
    kinds.LOVERS: WILD,
    kinds.CHARIOT: STEEL,
    kinds.JUSTICE: GLASS,
    kinds.DEVIL: GOLD,
    kinds.TOWER: STONE,
}
_SUIT: Final = {kinds.STAR: DIAMONDS, kinds.MOON: CLUBS, kinds.SUN: HEARTS, kinds.WORLD: SPADES}
_SEAL: Final = {
    kinds.TALISMAN: GOLD_SEAL,
    kinds.DEJA_VU: RED_SEAL,
    kinds.TRANCE: BLUE_SEAL,
    kinds.MEDIUM: PURPLE_SEAL,
}
_NEEDS_HELD_CARDS: Final = frozenset(
    {kinds.FAMILIAR, kinds.GRIM, kinds.INCANTATION, kinds.SIGIL, kinds.OUIJA, kinds.IMMOLATE}
)
_MAKES_JOKER: Final = frozenset({kinds.JUDGEMENT, kinds.WRAITH, kinds.SOUL})
_MAKES_CONSUMABLE: Final = frozenset({kinds.FOOL, kinds.HIGH_PRIESTESS, kinds.EMPEROR})
_NEEDS_PLAIN_JOKER: Final = frozenset({kinds.WHEEL_OF_FORTUNE, kinds.ECTOPLASM, kinds.HEX})
_IMPROVEMENTS: Final = (BONUS, MULT, WILD, GLASS, STEEL, GOLD, LUCKY)

HERMIT_MOST: Final = 20
TEMPERANCE_MOST: Final = 50
IMMOLATE_MONEY: Final = 20
IMMOLATE_CARDS: Final = 5


def targets_needed(run: Run, kind: int, own: bool) -> tuple[int, int] | None:
    """Return the fewest and the most cards that a consumable is used on now; None if it can't be used.

    Args:
        run: The run.
        kind: The consumable.
        own: True if it is one of the player's, whose place becomes free; False if it is an item of a pack.
    """
    if kind in kinds.PLANETS:
        return 0, 0
    needs = kinds.CONSUMABLES[kind]
    if needs.most:
        held = len(run.hand)
        if kind == kinds.AURA and not any(edition_of(card) == NO_EDITION for card in run.hand):
            return None
        return (needs.fewest, min(needs.most, held)) if held >= needs.fewest else None
    if kind in _NEEDS_HELD_CARDS:
        allowed = len(run.hand) > 1
    elif kind in _MAKES_JOKER:
        allowed = empty_slots(run) > 0
    elif kind in _MAKES_CONSUMABLE:
        allowed = own or kinds.has_consumable_room(run)
        if kind == kinds.FOOL:
            allowed = allowed and run.last_consumable not in (-1, kinds.FOOL)
    elif kind in _NEEDS_PLAIN_JOKER:
        allowed = any(joker.edition == NO_EDITION for joker in run.jokers)
    elif kind == kinds.ANKH:
        allowed = bool(run.jokers)
    else:
        allowed = True
    return (0, 0) if allowed else None


def can_target(run: Run, kind: int, position: int) -> bool:
    """Return True if a consumable may be used on the card at a position of the hand."""
    if not 0 <= position < len(run.hand):
        return False
    return kind != kinds.AURA or edition_of(run.hand[position]) == NO_EDITION


def use(run: Run, kind: int, targets: Sequence[int]) -> None:
    """Carry out a consumable whose use is allowed.

    Args:
        run: The run.
        kind: The consumable.
        targets: Positions in the hand.
    """
    if kind in kinds.PLANETS:
        run.levels[kind] += 1
        if kind not in run.planets_used:
            run.planets_used.append(kind)
    elif kind in _ENHANCE:
        for place in targets:
            run.hand[place] = with_enhancement(run.hand[place], _ENHANCE[kind])
    elif kind in _SUIT:
        for place in targets:
            run.hand[place] = with_suit(run.hand[place], _SUIT[kind])
    elif kind in _SEAL:
        for place in targets:
            run.hand[place] = with_seal(run.hand[place], _SEAL[kind])
    else:
        _EFFECTS[kind](run, targets)
    if kind in kinds.TAROTS:
        run.tarots_used += 1
    if kind < kinds.TAROTS.stop:
        run.last_consumable = kind
    if run.debuffs:
        refresh_debuffs(run)
    jokers.notify(run, Event.CONSUMABLE_USED, kind)


def add_joker(run: Run, joker: Joker) -> None:
    """Give the player a joker."""
    run.jokers.append(joker)
    if run.phase == Phase.SHOP:
        if joker.kind == jokers.CHAOS_THE_CLOWN:
            run.free_rerolls += 1
        elif joker.kind == jokers.ASTRONOMER:
            shop.reprice(run)
    rounds.refresh_hand_size(run)


def add_random_joker(run: Run, rarity: int | None = None) -> None:
    """Give the player a random joker of a rarity, or of a random one."""
    add_joker(run, pools.joker_of(run, pools.draw_joker_offer(run, rarity)))


def sold_joker_acts(run: Run, joker: Joker) -> None:
    """Carry out the effect that some jokers have when they are sold."""
    if joker.kind == jokers.LUCHADOR:
        if active_boss(run) >= 0:
            disable_boss(run)
    elif joker.kind == jokers.DIET_COLA:
        run.tags.append(DOUBLE)
    elif joker.kind == jokers.INVISIBLE_JOKER and joker.value >= jokers.INVISIBLE_ROUNDS and run.jokers:
        run.jokers.append(jokers.copy_of(run.random.choice(run.jokers)))


def add_cards(run: Run, cards: Sequence[int]) -> None:
    """Put new cards into the hand, or into the deck where no hand is held."""
    (run.hand if run.hand else run.draw).extend(cards)
    jokers.notify(run, Event.CARD_ADDED, cards)


def destroy_cards(run: Run, positions: Sequence[int]) -> None:
    """Remove cards of the hand from the run."""
    gone = [run.hand[place] for place in positions]
    for place in sorted(positions, reverse=True):
        del run.hand[place]
    jokers.notify(run, Event.CARD_DESTROYED, gone)


def _fool(run: Run, _: Sequence[int]) -> None:
    pools.add_consumable(run, run.last_consumable)


def _high_priestess(run: Run, _: Sequence[int]) -> None:
    for _number in range(2):
        pools.add_consumable(run, pools.draw_planet(run))


def _emperor(run: Run, _: Sequence[int]) -> None:
    for _number in range(2):
        pools.add_consumable(run, pools.draw_tarot(run))


def _hermit(run: Run, _: Sequence[int]) -> None:
    run.money += max(0, min(run.money, HERMIT_MOST))


def _plain_joker(run: Run) -> Joker:
    return run.random.choice([joker for joker in run.jokers if joker.edition == NO_EDITION])


def _wheel_of_fortune(run: Run, _: Sequence[int]) -> None:
    if jokers.happens(run, 4):
        _plain_joker(run).edition = pools.draw_sure_edition(run)


def _strength(run: Run, targets: Sequence[int]) -> None:
    for place in targets:
        run.hand[place] = with_rank(run.hand[place], (rank_of(run.hand[place]) + 1) % 13)


def _hanged_man(run: Run, targets: Sequence[int]) -> None:
    destroy_cards(run, targets)


def _death(run: Run, targets: Sequence[int]) -> None:
    first, second = targets
    run.hand[first] = run.hand[second] & ~ROUND_FLAGS | run.hand[first] & ROUND_FLAGS


def _temperance(run: Run, _: Sequence[int]) -> None:
    run.money += min(TEMPERANCE_MOST, sum(jokers.sell_value(run, joker) for joker in run.jokers))


def _judgement(run: Run, _: Sequence[int]) -> None:
    add_random_joker(run)


def _destroy_random(run: Run, count: int) -> None:
    destroy_cards(run, run.random.sample(range(len(run.hand)), min(count, len(run.hand))))


def _new_cards(run: Run, ranks: Sequence[int], count: int) -> None:
    chance = run.random
    _destroy_random(run, 1)
    add_cards(
        run,
        [
            make_card(chance.choice(ranks), chance.randrange(4), chance.choice(_IMPROVEMENTS))
            for _number in range(count)
        ],
    )


def _familiar(run: Run, _: Sequence[int]) -> None:
    _new_cards(run, range(JACK, KING + 1), 3)


def _grim(run: Run, _: Sequence[int]) -> None:
    _new_cards(run, (ACE,), 2)


def _incantation(run: Run, _: Sequence[int]) -> None:
    _new_cards(run, range(JACK), 4)


def _aura(run: Run, targets: Sequence[int]) -> None:
    run.hand[targets[0]] = with_edition(run.hand[targets[0]], pools.draw_sure_edition(run))


def _wraith(run: Run, _: Sequence[int]) -> None:
    add_random_joker(run, jokers.RARE)
    run.money = 0


def _soul(run: Run, _: Sequence[int]) -> None:
    add_random_joker(run, jokers.LEGENDARY)


def _sigil(run: Run, _: Sequence[int]) -> None:
    suit = run.random.randrange(4)
    run.hand = [with_suit(card, suit) for card in run.hand]


def _ouija(run: Run, _: Sequence[int]) -> None:
    rank = run.random.randrange(13)
    run.hand = [with_rank(card, rank) for card in run.hand]
    run.base_hand_size -= 1
    rounds.refresh_hand_size(run)


def _ectoplasm(run: Run, _: Sequence[int]) -> None:
    _plain_joker(run).edition = NEGATIVE
    run.counters["ectoplasms"] = run.counters.get("ectoplasms", 0) + 1
    run.base_hand_size -= run.counters["ectoplasms"]
    rounds.refresh_hand_size(run)


def _immolate(run: Run, _: Sequence[int]) -> None:
    _destroy_random(run, IMMOLATE_CARDS)
    run.money += IMMOLATE_MONEY


def _ankh(run: Run, _: Sequence[int]) -> None:
    chosen = run.random.choice(run.jokers)
    copied = jokers.copy_of(chosen)
    run.jokers = [joker for joker in run.jokers if joker is chosen or joker.eternal]
    if empty_slots(run) > 0:
        run.jokers.append(copied)
    rounds.refresh_hand_size(run)


def _hex(run: Run, _: Sequence[int]) -> None:
    chosen = _plain_joker(run)
    chosen.edition = POLYCHROME
    run.jokers = [joker for joker in run.jokers if joker is chosen or joker.eternal]
    rounds.refresh_hand_size(run)


def _cryptid(run: Run, targets: Sequence[int]) -> None:
    card = run.hand[targets[0]] & ~ROUND_FLAGS
    add_cards(run, [card, card])


def _black_hole(run: Run, _: Sequence[int]) -> None:
    for hand in range(len(HANDS)):
        run.levels[hand] += 1


_EFFECTS: Final[dict[int, Callable[[Run, Sequence[int]], None]]] = {
    kinds.FOOL: _fool,
    kinds.HIGH_PRIESTESS: _high_priestess,
    kinds.EMPEROR: _emperor,
    kinds.HERMIT: _hermit,
    kinds.WHEEL_OF_FORTUNE: _wheel_of_fortune,
    kinds.STRENGTH: _strength,
    kinds.HANGED_MAN: _hanged_man,
    kinds.DEATH: _death,
    kinds.TEMPERANCE: _temperance,
    kinds.JUDGEMENT: _judgement,
    kinds.FAMILIAR: _familiar,
    kinds.GRIM: _grim,
    kinds.INCANTATION: _incantation,
    kinds.AURA: _aura,
    kinds.WRAITH: _wraith,
    kinds.SIGIL: _sigil,
    kinds.OUIJA: _ouija,
    kinds.ECTOPLASM: _ectoplasm,
    kinds.IMMOLATE: _immolate,
    kinds.ANKH: _ankh,
    kinds.HEX: _hex,
    kinds.CRYPTID: _cryptid,
    kinds.SOUL: _soul,
    kinds.BLACK_HOLE: _black_hole,
}
