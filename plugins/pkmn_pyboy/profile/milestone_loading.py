"""Loader of milestones and errands. Checks that all names exist and that no goal needs itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn

from pkmn_pyboy.profile.memory_map import MemoryMap
from pkmn_pyboy.profile.milestone_schema import ErrandFile, EvidenceFile, GoalFile, MilestonesFile
from pkmn_pyboy.profile.milestones import Evidence, Foe, LockedRooms, Milestone, Requirements
from pkmn_pyboy.profile.model import FieldMove, Names, Radio
from pkmn_pyboy.profile.target_loading import build_target
from pkmncli.errors import EnvironmentSetupError

_BADGE_FIELDS = ("wJohtoBadges", "wKantoBadges")
"""Fields of badges 0 to 7, and 8 to 15."""


def build_milestones(
    path: Path,
    file: MilestonesFile,
    memory: MemoryMap,
    names: Names,
    field_moves: Mapping[str, FieldMove],
    radio: Radio | None = None,
) -> tuple[tuple[Milestone, ...], dict[str, Milestone]]:
    """Return milestones in order, and errands by key.

    Raises:
        EnvironmentSetupError: a name does not exist, or a goal needs itself; the message has file and key.
    """
    milestones: list[Milestone] = []
    seen: set[str] = set()
    last_required: tuple[str, ...] = ()
    if not file.milestone and (file.errand or file.locked_rooms):
        _fail(path, "milestone", "there is none, so errands and rooms have no effect")
    errand_keys = {errand.key for errand in file.errand}
    for index, entry in enumerate(file.milestone):
        where = f"milestone.{index}"
        if entry.key in seen or entry.key in errand_keys:
            _fail(path, f"{where}.key", f"{entry.key} is listed twice")
        if entry.order is not None and entry.order != index + 1:
            _fail(path, f"{where}.order", f"{entry.key} is number {index + 1}, not {entry.order}")
        needs = last_required if entry.needs is None else tuple(entry.needs)
        for key in needs:
            if key not in seen:
                _fail(path, f"{where}.needs", f"{key} is not a milestone before {entry.key}")
        seen.add(entry.key)
        milestones.append(_build(path, where, entry, needs, entry.optional, memory, names, field_moves, radio))
        if not entry.optional:
            last_required = (entry.key,)
    errands: dict[str, Milestone] = {}
    for index, errand in enumerate(file.errand):
        where = f"errand.{index}"
        if errand.key in errands:
            _fail(path, f"{where}.key", f"{errand.key} is listed twice")
        if errand.gives_hour is not None and errand.target is None:
            _fail(path, f"{where}.gives_hour", f"{errand.key}: it needs a target to go to")
        for key in errand.needs or ():
            if key not in seen:
                _fail(path, f"{where}.needs", f"{key} is not a milestone")
        needs = tuple(errand.needs or ())
        errands[errand.key] = _build(path, where, errand, needs, True, memory, names, field_moves, radio)
    _check_errands(path, milestones, errands, field_moves, memory)
    return tuple(milestones), errands


def build_locked_rooms(path: Path, file: MilestonesFile, names: Names) -> tuple[LockedRooms, ...]:
    """Return the rooms that lock behind the player.

    Raises:
        EnvironmentSetupError: a map does not exist, or is listed twice; the message has file and key.
    """
    found: list[LockedRooms] = []
    taken: set[int] = set()
    first = file.milestone[0].evidence_all if file.milestone else []
    begins = {item.group << 8 | item.number for item in first if item.group is not None and item.number is not None}
    for index, entry in enumerate(file.locked_rooms):
        where = f"locked_rooms.{index}"
        enter, *rooms = (group * 256 + number for group, number in (entry.enter, *entry.rooms))
        for name, map_id in (("enter", enter), *(("rooms", room) for room in rooms)):
            if names.maps and map_id not in names.maps:
                _fail(path, f"{where}.{name}", f"there is no map {_map_numbers(map_id)}")
        for room in rooms:
            if room == enter or room in taken:
                _fail(path, f"{where}.rooms", f"{names.maps.get(room, f'map {_map_numbers(room)}')} is listed twice")
            if room in begins:
                _fail(path, f"{where}.rooms", f"the game begins in {names.maps.get(room, f'map {_map_numbers(room)}')}")
            taken.add(room)
        found.append(LockedRooms(enter, frozenset(rooms)))
    return tuple(found)


def _build(
    path: Path,
    where: str,
    entry: GoalFile,
    needs: tuple[str, ...],
    optional: bool,
    memory: MemoryMap,
    names: Names,
    field_moves: Mapping[str, FieldMove],
    radio: Radio | None,
) -> Milestone:
    evidence = []
    for number, item in enumerate(entry.evidence_all):
        try:
            evidence.append(Evidence.build(memory, **item.model_dump(exclude_none=True)))
        except (EnvironmentSetupError, ValueError) as error:
            _fail(path, f"{where}.evidence_all.{number}", str(error))
    target = build_target(path, where, entry, memory, radio)
    _check_names(path, where, entry, names, field_moves)
    _check_flags_of_foes(path, where, entry, memory)
    requires = Requirements(
        tuple(entry.needs_items),
        tuple(entry.needs_badges),
        tuple(entry.needs_field_moves),
        tuple(entry.needs_species),
        entry.min_level,
        tuple(Foe(*foe) for foe in entry.foes),
        entry.party_room,
    )
    return Milestone(
        entry.key,
        entry.name,
        tuple(evidence),
        optional,
        entry.hint,
        target,
        needs,
        tuple(entry.errands),
        tuple(entry.gives_items),
        requires,
        tuple(word.lower() for word in entry.refuse_words),
        tuple(entry.over_with) if isinstance(entry, ErrandFile) else (),
        tuple(entry.catch),
        tuple(entry.supplies),
        entry.gives_hour if isinstance(entry, ErrandFile) and entry.gives_hour is not None else -1,
        tuple(entry.gives_species),
    )


def _check_names(path: Path, where: str, entry: GoalFile, names: Names, field_moves: Mapping[str, FieldMove]) -> None:
    """Check that the profile has a name for every number, if it names that kind at all."""

    def known(key: str, kind: str, table: Mapping[int, str], numbers: Iterable[int]) -> None:
        for number in numbers:
            if table and number not in table:
                called = _map_numbers(number) if table is names.maps else number
                _fail(path, f"{where}.{key}", f"{entry.key}: there is no {kind} {called}")

    def map_ids(evidence: list[EvidenceFile]) -> list[int]:
        return [
            item.group * 256 + item.number for item in evidence if item.group is not None and item.number is not None
        ]

    known("evidence_all", "map", names.maps, map_ids(entry.evidence_all))
    if entry.target is not None:
        known("target", "map", names.maps, [entry.target.map[0] * 256 + entry.target.map[1]])
    keys = [item.id for item in entry.evidence_all if item.kind == "key_item" and item.id is not None]
    known("evidence_all", "item", names.items, keys)
    known("needs_items", "item", names.items, entry.needs_items)
    known("gives_items", "item", names.items, entry.gives_items)
    known("needs_species", "species", names.species, entry.needs_species)
    known("catch", "species", names.species, entry.catch)
    known("gives_species", "species", names.species, entry.gives_species)
    supplies = [item for item, _ in entry.supplies]
    known("supplies", "item", names.items, supplies)
    twice = next((item for item in supplies if supplies.count(item) > 1), None)
    if twice is not None:
        _fail(path, f"{where}.supplies", f"{entry.key}: item {twice} is listed twice")
    known("foes", "trainer class", names.trainer_classes, [foe[0] for foe in entry.foes])
    for move in entry.needs_field_moves:
        if move not in field_moves:
            _fail(path, f"{where}.needs_field_moves", f"{entry.key}: game.toml has no field_moves.{move}")


def _check_flags_of_foes(path: Path, where: str, entry: GoalFile, memory: MemoryMap) -> None:
    """Refuse an event flag that memory does not have: it would fail in the middle of a training."""
    flags = memory.fields.get("wEventFlags")
    most = flags.size * 8 - 1 if flags is not None else -1
    for number, foe in enumerate(entry.foes):
        event = foe[2] if len(foe) == 3 else None
        if event is not None and not 0 <= event <= most:
            there = f"flags are 0 to {most}" if flags is not None else "memory.toml has no wEventFlags"
            _fail(path, f"{where}.foes.{number}", f"{entry.key}: there is no event {event}; {there}")


def _check_errands(
    path: Path,
    milestones: list[Milestone],
    errands: Mapping[str, Milestone],
    field_moves: Mapping[str, FieldMove],
    memory: MemoryMap,
) -> None:
    """Check that errands exist, and that no goal needs itself, directly or through the giver of what it needs."""
    by_key = {milestone.key: milestone for milestone in milestones} | dict(errands)
    sources: dict[int, list[str]] = {}
    for goal in by_key.values():
        for item in goal.gives:
            sources.setdefault(item, []).append(goal.key)
        for key in goal.errands:
            if key not in errands:
                _fail(path, goal.key, f"there is no errand {key}")
        for key in goal.over_with:
            if key not in by_key or key == goal.key:
                what = "it cannot end itself" if key == goal.key else f"there is no goal {key}"
                _fail(path, f"{goal.key}.over_with", what)
    done: set[str] = set()

    def giver_of(goal: Milestone, badge: int) -> str:
        place = memory.fields.get(_BADGE_FIELDS[badge // 8])
        wanted = ("bit", place.address, 1 << badge % 8) if place is not None else ()
        for other in by_key.values():
            if any((item.kind, item.address, item.mask) == wanted for item in other.evidence):
                return other.key
        _fail(path, f"{goal.key}.needs_badges", f"no goal gives badge {badge}")

    def visit(key: str, above: tuple[str, ...]) -> None:
        if key in above:
            _fail(path, key, f"it needs itself: {' -> '.join((*above[above.index(key) :], key))}")
        if key in done:
            return
        goal = by_key[key]
        items = [*goal.requires.items, *(field_moves[move].item for move in goal.requires.field_moves)]
        given = [source for item in items for source in sources.get(item, ())[:1]]
        earned = [giver for badge in goal.requires.badges if (giver := giver_of(goal, badge)) != key]
        for other in (*goal.needs, *goal.errands, *given, *earned):
            visit(other, (*above, key))
        done.add(key)

    for key in by_key:
        visit(key, ())


def _map_numbers(map_id: int) -> str:
    """Return a map's numbers in the usual form: group and number."""
    return f"{map_id >> 8}.{map_id & 0xFF}"


def _fail(path: Path, key: str, message: str) -> NoReturn:
    raise EnvironmentSetupError(f"{path}: {key}: {message}")
