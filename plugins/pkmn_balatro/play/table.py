"""The table in a terminal, in the form of rich: blind, jokers, hand, shop or pack. Face-down cards stay hidden."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pkmn_balatro.play.typed_lines import ACTIONS, lines_now
from pkmn_balatro.simulator.blinds import ACORN, BOSS, BOSSES, active_boss
from pkmn_balatro.simulator.cards import (
    DEBUFFED,
    FACE_DOWN,
    FORCED,
    RANKS,
    STONE,
    SUIT_SIGNS,
    card_name,
    enhancement_of,
    rank_of,
    suit_of,
)
from pkmn_balatro.simulator.consumables import CONSUMABLES, consumable_name
from pkmn_balatro.simulator.decks import DECKS
from pkmn_balatro.simulator.hands import worth
from pkmn_balatro.simulator.packs import PACKS
from pkmn_balatro.simulator.pools import consumable_sell_value
from pkmn_balatro.simulator.rounds import reward_of
from pkmn_balatro.simulator.run import HANDS, Offer, Phase, Run
from pkmn_balatro.simulator.stakes import STAKES
from pkmn_balatro.simulator.tags import TAGS
from pkmn_balatro.simulator.vouchers import VOUCHERS
from pkmn_balatro.words import BLINDS, blind_name, counted, joker_words, offer_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkmn_balatro.simulator.game import Game

SIGNS_AS_LETTERS: Final = str.maketrans("♠♥♣♦╭╮╰╯─│━░▒▶✓·", "shcd++++-|=##>x,")
"""Letters for each sign of the table, for an output that has letters only."""

_CARD_COLUMNS: Final = 6
_SUIT_STYLES: Final = ("bold", "bold red", "bold green", "bold yellow")
_MONEY: Final = "yellow"
_BAR_COLUMNS: Final = 20


def table(game: Game, columns: int, *, lines: bool = True) -> Iterator[RenderableType]:
    """Return the table of a game, part by part.

    Args:
        game: the game.
        columns: columns of the terminal.
        lines: true to end with the lines that play now.
    """
    run = game.run
    yield Text("─" * columns, "dim")
    yield _head(run)
    if run.phase == Phase.PLAY:
        yield _score(run)
    if run.phase == Phase.BLIND:
        yield from _blinds(game)
    yield from _owned(game)
    if run.phase == Phase.SHOP:
        yield from _shop(game)
    elif run.phase == Phase.PACK:
        title = f"{PACKS[run.pack_kind].name.capitalize()}, {run.picks_left} to pick"
        rows = [(str(place), *_split(offer_words(offer))) for place, offer in enumerate(run.pack, 1) if not offer.sold]
        yield Text(title, "bold")
        yield _grid(rows)
    if run.hand:
        yield Text(f"Hand, {len(run.hand)} of {run.hand_size}", "bold")
        yield from hand(run, columns)
    if lines:
        examples = [*lines_now(run), "help"] if run.phase != Phase.OVER else ["new", "load FILE", "quit"]
        yield Text(" · ".join(examples), "dim")


def text_of(game: Game, columns: int = 80) -> str:
    """Return the table of a game as plain text."""
    console = Console(file=io.StringIO(), width=columns, color_system=None, highlight=False)
    with console.capture() as printed:
        console.print(*table(game, columns, lines=False), sep="\n")
    return "\n".join(line.rstrip() for line in printed.get().splitlines())


def help_table() -> RenderableType:
    """Return what can be written."""
    others = (
        ("hint, hint greedy", "what a pilot would do, and plays that score most, with their least scores"),
        ("deck", "cards left to draw"),
        ("hands", "poker hands: levels and worth"),
        ("save FILE", "save the run; a training can begin there, too"),
        ("load FILE", "continue with a saved run"),
        ("new, new 7", "begin another run, with the seed 7"),
        ("help", "this list"),
        ("quit", "end"),
    )
    rows = [(", ".join(usage.examples), usage.meaning) for usage in ACTIONS]
    return _grid([*rows, *others])


def hand(run: Run, columns: int) -> Iterator[Text]:
    """Return the cards of the hand as boxes with their places, and a line for each that has more to tell."""
    in_row = max(1, columns // _CARD_COLUMNS)
    for begin in range(0, len(run.hand), in_row):
        top, middle, bottom = Text(), Text(), Text()
        for place, card in enumerate(run.hand[begin : begin + in_row], begin + 1):
            edge = "bold magenta" if card & FORCED else "dim" if card & DEBUFFED else ""
            face, style = _face(card)
            top.append("╭───╮ ", edge)
            middle.append("│", edge).append(f"{face:^3}", style).append("│ ", edge)
            bottom.append(f"╰{str(place).center(3, '─')}╯ ", edge)
        yield from (top, middle, bottom)
    for place, card in enumerate(run.hand, 1):
        notes = [card_name(card).partition(" (")[2].rstrip(")"), "must be chosen" if card & FORCED else ""]
        if any(notes):
            yield Text(f"  {place} {', '.join(filter(None, notes))}", "cyan")


def deck_table(run: Run) -> RenderableType:
    """Return how many cards of each rank and suit may still be drawn; face-down cards of the hand count among them."""
    cards = [*run.draw, *(card for card in run.hand if card & FACE_DOWN)]
    plain = [card for card in cards if enhancement_of(card) != STONE]
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), title=f"{len(cards)} cards", title_justify="left")
    grid.add_column("")
    for rank in reversed(RANKS):
        grid.add_column(rank, justify="right")
    grid.add_column("all", justify="right")
    for suit, sign in enumerate(SUIT_SIGNS):
        counts = [sum(rank_of(card) == rank and suit_of(card) == suit for card in plain) for rank in range(12, -1, -1)]
        shown = [str(count) if count else "" for count in counts]
        grid.add_row(Text(sign, _SUIT_STYLES[suit]), *shown, str(sum(counts)))
    if len(plain) < len(cards):
        grid.caption = f"and {len(cards) - len(plain)} stone"
    return grid


def hands_table(run: Run) -> RenderableType:
    """Return level, worth and times played of each poker hand, the best first."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("hand", "level", "chips x mult", "played"):
        grid.add_column(name, justify="left" if name == "hand" else "right")
    for kind in range(len(HANDS) - 1, -1, -1):
        if kind < 9 or run.played[kind] or run.levels[kind] > 1:
            chips, mult = worth(kind, run.levels[kind])
            grid.add_row(HANDS[kind], str(run.levels[kind]), f"{chips} x {mult}", str(run.played[kind]))
    return grid


# Parts ---------------------------------------------------------------------------------------------------------


def _head(run: Run) -> Text:
    """Return the line of the whole run."""
    head = Text(f"Ante {run.ante} of {run.win_ante}  ", "bold")
    head.append(f"${run.money}", f"bold {_MONEY}")
    head.append(f"  {DECKS[run.deck_kind].name} deck, {STAKES[run.stake]} stake, blinds beaten: {run.rounds}", "dim")
    if run.tags:
        head.append(f"  {', '.join(TAGS[tag].name for tag in run.tags)}", "cyan")
    return head


def _score(run: Run) -> Text:
    name = blind_name(run)
    share = min(1.0, run.score / run.target) if run.target else 1.0
    full = round(share * _BAR_COLUMNS)
    line = Text(f"{name[0].upper()}{name[1:]}\n", "bold magenta" if run.blind == BOSS else "bold")
    line.append(f"{run.score:,} of {run.target:,} ", "bold")
    line.append("━" * full, "green").append("─" * (_BAR_COLUMNS - full), "dim")
    line.append(f"  {counted(run.hands_left, 'hand')}, {counted(run.discards_left, 'discard')} left")
    return line.append(f", {counted(len(run.draw), 'card')} to draw", "dim")


def _blinds(game: Game) -> Iterator[RenderableType]:
    run = game.run
    rows = []
    for blind in range(3):
        boss = BOSSES[run.boss]
        name = f"{boss.name}: {boss.words}" if blind == BOSS else BLINDS[blind].capitalize()
        tag = None if blind == BOSS or blind < run.blind else TAGS[run.offered_tags[blind]]
        skip = "" if tag is None else f"; skip it for {tag.name}: {tag.words}"
        sign = "▶" if blind == run.blind else "✓" if blind < run.blind else ""
        score = f"{game.target_of(blind):,}"
        rows.append((sign, score, f"${reward_of(run, blind)}", f"{name}{skip}"))
    yield _grid(rows, right=(1, 2))


def _owned(game: Game) -> Iterator[RenderableType]:
    run = game.run
    yield Text(f"Jokers, {len(run.jokers)} of {run.joker_slots}", "bold")
    hidden = active_boss(run) == ACORN  # it turned them over before it shuffled them
    rows: list[Sequence[str]] = []
    for place, joker in enumerate(run.jokers, 1):
        name, words = ("?", "turned over by the boss") if hidden else _split(joker_words(joker))
        rows.append((str(place), name, words, "" if hidden else f"sells ${game.sell_value(place - 1)}"))
    if rows:
        yield _grid(rows)
    if run.consumables:
        yield Text(f"Consumables, {len(run.consumables)} of {run.consumable_slots}", "bold")
        yield _grid(
            [
                (str(place), consumable_name(kind), CONSUMABLES[kind & 0xFF].words,
                 f"sells ${consumable_sell_value(run, kind)}")
                for place, kind in enumerate(run.consumables, 1)
            ]
        )  # fmt: skip
    if run.vouchers:
        yield Text("Vouchers: ", "bold").append(", ".join(VOUCHERS[one].name for one in run.vouchers), "not bold")


def _shop(game: Game) -> Iterator[RenderableType]:
    run = game.run
    price = game.reroll_price()
    yield Text("Shop", "bold").append(f", a reroll costs ${price}" if price else ", a reroll is free", "not bold")
    rows = [
        (f"{kind}{place}", f"${offer.price}", *_split(offer_words(offer)))
        for kind, offers in _shelves(run)
        for place, offer in enumerate(offers, 1)
    ]
    yield _grid(rows, right=(1,))


def _shelves(run: Run) -> tuple[tuple[str, list[Offer]], ...]:
    return ("", run.shop), ("voucher ", run.shop_vouchers), ("pack ", run.shop_packs)


def _split(told: str) -> tuple[str, str]:
    name, _, words = told.partition(": ")
    return name, words


def _face(card: int) -> tuple[str, str]:
    """Return the three letters of a card, and their style."""
    if card & FACE_DOWN:
        return "░░░", "dim"
    if enhancement_of(card) == STONE:
        return "▒▒▒", ""
    style = _SUIT_STYLES[suit_of(card)]
    return f"{RANKS[rank_of(card)]}{SUIT_SIGNS[suit_of(card)]}", f"dim {style}" if card & DEBUFFED else style


def _grid(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Table:
    """Return rows in columns; the widest one is broken where there is no room."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for place in range(max(map(len, rows))):
        grid.add_column(justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell, _MONEY if cell.startswith("$") else "") for cell in row))
    return grid
