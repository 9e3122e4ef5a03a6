"""The table as a picture for those who watch: blind and score, jokers, hand, shop or pack. Plain shapes and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PIL import Image, ImageDraw

from pkmn_balatro.card_pictures import (
    CARD_SIZE,
    DIM,
    GOLDEN,
    INK,
    ITEM_SIZE,
    PAPER,
    Colour,
    card_picture,
    font,
    item_picture,
    lines_of,
    text_lines,
)
from pkmn_balatro.simulator.blinds import ACORN, BOSS, BOSSES, active_boss
from pkmn_balatro.simulator.consumables import CONSUMABLES, TAROTS, consumable_name, is_planet
from pkmn_balatro.simulator.jokers import JOKERS
from pkmn_balatro.simulator.packs import PACKS
from pkmn_balatro.simulator.rounds import reward_of
from pkmn_balatro.simulator.run import HANDS, Category, Offer, Phase, Run
from pkmn_balatro.simulator.tags import TAGS
from pkmn_balatro.simulator.vouchers import VOUCHERS
from pkmn_balatro.words import BLINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmn_balatro.simulator.game import Game

WIDTH: Final = 480
HEIGHT: Final = 320

_TABLE: Final[Colour] = (30, 74, 66)
_PANEL: Final[Colour] = (38, 46, 54)
_RED: Final[Colour] = (226, 84, 74)
_BLUE: Final[Colour] = (74, 150, 226)
_BLIND_COLOURS: Final[tuple[Colour, ...]] = ((46, 104, 168), (172, 116, 30), (156, 52, 62))
_RARITY_COLOURS: Final[tuple[Colour, ...]] = ((44, 100, 150), (44, 124, 84), (160, 56, 60), (124, 62, 156))
_TAROT: Final[Colour] = (112, 76, 140)
_PLANET: Final[Colour] = (40, 112, 140)
_SPECTRAL: Final[Colour] = (66, 84, 160)
_VOUCHER: Final[Colour] = (170, 96, 36)
_PACK: Final[Colour] = (104, 90, 66)

_PANEL_WIDTH: Final = 114
_LEFT, _RIGHT = _PANEL_WIDTH + 8, WIDTH - 6
_OWNED_TOP: Final = 18
_MIDDLE_TOP: Final = 90
_HAND_TOP: Final = HEIGHT - CARD_SIZE[1] - 8
_CONSUMABLE_SIZE: Final = (66, 42)
_MOST_CONSUMABLES: Final = 3
"""Consumables that have room."""


def draw_table(game: Game, note: str = "") -> NDArray[np.uint8]:
    """Return the picture of a game, (320, 480, 3) uint8. It takes about 2 ms.

    Args:
        game: the game.
        note: a line above the hand, such as what targets are chosen for.
    """
    run = game.run
    picture = Image.new("RGB", (WIDTH, HEIGHT), _TABLE)
    draw = ImageDraw.Draw(picture)
    _draw_panel(draw, run)
    _draw_owned(picture, draw, run)
    if run.phase == Phase.PLAY:
        _draw_score(draw, game)
    elif run.phase == Phase.BLIND:
        _draw_blinds(draw, game)
    elif run.phase == Phase.SHOP:
        _draw_shop(picture, draw, game)
    elif run.phase == Phase.PACK:
        _heading(draw, f"{PACKS[run.pack_kind].name}, {run.picks_left} to pick")
        _draw_offers(picture, [offer for offer in run.pack if not offer.sold], _end_of_middle(run), _MIDDLE_TOP + 18)
    else:
        result, colour = ("The run is won", GOLDEN) if run.won else ("The run is lost", _RED)
        text_lines(draw, ((_LEFT + _RIGHT) / 2, 130), [result], colour, 34)
        text_lines(draw, ((_LEFT + _RIGHT) / 2, 176), [f"ante {run.ante}, {run.rounds} blinds beaten"], PAPER, 16)
    if note:
        draw.text((_LEFT, _HAND_TOP - 18), lines_of(note, 13, _RIGHT - _LEFT, 1)[0], GOLDEN, font(13))
    _draw_hand(picture, run)
    return np.asarray(picture)


# Parts ---------------------------------------------------------------------------------------------------------


def _draw_panel(draw: Any, run: Run) -> None:
    """Draw the column at the left: blind, score, hands, discards, money, ante."""
    middle, playing = _PANEL_WIDTH / 2, run.phase in (Phase.PLAY, Phase.OVER)
    draw.rectangle([0, 0, _PANEL_WIDTH, HEIGHT], _PANEL)
    draw.rectangle([0, 0, _PANEL_WIDTH, 44], _BLIND_COLOURS[run.blind])
    name = BOSSES[run.boss].name if run.blind == BOSS else BLINDS[run.blind]
    text_lines(draw, (middle, 4), lines_of(name, 18, _PANEL_WIDTH - 8, 2), PAPER, 18)
    if playing:
        _figure(draw, 50, "score", _short(run.score), PAPER)
        _figure(draw, 92, "of", _short(run.target), _RED)
        share = min(1.0, run.score / run.target) if run.target else 1.0
        draw.rectangle([8, 136, _PANEL_WIDTH - 8, 142], INK)
        draw.rectangle([8, 136, 8 + round(share * (_PANEL_WIDTH - 16)), 142], GOLDEN)
    for x, top, title, number, colour in (
        (0.0, 150, "hands", str(run.hands_left if playing else run.hands_per_round), _BLUE),
        (middle, 150, "discards", str(run.discards_left if playing else run.discards_per_round), _RED),
        (0.0, 236, "ante", f"{run.ante}/{run.win_ante}", PAPER),
        (middle, 236, "beaten", str(run.rounds), PAPER),
    ):
        _figure(draw, top, title, number, colour, x + middle / 2)
    _figure(draw, 192, "money", f"${run.money}", GOLDEN)
    words = f"{len(run.draw)} to draw" if run.hand else ""
    words = ", ".join(TAGS[tag].name for tag in run.tags) if run.tags and not words else words
    text_lines(draw, (middle, 280), lines_of(words, 12, _PANEL_WIDTH - 8, 3), DIM, 12)


def _figure(draw: Any, top: int, title: str, number: str, colour: Colour, middle: float = _PANEL_WIDTH / 2) -> None:
    text_lines(draw, (middle, top), [title], DIM, 12)
    text_lines(draw, (middle, top + 13), [number], colour, 22)


def _draw_owned(picture: Any, draw: Any, run: Run) -> None:
    """Draw the jokers in a row, and the consumables in a column at the right."""
    draw.text((_LEFT, 2), f"jokers {len(run.jokers)}/{run.joker_slots}", DIM, font(12))
    words = f"consumables {len(run.consumables)}/{run.consumable_slots}"
    draw.text((_RIGHT, 2), words, DIM, font(12), anchor="ra")
    hidden = active_boss(run) == ACORN  # it turned them over before it shuffled them
    size = _fitting(len(run.jokers), _RIGHT)
    jokers = []
    for joker in run.jokers:
        kind = JOKERS[joker.kind]
        words = f"now {joker.value}" if joker.value else ""
        colour = _RARITY_COLOURS[kind.rarity]
        jokers.append(
            item_picture("?", "", INK, size)
            if hidden
            else item_picture(kind.name, words, colour, size, joker.edition, joker.debuffed)
        )
    _lay(picture, jokers, _RIGHT, _OWNED_TOP)
    for place, item in enumerate(run.consumables[:_MOST_CONSUMABLES]):
        tile = item_picture(consumable_name(item), "", _consumable_colour(item), _CONSUMABLE_SIZE)
        picture.paste(tile, (_RIGHT - _CONSUMABLE_SIZE[0], _MIDDLE_TOP + place * (_CONSUMABLE_SIZE[1] + 2)))


def _end_of_middle(run: Run) -> int:
    """Return the right edge of the middle, where consumables are beside it."""
    return _RIGHT - _CONSUMABLE_SIZE[0] - 6 if run.consumables else _RIGHT


def _fitting(count: int, right: int) -> tuple[int, int]:
    """Return the size of so many items in a row."""
    return min(ITEM_SIZE[0], max(40, (right - _LEFT + 3) // max(1, count) - 3)), ITEM_SIZE[1]


def _draw_score(draw: Any, game: Game) -> None:
    """Draw what the latest hand scored, and the effect of the boss."""
    run, scored = game.run, game.latest
    right = _end_of_middle(run)
    middle = (_LEFT + right) / 2
    if run.blind == BOSS:
        words = "no effect now" if run.boss_disabled else BOSSES[run.boss].words
        text_lines(draw, (middle, _MIDDLE_TOP + 4), lines_of(words, 16, right - _LEFT, 2), PAPER, 16)
    if scored is None or not sum(run.played_now):
        return
    text_lines(draw, (middle, 132), [HANDS[scored.hand]], PAPER, 22)
    if scored.blocked:
        text_lines(draw, (middle, 164), ["scores nothing"], _RED, 18)
        return
    chips, times = _short(scored.chips), f" x {_short(scored.mult)}"
    whole = f"{chips}{times} = {_short(scored.total)}"
    x = middle - font(20).getlength(whole) / 2
    for words, colour in ((chips, _BLUE), (times, _RED), (f" = {_short(scored.total)}", GOLDEN)):
        draw.text((x, 162), words, colour, font(20))
        x += font(20).getlength(words)


def _draw_blinds(draw: Any, game: Game) -> None:
    """Draw the three blinds of the ante with scores, rewards and tags; the next one is framed."""
    run = game.run
    width = (_end_of_middle(run) - _LEFT - 12) // 3
    for blind in range(3):
        left = _LEFT + blind * (width + 6)
        frame = GOLDEN if blind == run.blind else _PANEL
        draw.rounded_rectangle([left, _MIDDLE_TOP, left + width, HEIGHT - 50], 5, _PANEL, frame, 3)
        draw.rectangle([left + 4, _MIDDLE_TOP + 4, left + width - 4, _MIDDLE_TOP + 40], _BLIND_COLOURS[blind])
        middle = left + width / 2
        name = BOSSES[run.boss].name if blind == BOSS else BLINDS[blind]
        text_lines(draw, (middle, _MIDDLE_TOP + 6), lines_of(name, 15, width - 10, 2), PAPER, 15)
        if blind < run.blind:
            text_lines(draw, (middle, _MIDDLE_TOP + 56), ["over"], DIM, 16)
            continue
        text_lines(draw, (middle, _MIDDLE_TOP + 46), [_short(game.target_of(blind))], _RED, 22)
        text_lines(draw, (middle, _MIDDLE_TOP + 72), [f"${reward_of(run, blind)}"], GOLDEN, 16)
        tag = None if blind == BOSS else TAGS[run.offered_tags[blind]]
        words = BOSSES[run.boss].words if tag is None else f"skip: {tag.name}, {tag.words}"
        text_lines(draw, (middle, _MIDDLE_TOP + 96), lines_of(words, 12, width - 10, 6), PAPER, 12)


def _draw_shop(picture: Any, draw: Any, game: Game) -> None:
    run = game.run
    price = game.reroll_price()
    _heading(draw, f"shop, reroll ${price}")
    _draw_offers(picture, run.shop, _end_of_middle(run), _MIDDLE_TOP + 18)
    top = _MIDDLE_TOP + 18 + ITEM_SIZE[1] + 8
    _draw_offers(picture, [*run.shop_vouchers, *run.shop_packs], _end_of_middle(run), top)
    if run.vouchers:
        names = ", ".join(VOUCHERS[one].name for one in run.vouchers)
        for number, line in enumerate(lines_of(f"vouchers: {names}", 12, _RIGHT - _LEFT, 3)):
            draw.text((_LEFT, top + ITEM_SIZE[1] + 8 + 13 * number), line, DIM, font(12))


def _draw_offers(picture: Any, offers: Sequence[Offer], right: int, top: int) -> None:
    size = _fitting(len(offers), right)
    _lay(picture, [_offer_picture(offer, size) for offer in offers], right, top)


def _offer_picture(offer: Offer, size: tuple[int, int]) -> Any:
    price = f"${offer.price}" if offer.price else ""
    item = offer.item
    if offer.category == Category.CARD:
        card = card_picture(item)
        if not price:
            return card
        both = Image.new("RGB", (CARD_SIZE[0], CARD_SIZE[1] + 14), INK)
        both.paste(card)
        text_lines(ImageDraw.Draw(both), (CARD_SIZE[0] / 2, CARD_SIZE[1]), [price], GOLDEN, 12)
        return both
    if offer.category == Category.JOKER:
        kind = JOKERS[item]
        return item_picture(kind.name, price, _RARITY_COLOURS[kind.rarity], size, offer.edition)
    if offer.category == Category.CONSUMABLE:
        return item_picture(CONSUMABLES[item & 0xFF].name, price, _consumable_colour(item), size)
    if offer.category == Category.VOUCHER:
        return item_picture(VOUCHERS[item].name, price, _VOUCHER, size)
    return item_picture(PACKS[item].name, price, _PACK, size)


def _draw_hand(picture: Any, run: Run) -> None:
    _lay(picture, [card_picture(card) for card in run.hand], _RIGHT, _HAND_TOP)


def _lay(picture: Any, pieces: Sequence[Any], right: int, top: int) -> None:
    """Paste pictures side by side; where there is no room they overlap."""
    if not pieces:
        return
    width = pieces[0].width
    apart = width + 3
    if len(pieces) > 1:
        apart = min(apart, (right - _LEFT - width) / (len(pieces) - 1))
    for place, piece in enumerate(pieces):
        picture.paste(piece, (round(_LEFT + place * apart), top))


def _heading(draw: Any, words: str) -> None:
    draw.text((_LEFT, _MIDDLE_TOP), words, PAPER, font(15))


def _consumable_colour(item: int) -> Colour:
    return _PLANET if is_planet(item) else _TAROT if item & 0xFF in TAROTS else _SPECTRAL


def _short(number: float) -> str:
    """Return a number in few letters: 12,345, 1.23M or 4.5e+12."""
    if number < 1e6:
        return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"
    return f"{number / 1e6:,.2f}M" if number < 1e9 else f"{number:.2e}"
