"""Reads milestones and errands, and checks that all they name exists and that none of them needs itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn

from pkmn_pyboy.milestone_files import EvidenceFile, GoalFile, MilestonesFile
from pkmn_pyboy.milestones import Evidence, Foe, Milestone, Requirements, Station, Target
from pkmn_pyboy.profile import FieldMove, Names, Radio
from pkmn_pyboy.state.memory_map import MemoryMap
from pkmncli.errors import EnvironmentSetupError


def build_milestones(
    path: Path,
    file: MilestonesFile,
    memory: MemoryMap,
    names: Names,
    field_moves: Mapping[str, FieldMove],
    radio: Radio | None = None,
) -> tuple[tuple[Milestone, ...], dict[str, Milestone]]:
    """Milestones in order, and errands by key.

    Raises:
        EnvironmentSetupError: something that one names does not exist, or it needs itself; names file and key.
    """
    milestones: list[Milestone] = []
    seen: set[str] = set()
    last_required: tuple[str, ...] = ()
    errand_keys = {errand.key for errand in file.errand}
    for index, entry in enumerate(file.milestone):
        where = f"milestone.{index}"
        if entry.key in seen or entry.key in errand_keys:
            _fail(path, f"{where}.key", f"{entry.key} is there twice")
        if entry.order is not None and entry.order != index + 1:
            _fail(path, f"{where}.order", f"{entry.key} stands in place {index + 1}, not {entry.order}")
        needs = last_required if entry.needs is None else tuple(entry.needs)
        for key in needs:
            if key not in seen:
                _fail(path, f"{where}.needs", f"{key} is no milestone before {entry.key}")
        seen.add(entry.key)
        milestones.append(_build(path, where, entry, needs, entry.optional, memory, names, field_moves, radio))
        if not entry.optional:
            last_required = (entry.key,)
    errands: dict[str, Milestone] = {}
    for index, errand in enumerate(file.errand):
        where = f"errand.{index}"
        if errand.key in errands:
            _fail(path, f"{where}.key", f"{errand.key} is there twice")
        for key in errand.needs or ():
            if key not in seen:
                _fail(path, f"{where}.needs", f"{key} is no milestone")
        needs = tuple(errand.needs or ())
        errands[errand.key] = _build(path, where, errand, needs, True, memory, names, field_moves, radio)
    _check_errands(path, milestones, errands, field_moves)
    return tuple(milestones), errands


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
    target = None
    if entry.target is not None:
        group, number = entry.target.map
        place = entry.target
        scene = place.scene if place.scene is not None else -1
        _check_push(path, where, entry)
        _check_station(path, where, entry, radio)
        station = Station(place.station.knob, place.station.music) if place.station is not None else None
        map_id = group * 256 + number
        target = Target(map_id, place.x, place.y, place.facing, place.person or 0, scene, place.push_to, station)
    _check_names(path, where, entry, names, field_moves)
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
    )


def _check_push(path: Path, where: str, entry: GoalFile) -> None:
    """Who pushes a boulder needs strength, and one place to push it to."""
    place = entry.target
    if place is None or place.push_to is None:
        return
    for name in ("x", "y", "facing", "scene"):
        if getattr(place, name) is not None:
            _fail(path, f"{where}.target", f"{entry.key}: push_to says where to; take {name} out")
    if "strength" not in entry.needs_field_moves:
        _fail(path, f"{where}.target", f'{entry.key}: push_to takes needs_field_moves = ["strength"]')


def _check_station(path: Path, where: str, entry: GoalFile, radio: Radio | None) -> None:
    """Who tunes a station in needs a radio whose knob gets there, and something to press A at."""
    place = entry.target
    if place is None or place.station is None:
        return
    key = f"{where}.target.station"
    if radio is None:
        _fail(path, key, f"{entry.key}: game.toml has no [radio]")
    knob = place.station.knob
    if knob > radio.most or knob % radio.step:
        steps = f"0 to {radio.most} in steps of {radio.step}"
        _fail(path, key, f"{entry.key}: the knob never stands at {knob}; it goes from {steps}")
    at_a_tile = None not in (place.x, place.y, place.facing)
    if place.scene is not None or place.push_to is not None or not (place.person or at_a_tile):
        _fail(path, key, f"{entry.key}: a station is for a person, or for x, y and facing")


def _check_names(path: Path, where: str, entry: GoalFile, names: Names, field_moves: Mapping[str, FieldMove]) -> None:
    """Every number must be one that the profile has a name for, where it names that kind at all."""

    def known(key: str, kind: str, table: Mapping[int, str], numbers: Iterable[int]) -> None:
        for number in numbers:
            if table and number not in table:
                _fail(path, f"{where}.{key}", f"{entry.key}: there is no {kind} {number}")

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
    known("foes", "trainer class", names.trainer_classes, [foe[0] for foe in entry.foes])
    for move in entry.needs_field_moves:
        if move not in field_moves:
            _fail(path, f"{where}.needs_field_moves", f"{entry.key}: game.toml has no field_moves.{move}")


def _check_errands(
    path: Path, milestones: list[Milestone], errands: Mapping[str, Milestone], field_moves: Mapping[str, FieldMove]
) -> None:
    """Errands exist, and no goal needs itself: not by what it needs, nor by who gives what it needs."""
    by_key = {milestone.key: milestone for milestone in milestones} | dict(errands)
    sources: dict[int, list[str]] = {}
    for goal in by_key.values():
        for item in goal.gives:
            sources.setdefault(item, []).append(goal.key)
        for key in goal.errands:
            if key not in errands:
                _fail(path, goal.key, f"there is no errand {key}")
    done: set[str] = set()

    def visit(key: str, above: tuple[str, ...]) -> None:
        if key in above:
            _fail(path, key, f"it needs itself: {' -> '.join((*above[above.index(key) :], key))}")
        if key in done:
            return
        goal = by_key[key]
        items = [*goal.requires.items, *(field_moves[move].item for move in goal.requires.field_moves)]
        given = [source for item in items for source in sources.get(item, ())[:1]]
        for other in (*goal.needs, *goal.errands, *given):
            visit(other, (*above, key))
        done.add(key)

    for key in by_key:
        visit(key, ())


def _fail(path: Path, key: str, message: str) -> NoReturn:
    raise EnvironmentSetupError(f"{path}: {key}: {message}")
