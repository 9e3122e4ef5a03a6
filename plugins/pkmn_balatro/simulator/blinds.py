"""Blinds: the score to reach, the reward, and the effects of the bosses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from pkmn_balatro.simulator.cards import DEBUFFED, FACE_DOWN, FORCED, PLAYED
from pkmn_balatro.simulator.jokers import happens
from pkmn_balatro.simulator.jokers.run_effects import counts_as, is_face
from pkmn_balatro.simulator.run import Joker, Phase, Run

PLAY: Final = Phase.PLAY.value

SMALL, BIG, BOSS = range(3)

BASE_SCORES: Final = (
    (300, 800, 2000, 5000, 11000, 20000, 35000, 50000),
    (300, 900, 2600, 8000, 20000, 36000, 60000, 100000),
    (300, 1000, 3200, 9000, 25000, 60000, 110000, 200000),
)
"""Score of antes 1 to 8, for the three levels of growth that stakes choose."""

REWARDS: Final = (3, 4, 5)
"""Dollars for the small blind, the big blind and a boss."""
SHOWDOWN_REWARD: Final = 8


@dataclass(frozen=True, slots=True)
class BossKind:
    """A boss blind."""

    name: str
    words: str
    """Effect in a few words."""
    lowest_ante: int = 1
    times: float = 2.0
    """Factor of the ante's base score."""
    showdown: bool = False
    """True if it is met in the last ante only."""


BOSSES: Final = (
    BossKind("The Club", "clubs have no effect"),
    BossKind("The Goad", "spades have no effect"),
    BossKind("The Head", "hearts have no effect"),
    BossKind("The Window", "diamonds have no effect"),
    BossKind("The Hook", "each play discards 2 random held cards"),
    BossKind("The Manacle", "hand size -1"),
    BossKind("The Pillar", "cards played before in this ante have no effect"),
    BossKind("The Psychic", "a play of fewer than 5 cards scores nothing"),
    BossKind("The Arm", "each play lowers the level of its hand by 1", 2),
    BossKind("The Fish", "cards drawn after a play are face down", 2),
    BossKind("The Flint", "base chips and mult are halved", 2),
    BossKind("The House", "the first hand is drawn face down", 2),
    BossKind("The Mark", "face cards are drawn face down", 2),
    BossKind("The Mouth", "only the first kind of hand played scores", 2),
    BossKind("The Needle", "one hand only", 2, 1.0),
    BossKind("The Wall", "twice the score of other bosses", 2, 4.0),
    BossKind("The Water", "no discards", 2),
    BossKind("The Wheel", "1 in 7 cards is drawn face down", 2),
    BossKind("The Eye", "no kind of hand scores twice", 3),
    BossKind("The Tooth", "each card played costs $1", 3),
    BossKind("The Plant", "face cards have no effect", 4),
    BossKind("The Serpent", "exactly 3 cards are drawn after a play or a discard", 5),
    BossKind("The Ox", "playing your most played hand sets money to $0", 6),
    BossKind("Amber Acorn", "jokers are turned over and shuffled", 1, 2.0, True),
    BossKind("Verdant Leaf", "no card has an effect until a joker is sold", 1, 2.0, True),
    BossKind("Violet Vessel", "three times the score of other bosses", 1, 6.0, True),
    BossKind("Crimson Heart", "a random joker has no effect for each hand", 1, 2.0, True),
    BossKind("Cerulean Bell", "one card must be in each play and discard", 1, 2.0, True),
)
"""All bosses. A boss is a place in this list."""

(
    CLUB,
    GOAD,
    HEAD,
    WINDOW,
    HOOK,
    MANACLE,
    PILLAR,
    PSYCHIC,
    ARM,
    FISH,
    FLINT,
    HOUSE,
    MARK,
    MOUTH,
    NEEDLE,
    WALL,
    WATER,
    WHEEL,
    EYE,
    TOOTH,
    PLANT,
    SERPENT,
    OX,
    ACORN,
    LEAF,
    VESSEL,
    HEART,
    BELL,
) = range(28)

_SUIT_OF_BOSS: Final = {CLUB: 2, GOAD: 0, HEAD: 1, WINDOW: 3}
HIDING: Final = frozenset({FISH, HOUSE, MARK, WHEEL})
"""Bosses that draw cards face down."""
_LATEST_ANTE: Final = max(kind.lowest_ante for kind in BOSSES)
"""Ante from which all bosses are met."""
_DEBUFFING: Final = frozenset({CLUB, GOAD, HEAD, WINDOW, PILLAR, PLANT, LEAF})


def base_score(ante: int, growth: int = 0) -> int:
    """Return the score that the blinds of an ante are multiples of.

    Args:
        ante: Any number; antes below 1 have 100.
        growth: 0 to 2, a row of :data:`BASE_SCORES`.
    """
    if ante < 1:
        return 100
    row = BASE_SCORES[growth]
    if ante <= 8:
        return row[ante - 1]
    beyond = min(ante, 38) - 8  # floats end soon after
    whole: int = int(row[7] * (1.6 + (0.75 * beyond) ** (1 + 0.2 * beyond)) ** beyond)
    digits = len(str(whole)) - 2
    power: int = 10**digits
    return whole // power * power


def active_boss(run: Run) -> int:
    """Return the boss whose effect holds now, or -1 outside of a boss blind or if the effect is disabled."""
    return run.boss if run.phase == PLAY and run.blind == BOSS and not run.boss_disabled else -1


def choose_boss(run: Run) -> int:
    """Choose a boss for the ante among those met least so far, and count it."""
    ante, met = run.ante, run.bosses_met
    allowed = _allowed_bosses(0 if ante >= 2 and ante % run.win_ante == 0 else max(1, min(ante, _LATEST_ANTE)))
    fewest = min([met[number] for number in allowed])
    boss = run.random.choice([number for number in allowed if met[number] == fewest])
    met[boss] += 1
    return boss


@cache
def _allowed_bosses(ante: int) -> tuple[int, ...]:
    """Return the bosses that an ante may have; those of the last ante for 0."""
    return tuple(
        number
        for number, kind in enumerate(BOSSES)
        if (not kind.showdown and kind.lowest_ante <= ante if ante else kind.showdown)
    )


def is_debuffed(run: Run, card: int, boss: int) -> bool:
    """Return True if this active boss takes the effect of a card."""
    suit = _SUIT_OF_BOSS.get(boss)
    if suit is not None:
        return counts_as(run, card, suit)
    if boss == PILLAR:
        return card & PLAYED != 0
    if boss == PLANT:
        return is_face(run, card)
    return boss == LEAF


def refresh_debuffs(run: Run) -> None:
    """Set the debuffed flag of all cards as the active boss says. Cheap if no boss debuffs cards."""
    boss = active_boss(run)
    if boss not in _DEBUFFING:
        if not run.debuffs:
            return
        run.debuffs = False
        run.draw = [card & ~DEBUFFED for card in run.draw]
        run.hand = [card & ~DEBUFFED for card in run.hand]
        run.discarded = [card & ~DEBUFFED for card in run.discarded]
        return
    run.debuffs = True
    for pile in (run.draw, run.hand, run.discarded):
        pile[:] = [card | DEBUFFED if is_debuffed(run, card, boss) else card & ~DEBUFFED for card in pile]


def drawn(run: Run, card: int, boss: int, first: bool, after_play: bool) -> int:
    """Return a card as it comes into the hand under the active boss: perhaps face down.

    Args:
        run: The run.
        card: The card.
        boss: The active boss.
        first: True for the first hand of the round.
        after_play: True for cards that replace played ones.
    """
    hidden = (
        (boss == HOUSE and first)
        or (boss == FISH and after_play)
        or (boss == WHEEL and happens(run, 7))
        or (boss == MARK and is_face(run, card))
    )
    return card | FACE_DOWN if hidden else card


def force_a_card(run: Run) -> None:
    """Mark one random card of the hand as forced, unless one is."""
    if run.hand and not any(card & FORCED for card in run.hand):
        place = run.random.randrange(len(run.hand))
        run.hand[place] |= FORCED


def disable_a_joker(run: Run) -> None:
    """Let one random joker have no effect, and give back the effect of the one before."""
    before = [joker for joker in run.jokers if joker.debuffed and joker.perishable >= 0]
    release_jokers(run)
    able = [joker for joker in run.jokers if not joker.debuffed and not any(joker is other for other in before)]
    able = able or [joker for joker in run.jokers if not joker.debuffed]
    if able:
        chosen: Joker = run.random.choice(able)
        chosen.debuffed = True


def release_jokers(run: Run) -> None:
    """Give back the effect of all jokers but those that have perished."""
    for joker in run.jokers:
        joker.debuffed = joker.perishable < 0


def disable_boss(run: Run) -> None:
    """Take the effect of the boss that is being played, for the rest of the round."""
    boss = active_boss(run)
    run.boss_disabled = True
    if boss < 0:
        return
    refresh_debuffs(run)
    release_jokers(run)
    run.hand = [card & ~(FACE_DOWN | FORCED) for card in run.hand]
    run.draw = [card & ~FACE_DOWN for card in run.draw]
    if boss == WATER:
        run.discards_left += run.counters.pop("discards_withheld", 0)
    elif boss == NEEDLE:
        run.hands_left += run.counters.pop("hands_withheld", 0)
    elif boss == MANACLE:
        run.round_hand_size += 1
        run.hand_size += 1
    elif boss in (WALL, VESSEL):
        run.target = int(run.target * 2 / BOSSES[boss].times)
