"""Loader of a profile folder: its own files, then those of the profile that it extends, checked key by key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from pkmn_pyboy.emulation.rom import Lookalike, RomIdentity
from pkmn_pyboy.profile.charmap import Charmap
from pkmn_pyboy.profile.memory_map import MemoryField, MemoryMap, RomTable
from pkmn_pyboy.profile.milestone_loading import build_locked_rooms, build_milestones
from pkmn_pyboy.profile.milestone_schema import MilestonesFile
from pkmn_pyboy.profile.milestones import Evidence
from pkmn_pyboy.profile.model import (
    CollisionRules,
    ContinueRecipe,
    FieldMove,
    GameProfile,
    ItemUses,
    Names,
    Radio,
    SavedCopy,
    StartStep,
)
from pkmn_pyboy.profile.schema import (
    BlockFile,
    ContinueFile,
    FlagFile,
    GameFile,
    HashFile,
    MemoryFile,
    NamesFile,
    StartStepFile,
    TablesFile,
    WorldFile,
)
from pkmn_pyboy.profile.script_marks import ScriptMark, WorldRules, compile_pattern
from pkmn_pyboy.profile.story_blocks import Block, StoryBlocks
from pkmncli.api import expand_home, is_folder, parse_toml, read_given_text
from pkmncli.errors import EnvironmentSetupError, first_fault

GAMES_FOLDER = Path(__file__).parents[1] / "games"
DIRECTIONS = ("down", "up", "left", "right")


def load_profile(folder: Path) -> GameProfile:
    """Read and check a profile folder.

    Raises:
        EnvironmentSetupError: a file is missing, invalid TOML, or has a wrong or unknown key; the message has both.
    """
    folder = expand_home(folder).absolute()
    try:
        there = is_folder(folder)
    except OSError as error:  # a name that is too long, say
        raise EnvironmentSetupError(f"{folder} can't be read: {error.strerror}") from None
    if not there:
        raise EnvironmentSetupError(f"No game profile at {folder}: name a folder with a game.toml")
    try:
        return _load(folder)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:  # of no single key
        raise EnvironmentSetupError(f"{folder}: the profile makes no sense: {error!r}") from error


def _load(folder: Path) -> GameProfile:
    game = _parse(folder / "game.toml", GameFile)
    chain = _chain(folder, game)
    memory_files = [(path, _parse(path, MemoryFile)) for path in chain("memory.toml")]
    if not memory_files:
        raise EnvironmentSetupError(
            f"{folder} has no memory.toml: write one, or name another game under game.memory in game.toml"
        )
    memory = _memory_map(memory_files, folder / "tables.toml")
    names_path = chain("names.toml")
    milestones_path = folder / "milestones.toml"
    games = [_parse(path, GameFile) for path in chain("game.toml")]
    hashes = next((file.hash for file in games if file.hash is not None), HashFile())
    _check_fields(folder, memory, hashes)
    names = _names([_parse(path, NamesFile) for path in names_path])
    field_moves = _field_moves(folder / "game.toml", games, memory)
    radio = _radio(folder / "game.toml", games, memory)
    goals = _parse(milestones_path, MilestonesFile) if milestones_path.exists() else MilestonesFile()
    milestones, errands = build_milestones(milestones_path, goals, memory, names, field_moves, radio)
    first_goal = goals.first_goal or None
    if first_goal is not None and first_goal not in (one.key for one in milestones):
        raise EnvironmentSetupError(f"{milestones_path}: first_goal = {first_goal!r} is not a milestone")
    return GameProfile(
        folder=folder,
        name=folder.name,
        title=game.game.title,
        roms=tuple(
            RomIdentity(rom.name or game.game.title, rom.sha1.lower(), rom.header_title, rom.code, rom.version)
            for rom in game.rom
        ),
        lookalikes=tuple(Lookalike(rom.name, rom.header_title, rom.code, rom.version) for rom in game.lookalike),
        bundled_rom=folder / game.game.rom if game.game.rom else None,
        action_frames=game.timing.action_frames,
        episode_steps=game.timing.episode_steps,
        game_steps=game.timing.game_steps or game.timing.episode_steps,
        hold_frames=game.timing.hold_frames,
        start=tuple(_start_step(step) for step in game.start.steps),
        start_max_frames=game.start.max_frames,
        coarse_fields=tuple(hashes.coarse),
        fine_fields=tuple(hashes.fine),
        lacks=frozenset(game.lacks),
        memory=memory,
        collision=_collision([file for _, file in memory_files]),
        charmap=_charmap([file for _, file in memory_files]),
        names=names,
        item_uses=ItemUses(
            dict(game.items.heal), dict(game.items.cure), frozenset(game.items.revive), dict(game.items.ball)
        ),
        menu_words={key: word for key, word in game.menu.model_dump().items() if word} if game.menu is not None else {},
        milestones=milestones,
        first_goal=first_goal,
        errands=errands,
        locked_rooms=build_locked_rooms(milestones_path, goals, names),
        field_moves=field_moves,
        world=_world_rules(folder, [(path, _parse(path, WorldFile)) for path in chain("world.toml")], memory, names),
        radio=radio,
        continuing=_continuing(folder / "game.toml", game.continuing, memory),
    )


def _chain(folder: Path, game: GameFile) -> Any:
    """Return a function that finds a file in the profile and in those that it extends, its own first."""
    folders = [folder]
    extends = game.game.memory
    while extends:
        candidates = [folders[-1].parent / extends, GAMES_FOLDER / extends]
        base = next((place for place in candidates if (place / "game.toml").is_file()), None)
        if base is None or base in folders:
            known = ", ".join(sorted(place.name for place in GAMES_FOLDER.iterdir() if (place / "game.toml").is_file()))
            raise EnvironmentSetupError(
                f"{folders[-1] / 'game.toml'}: game.memory: no profile {extends!r} beside it or built in ({known})"
            )
        folders.append(base)
        extends = _parse(base / "game.toml", GameFile).game.memory

    def paths(name: str) -> list[Path]:
        return [place / name for place in folders if (place / name).is_file()]

    return paths


def _parse(path: Path, model: type[Any]) -> Any:
    if path.exists() and not path.is_file():
        raise EnvironmentSetupError(f"{path} is no regular file")  # a pipe may never begin
    try:
        data = parse_toml(read_given_text(path))
    except FileNotFoundError:
        raise EnvironmentSetupError(f"{path} is missing: a game profile needs it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentSetupError(f"{path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise EnvironmentSetupError(f"{path} is not valid TOML: {error}") from None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise EnvironmentSetupError(f"{path}: {first_fault(error)}") from None


def _fail(path: Path, key: str, message: str) -> NoReturn:
    raise EnvironmentSetupError(f"{path}: {key}: {message}")


def _memory_map(files: list[tuple[Path, MemoryFile]], own_tables: Path) -> MemoryMap:
    fields: dict[str, MemoryField] = {}
    tables: dict[str, RomTable] = {}
    for path, file in reversed(files):
        for group, entries in file.field.items():
            for name, entry in entries.items():
                place = MemoryField(name, entry.at, entry.bank, entry.size, entry.encoding, entry.meaning, entry.when)
                if place.bank >= 0 and place.address >> 12 != (place.address + place.size - 1) >> 12:
                    _fail(path, f"field.{group}.{name}", "runs over the end of its bank")
                fields[name] = place
        built = path.with_name("tables.toml")
        layers = [file.rom_tables, _parse(built, TablesFile).rom_tables if built.is_file() else {}]
        tables |= {name: RomTable(table.bank, table.address) for layer in layers for name, table in layer.items()}
    if own_tables.is_file() and files[0][0].parent != own_tables.parent:
        # It shares another game's memory, not its image: that game's table addresses would be wrong.
        own = _parse(own_tables, TablesFile).rom_tables
        tables = {name: RomTable(table.bank, table.address) for name, table in own.items()}
    return MemoryMap(fields, tables, str(files[0][0]))


def _collision(files: list[MemoryFile]) -> CollisionRules:
    for file in files:
        if file.collision is not None:
            rules = file.collision
            return CollisionRules(frozenset(rules.wall), frozenset(rules.water), rules.name)
    return CollisionRules(frozenset(), frozenset(), {})


def _charmap(files: list[MemoryFile]) -> Charmap:
    for file in files:
        if file.text is not None:
            runs = [(run.start, run.characters) for run in file.text.run]
            single = {int(key, 0): value for key, value in file.text.single.items()}
            return Charmap.build(runs, single, file.text.end)
    return Charmap.build([], {}, 0x50)


def _names(files: list[NamesFile]) -> Names:
    def rows(key: str) -> list[Any]:
        return next((found.table for file in files if (found := getattr(file, key)) is not None), [])

    def numbered(key: str) -> dict[int, str]:
        return {int(row[0]): str(row[1]) for row in rows(key)}

    return Names(
        maps={int(row[0]) * 256 + int(row[1]): str(row[2]) for row in rows("maps")},
        species=numbered("species"),
        moves=numbered("moves"),
        items=numbered("items"),
        types=numbered("types"),
        trainer_classes=numbered("trainer_classes"),
        landmarks=numbered("landmarks"),
        event_flags=numbered("event_flags"),
        visited_towns=numbered("visited_towns"),
        johto_badges=tuple(next((file.johto_badges for file in files if file.johto_badges), ())),
        kanto_badges=tuple(next((file.kanto_badges for file in files if file.kanto_badges), ())),
    )


def _field_moves(path: Path, games: list[GameFile], memory: MemoryMap) -> dict[str, FieldMove]:
    """Return the field moves of the first file of the chain with any: move and item numbers depend on the game."""
    entries = next((file.field_moves for file in games if file.field_moves is not None), {})

    return {
        name: FieldMove(
            name,
            entry.move,
            entry.item,
            entry.machine,
            _flag(path, f"field_moves.{name}.badge", entry.badge, memory),
            frozenset(entry.tiles),
            entry.movement,
            _flag(path, f"field_moves.{name}.in_use", entry.in_use, memory) if entry.in_use is not None else None,
        )
        for name, entry in entries.items()
    }


def _flag(path: Path, where: str, flag: FlagFile, memory: MemoryMap) -> Evidence:
    kind = "bit" if flag.bit is not None else "equals"
    try:
        return Evidence.build(memory, kind, field=flag.field, bit=flag.bit, value=flag.value)
    except (EnvironmentSetupError, ValueError) as error:
        _fail(path, where, str(error))


def _radio(path: Path, games: list[GameFile], memory: MemoryMap) -> Radio | None:
    """Return the radio of the first file of the chain with one: it belongs to the shared memory."""
    entry = next((file.radio for file in games if file.radio is not None), None)
    if entry is None:
        return None

    def place(key: str, name: str) -> MemoryField:
        try:
            field = memory[name]
        except EnvironmentSetupError as error:
            _fail(path, f"radio.{key}", str(error))
        if not isinstance(field.decode(bytes(field.size)), int):
            _fail(path, f"radio.{key}", f"{name} is not one number")
        return field

    card = _flag(path, "radio.card", entry.card, memory)
    knob, music = place("knob", entry.knob), place("music", entry.music)
    return Radio(entry.entry, card, knob, entry.step, entry.most, music)


def _world_rules(folder: Path, files: list[tuple[Path, WorldFile]], memory: MemoryMap, names: Names) -> WorldRules:
    if not files:
        return WorldRules()
    path, file = files[0]
    return WorldRules(
        frozenset(file.people.walks),
        {int(movement, 0): DIRECTIONS.index(name) for movement, name in file.people.facing.items()},
        dict.fromkeys(file.people.rock, "rock"),
        tuple(ScriptMark(mark.role, compile_pattern(mark.begins), mark.kind) for mark in file.script),
        file.signs.hidden_item,
        _story_blocks(path, file, memory, names.maps if path.parent == folder else {}),
    )


def _story_blocks(path: Path, file: WorldFile, memory: MemoryMap, maps: Mapping[int, str]) -> dict[int, StoryBlocks]:
    """Return the blocks that change by map id. ``maps`` are the existing ones, empty if they are unknown."""
    flags = memory.fields.get("wEventFlags")
    most = flags.size * 8 - 1 if flags is not None else -1
    found: dict[int, StoryBlocks] = {}

    def blocks(where: str, entries: list[BlockFile]) -> tuple[Block, ...]:
        tiles = [(entry.x, entry.y) for entry in entries]
        for x, y in tiles:
            if tiles.count((x, y)) > 1:
                _fail(path, where, f"the block at ({x},{y}) is listed twice")
        return tuple(Block(entry.x, entry.y, entry.block) for entry in entries)

    for number, entry in enumerate(file.changed):
        where, map_id = f"changed.{number}", entry.map[0] << 8 | entry.map[1]
        if map_id in found:
            _fail(path, where, f"map {entry.map[0]}.{entry.map[1]} is listed twice")
        if maps and map_id not in maps:
            _fail(path, f"{where}.map", f"there is no map {entry.map[0]}.{entry.map[1]}")
        if not entry.with_ and not entry.always:
            _fail(path, where, "it changes nothing; give always, or with")
        events = [one.event for one in entry.with_]
        for event in events:
            if event > most:
                _fail(path, f"{where}.with", f"event {event} is beyond the last one, {most}")
            if events.count(event) > 1:
                _fail(path, f"{where}.with", f"event {event} is listed twice")
        always = blocks(f"{where}.always", entry.always)
        by_event = {
            one.event: blocks(f"{where}.with.{place}.blocks", one.blocks) for place, one in enumerate(entry.with_)
        }
        for place, (event, there) in enumerate(by_event.items()):
            if set(there) == set(always):
                _fail(path, f"{where}.with.{place}", f"event {event} changes nothing")
        found[map_id] = StoryBlocks(map_id, always, by_event)
    return found


def _start_step(step: StartStepFile) -> StartStep:
    presses = (step.press,) if isinstance(step.press, str) else tuple(step.press or ())
    return StartStep(presses, step.hold, step.wait, step.times, step.until is not None, step.map)


def _continuing(path: Path, entry: ContinueFile | None, memory: MemoryMap) -> ContinueRecipe | None:
    if entry is None:
        return None
    try:
        same = memory[entry.same]
    except EnvironmentSetupError as error:
        _fail(path, "continue.same", str(error))
    copies = tuple(SavedCopy(tuple(copy.marks), copy.same) for copy in entry.saved)
    return ContinueRecipe(tuple(_start_step(step) for step in entry.steps), entry.max_frames, copies, same)


def _check_fields(folder: Path, memory: MemoryMap, hashes: HashFile) -> None:
    for name in ("wMapGroup", "wMapNumber", "wXCoord", "wYCoord"):
        if name not in memory:
            raise EnvironmentSetupError(f"{memory.source}: field: {name} is missing; the environment needs it")
    for key, names in (("coarse", hashes.coarse), ("fine", hashes.fine)):
        for name in names:
            if name not in memory:
                _fail(folder / "game.toml", f"hash.{key}", f"{name} is not a field of memory.toml")
