"""Maps, their exits, people and wild Pokemon as short rows of words, the same for text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pkmn_pyboy.profile.model import Names
from pkmn_pyboy.rules_gen2.clock import TIMES
from pkmn_pyboy.rules_gen2.records import Slot, WildTable
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.records import NO_FLAG, ExitTile, MapPerson, Role, WorldMap
from pkmn_pyboy.world.tile_rules import DIRECTIONS

KINDS = {1: "town", 2: "route", 3: "indoor", 4: "cave", 6: "gate", 7: "dungeon"}
SIDES = ("south", "north", "west", "east")


def map_id_text(map_id: int) -> str:
    """Return the id as ``group.number``."""
    return f"{map_id >> 8}.{map_id & 0xFF}"


class Describer:
    """Descriptions of what is on maps.

    Args:
        cartridge: the tables.
        names: names of items, species and others.
        world: the maps as the story has changed them; by default as they are at the start.
    """

    def __init__(self, cartridge: Cartridge, names: Names, world: ChangedWorld | None = None) -> None:
        self.cartridge = cartridge
        self.world = world or ChangedWorld(cartridge.world)
        self.names = names

    def changes(self, map_id: int) -> list[dict[str, Any]]:
        """Return the blocks that a map's script sets, initially and with each event, by their upper left tile."""
        story = self.cartridge.world.story_blocks.get(map_id)
        if story is None:
            return []
        rows: list[dict[str, Any]] = [{"tiles": [[one.x, one.y] for one in story.always]}] if story.always else []
        for event, blocks in story.by_event.items():
            rows.append({"with": self.flag(event), "tiles": [[one.x, one.y] for one in blocks]})
        return rows

    def kind(self, here: WorldMap) -> str:
        """Return town, route, indoor and so on."""
        return KINDS.get(here.kind, f"kind {here.kind}")

    def exits(self, here: WorldMap) -> list[dict[str, Any]]:
        """Return the exits, one row for a door with all its tiles and one for an edge."""
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for way in self.world.exits(here.map_id):
            target = way.arrival.map_id if way.arrival is not None else None
            key = ("door", way.back, way.arrival) if way.warp else ("edge", way.press, target)
            if key[-1] is None:
                key = (*key, way.warp)
            row = rows.setdefault(key, self._exit(way, target))
            row["tiles"].append([way.x, way.y])
        return list(rows.values())

    def _exit(self, way: ExitTile, target: int | None) -> dict[str, Any]:
        to = "back where the player came from" if way.back else "an unknown place"
        row: dict[str, Any] = {"by": "door" if way.warp else SIDES[way.press], "tiles": []}
        if target is not None and way.arrival is not None:
            to = self.world.name(target)
            row["map"] = map_id_text(target)
            if way.warp:
                row["arrives"] = [way.arrival.x, way.arrival.y]
        return {**row, "to": to}

    def exits_short(self, here: WorldMap) -> str:
        """Return the exits in short, as in ``3 doors, west``."""
        rows = self.exits(here)
        doors = sum(row["by"] == "door" for row in rows)
        sides = [side for side in ("north", "south", "west", "east") if any(row["by"] == side for row in rows)]
        parts = [f"{doors} door{'s' if doors != 1 else ''}"] if doors else []
        return ", ".join([*parts, *sides])

    def wild_short(self, map_id: int) -> str:
        """Return where wild Pokemon live on a map."""
        return ", ".join(self._where(table) for table in self.cartridge.wild_on(map_id))

    def _where(self, table: WildTable) -> str:
        """Return water, grass, or floor for a map without grass."""
        if table.water:
            return "water"
        here = self.world.map(table.map_id)
        grass = self.world.rules.grass
        return "grass" if here is None or any(tile in grass for tile in set(here.grid.tiles)) else "floor"

    def people(self, here: WorldMap) -> list[dict[str, Any]]:
        """Return everyone on a map, with what their scripts show."""
        return [self._person(person) for person in here.people]

    def _person(self, person: MapPerson) -> dict[str, Any]:
        row: dict[str, Any] = {"role": person.role.value, "x": person.x, "y": person.y}
        row["what"] = self.person_name(person)
        if person.facing >= 0 and person.role in (Role.TRAINER, Role.PERSON):
            row["faces"] = DIRECTIONS[person.facing]
        if person.walks:
            row["walks"] = True
        if person.sight:
            row["sight"] = person.sight
        if person.keeps_hours:
            row["hours"] = list(person.hours)
        if person.flag != NO_FLAG:
            row["hidden_by"] = self.flag(person.flag)
        if person.role is Role.TRAINER and person.beaten_flag != NO_FLAG:
            row["beaten"] = self.flag(person.beaten_flag)
        if person.role is Role.TRAINER and person.trainer_class:
            row["party"] = list(self._party(person))
        if person.role is Role.CLERK:
            row["sells"] = list(self._sold(person.shop))
        return row

    def person_name(self, person: MapPerson) -> str:
        """Return the name or role of a person, as far as their script shows it."""
        if person.role is Role.TRAINER and person.trainer_class:
            title = self.names.trainer_classes.get(person.trainer_class, f"trainer class {person.trainer_class}")
            trainer = self.cartridge.trainers.get((person.trainer_class, person.trainer))
            return f"{title} {trainer.name}" if trainer is not None else title
        if person.role is Role.ITEM and person.item:
            name = self.item(person.item)
            return f"{person.quantity} x {name}" if person.quantity > 1 else name
        words = {Role.CLERK: "shop clerk", Role.ITEM: "item to take"}
        return words.get(person.role, person.role.value)

    def _party(self, person: MapPerson) -> Iterator[dict[str, Any]]:
        trainer = self.cartridge.trainers.get((person.trainer_class, person.trainer))
        for member in trainer.party if trainer is not None else ():
            row: dict[str, Any] = {"species": self.species(member.species), "level": member.level}
            if member.item:
                row["item"] = self.item(member.item)
            if member.moves:
                row["moves"] = [self.names.moves.get(move, f"move {move}") for move in member.moves]
            yield row

    def _sold(self, shop: int) -> Iterator[dict[str, Any]]:
        shops = self.cartridge.shops
        for item in shops[shop] if 0 <= shop < len(shops) else ():
            known = self.cartridge.items.get(item)
            yield {"item": self.item(item), "price": known.price if known is not None else 0}

    def wild(self, map_id: int) -> list[dict[str, Any]]:
        """Return the wild tables: rate and encounters, for each time of day that differs."""
        return [row for table in self.cartridge.wild_on(map_id) for row in self._wild(table)]

    def _wild(self, table: WildTable) -> Iterator[dict[str, Any]]:
        where = self._where(table)
        if len(set(table.slots)) == 1 and len(set(table.rates)) == 1:
            yield {"where": where, "time": "any time", "rate": table.rates[0], "met": self._met(table.slots[0])}
            return
        for time, (rate, slots) in enumerate(zip(table.rates, table.slots, strict=True)):
            yield {"where": where, "time": TIMES[time], "rate": rate, "met": self._met(slots)}

    def _met(self, slots: tuple[Slot, ...]) -> list[dict[str, Any]]:
        chances: dict[int, int] = {}
        levels: dict[int, list[int]] = {}
        for slot in slots:
            chances[slot.species] = chances.get(slot.species, 0) + slot.chance
            levels.setdefault(slot.species, []).append(slot.level)
        return [
            {
                "species": self.species(species),
                "percent": chances[species],
                "levels": [min(levels[species]), max(levels[species])],
            }
            for species in sorted(chances, key=lambda one: -chances[one])
        ]

    def species(self, number: int) -> str:
        """Return the name of a species."""
        return self.names.species.get(number, f"species {number}")

    def item(self, number: int) -> str:
        """Return the name of an item."""
        return self.names.items.get(number, f"item {number}")

    def flag(self, number: int) -> str:
        """Return the name of an event flag."""
        return self.names.event_flags.get(number, f"event flag {number}")
