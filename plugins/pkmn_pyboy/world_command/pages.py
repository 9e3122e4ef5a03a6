"""Pages of `pkmn world`: each as values for JSON, and as lines for a terminal of some width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from pkmn_pyboy.story.road_checks import StoryCheck
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.records import ENTER, NO_FLAG, WorldMap
from pkmn_pyboy.world.route import Leg, Obstacle, Route
from pkmn_pyboy.world.tile_rules import DIRECTIONS
from pkmn_pyboy.world_command.descriptions import SIDES, Describer, map_id_text
from pkmn_pyboy.world_command.journey import Journey
from pkmn_pyboy.world_command.text_map import legend, text_map
from pkmncli.tables import table

Page = tuple[dict[str, Any], list[str]]
"""Values and lines."""

NARROW = 70
"""Minimum terminal width for tables; narrower ones get paragraphs."""

_DOES = {
    "cut": ("cut the tree", "cut"),
    "surf": ("surf", "surf"),
    "whirlpool": ("cross the whirlpool", "whirlpool"),
    "waterfall": ("climb the waterfall", "waterfall"),
    "strength": ("push the boulder out of the way", "strength"),
    "rock_smash": ("smash the rock", "rock smash"),
}


def list_page(describer: Describer, title: str, width: int) -> Page:
    """Return the page of all maps of a game."""
    world = describer.world
    rows: list[dict[str, Any]] = []
    for map_id in world.map_ids():
        here = world.map(map_id)
        if here is not None:
            rows.append(
                {
                    "id": map_id_text(map_id),
                    "name": here.name,
                    "width": here.width,
                    "height": here.height,
                    "kind": describer.kind(here),
                    "exits": describer.exits_short(here),
                    "wild": describer.wild_short(map_id),
                    "people": len(here.people),
                }
            )
    left_out = [{"id": map_id_text(one), "why": why} for one, why in sorted(world.problems.items())]
    result = {"game": title, "maps": rows, "left_out": left_out}
    lines = [f"{title}: {len(rows):,} maps. Sizes are in tiles.", ""]
    if width < NARROW:
        for row in rows:
            lines.append(f"{row['id']} {row['name']}")
            parts = [
                f"{row['width']} x {row['height']}",
                row["kind"],
                row["exits"],
                f"wild: {row['wild']}" if row["wild"] else "",
            ]
            lines += _wrapped(", ".join(part for part in parts if part), width, "  ")
    else:
        cells = [
            [row["id"], row["name"], f"{row['width']} x {row['height']}", row["kind"], row["exits"], row["wild"]]
            for row in rows
        ]
        lines += _table(["id", "map", "size", "kind", "exits", "wild"], cells, width)
    lines += [f"{row['id']} {row['why']}" for row in left_out]
    return result, lines


def map_page(describer: Describer, here: WorldMap, width: int) -> Page:
    """Return the page of one map."""
    letters = text_map(describer.world, here)
    key = legend(describer.world, [(here, None)])
    exits, people, wild = describer.exits(here), describer.people(here), describer.wild(here.map_id)
    changes = describer.changes(here.map_id)
    signs = [[sign.x, sign.y] for sign in here.signs if not sign.item]
    hidden = [{"item": describer.item(sign.item), "x": sign.x, "y": sign.y} for sign in here.signs if sign.item]
    result = {
        "id": map_id_text(here.map_id),
        "name": here.name,
        "kind": describer.kind(here),
        "width": here.width,
        "height": here.height,
        "landmark": describer.names.landmarks.get(here.landmark, ""),
        "rows": [row[-here.width :] for row in letters[1:]],
        "legend": key,
        "exits": exits,
        "people": people,
        "signs": signs,
        "hidden": hidden,
        "triggers": [[trigger.x, trigger.y, trigger.scene] for trigger in here.triggers],
        "wild": wild,
        "changed": changes,
    }
    landmark = f", at {result['landmark']}" if result["landmark"] not in ("", here.name) else ""
    size = f"{here.width} x {here.height} tiles"
    title = f"{here.name} ({map_id_text(here.map_id)}), {describer.kind(here)}, {size}{landmark}"
    lines = [*_wrapped(title, width), ""]
    lines += [*text_map(describer.world, here, width=width), "", *_legend(key, width)]
    for title, entries in (
        ("Exits", [_exit_words(row) for row in exits]),
        ("People and items", [_person_words(row) for row in people]),
        ("Hidden", [f"({row['x']},{row['y']}) {row['item']}" for row in hidden]),
        ("Wild Pokemon", [_wild_words(row) for row in wild]),
        ("Changed by the story", [_change_words(row) for row in changes]),
    ):
        if entries:
            lines += ["", title]
            for entry in entries:
                lines += _wrapped(entry, width, "  ")
    return result, lines


def way_page(describer: Describer, journey: Journey, width: int, *, with_maps: bool) -> Page:
    """Return the page of the route between two places."""
    world, route = describer.world, journey.route
    result: dict[str, Any] = {
        "from": str(journey.start),
        "to": journey.goal_name,
        "with": sorted(journey.abilities.moves),
        "walkable": journey.walkable,
    }
    if route is None:
        lines = _wrapped(
            f"There is no route from {journey.start_name} to {journey.goal_name}, with any abilities.", width
        )
        return result | {"legs": []}, lines
    result["steps"] = route.tiles
    result["legs"] = [_leg_values(describer, leg) for leg in route.legs]
    result["obstacles"] = [_obstacle_values(describer, one, one in route.blocked_by) for one in route.obstacles]
    both, steps = f"{journey.start_name} to {journey.goal_name}", f"{route.tiles:,} steps"
    if journey.walkable:
        head = f"{both}: {steps} over {len(route.legs)} map{'s' if len(route.legs) > 1 else ''}"
    else:
        head = f"There is no route from {both} yet. Through the obstacles it is {steps}"
    lines = [*_wrapped(head, width), ""]
    lines += list(_leg_lines(describer, route, width))
    if route.obstacles:
        lines += ["", "Obstacles"]
        for one in route.obstacles:
            lines += _wrapped(_obstacle_words(describer, one, one in route.blocked_by), width, "  ")
    if with_maps:
        shown = [(here, leg) for leg in route.legs if (here := world.map(leg.map_id)) is not None]
        for number, (here, leg) in enumerate(shown, 1):
            lines += ["", f"{number}. {here.name}", *text_map(world, here, leg, width)]
        lines += ["", *_legend(legend(world, shown), width)]
    return result, lines


def story_page(world: World, title: str, found: StoryCheck, width: int) -> Page:
    """Return the page of the routes to each goal of a story, from the goal before it, with their problems."""
    roads: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for road in found.roads:
        wrong = [one.message for one in found.problems if one.key == road.key]
        maps = [map_id_text(map_id) for map_id in road.maps]
        roads.append(
            {
                "key": road.key,
                "name": road.name,
                "steps": road.steps,
                "maps": maps,
                "notes": list(road.notes),
                "problems": wrong,
            }
        )
        way = f"{len(maps)} map{'s' if len(maps) > 1 else ''}, to {world.name(road.maps[-1])}" if maps else ""
        words = "; ".join([*wrong, *([way] if way else []), *road.notes])
        rows.append(["!" if wrong else "", road.key, f"{road.steps:,}" if road.steps is not None else "", words])
    keys = {road.key for road in found.roads}
    rows += [["!", one.key, "", one.message] for one in found.problems if one.key not in keys]
    problems = [{"key": one.key, "problem": one.message} for one in found.problems]
    if width < NARROW:
        lines = [line for row in rows for line in _wrapped(" ".join(cell for cell in row if cell), width, "", "  ")]
    else:
        lines = _table(["", "goal", "steps", "route"], rows, width, indent="")
    walkable = len(roads) - len(keys & {one.key for one in found.problems})
    lines += ["", f"{walkable} of {len(roads)} milestones and errands of {title} can be reached."]
    return {"goals": len(roads), "problems": problems, "roads": roads}, lines


# Words for rows -----------------------------------------------------------------------------------------------


def _leg_lines(describer: Describer, route: Route, width: int) -> Iterator[str]:
    names = [describer.world.name(leg.map_id) for leg in route.legs]
    rows = []
    for index, (leg, name) in enumerate(zip(route.legs, names, strict=True), 1):
        steps = f"{leg.moves} step{'s' if leg.moves != 1 else ''}"
        rows.append([f"{index}", name, steps, _leg_end(describer, leg)])
    if width < NARROW:
        for number, name, steps, end in rows:
            yield from _wrapped(f"{number} {name}: {steps} {end}", width, "", "   ")
        return
    yield from _table([], rows, width, indent="")


def _leg_end(describer: Describer, leg: Leg) -> str:
    x, y = leg.tiles[-1]
    if leg.leads_to is None:
        return f"to ({x},{y})" + (f", facing {DIRECTIONS[leg.press]}" if leg.press != ENTER else "")
    to = describer.world.name(leg.leads_to.map_id)
    if not leg.warp:
        return f"over the {SIDES[leg.press]} edge at ({x},{y}) to {to}"
    press = f", press {DIRECTIONS[leg.press]}," if leg.press != ENTER else ""
    return f"through ({x},{y}){press} to {to}"


def _leg_values(describer: Describer, leg: Leg) -> dict[str, Any]:
    row: dict[str, Any] = {
        "map": map_id_text(leg.map_id),
        "name": describer.world.name(leg.map_id),
        "tiles": [list(tile) for tile in leg.tiles],
    }
    if leg.press != ENTER:
        row["press"] = DIRECTIONS[leg.press]
    if leg.leads_to is not None:
        row["by"] = "door" if leg.warp else SIDES[leg.press]
        row["leads_to"] = str(leg.leads_to)
    return row


def _obstacle_values(describer: Describer, one: Obstacle, missing: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": one.kind, "at": str(one.place), "missing": missing}
    if one.flag != NO_FLAG:
        row["gone_with"] = describer.flag(one.flag)
    return row


def _obstacle_words(describer: Describer, one: Obstacle, missing: bool) -> str:
    where = f"{describer.world.name(one.place.map_id)} ({one.place.x},{one.place.y})"
    if one.kind in _DOES:
        does, move = _DOES[one.kind]
        return f"{where}: {does}" + (f", which needs {move}" if missing else "")
    if one.kind == "item":
        return f"{where}: take the item there"
    person = describer.world.map(one.place.map_id)
    who = next((row for row in person.people if row.number == one.person), None) if person is not None else None
    what = "a person is there" if who is None else f"{describer.person_name(who)} is there"
    if one.flag != NO_FLAG:
        return f"{where}: {what} until {describer.flag(one.flag)} is set"
    return f"{where}: {what}" + (", with no known way to change that" if missing else "")


def _exit_words(row: dict[str, Any]) -> str:
    tiles = row["tiles"]
    if row["by"] == "door":
        places = " ".join(f"({x},{y})" for x, y in tiles)
        arrives = f" ({row['arrives'][0]},{row['arrives'][1]})" if "arrives" in row else ""
        return f"{places} to {row['to']}{arrives}"
    first, last = tiles[0], tiles[-1]
    span = f"({first[0]},{first[1]})" + (f" to ({last[0]},{last[1]})" if first != last else "")
    return f"{row['by']} edge, {span}, to {row['to']}"


def _person_words(row: dict[str, Any]) -> str:
    parts = [f"({row['x']},{row['y']}) {row['what']}"]
    if row.get("walks"):
        parts.append("walks")
    if "sight" in row:
        facing = f" {row['faces']}" if "faces" in row else ""
        parts.append(f"sees {row['sight']} tile{'s' if row['sight'] > 1 else ''}{facing}")
    if "party" in row:
        parts.append(
            " ".join(
                f"{one['species']} {one['level']}" + (f" with {one['item']}" if "item" in one else "")
                for one in row["party"]
            )
        )
    if row.get("sells"):
        parts.append("sells " + ", ".join(f"{one['item']} {one['price']:,}" for one in row["sells"]))
    if "hours" in row:
        parts.append(
            f"hours {row['hours'][0]} to {row['hours'][1]}" if row["hours"][0] >= 0 else "at some times of day"
        )
    if "hidden_by" in row:
        parts.append(f"gone with {row['hidden_by']}")
    return ", ".join(parts)


def _wild_words(row: dict[str, Any]) -> str:
    met = ", ".join(
        f"{one['species']} {one['percent']}% at {one['levels'][0]}"
        + (f" to {one['levels'][1]}" if one["levels"][0] != one["levels"][1] else "")
        for one in row["met"]
    )
    often = f"about one in {round(256 / row['rate'])} steps" if row["rate"] else "never"
    return f"{row['where']}, {row['time']}, {often}: {met}"


def _change_words(row: dict[str, Any]) -> str:
    tiles = ", ".join(f"({x},{y})" for x, y in row["tiles"])
    when = f"with {row['with']}" if "with" in row else "at first"
    return f"{when}: {tiles or 'as in the image'}"


# Layout -------------------------------------------------------------------------------------------------------


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int, indent: str = "  ") -> list[str]:
    """Return the lines of a table of texts; without titles, of its rows alone."""
    headings = titles or [""] * len(rows[0])
    lines = table(headings, rows, text=titles, width=width - len(indent)).split("\n")
    return [indent + line for line in lines[0 if titles else 2 :]]


def _legend(text: str, width: int) -> list[str]:
    """Wrap at commas only, so that a letter stays with its meaning."""
    tied = [part.replace(" ", "\0") for part in text.split(", ")]
    return [line.replace("\0", " ") for line in _wrapped(", ".join(tied), width)]


def _wrapped(text: str, width: int, indent: str = "", further: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        max(20, width),
        initial_indent=indent,
        subsequent_indent=further if further is not None else indent + ("  " if indent else ""),
        break_long_words=False,
        break_on_hyphens=False,
    )
