"""A battle on a bench: both creatures are written into memory, a turn is played by buttons, what came of it is read."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.loading import GAMES_FOLDER
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmn_pyboy.state.reader import StateReader
from support.leg_player import Leg, LegPlayer, play_until

SLEEP, POISON, PARALYSIS = 0x07, 0x08, 0x40
NEUTRAL = (7,) * 7
ATTACK, DEFENSE, SPEED = 0, 1, 2
ACCURACY, EVASION = 5, 6
HOLD, FRAMES = 6, 12
_DATA = GAMES_FOLDER / "quillwood" / "data"
_RECORD, _NAME = 48, 11


@cache
def data(name: str) -> dict[str, Any]:
    """One of the game's data files."""
    return tomllib.loads((_DATA / f"{name}.toml").read_text())


def move(name: str) -> int:
    return [row[0] for row in data("creatures")["moves"]].index(name) + 1


def species(name: str) -> int:
    return [row["name"] for row in data("creatures")["species"]].index(name) + 1


def kind(name: str) -> int:
    return next(number for number, word in data("creatures")["types"] if word == name)


def item(name: str) -> int:
    return [row["name"] for row in data("items")["item"]].index(name) + 1


@dataclass(frozen=True)
class Creature:
    """One side. ``types`` and ``moves`` by name; ``stats``: attack, defense, speed, special attack and defense."""

    moves: tuple[str, ...] = ("BUMP",)
    types: tuple[str, str] = ("NORMAL", "NORMAL")
    level: int = 20
    hp: int = 200
    max_hp: int = 200
    stats: tuple[int, ...] = (60, 60, 60, 60, 60)
    status: int = 0
    pp: int = 20
    species: str = "QUILLET"
    stages: tuple[int, ...] = NEUTRAL
    experience: int | None = None

    def record(self) -> bytes:
        """The 48 bytes of a party member."""
        exp = self.level**3 if self.experience is None else self.experience
        return (
            bytes([species(self.species), 0, *self._moves(), 0, 0, *exp.to_bytes(3, "big"), *[0] * 10, 0x88, 0x88])
            + bytes([*self._points(), 70, 0, 0, 0, self.level, self.status, 0])
            + self._numbers()
        )

    def in_battle(self) -> bytes:
        """The 32 bytes of the one who is out."""
        return (
            bytes(
                [species(self.species), 0, *self._moves(), 0x88, 0x88, *self._points(), 70, self.level, self.status, 0]
            )
            + self._numbers()
            + bytes(kind(name) for name in self.types)
        )

    def _moves(self) -> list[int]:
        return ([move(name) for name in self.moves] + [0] * 4)[:4]

    def _points(self) -> list[int]:
        return ([self.pp] * len(self.moves) + [0] * 4)[:4]

    def _numbers(self) -> bytes:
        return b"".join(value.to_bytes(2, "big") for value in (self.hp, self.max_hp, *self.stats))


ASLEEP = Creature(status=SLEEP)
"""A foe that lets things be done to it."""


@dataclass(frozen=True)
class Turn:
    """What a turn did: hit points lost, and what the game says of the last blow."""

    own_lost: int
    foe_lost: int
    critical: bool
    modifier: int
    missed: bool
    words: str


class BattleBench:
    """Begins the same battle over and over, each time with other creatures."""

    def __init__(self, environment: PokemonEnvironment) -> None:
        self.environment = environment
        self.emulator = environment.emulator
        self._reader = StateReader(environment.profile)
        self._start = self.emulator.save_state()
        self._plain = self._find_plain_stats()

    @classmethod
    def reach(cls, player: LegPlayer, kind: str) -> BattleBench:
        """Walks to a battle; "wild" or "trainer"."""
        environment = player.environment
        play_until(player, "starter" if kind == "wild" else "parcel_delivered")
        if kind == "wild":
            player.go(Leg((2, 1), 29, 6))
        else:
            player.go(Leg((3, 1), 4, 9))
            environment.advance(4)
        for turn in range(400):
            phase = environment.state.phase
            if phase is Phase.BATTLE_MENU:
                return cls(environment)
            environment.advance(6 + turn % 2 if phase is Phase.FREE else 0)
        raise AssertionError("no battle began")

    def again(self) -> BattleBench:
        """Back to the first menu of the battle."""
        self.emulator.load_state(self._start, trusted=True)
        return self

    @property
    def state(self) -> GameState:
        return self._reader.read(self.emulator)

    @property
    def words(self) -> str:
        """The letters on the screen, in one line."""
        return " ".join(self.environment.screen_words().split())

    def read(self, name: str, size: int = 0) -> bytes:
        place = self.environment.profile.memory[name]
        return self.emulator.read(place.bank, place.address, size or place.size)

    def write(self, name: str, values: Sequence[int], offset: int = 0) -> None:
        self._poke(self.environment.profile.memory[name].address + offset, bytes(values))

    def pit(self, own: Creature, foe: Creature) -> None:
        """Puts both into the battle, and their records into the parties."""
        for creature, out, party, stages in (
            (own, "wBattleMon", "wPartyMon1", "wPlayerStatLevels"),
            (foe, "wEnemyMon", "wOTPartyMons", "wEnemyStatLevels"),
        ):
            self.write(out, creature.in_battle())
            self.write(party, creature.record())
            self.write(stages, creature.stages)
        stats = b"".join(value.to_bytes(2, "little") for value in (*own.stats, *foe.stats))
        self._poke(self._plain, stats)

    def join(self, slot: int, creature: Creature) -> None:
        """A member of the own party."""
        self.write("wPartyMon1", creature.record(), slot * _RECORD)
        name = self.read("wPartyMonNicknames", _NAME)
        self.write("wPartyMonNicknames", name, slot * _NAME)
        self.write("wPartySpecies", [species(creature.species), 0xFF], slot)
        self.write("wPartyCount", [max(slot + 1, self.state.party.count)])

    def foe_joins(self, slot: int, creature: Creature) -> None:
        """A member of the trainer's party."""
        self.write("wOTPartyMons", creature.record(), slot * _RECORD)
        self.write("wOTPartySpecies", [species(creature.species), 0xFF], slot)
        self.write("wOTPartyCount", [slot + 1])

    def give(self, name: str, count: int = 1) -> None:
        """Makes a thing the only one in its pocket."""
        pocket = (
            "wNumBalls"
            if next(i for i in data("items")["item"] if i["name"] == name)["pocket"] == "balls"
            else "wNumItems"
        )
        self.write(pocket, [1, item(name), count, 0xFF])

    def press(self, buttons: str) -> None:
        """Buttons by name; "." waits."""
        for button in buttons.split():
            self.emulator.press(None if button == "." else button, HOLD, FRAMES, render=False)

    def wait(self, frames: int) -> None:
        """Other random numbers, for a turn that begins later."""
        self.emulator.run(frames)

    def use(self, slot: int = 0) -> Turn:
        """The move of a slot, played until the next menu, a question, or the end of the battle."""
        self._to_menu()
        own, foe = self._hp()
        self.press("a . . ." + " down ." * ((slot - self.read("wCurMoveNum", 1)[0]) % 4) + " a")
        words = self.play_on()
        after = self._hp()
        return Turn(
            own - after[0],
            foe - after[1],
            bool(self.read("wCriticalHit", 1)[0]),
            self.read("wTypeModifier", 1)[0] & 0x7F,
            bool(self.read("wAttackMissed", 1)[0]),
            words,
        )

    def play_on(self, button: str = "b", until: str = "") -> str:
        """Reads on until a menu or question is open, words are on the screen, or the battle is over; all words seen."""
        seen: list[str] = []
        for _ in range(400):
            words = self.words
            if not seen or seen[-1] != words:
                seen.append(words)
            if until:
                if until in words:
                    return " / ".join(seen)
            elif self.over or self.state.phase is Phase.BATTLE_MENU or self.state.menu.cursor_shown:
                return " / ".join(seen)
            self.press(button)
        raise AssertionError(f"the battle does not go on: {seen[-3:]}")

    @property
    def over(self) -> bool:
        return self.read("wBattleMode", 1) == b"\0"

    @property
    def result(self) -> int:
        """0 won, 1 lost, 2 ran."""
        return self.read("wBattleResult", 1)[0]

    def _hp(self) -> tuple[int, int]:
        own, foe = (int.from_bytes(self.read(name, 18)[16:18], "big") for name in ("wBattleMon", "wEnemyMon"))
        return own, foe

    def _to_menu(self) -> None:
        """From the first menu or the next one; the cursor on FIGHT."""
        assert self.state.phase is Phase.BATTLE_MENU
        self.press("up left .")

    def _poke(self, address: int, values: bytes) -> None:
        for place, value in enumerate(values, address):
            if place >= 0xD000:
                self.emulator.memory[1, place] = value
            else:
                self.emulator.memory[place] = value

    def _find_plain_stats(self) -> int:
        """Where the game keeps the stats before stages: the player's and then the enemy's, low bytes first."""
        out = [self.read(name, 32)[20:30] for name in ("wBattleMon", "wEnemyMon")]
        stats = b"".join(bytes([low, high]) for side in out for high, low in zip(side[::2], side[1::2], strict=True))
        place = self.emulator.read(1, 0xD000, 0x1000).find(stats)
        assert place >= 0
        return 0xD000 + place
