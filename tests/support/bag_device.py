"""A model of the START menu, the bag and the party's page, which are drawn over some steps before their cursor shows.

It keeps the bytes that the recording ``bag`` has at each of these pages. What is pressed while a page is drawn counts
once it is there: A takes the first thing, B leaves.
"""

from __future__ import annotations

from pkmn_pyboy.profile.model import GameProfile
from pkmncli.api import Action
from support.pyboy_fakes import FakeMemory, party_record

ENTRIES = ("POKéDEX", "POKéMON", "PACK", "GEAR", "MAY", "SAVE", "OPTION", "EXIT")
POCKETS = (("POTION", "REPEL"), ("POKé BALL",), ("BICYCLE",), ("MUD-SLAP", "CUT", "HEADBUTT"))
"""Things, balls, key items, and machines by the names of their moves."""
CUT = 15
NICKNAMES = ("TOTODILE", "GEODUDE")
CORNERS = ((12, 0, 0x79), (12, 19, 0x7B), (17, 0, 0x7D), (17, 19, 0x7E))
PAGE_MODES = frozenset({"bag", "use", "words", "ask", "party"})


class BagDevice(FakeMemory):
    """Memory, and :meth:`push` for a press.

    Args:
        profile: names the fields.
        slow: steps for which a page is drawn without a cursor.
        refuses: whether the member is told to be unable to learn.
    """

    def __init__(self, profile: GameProfile, *, slow: int = 0, refuses: bool = False) -> None:
        super().__init__(profile.memory)
        self.rom = b""
        self.slow, self.refuses = slow, refuses
        self.mode, self.row, self.pocket, self.drawn = "start", 0, 0, 0
        self.thing, self.words = 0, 0
        self.after_words = ""
        self.accidents: list[str] = []
        """What was done that nobody wants."""
        self._encode = profile.charmap.encode
        self.set(wMapGroup=3, wMapNumber=52, wMapStatus=2, wPartyCount=2, wPartySpecies=b"\x9f\x4a\xff\0\0\0")
        self.set(wPartyMon1=party_record(moves=b"\x0a\x2b\0\0"), wPartyMon2=party_record(species=74))
        for member, name in enumerate(NICKNAMES):
            place = self.fields["wPartyMonNicknames"]
            self.put(place.bank, place.address + 11 * member, self._encode(name) + b"\x50")
        self._show()

    @property
    def taught(self) -> bool:
        place = self.fields["wPartyMon1"]
        return CUT in self.read(place.bank, place.address + 2, 4)

    def push(self, action: Action) -> None:
        """One press, and what it leads to until the next."""
        if self.drawn:
            self.drawn -= 1
            if action in (Action.A, Action.B):
                self.accidents.append(f"{action.name} while the page was drawn")
        else:
            getattr(self, f"_in_{self.mode}")(action)
        self._show()

    def read_rom(self, bank: int, address: int, size: int) -> bytes:
        return bytes(size)

    def _open(self, mode: str, row: int = 0) -> None:
        self.mode, self.row = mode, row
        self.drawn = self.slow if mode in ("bag", "party") else 0

    def _move(self, action: Action, count: int) -> None:
        self.row = (self.row + (action is Action.DOWN) - (action is Action.UP)) % count

    def _say(self, after: str) -> None:
        self.mode, self.words, self.after_words = "words", 3, after

    def _in_map(self, action: Action) -> None:
        """The job is over."""

    def _in_start(self, action: Action) -> None:
        self._move(action, len(ENTRIES))
        if action is Action.B:
            self._open("map")
        elif action is Action.A and ENTRIES[self.row] == "PACK":
            self._open("bag")
        elif action is Action.A:
            self.accidents.append(ENTRIES[self.row])

    def _in_bag(self, action: Action) -> None:
        self._move(action, len(POCKETS[self.pocket]))
        if action in (Action.LEFT, Action.RIGHT):
            self.pocket = (self.pocket + (1 if action is Action.RIGHT else -1)) % len(POCKETS)
            self._open("bag")
        elif action is Action.A:
            self.thing = self.row
            self._open("use")
        elif action is Action.B:
            self._open("start", ENTRIES.index("PACK"))

    def _in_use(self, action: Action) -> None:
        self._move(action, 2)
        if action is Action.A and self.row == 0:
            if POCKETS[self.pocket][self.thing] != "CUT":
                self.accidents.append(f"used {POCKETS[self.pocket][self.thing]}")
            self._say("ask")
        elif action in (Action.A, Action.B):
            self._open("bag", self.thing)

    def _in_words(self, action: Action) -> None:
        self.words -= action in (Action.A, Action.B)
        if not self.words:
            self._open(self.after_words, self.thing if self.after_words == "bag" else 0)

    def _in_ask(self, action: Action) -> None:
        self._move(action, 2)
        if action is Action.A and self.row == 0:
            self._open("party")
        elif action in (Action.A, Action.B):
            self._open("bag", self.thing)

    def _in_party(self, action: Action) -> None:
        self._move(action, len(NICKNAMES))
        if action is Action.A:
            if self.row == 0 and not self.refuses:
                self.set(wPartyMon1=party_record(moves=bytes((10, 43, CUT, 0))))
            self._say("bag")
        elif action is Action.B:
            self._open("bag", self.thing)

    # What memory shows ---------------------------------------------------------------------------------------

    def _show(self) -> None:
        page = self.mode in PAGE_MODES
        self.set(
            wScriptRunning=0 if self.mode == "map" else 255,
            wWindowStackSize={"map": 0, "start": 1, "use": 3, "ask": 3}.get(self.mode, 2),
            wSpriteUpdatesEnabled=0 if page else 1,
            wStateFlags=1 if self.mode == "map" else 0x40,
            wTextboxFlags=3 if self.mode == "words" else 1,
            wCurPocket=self.pocket,
            w2DMenuNumCols=1,
        )
        self.put(0, self.fields["wTilemap"].address, bytes([0x7F]) * 360)
        if page and self.mode != "party":
            for corner in CORNERS:
                self.tile(*corner)
        if self.mode == "start":
            self._list(2, 11, ENTRIES)
        elif self.mode in ("bag", "use") and not self.drawn:
            self._write(14, 1, "SOME WORDS OF IT")
            self._list(2, 7, POCKETS[self.pocket], self.thing if self.mode == "use" else None)
        elif self.mode == "party" and not self.drawn:
            self._list(1, 0, NICKNAMES, indent=3)
        if self.mode in ("words", "ask"):
            self._write(14, 1, "TO WHOM" if self.mode == "ask" else "IT TELLS")
        if self.mode == "use":
            self._list(8, 14, ("USE", "QUIT"))
        elif self.mode == "ask":
            self._list(8, 15, ("YES", "NO"))

    def _write(self, row: int, column: int, words: str) -> None:
        self.put(0, self.fields["wTilemap"].address + row * 20 + column, self._encode(words))

    def _list(
        self, first: int, column: int, entries: tuple[str, ...], left: int | None = None, indent: int = 1
    ) -> None:
        """A list with its cursor; with the hollow one at the entry that was left for a newer window."""
        for place, entry in enumerate(entries):
            self._write(first + 2 * place, column + indent, entry)
        if left is not None:
            self.tile(first + 2 * left, column, 0xEC)
            return
        self.set(w2DMenuNumRows=len(entries), w2DMenuCursorInitY=first, w2DMenuCursorInitX=column)
        self.set(wMenuCursorY=self.row + 1, wMenuCursorX=1)
        self.cursor(first + 2 * self.row, column)
