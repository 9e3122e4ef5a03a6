"""Puts the player anywhere: a saved game is changed in the cartridge's memory, and the console is switched on again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import RomImage
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import Facing, GameState, Phase
from pkmn_pyboy.state.reader import StateReader
from support.leg_player import begin, play_until

SAVED_AT, SAVED_FROM, SAVED_BYTES, SUM_AT = 0xA009, 0xD47B, 0x0B79, 0xAD0D
CART_RAM = range(0xA000, 0xAD10)
MEMBER_BYTES, NAME_BYTES = 48, 11
HOLD, FRAMES = 10, 24
ALL_BADGES = 0b111
LESSONS = (50, 52, 53)


@dataclass(frozen=True)
class Saved:
    """A saved game: bytes A000 to AD0F of the cartridge's memory."""

    rom: RomImage
    profile: GameProfile
    ram: bytes

    def changed(self, changes: dict[int, bytes]) -> Saved:
        """A copy with other bytes at addresses of work RAM, and the sum that goes with them."""
        ram = bytearray(self.ram)
        first = SAVED_AT - CART_RAM.start
        for address, data in changes.items():
            place = first + address - SAVED_FROM
            ram[place : place + len(data)] = data
        total = sum(ram[first : first + SAVED_BYTES]) & 0xFFFF
        ram[SUM_AT - CART_RAM.start : SUM_AT - CART_RAM.start + 2] = total.to_bytes(2, "little")
        return Saved(self.rom, self.profile, bytes(ram))

    def at(self, map_id: tuple[int, int], x: int, y: int, facing: Facing = Facing.DOWN) -> Saved:
        """A copy with the player on a tile of a map."""
        at = self.address
        place = {at("wMapGroup"): bytes(map_id), at("wYCoord"): bytes([y, x])}
        return self.changed(place | {at("wPlayerDirection"): bytes([facing * 4])})

    def party(self, *members: tuple[int, Sequence[int]]) -> Saved:
        """A copy with other party members: species, and moves of each, all else as the first one's."""
        at, count = self.address, len(members)
        first = SAVED_AT - CART_RAM.start - SAVED_FROM
        record = self.ram[first + at("wPartyMon1") : first + at("wPartyMon1") + MEMBER_BYTES]
        name = self.ram[first + at("wPartyMonNicknames") : first + at("wPartyMonNicknames") + NAME_BYTES]
        records = b"".join(
            bytes([species]) + record[1:2] + bytes(moves).ljust(4, b"\0") + record[6:] for species, moves in members
        )
        species = bytes(species for species, _ in members) + b"\xff"
        return self.changed(
            {
                at("wPartyCount"): bytes([count]),
                at("wPartySpecies"): species,
                at("wPartyMon1"): records,
                at("wPartyMonNicknames"): name * count,
            }
        )

    def with_fields(self, **values: int) -> Saved:
        """A copy with other values in fields of one byte."""
        return self.changed({self.address(name): bytes([value]) for name, value in values.items()})

    def with_flags(self, *flags: int) -> Saved:
        """A copy with more story flags set."""
        first, at = SAVED_AT - CART_RAM.start - SAVED_FROM, self.address("wEventFlags")
        both = {flag >> 3: sum(1 << (one & 7) for one in set(flags) if one >> 3 == flag >> 3) for flag in flags}
        return self.changed({at + byte: bytes([self.ram[first + at + byte] | bits]) for byte, bits in both.items()})

    def with_lessons(self) -> Saved:
        """A copy with all badges and lessons."""
        at = self.address("wTMsHMs")
        return self.changed({at + place: b"\1" for place in LESSONS}).with_fields(wJohtoBadges=ALL_BADGES)

    def address(self, name: str) -> int:
        return self.profile.memory[name].address


def saved_with_partner(profile: GameProfile) -> Saved:
    """Return a game saved right after the choice of RILLET."""
    player = begin(lambda **settings: PokemonEnvironment(EnvironmentSettings(**settings)))
    play_until(player, "starter")
    environment = player.environment
    player.tap("b . b . b . b . b . start . down down down down a . . . a . . . . a . b . .")
    ram = bytes(environment.emulator.memory[1, address] for address in CART_RAM)
    environment.close()
    return Saved(environment.rom, profile, ram)


def saved_with_lessons(profile: GameProfile) -> Saved:
    """Return a game saved right after the choice of RILLET, with all badges and lessons, none of them taught."""
    return saved_with_partner(profile).with_lessons()


class PlacedGame:
    """A running console that went on from a saved game."""

    def __init__(self, saved: Saved) -> None:
        self.profile = saved.profile
        self.rom = saved.rom
        self.emulator = Emulator(saved.rom)
        self.emulator.run(10)
        for address, value in zip(CART_RAM, saved.ram, strict=True):
            self.emulator.memory[1, address] = value
        self.emulator.run(110)
        self.press("start . . a . . a . . . .")
        assert self.state.phase is Phase.FREE

    def close(self) -> None:
        self.emulator.close()

    @property
    def state(self) -> GameState:
        return StateReader(self.profile).read(self.emulator)

    @property
    def place(self) -> tuple[int, int, int]:
        """Map, column, row."""
        state = self.state
        return state.map_id, state.x, state.y

    def field(self, name: str, size: int = 0) -> bytes:
        memory = self.profile.memory[name]
        return self.emulator.read(memory.bank, memory.address, size or memory.size)

    def press(self, buttons: str) -> None:
        """Buttons by name; "." waits."""
        for button in buttons.split():
            self.emulator.press(None if button == "." else button, HOLD, FRAMES, render=False)

    def answer(self, *answers: str) -> None:
        """Reads on until the player has control; questions are answered in turn by a (YES) and b (NO), then by b."""
        left = list(answers)
        for _ in range(60):
            self.press(".")
            phase = self.state.phase
            if phase is Phase.FREE:
                assert not left, f"{left} was not asked for"
                return
            self.press((left.pop(0) if left else "b") if phase is Phase.CHOICE else "a")
        raise AssertionError("no control")

    def tile(self, x: int, y: int) -> int:
        """The collision value of a tile of the map in memory."""
        row = self.field("wMapWidth")[0] + 6
        block = self.field("wOverworldMapBlocks")[(y // 2 + 3) * row + x // 2 + 3]
        at = int.from_bytes(self.field("wTilesetCollisionAddress"), "little")
        return self.emulator.read_rom(self.field("wTilesetCollisionBank")[0], at + block * 4 + y % 2 * 2 + x % 2, 1)[0]

    def saved(self) -> Saved:
        """Saves by the menu."""
        self.press("start . down down down down a . . . a . . . . a . b . .")
        ram = bytes(self.emulator.memory[1, address] for address in CART_RAM)
        return Saved(self.rom, self.profile, ram)


Play = Callable[[Saved], PlacedGame]
"""Goes on from a saved game."""
