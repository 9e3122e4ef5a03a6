"""Reader of :class:`~pkmn_pyboy.state.details.Details`. Fields that a profile lacks read as zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pkmn_pyboy.profile.memory_map import Memory, ReadPlan
from pkmn_pyboy.rules_gen2.screen import NICKNAME_BYTES
from pkmn_pyboy.rules_gen2.slots import BALL_SLOTS, ITEM_SLOTS, PARTY_SLOTS, SPECIES_COUNT
from pkmn_pyboy.rules_gen2.status import conditions_of, screens_of, weather_of
from pkmn_pyboy.rules_gen2.structs import PARTY_MEMBER
from pkmn_pyboy.state.details import WEEKDAYS, BattleDetails, Clock, Details, PlayTime, Pokedex, TimeOfDay
from pkmn_pyboy.state.event_flags import EventFlags
from pkmn_pyboy.state.game_state import TRAINER_BATTLE, GameState, Party
from pkmn_pyboy.state.named_bag import NamedBag, read_key_items, read_machines, read_stacks
from pkmn_pyboy.state.pokemon_decoding import parse_party

if TYPE_CHECKING:
    from pkmn_pyboy.profile.model import GameProfile, Names

_DAYS_A_WEEK, _HOURS_A_DAY, _MINUTES_AN_HOUR = 7, 24, 60
_KINDS = {1: "town", 2: "route", 3: "indoors", 4: "cave", 6: "gate", 7: "dungeon"}

_FIELDS: Mapping[str, int] = {
    "wPlayerName": 11, "wRivalName": 11, "wPlayerID": 2, "wPlayerGender": 1, "wCoins": 2, "wMomsMoney": 3,
    "wVisitedSpawns": 4, "wRepelEffect": 1, "wPartyMonNicknames": 66, "wCurLandmark": 1, "wEnvironment": 1,
    "wNumItems": 1, "wItems": 41, "wNumKeyItems": 1, "wKeyItems": 26, "wNumBalls": 1, "wBalls": 25, "wTMsHMs": 57,
    "wPokedexCaught": 32, "wPokedexSeen": 32, "wEventFlags": 256,
    "wCurDay": 1, "hHours": 1, "hMinutes": 1, "wTimeOfDay": 1,
    "wGameTimeHours": 2, "wGameTimeMinutes": 1, "wGameTimeSeconds": 1,
}  # fmt: skip
_BATTLE_FIELDS: Mapping[str, int] = {
    "wPlayerSubStatus1": 5, "wEnemySubStatus1": 5, "wPlayerScreens": 1, "wEnemyScreens": 1, "wBattleWeather": 1,
    "wCurBattleMon": 1, "wOTPartyCount": 1, "wOTPartySpecies": 6, "wOTPartyMons": 288,
}  # fmt: skip


class DetailsReader:
    """Reader of one game's details.

    Args:
        profile: the game.
        names: names of its numbers.
        machines: move of each machine; empty if unknown.
    """

    def __init__(self, profile: GameProfile, names: Names, machines: tuple[int, ...] = ()) -> None:
        fields = profile.memory.fields
        self._names = names
        self._charmap = profile.charmap
        self._flag_names = {number: names.event_flags[number] for number in sorted(names.event_flags)}
        self._machines = machines
        self._sizes = {name: fields[name].size if name in fields else size for name, size in _FIELDS.items()}
        self._battle_sizes = {
            name: fields[name].size if name in fields else size for name, size in _BATTLE_FIELDS.items()
        }
        self._plan, self._battle_plan = (
            ReadPlan(
                [fields[name] for name in sizes if name in fields],
                {name: size for name, size in sizes.items() if name not in fields},
            )
            for sizes in (self._sizes, self._battle_sizes)
        )

    def read(self, memory: Memory, state: GameState) -> Details:
        """Return the details now. ``state`` is the result of the state reader at the same moment."""
        part = _parts(self._plan, self._plan.read(memory), self._sizes)
        names = self._names
        loaded = state.map_group != 0
        caught, seen = (
            frozenset(number for number in range(1, SPECIES_COUNT + 1) if _bit(part[name], number - 1))
            for name in ("wPokedexCaught", "wPokedexSeen")
        )
        nicknames = part["wPartyMonNicknames"]
        towns = part["wVisitedSpawns"]
        return Details(
            name=self._text(part["wPlayerName"]) if loaded else "",
            rival_name=self._text(part["wRivalName"]) if loaded else "",
            trainer_id=_number(part["wPlayerID"]),
            girl=bool(part["wPlayerGender"][0] & 1),
            movement=state.way_of_moving,
            coins=_number(part["wCoins"]),
            savings=_number(part["wMomsMoney"]),
            badges=_badges(state.johto_badges, names.johto_badges) + _badges(state.kanto_badges, names.kanto_badges),
            visited_towns=tuple(
                name for bit, name in sorted(names.visited_towns.items()) if bit >> 3 < len(towns) and _bit(towns, bit)
            ),
            repel_steps=part["wRepelEffect"][0],
            nicknames=tuple(
                self._text(nicknames[place * NICKNAME_BYTES : (place + 1) * NICKNAME_BYTES])
                for place in range(len(state.party.members))
            ),
            bag=NamedBag(
                read_stacks(part["wNumItems"][0], part["wItems"], ITEM_SLOTS, names.items),
                read_stacks(part["wNumBalls"][0], part["wBalls"], BALL_SLOTS, names.items),
                read_key_items(part["wNumKeyItems"][0], part["wKeyItems"], names.items),
                read_machines(part["wTMsHMs"], self._machines, names.moves) if loaded else (),
            ),
            pokedex=Pokedex(caught, seen),
            flags=EventFlags(part["wEventFlags"], self._flag_names),
            clock=Clock(
                WEEKDAYS[part["wCurDay"][0] % _DAYS_A_WEEK],
                part["hHours"][0] % _HOURS_A_DAY,
                part["hMinutes"][0] % _MINUTES_AN_HOUR,
                TimeOfDay(part["wTimeOfDay"][0] & 3),
            ),
            play_time=PlayTime(
                _number(part["wGameTimeHours"]), part["wGameTimeMinutes"][0], part["wGameTimeSeconds"][0]
            ),
            battle=self._battle(memory, state) if state.battle is not None else None,
            where={
                "landmark": names.landmarks.get(part["wCurLandmark"][0], ""),
                "kind": _KINDS.get(part["wEnvironment"][0], ""),
            },
        )

    def _battle(self, memory: Memory, state: GameState) -> BattleDetails:
        part = _parts(self._battle_plan, self._battle_plan.read(memory), self._battle_sizes)
        battle, opponents = state.battle, Party()
        trainer = battle is not None and battle.kind == TRAINER_BATTLE
        count = part["wOTPartyCount"][0]
        if trainer and 0 < count <= PARTY_SLOTS:
            opponents = parse_party(part["wOTPartySpecies"][:count], part["wOTPartyMons"][: count * PARTY_MEMBER.size])
        trainer_class = battle.trainer_class if battle is not None and trainer else 0
        return BattleDetails(
            conditions_of(part["wPlayerSubStatus1"]),
            conditions_of(part["wEnemySubStatus1"]),
            screens_of(part["wPlayerScreens"][0]),
            screens_of(part["wEnemyScreens"][0]),
            weather_of(part["wBattleWeather"][0]),
            self._names.trainer_classes.get(trainer_class, f"trainer {trainer_class}") if trainer_class else "",
            min(part["wCurBattleMon"][0], PARTY_SLOTS - 1),
            opponents,
        )

    def _text(self, data: bytes) -> str:
        # A game without this name leaves its bytes at zero, which is not a character.
        return self._charmap.decode(data) if data[0] else ""


def _parts(plan: ReadPlan, data: bytes, sizes: Mapping[str, int]) -> dict[str, bytes]:
    return {name: data[plan.offset[name] : plan.offset[name] + size] for name, size in sizes.items()}


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _bit(data: bytes, number: int) -> bool:
    return bool(data[number >> 3] >> (number & 7) & 1)


def _badges(bits: int, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(names[bit] if bit < len(names) else f"badge {bit + 1}" for bit in range(8) if bits >> bit & 1)
