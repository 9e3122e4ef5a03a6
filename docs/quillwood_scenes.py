"""Draw the guide's scenes of Quillwood from the running game: `python docs/quillwood_scenes.py`.

Every scene is reached by buttons from a saved game at a chosen place, with the tools of the game's tests.
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.leg_player import begin, play_until  # noqa: E402
from support.placed_game import CART_RAM, PlacedGame, Saved  # noqa: E402

from pkmn_pyboy.emulation.emulator import Emulator  # noqa: E402
from pkmn_pyboy.environment import PokemonEnvironment  # noqa: E402
from pkmn_pyboy.settings import EnvironmentSettings  # noqa: E402
from pkmn_pyboy.state.game_state import Facing  # noqa: E402

PICTURE = ROOT / "docs" / "pictures" / "quillwood_scenes.png"
COLUMNS, GAP = 5, 4
SHEAR, SWELL, SHOVE, SPLOOSH, BUMP = 36, 37, 38, 6, 1
RILLET, LUMEWISP = 3, 16
MEDALS = 0b111

Image = NDArray[np.uint8]


def begun() -> Saved:
    """Return a game saved after the choice of a partner, with badges, lessons, items and creatures seen."""
    player = begin(lambda **settings: PokemonEnvironment(EnvironmentSettings(**settings)))
    play_until(player, "starter")
    environment = player.environment
    player.tap("b . b . b . b . b . start . down down down down a . . . a . . . . a . b . .")
    ram = bytes(environment.emulator.memory[1, address] for address in CART_RAM)
    saved = Saved(environment.rom, environment.profile, ram)
    environment.close()
    at = saved.address
    things = {
        at("wTMsHMs") + 50: b"\1",
        at("wNumBalls"): bytes([2, 1, 5, 7, 2, 0xFF]),
        at("wPokedexSeen"): bytes([0b11010111, 0b10110101, 0b1]),
        at("wPokedexCaught"): bytes([0b00000100, 0b10000001, 0]),
    }
    party = saved.party((RILLET, [SPLOOSH, BUMP, SHEAR, SWELL]), (LUMEWISP, [BUMP, SHOVE]))
    return party.changed(things).with_fields(wJohtoBadges=MEDALS, wStatusFlags=1).with_flags(66, 102, 34)


def shot(game: PlacedGame, buttons: str) -> Image:
    """Return the screen after these buttons."""
    game.press(buttons)
    game.emulator.run(1, render=True)
    return game.emulator.screen[:, :, :3].copy()


def scenes(saved: Saved) -> list[Image]:
    """Return all scenes in order."""
    images: list[Image] = []
    fresh = Emulator(saved.rom)
    for frames, button in ((120, None), (90, "start"), (90, "a")):
        fresh.press(button, 4, frames)
        fresh.run(1, render=True)
        images.append(fresh.screen[:, :, :3].copy())
    fresh.close()

    def show(start: Saved, *presses: str) -> None:
        game = PlacedGame(start)
        images.extend(shot(game, buttons) for buttons in presses)
        game.close()

    show(saved.at((1, 1), 9, 9), "start . .", "a . . .", "b . . . down down a . . .", "b . . . down a . . .")
    show(saved.at((1, 1), 9, 9), "start . down a . . . right . . .")
    show(saved.at((4, 3), 3, 3, Facing.UP), "a . . a . .", "a . . up up . ")
    show(saved.at((2, 4), 15, 6, Facing.RIGHT), "a . . . a . . .")
    show(saved.at((2, 6), 10, 13, Facing.UP), "a . . . a . . . a . . . a . . . . up up . .")
    show(saved.at((2, 6), 11, 4, Facing.RIGHT), ". . ")
    in_the_wood = saved.at((2, 3), 5, 24, Facing.UP)
    show(in_the_wood, "up . up . up . up . . ", ". . . . . . . . a . . . a . . . . . ", "a . . .")
    return images


def sheet(images: list[Image]) -> Image:
    """Return scenes side by side on white."""
    height, width = images[0].shape[:2]
    rows = -(-len(images) // COLUMNS)
    out = np.full((rows * (height + GAP) - GAP, COLUMNS * (width + GAP) - GAP, 3), 255, np.uint8)
    for place, image in enumerate(images):
        top, left = place // COLUMNS * (height + GAP), place % COLUMNS * (width + GAP)
        out[top : top + height, left : left + width] = image
    return out


def png(image: Image) -> bytes:
    """Return a PNG file with a palette."""
    flat = image.reshape(-1, 3)
    colours, numbers = np.unique(flat, axis=0, return_inverse=True)
    pixels = numbers.reshape(image.shape[:2]).astype(np.uint8)

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 3, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    body = part(b"PLTE", colours.tobytes()) + part(b"IDAT", zlib.compress(rows, 9)) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + body


if __name__ == "__main__":
    PICTURE.write_bytes(png(sheet(scenes(begun()))))
