"""Command `pkmn world`: the maps of a game, one map in detail, and the route between two places."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.profile.selection import select_game
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.story.road_checks import check_story
from pkmn_pyboy.world.abilities import FIELD_MOVES, Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world_command.descriptions import Describer
from pkmn_pyboy.world_command.journey import find_journey
from pkmn_pyboy.world_command.pages import list_page, map_page, story_page, way_page
from pkmn_pyboy.world_command.picture import along, check_picture_name, one_map, save_picture
from pkmn_pyboy.world_command.place_names import find_place
from pkmncli.errors import EXIT_EMULATOR, ConfigurationError, EnvironmentSetupError, did_you_mean
from pkmncli.tables import terminal_columns

_NONE = "none"
_WITHOUT_TERMINAL = 10_000
"""Columns of a page that goes to a file or another program: nothing is wrapped."""


_GAME, _STATE, _OUTPUT = "Game", "State of the player", "Output"


def world(
    place: Annotated[
        str | None, typer.Argument(metavar="[MAP]", help="A map to show: its name, a part of it, or its numbers.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Argument(
            metavar="[TO]", help="Show the route there from MAP: a map, a tile as 'Name:x,y', or healer, shop, grass."
        ),
    ] = None,
    *,
    rom: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            envvar="PKMN_ROM_PATH",
            show_envvar=False,
            help="Cartridge image. [default: the bundled game]",
            rich_help_panel=_GAME,
        ),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(help="Game profile, by name or by its folder. [default: from the image]", rich_help_panel=_GAME),
    ] = None,
    force_rom: Annotated[
        bool,
        typer.Option("--force-rom", help="Accept an image that the game profile does not know.", rich_help_panel=_GAME),
    ] = False,
    with_: Annotated[
        str | None,
        typer.Option(
            "--with", help="Usable field moves, such as cut,surf; or none. [default: all]", rich_help_panel=_STATE
        ),
    ] = None,
    badges: Annotated[
        str | None,
        typer.Option(help="Badges, by name or number: limits the field moves to theirs.", rich_help_panel=_STATE),
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(
            help="Event flags that are set, by name or number: shows the maps as the story has changed them.",
            rich_help_panel=_STATE,
        ),
    ] = None,
    maps: Annotated[bool, typer.Option("--maps", help="Show every map of a route.", rich_help_panel=_OUTPUT)] = False,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the map or the route as a picture.", rich_help_panel=_OUTPUT),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Show the route to each goal of the game's story, or its problem.", rich_help_panel=_OUTPUT
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON, for other programs.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Show the maps of a game, one of them, or the route between two places, from the cartridge image.

    Nothing is written, except --picture. A map's name may be shortened; a tile is added as in "Fern Trail:5,0".
    """
    if check:
        _refuse_beside_check(
            {"MAP": place, "TO": to, "--with": with_, "--badges": badges, "--events": events, "--picture": picture},
            maps,
        )
    if picture is not None:
        check_picture_name(picture)
        if place is None:
            raise ConfigurationError("--picture draws one map or a route: name a map, as in: pkmn world MAP --picture")
    profile, image = select_game(EnvironmentSettings.of_command(game, rom, force_rom))
    cartridge = Cartridge(image.data, profile)
    if not cartridge.world.map_ids():
        if not profile.memory.rom_tables:
            raise EnvironmentSetupError(f"The profile of {profile.title} names no [rom_tables] to read maps by")
        raise EnvironmentSetupError(f"{image.path}: no map of {profile.title} can be read from this image")
    width = terminal_columns() or _WITHOUT_TERMINAL
    if check:
        if not _show_roads(profile, cartridge, as_json=as_json, width=width):
            raise typer.Exit(EXIT_EMULATOR)
        return
    changed, flags = ChangedWorld(cartridge.world), _events(profile, events)
    changed.follow(flags or ())
    describer = Describer(cartridge, profile.names, changed)
    abilities = replace(_abilities(profile, with_, badges), flags=flags)
    if to is not None and place is not None:
        journey = find_journey(changed, place, to, abilities)
        result, lines = way_page(describer, journey, width, with_maps=maps)
        if picture is not None and journey.route is not None:
            title = f"{journey.start_name} to {journey.goal_name}: {journey.route.tiles:,} steps"
            lines += _drawn(picture, changed, along(changed, journey.route.legs), title, result)
        elif picture is not None:
            raise ConfigurationError(f"--picture {picture}: there is no route to draw")
    elif place is not None:
        map_id, tile = find_place(cartridge.world, place)
        if tile is not None:
            raise ConfigurationError(f"{place!r} names a tile: add the destination of the route, or leave out the tile")
        here = changed.map(map_id)
        if here is None:
            raise EnvironmentSetupError(f"{image.path}: the map {place!r} cannot be read from this image")
        result, lines = map_page(describer, here, width)
        if picture is not None:
            lines += _drawn(picture, changed, one_map(here), f"{profile.title}: {here.name}", result)
    else:
        result, lines = list_page(describer, profile.title, width)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        return
    typer.echo("\n".join(lines))


def _refuse_beside_check(given: dict[str, Any], maps: bool) -> None:
    """Refuse options that --check ignores: it follows the whole story, with the abilities at each goal."""
    named = [name for name, value in given.items() if value is not None] + (["--maps"] if maps else [])
    if named:
        raise ConfigurationError(f"--check follows the whole story by itself: leave out {', '.join(named)}")


def _show_roads(profile: GameProfile, cartridge: Cartridge, *, as_json: bool, width: int) -> bool:
    """Show the route to each milestone and errand, or its problems. Return True if there are none."""
    found = check_story(profile, cartridge)
    result, lines = story_page(cartridge.world, profile.title, found, width)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        typer.echo("\n".join(lines))
    return not found.problems


def _drawn(path: Path, world: World, regions: Any, title: str, result: dict[str, Any]) -> list[str]:
    width, height = save_picture(path, world, regions, title)
    result["picture"] = str(path)
    return ["", f"Drawn to {path}, {width} x {height} pixels."]


def _abilities(profile: GameProfile, moves: str | None, badges: str | None) -> Abilities:
    """Return the field moves that are named, as far as the badges allow them.

    Raises:
        ConfigurationError: a move or badge does not exist.
    """
    chosen = set(FIELD_MOVES)
    if moves is not None:
        words = [word for word in re.split(r"[,\s]+", moves.lower().replace("-", "_")) if word]
        for word in words:
            if word not in (*FIELD_MOVES, _NONE):
                raise ConfigurationError(
                    f"--with {moves!r}: {word!r} is not a field move; choose from {', '.join(FIELD_MOVES)}"
                )
        chosen = {word for word in words if word != _NONE}
    if badges is not None:
        held = _badge_bits(profile, badges)
        place = profile.memory.fields.get("wJohtoBadges")
        for name, entry in profile.field_moves.items():
            if place is None or entry.badge.address != place.address:
                continue
            if not any(entry.badge.mask == 1 << bit for bit in held):
                chosen.discard(name)
    return Abilities(frozenset(chosen))


def _events(profile: GameProfile, words: str | None) -> frozenset[int] | None:
    """Return event flags by name or number; None if none are given.

    Raises:
        ConfigurationError: a flag does not exist.
    """
    if words is None:
        return None
    place = profile.memory.fields.get("wEventFlags")
    most = place.size * 8 if place is not None else 0
    by_name = {name.lower(): number for number, name in profile.names.event_flags.items()}
    found = set()
    parts = [part.strip().lower() for part in words.split(",") if part.strip()]
    if _NONE in parts and len(parts) > 1:
        raise ConfigurationError(f"--events {words!r}: give either {_NONE} or flags")
    for word in parts:
        if word == _NONE:
            continue
        number = int(word) if word.isdigit() else by_name.get(word, most)
        if number >= most:
            known = [name.upper() for name in by_name]
            hint = did_you_mean(word.upper(), known, f"use a name of the profile, or 0 to {most - 1}", shown="{}")
            raise ConfigurationError(f"--events {words!r}: there is no flag {word!r}; {hint}")
        found.add(number)
    return frozenset(found)


def _badge_bits(profile: GameProfile, words: str) -> set[int]:
    names = [name.lower() for name in profile.names.johto_badges]
    if words.strip().isdigit():
        return set(range(int(words)))
    held = set()
    for word in (part.strip().lower().removesuffix(" badge") for part in words.split(",")):
        if word not in names:
            known = ", ".join(profile.names.johto_badges) or "none"
            raise ConfigurationError(
                f"--badges {words!r}: no badge is called {word!r}; choose from {known}, or give a number"
            )
        held.add(names.index(word))
    return held
