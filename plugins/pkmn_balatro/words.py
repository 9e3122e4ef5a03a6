"""The state in words, for language models and people. Face-down cards stay unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pkmn_balatro.pilot.plays import known
from pkmn_balatro.simulator.blinds import BOSSES
from pkmn_balatro.simulator.cards import EDITIONS, FACE_DOWN, FORCED, card_name
from pkmn_balatro.simulator.consumables import CONSUMABLES, consumable_name
from pkmn_balatro.simulator.jokers.kinds import JOKERS
from pkmn_balatro.simulator.packs import PACKS
from pkmn_balatro.simulator.rounds import target_of
from pkmn_balatro.simulator.run import HANDS, Category, Joker, Offer, Phase, Run
from pkmn_balatro.simulator.scoring import score_hand
from pkmn_balatro.simulator.shop import reroll_price
from pkmn_balatro.simulator.tags import TAGS
from pkmn_balatro.simulator.vouchers import VOUCHERS
from pkmncli.api import Context, MilestoneSplit

if TYPE_CHECKING:
    from pkmn_balatro.environment import BalatroEnvironment
    from pkmn_balatro.simulator.game import Game
    from pkmncli.api import DangerLevel

ABOUT: Final = (
    "a card game about poker hands, jokers and rising scores; play_1_2_5 plays the cards at the places 1, 2 and 5 of "
    "the hand, discard_3_4 discards two, choose_2 names a target"
)
"""Kind of game, for prompts: with the grammar of the actions' names, of which a prompt lists only a part."""
SYNONYMS: Final = {
    "select": "select_blind",
    "skip": "skip_blind",
    "reroll": "reroll_shop",
    "leave": "leave_shop",
    "next_round": "leave_shop",
    "sort": "sort_by_rank",
}
"""Other names of actions."""
BLINDS: Final = ("small blind", "big blind", "boss blind")

_SUGGESTED: Final = 3
"""Plays that are suggested."""


def blind_name(run: Run) -> str:
    """Return the blind's name; of a boss with its effect."""
    if run.blind < 2:
        return BLINDS[run.blind]
    boss = BOSSES[run.boss]
    return f"boss {boss.name} ({'no effect now' if run.boss_disabled else boss.words})"


def joker_words(joker: Joker) -> str:
    """Return a joker's name, state and effect, such as ``Joker (foil): +4 mult``."""
    kind = JOKERS[joker.kind]
    notes = [EDITIONS[joker.edition], "no effect now" if joker.debuffed else "", "eternal" if joker.eternal else ""]
    notes += [f"now {joker.value}" if joker.value else "", "rental" if joker.rental else ""]
    told = ", ".join(filter(None, notes))
    return f"{kind.name}{f' ({told})' if told else ''}: {kind.words}"


def offer_name(offer: Offer) -> str:
    """Return the name of an offered item; empty for a playing card or a sold item."""
    if offer.sold or offer.category == Category.CARD:
        return ""
    if offer.category == Category.JOKER:
        return JOKERS[offer.item].name
    if offer.category == Category.CONSUMABLE:
        return CONSUMABLES[offer.item & 0xFF].name
    return VOUCHERS[offer.item].name if offer.category == Category.VOUCHER else PACKS[offer.item].name


def offer_words(offer: Offer) -> str:
    """Return an offered item and its effect."""
    item = offer.item
    if offer.category == Category.JOKER:
        return joker_words(Joker(item, offer.edition, eternal=offer.eternal, rental=offer.rental))
    if offer.category == Category.CONSUMABLE:
        return f"{consumable_name(item)}: {CONSUMABLES[item & 0xFF].words}"
    if offer.category == Category.VOUCHER:
        return f"{VOUCHERS[item].name}: {VOUCHERS[item].words}"
    if offer.category == Category.PACK:
        pack = PACKS[item]
        return f"{pack.name}: {pack.picks} of {pack.items}"
    return card_name(item)


def best_plays(run: Run, subsets: Iterable[tuple[int, ...]]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return plays as least score, hand and positions, the best first. Plays of unknown cards are left out.

    Cards that are held face down count as unknown ones, so scores don't tell what they are.

    Args:
        run: the run, in which a blind is played.
        subsets: positions in the hand of each play.
    """
    hidden = {place for place, card in enumerate(run.hand) if card & FACE_DOWN}
    forced = {place for place, card in enumerate(run.hand) if card & FORCED}
    view = known(run)
    found = []
    for positions in subsets:
        if hidden.isdisjoint(positions) and forced.issubset(positions):
            scored = score_hand(view, positions)
            found.append((scored.total, scored.hand, positions))
    found.sort(key=lambda play: (-play[0], len(play[2]), play[2]))
    return found


def best_play_actions(environment: BalatroEnvironment) -> Iterator[tuple[int, int, int]]:
    """Return the plays that can be chosen as least score, hand and action, the best first."""
    actions, places = environment.actions, environment.visible_places
    plays = {tuple(places[one] for one in subset): subset for subset in actions.plays if subset[-1] < len(places)}
    for total, hand, positions in best_plays(environment.game.run, plays):
        yield total, hand, actions.play_of(plays[positions])


def span(fewest: int, most: int) -> str:
    """Return how many, such as ``1 to 3``."""
    return str(most) if fewest == most else f"{fewest} to {most}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 hand`` or ``3 hands``."""
    return f"{number} {noun}{'s' * (number != 1)}"


def status(game: Game) -> str:
    """Return the state of a game in one line."""
    run = game.run
    jokers = counted(len(run.jokers), "joker")
    if run.phase == Phase.OVER:
        return f"{'won' if run.won else 'lost'} at ante {run.ante}, ${run.money}, {jokers}"
    doing = ("before", "at", "shop after", "pack at", "")[run.phase]
    where = f"ante {run.ante}, {doing} {blind_name(run)}"
    if run.phase != Phase.PLAY:
        return f"{where}, ${run.money}, {jokers}"
    return f"{where}: {run.score:,} of {run.target:,}, {_left(run)}, ${run.money}, {jokers}"


def _left(run: Run) -> str:
    return f"{counted(run.hands_left, 'hand')} and {counted(run.discards_left, 'discard')} left"


def context(environment: BalatroEnvironment) -> Context:
    """Return the state of an environment's game in words."""
    run = environment.game.run
    steps = environment.milestone_steps()
    reached = [
        MilestoneSplit(name, step, step)
        for name, step in zip(environment.milestone_names, steps, strict=True)
        if step >= 0
    ]
    return Context(
        current_goal=_goal(environment),
        context_summary=" ".join(_summary(environment)),
        action_suggestions=tuple(_suggestions(environment)),
        danger=_danger(run),
        milestones=tuple(sorted(reached, key=lambda split: split.step)),
    )


def _goal(environment: BalatroEnvironment) -> str:
    run = environment.game.run
    last = f"win by beating the boss of ante {run.win_ante}"
    if run.phase == Phase.PLAY:
        return f"Score {max(run.target - run.score, 0):,} more chips to beat the {blind_name(run)}; {last}."
    if run.phase == Phase.BLIND:
        return f"Be strong enough for the {blind_name(run)} of {target_of(run, run.blind):,} chips; {last}."
    return f"Improve jokers, hand levels and deck; {last}."


def _danger(run: Run) -> DangerLevel:
    if run.phase != Phase.PLAY:
        return "none"
    missing = 1 - run.score / run.target if run.target else 0.0
    if run.hands_left <= 1:
        return "critical" if missing > 0.3 else "high"
    return "high" if run.hands_left == 2 and missing > 0.6 else "low"


def _summary(environment: BalatroEnvironment) -> Iterator[str]:
    run, names = environment.game.run, environment.actions.names
    yield f"Ante {run.ante} of {run.win_ante}, {blind_name(run)}."
    if run.phase == Phase.PLAY:
        yield f"{run.score:,} of {run.target:,} chips; {_left(run)}."
    elif run.phase == Phase.BLIND:
        tag = f" Skipping it brings the {TAGS[run.offered_tags[run.blind]].name}." if run.blind < 2 else ""
        boss = BOSSES[run.boss]
        yield f"The boss of this ante is {boss.name} ({boss.words}).{tag}"
    yield f"Money ${run.money}."
    if run.hand:
        hand = run.hand
        cards = ", ".join(
            f"{number} {card_name(hand[place])}{' (must be chosen)' if hand[place] & FORCED else ''}"
            for number, place in enumerate(environment.visible_places, 1)
        )
        yield f"Hand by place: {cards}. {len(run.draw)} cards are left to draw."
    jokers = "; ".join(f"{place} {joker_words(joker)}" for place, joker in enumerate(run.jokers, 1))
    yield f"Jokers ({len(run.jokers)} of {run.joker_slots}): {jokers or 'none'}."
    if run.consumables:
        owned = "; ".join(
            f"{place} {consumable_name(kind)}: {CONSUMABLES[kind & 0xFF].words}"
            for place, kind in enumerate(run.consumables, 1)
        )
        yield f"Consumables: {owned}."
    raised = ", ".join(f"{HANDS[hand]} {level}" for hand, level in enumerate(run.levels) if level > 1)
    if raised:
        yield f"Hand levels above 1: {raised}."
    if run.tags:
        yield f"Tags: {', '.join(TAGS[tag].name for tag in run.tags)}."
    if run.phase == Phase.SHOP:
        yield f"Shop: {'; '.join(_shop(run))}; reroll_shop ${reroll_price(run)}."
    elif run.phase == Phase.PACK:
        items = "; ".join(f"pick_{place} {offer_words(offer)}" for place, offer in _offered(run.pack))
        yield f"The open pack has {items}. {run.picks_left} may be picked."
    if environment.pending is not None:
        action, *targets = environment.pending
        yield f"{names[action]} waits for its targets: choose {span(*targets)} of the hand, or cancel."


def _shop(run: Run) -> Iterator[str]:
    for verb, offers in (("buy", run.shop), ("buy_voucher", run.shop_vouchers), ("open_pack", run.shop_packs)):
        for place, offer in _offered(offers):
            yield f"{verb}_{place} ${offer.price} {offer_words(offer)}"


def _offered(offers: Sequence[Offer]) -> list[tuple[int, Offer]]:
    return [(place, offer) for place, offer in enumerate(offers, 1) if not offer.sold]


def _suggestions(environment: BalatroEnvironment) -> Iterator[str]:
    """Return the best plays with their least scores, or the few actions of other phases."""
    run = environment.game.run
    names, mask = environment.actions.names, environment.action_masks()
    if run.phase == Phase.PLAY and environment.pending is None:
        distinct: dict[tuple[int, int], int] = {}  # other plays add cards that score nothing
        for total, hand, action in best_play_actions(environment):
            distinct.setdefault((total, hand), action)
        for (total, hand), action in list(distinct.items())[:_SUGGESTED]:
            yield f"{names[action]} ({HANDS[hand]}, {total:,} chips)"
    for number in range(environment.actions.play):
        if mask[number]:
            yield names[number]
