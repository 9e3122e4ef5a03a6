"""`pkmn world`: the maps of a game, what is on one of them, and the way between two places."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.road_checks import check_foes, check_roads
from pkmn_pyboy.selection import select_game
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.world.abilities import FIELD_MOVES, Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.descriptions import Describer
from pkmn_pyboy.world.journey import find_journey
from pkmn_pyboy.world.pages import list_page, map_page, way_page
from pkmn_pyboy.world.picture import along, check_picture_name, one_map, save_picture
from pkmn_pyboy.world.place_names import find_place
from pkmncli.errors import ConfigurationError, EnvironmentSetupError

_NONE = "none"


def world(
    place: Annotated[
        str | None, typer.Argument(metavar="[MAP]", help="A map to show: its name, a part of it, or its numbers.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Argument(
            metavar="[TO]", help="Show the way there from MAP: a map, a tile as 'Name:x,y', or healer, shop, grass."
        ),
    ] = None,
    *,
    rom: Annotated[
        Path | None, typer.Option(readable=False, help="Cartridge image. [default: the bundled game]")
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="Game profile, by name or by its folder. [default: told by the image]")
    ] = None,
    force_rom: Annotated[
        bool, typer.Option("--force-rom", help="Go on with an image that the game profile does not know.")
    ] = False,
    with_: Annotated[
        str | None,
        typer.Option("--with", help="Field moves at hand, such as cut,surf; or none. [default: all of them]"),
    ] = None,
    badges: Annotated[
        str | None, typer.Option(help="Badges at hand, by name or how many: limits the field moves to theirs.")
    ] = None,
    maps: Annotated[bool, typer.Option("--maps", help="Draw every map of a way.")] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the map or the way as a picture.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Say which milestones' roads can't be walked on the game's maps.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for other programs.")] = False,
) -> None:
    """Show the maps of a game, one of them, or the way between two places, read from the cartridge image.

    Nothing is written, but for --picture. A map's name may be shortened; a tile is added as in "Fern Trail:5,0".
    """
    if picture is not None:
        check_picture_name(picture)
        if place is None:
            raise ConfigurationError("--picture draws one map or a way: name a map, as in: pkmn world MAP --picture")
    profile, image = select_game(_settings(game, rom, force_rom))
    cartridge = Cartridge(image.data, profile)
    if not cartridge.world.map_ids():
        if not profile.memory.rom_tables:
            raise EnvironmentSetupError(f"The profile of {profile.title} names no [rom_tables] to read maps by")
        raise EnvironmentSetupError(f"{image.path}: no map of {profile.title} can be read from this image")
    if check:
        _show_roads(profile, cartridge, as_json=as_json)
        return
    describer = Describer(cartridge, profile.names)
    console = Console(highlight=False, soft_wrap=True)
    if to is not None and place is not None:
        abilities = _abilities(profile, with_, badges)
        journey = find_journey(cartridge.world, place, to, abilities)
        result, lines = way_page(describer, journey, console.width, with_maps=maps)
        if picture is not None and journey.route is not None:
            title = f"{journey.start_name} to {journey.goal_name}: {journey.route.tiles:,} steps"
            lines += _drawn(picture, cartridge, along(cartridge.world, journey.route.legs), title, result)
        elif picture is not None:
            raise ConfigurationError(f"--picture {picture}: there is no way to draw")
    elif place is not None:
        map_id, tile = find_place(cartridge.world, place)
        if tile is not None:
            raise ConfigurationError(f"{place!r} names a tile: give the way's other end with --to, or leave it out")
        here = cartridge.world.map(map_id)
        if here is None:
            raise EnvironmentSetupError(f"{image.path}: the map {place!r} can't be read from this image")
        result, lines = map_page(describer, here, console.width)
        if picture is not None:
            lines += _drawn(picture, cartridge, one_map(here), f"{profile.title}: {here.name}", result)
    else:
        result, lines = list_page(describer, profile.title, console.width)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        return
    for line in lines:
        console.print(line, markup=False)


def _show_roads(profile: GameProfile, cartridge: Cartridge, *, as_json: bool) -> None:
    """The milestones that can't be walked to, one a line."""
    problems = [*check_roads(profile, cartridge.world), *check_foes(profile, cartridge)]
    goals = len(profile.milestones) + len(profile.errands)
    if as_json:
        found = [{"key": problem.key, "problem": problem.message} for problem in problems]
        typer.echo(json.dumps({"goals": goals, "problems": found}, indent=2))
        return
    for problem in problems:
        typer.echo(str(problem))
    walkable = goals - len({problem.key for problem in problems})
    typer.echo(f"{walkable} of {goals} milestones and errands of {profile.title} can be walked to.")


def _drawn(path: Path, cartridge: Cartridge, regions: Any, title: str, result: dict[str, Any]) -> list[str]:
    width, height = save_picture(path, cartridge.world, regions, title)
    result["picture"] = str(path)
    return ["", f"Drawn to {path}, {width} x {height} pixels."]


def _settings(game: str | None, rom: Path | None, force_rom: bool) -> EnvironmentSettings:
    folder = Path(game).expanduser() if game is not None else None
    if folder is not None and (folder / "game.toml").is_file():
        return EnvironmentSettings(game_folder=folder, rom_path=rom, force_rom=force_rom)
    return EnvironmentSettings(game=game, rom_path=rom, force_rom=force_rom)


def _abilities(profile: GameProfile, moves: str | None, badges: str | None) -> Abilities:
    """Field moves: those named, as far as the badges allow them.

    Raises:
        ConfigurationError: a move or badge that there is not.
    """
    chosen = set(FIELD_MOVES)
    if moves is not None:
        words = [word for word in re.split(r"[,\s]+", moves.lower().replace("-", "_")) if word]
        for word in words:
            if word not in (*FIELD_MOVES, _NONE):
                raise ConfigurationError(
                    f"--with {moves!r}: {word!r} is no field move; there are {', '.join(FIELD_MOVES)}"
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


def _badge_bits(profile: GameProfile, words: str) -> set[int]:
    names = [name.lower() for name in profile.names.johto_badges]
    if words.strip().isdigit():
        return set(range(int(words)))
    held = set()
    for word in (part.strip().lower().removesuffix(" badge") for part in words.split(",")):
        if word not in names:
            known = ", ".join(profile.names.johto_badges) or "none"
            raise ConfigurationError(f"--badges {words!r}: no badge is called {word!r}; there are {known}, or a number")
        held.add(names.index(word))
    return held
