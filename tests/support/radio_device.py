"""A model of what stands between the pilot and a sleeper who wakes by radio: a map, the START menu, the Pokegear.

It keeps memory as the real game should where the pilot and the reader look, one press at a time: cards that the player
does not own are skipped, the knob goes from 0 to 80 by two, a station's music stays when the device is closed, and a
place of the knob without a station brings back the map's.
"""

from __future__ import annotations

from typing import Any, cast

from pkmn_pyboy.emulation.rom import RomImage
from pkmn_pyboy.game import Game
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.tile_rules import STEPS
from pkmncli.api import Action
from support.pyboy_fakes import FakeMemory, party_record
from support.world_image import TILES, TestMap, WorldImage

CITY = (12, 3)
FLUTE, FLUTE_MUSIC, CITY_MUSIC, OTHER_MUSIC = 78, 0x40, 0x3E, 0x1F
CLOCK, MAP, PHONE, RADIO = range(4)
BODY = {(34, 8), (35, 8), (34, 9), (35, 9)}
WAKES_AT = {(33, 8), (34, 10), (35, 10), (36, 8), (36, 9)}
ENTRIES = ("POKéDEX", "POKéMON", "PACK", "GEAR", "MAY", "SAVE", "OPTION", "EXIT")

_ROWS = ["#" * 40, *["#" + "." * 38 + "#"] * 18, "#" * 40]
_COLLISION_BANK = 0x7F
_BORDER = 3
_SLEEPER = 5
_WOKEN = 1872
_STATIONS = {64: OTHER_MUSIC, 72: OTHER_MUSIC, FLUTE: FLUTE_MUSIC}
_RESTORE = 0xFF
_DIRECTIONS = (Action.DOWN, Action.UP, Action.LEFT, Action.RIGHT)
_CORNERS = ((12, 0, 0x79), (12, 19, 0x7B), (17, 0, 0x7D), (17, 19, 0x7E))


class RadioDevice(FakeMemory):
    """The game as a model: memory, and :meth:`push` for a press.

    Args:
        profile: names the fields.
        rom: the image with the map.
        knob: where the radio's knob stands.
        opens_on: the card that shows first; the real one opens on the clock.
        cards: those that the player owns beside the clock.
        signal: whether stations of this region are heard.
        slow: whether a step passes between menu and device, in which memory holds some of both and presses are lost.
        broken: what does not work: ``start``, ``entry``, ``open``, ``knob``, ``repeat`` (a press turns it twice),
            ``close``, ``music`` (it ends with the device).
    """

    def __init__(
        self,
        profile: GameProfile,
        rom: bytes,
        *,
        knob: int = 0,
        opens_on: int = CLOCK,
        cards: tuple[int, ...] = (MAP, PHONE, RADIO),
        signal: bool = True,
        slow: bool = False,
        broken: str = "",
    ) -> None:
        super().__init__(profile.memory)
        self.rom = rom
        self.opens_on, self.cards, self.signal, self.slow, self.broken = opens_on, cards, signal, slow, broken
        self.mode, self.entry, self.card, self.playing = "map", 0, CLOCK, 0
        self.place, self.facing = (30, 12), 0
        self.woken = False
        self.talks = self.openings = 0
        self._encode = profile.charmap.encode
        self._collision = bytearray(4)
        self._load_map()
        self.set(wPartyCount=1, wPartySpecies=b"\x9e\xff\0\0\0\0", wPartyMon1=party_record(level=60))
        self.set(wPokegearFlags=0x8F, wRadioTuningKnob=knob, wMapMusic=CITY_MUSIC, wMapStatus=2, wPokegearCard=RADIO)
        self._show()

    @property
    def entries(self) -> list[str]:
        """What the START menu lists."""
        return [entry for entry in ENTRIES if entry != "GEAR" or self.broken != "entry"]

    def value(self, name: str) -> int:
        place = self.fields[name]
        return self.read(place.bank, place.address, 1)[0]

    def read_rom(self, bank: int, address: int, size: int) -> bytes:
        if bank == _COLLISION_BANK:
            return bytes(self._collision[address - 0x4000 : address - 0x4000 + size])
        offset = address if address < 0x4000 else bank * 0x4000 + address - 0x4000
        return self.rom[offset : offset + size]

    # Presses -------------------------------------------------------------------------------------------------

    def push(self, action: Action) -> None:
        """One press, and what it leads to until the game waits again."""
        getattr(self, f"_in_{self.mode}")(action)
        self._show()

    def _in_map(self, action: Action) -> None:
        if action in _DIRECTIONS:
            self.facing = _DIRECTIONS.index(action)
            if self._ahead() not in self._blocked and _ROWS[self._ahead()[1]][self._ahead()[0]] == ".":
                self.place = self._ahead()
        elif action is Action.START and self.broken != "start":
            self.mode, self.entry = "start", 0
        elif action is Action.A and self._ahead() in self._blocked:
            self.talks += 1
            self.mode = "talk"

    def _in_talk(self, action: Action) -> None:
        if action not in (Action.A, Action.B):
            return
        self.mode = "map"
        if self.value("wMapMusic") == FLUTE_MUSIC and self.place in WAKES_AT:
            self.woken = True
            flags = self.fields["wEventFlags"]
            self.put(flags.bank, flags.address + _WOKEN // 8, bytes([1 << _WOKEN % 8]))
            self.set(wObjectMasks=bytes(_SLEEPER) + b"\xff" + bytes(10))

    def _in_start(self, action: Action) -> None:
        if action in (Action.UP, Action.DOWN):
            self.entry = (self.entry + (1 if action is Action.DOWN else -1)) % len(self.entries)
        elif action in (Action.B, Action.START):
            self.mode = "map"
        elif action is Action.A:
            assert self.entries[self.entry] == "GEAR", f"{self.entries[self.entry]} was opened"
            self.openings += 1
            if self.broken == "open":
                return
            self.mode = "opening"
            if not self.slow:
                self._in_opening(Action.NONE)

    def _in_opening(self, action: Action) -> None:
        self.mode = "gear"
        self._switch(self.opens_on)

    def _in_gear(self, action: Action) -> None:
        assert not (self.card == PHONE and action is Action.A), "someone was called"
        leaves = {Action.A, Action.B, Action.START} if self.card == CLOCK else {Action.B}
        if action in leaves and self.broken != "close":
            self._end_show()
            self.mode = "closing" if self.slow else "start"
        elif action in (Action.LEFT, Action.RIGHT):
            owned = sorted({CLOCK, *self.cards})
            beside = [card for card in owned if card > self.card][:1]
            if action is Action.LEFT:
                beside = [card for card in owned if card < self.card][-1:]
            for card in beside:
                self._switch(card)
        elif self.card == RADIO and action in (Action.UP, Action.DOWN) and self.broken != "knob":
            for _ in range(2 if self.broken == "repeat" else 1):
                knob = self.value("wRadioTuningKnob") + (2 if action is Action.UP else -2)
                if 0 <= knob <= 80:
                    self.set(wRadioTuningKnob=knob)
                    self._tune()

    def _in_closing(self, action: Action) -> None:
        self.mode = "start"

    def _switch(self, card: int) -> None:
        self._end_show()
        self.card = card
        self.set(wPokegearCard=card)
        if card == RADIO:
            self._tune()

    def _tune(self) -> None:
        music = _STATIONS.get(self.value("wRadioTuningKnob")) if self.signal else None
        self.playing = _RESTORE if music is None else music
        if music is not None:
            self.set(wMapMusic=music)

    def _end_show(self) -> None:
        if self.playing == _RESTORE or (self.playing and self.broken == "music"):
            self.set(wMapMusic=CITY_MUSIC)
        self.playing = 0

    # What memory shows ---------------------------------------------------------------------------------------

    @property
    def _blocked(self) -> set[tuple[int, int]]:
        return set() if self.woken else BODY

    def _ahead(self) -> tuple[int, int]:
        dx, dy = STEPS[self.facing]
        return self.place[0] + dx, self.place[1] + dy

    def _load_map(self) -> None:
        width, height = len(_ROWS[0]) // 2, len(_ROWS) // 2
        ids: dict[str, int] = {}
        blocks = bytearray((width + 2 * _BORDER) * (height + 2 * _BORDER))
        for y in range(height):
            for x in range(width):
                letters = _ROWS[2 * y][2 * x : 2 * x + 2] + _ROWS[2 * y + 1][2 * x : 2 * x + 2]
                if letters not in ids:
                    ids[letters] = len(ids) + 1
                    self._collision += bytes(TILES[letter] for letter in letters)
                blocks[(y + _BORDER) * (width + 2 * _BORDER) + x + _BORDER] = ids[letters]
        self.put(0, self.fields["wOverworldMapBlocks"].address, bytes(blocks))
        self.set(wMapGroup=CITY[0], wMapNumber=CITY[1], wMapWidth=width, wMapHeight=height)
        self.set(wTilesetCollisionBank=_COLLISION_BANK, wTilesetCollisionAddress=b"\x00\x40")
        sleeper = bytes([0, 1, 8 + 4, 34 + 4, 0x16]) + bytes(11)
        self.put(1, self.fields["wMapObjects"].address + 16 * _SLEEPER, sleeper)

    def _show(self) -> None:
        """Writes what the mode shows on the screen and in the bytes that tell phases apart."""
        page = self.mode in ("gear", "opening", "closing")
        self.set(wXCoord=self.place[0], wYCoord=self.place[1], wPlayerDirection=self.facing << 2)
        self.set(
            wScriptRunning=0 if self.mode == "map" else 255,
            wWindowStackSize={"map": 0, "talk": 0, "start": 1}.get(self.mode, 2),
            wSpriteUpdatesEnabled=0 if page else 1,
            wStateFlags={"map": 1, "gear": 0}.get(self.mode, 0x40),
        )
        if self.mode == "opening":
            self.cursor(2 + 2 * self.entry, 11, 0xEC)
            return
        blank = 0x4F if page else 0x7F
        self.put(0, self.fields["wTilemap"].address, bytes([blank]) * 360)
        if self.mode == "start":
            for row, entry in enumerate(self.entries):
                text = b"\x70\x71" + self._encode(entry) if entry == "GEAR" else self._encode(entry)
                self.put(0, self.fields["wTilemap"].address + (2 + 2 * row) * 20 + 12, text)
            self.cursor(2 + 2 * self.entry, 11)
        elif self.mode == "talk" or (page and self.card != MAP):
            for row, column, tile in _CORNERS:
                self.tile(row, column, tile)
            if page and self.card in (CLOCK, PHONE):
                self.tile(*{CLOCK: (1, 19), PHONE: (4, 1)}[self.card], 0xED)


class RadioGame(Game):
    """The game on the model: reader, masks, milestones and all else that the pilot reads are the real ones."""

    def __init__(self, profile: GameProfile, device: RadioDevice, goal: str) -> None:
        rom = cast(RomImage, type("Rom", (), {"data": device.rom, "sha1": ""})())
        super().__init__(cast(Any, device), rom, profile, goal=profile.milestone_index(goal))
        self.device = device
        behind = [-1 if index == self.goal else 0 for index in range(len(profile.milestones))]
        self.milestones.load_state({"steps": behind, "frames": behind})
        self.masked = 0
        self.presses: list[Action] = []
        self.look(Action.NONE, 0, 0)

    def advance(self, action: Any) -> None:
        pressed = Action(action) if self.mask[action] else Action.NONE
        self.masked += pressed != action
        self.presses.append(pressed)
        self.device.push(pressed)
        self.look(pressed, self.steps + 1, 0)

    def details(self) -> Any:
        return type("Details", (), {"clock": type("Clock", (), {"hour": 12}), "battle": None})


def city_image(crystal: GameProfile) -> tuple[bytes, GameProfile]:
    """An image with the city, and Crystal's profile for it: its milestones, its radio, its memory."""
    image = WorldImage()
    empty = ["####", "#..#", "#..#", "####"]
    image.add(*(TestMap(group, 1, empty) for group in range(1, CITY[0] + 1)))
    image.add(TestMap(CITY[0], 2, empty), TestMap(*CITY, _ROWS))
    return image.build(crystal)
