"""Letters, figures, pictures and colours for the C source."""

from __future__ import annotations

import gfx
import text
from rom import BANK_ART, BANK_PICTURES, BANK_PICTURES_2, Banks, word
from source import HOME, toml

TITLE_ROWS = 15
PICTURES_IN_FIRST = 19  # species whose pictures are in the first of two banks


def build_art(banks: Banks) -> dict[str, tuple[int, int]]:
    """Font, people, pictures and palettes; returns addresses for the C source."""
    out: dict[str, tuple[int, int]] = {}
    font = gfx.load_font(HOME / "gfx/font.txt")
    white = gfx.tile_bytes([[1] * 8] * 8, 0, 0)
    letters = [white] * 128
    for char, tile in font.items():
        code = text.SYMBOLS.get(char, text.CHARMAP.get(char, 0x7F))
        if code >= 0x80:
            letters[code - 0x80] = tile
    out["FONT"] = BANK_ART, banks.add(BANK_ART, "font", b"".join(letters), 16)
    frame = dict(gfx.blocks(HOME / "gfx/frame.txt"))
    tiles = [white] * 32
    for heading, pixel_rows in frame.items():
        tiles[int(heading.split()[0], 16) - 0x60] = gfx.tile_bytes(gfx.to_pixels(pixel_rows, heading), 0, 0)
    out["FRAME"] = BANK_ART, banks.add(BANK_ART, "frame", b"".join(tiles), 16)
    people = gfx.load_people(HOME / "gfx/people.txt")
    out["PEOPLE"] = BANK_ART, banks.add(BANK_ART, "people", b"".join(b"".join(f) for f in people.values()), 16)
    emote = list(people).index("emote")
    out["EMOTE"] = BANK_ART, out["PEOPLE"][1] + emote * 24 * 16
    palettes = toml("palettes.toml")
    for name, group in palettes.items():
        words = b"".join(word(gfx.color_word(c)) for row in next(iter(group.values())) for c in row)
        out[f"PAL_{name.upper()}"] = BANK_ART, banks.add(BANK_ART, f"palette {name}", words)
    picture, numbers, attributes, rows = gfx.load_screen(HOME / "gfx/title.txt")
    if rows != TITLE_ROWS:
        raise SystemExit(f"gfx/title.txt: not {TITLE_ROWS} rows")
    out["TITLE_TILES"] = BANK_ART, banks.add(BANK_ART, "title tiles", picture, 16)
    out["TITLE_NUMBERS"] = BANK_ART, banks.add(BANK_ART, "title numbers", numbers)
    out["TITLE_ATTRIBUTES"] = BANK_ART, banks.add(BANK_ART, "title attributes", attributes)
    species = toml("creatures.toml")["species"]
    table, colors = bytearray(), bytearray()
    for number, s in enumerate(species):
        bank = BANK_PICTURES if number < PICTURES_IN_FIRST else BANK_PICTURES_2
        row = bytearray([bank])
        for view in ("front", "back"):
            path = HOME / f"gfx/creatures/{s['name'].lower()}_{view}.txt"
            side, data = gfx.load_picture(path)
            if side != 5:
                raise SystemExit(f"{path}: not 40x40")
            row += word(banks.add(bank, path.name, data, 16))
        table += row
        light, dark = (word(gfx.color_word(c)) for c in s["colors"])
        colors += word(gfx.color_word("f8f8f8")) + light + dark + word(gfx.color_word("181820"))
    portraits = gfx.load_portraits(HOME / "gfx/people.txt")
    at = {name: banks.add(BANK_PICTURES_2, f"portrait {name}", portraits[name], 16) for name in portraits}
    trainers = bytearray()
    for kind in toml("trainers.toml")["class"]:
        trainers += word(at[kind["sprite"]])
        cloth = palettes["people"]["obj"][kind["palette"]]
        trainers += b"".join(word(gfx.color_word(color)) for color in ("f8f8f8", *cloth[1:]))
    out["PORTRAITS"] = BANK_PICTURES_2, banks.add(BANK_PICTURES_2, "portraits", bytes(trainers))
    out["PICTURES"] = BANK_PICTURES, banks.add(BANK_PICTURES, "pictures", bytes(table))
    out["CREATURE_COLORS"] = BANK_PICTURES, banks.add(BANK_PICTURES, "creature colours", bytes(colors))
    return out
