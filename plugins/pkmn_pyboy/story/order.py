"""Goals of a game in the order in which a player meets them: each milestone after its errands, and theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pkmn_pyboy.profile.memory_map import MemoryMap
from pkmn_pyboy.profile.milestones import Milestone
from pkmn_pyboy.profile.model import GameProfile

_FLAG_BITS = 8


def story(profile: GameProfile) -> Iterator[Milestone]:
    """Return all milestones in order, each after the errands that it and they need."""
    return (goal for goal, _ in story_with_moves(profile))


def story_with_moves(profile: GameProfile) -> Iterator[tuple[Milestone, frozenset[str]]]:
    """Return the goals of :func:`story`, each with the field moves known by then.

    These are the moves that it needs or that the goal above it needs. The route of an errand may use the moves that its
    goal needs, except those that the errand helps to get.
    """
    seen: set[str] = set()
    goals = {goal.key: goal for goal in (*profile.milestones, *profile.errands.values())}
    sources = {item: goal for goal in reversed(goals.values()) for item in goal.gives}
    bringing = {name: _bringing(profile, name, sources) for name in profile.field_moves}

    def source_of(item: int) -> Milestone | None:
        source = sources.get(item)
        return source if source is not None and source.key in profile.errands else None

    def unfold(goal: Milestone, above: frozenset[str]) -> Iterator[tuple[Milestone, frozenset[str]]]:
        if goal.key in seen:
            return
        seen.add(goal.key)
        moves = above | frozenset(goal.requires.field_moves)
        before = [*goal.requires.items, *(profile.field_moves[name].item for name in moves)]
        for key in goal.needs:
            yield from unfold(goals[key], frozenset())
        for key in goal.errands:
            errand = profile.errands[key]
            yield from unfold(errand, frozenset(move for move in moves if key not in bringing[move]))
        for item in before:
            source = source_of(item)
            if source is not None:
                yield from unfold(source, frozenset())
        yield goal, moves

    for milestone in profile.milestones:
        yield from unfold(milestone, frozenset())


def _bringing(profile: GameProfile, move: str, sources: dict[int, Milestone]) -> frozenset[str]:
    """Return the keys of all goals that give a field move, or come before one that does."""
    goals = {goal.key: goal for goal in (*profile.milestones, *profile.errands.values())}

    def givers(name: str) -> list[Milestone]:
        entry = profile.field_moves[name]
        badge = [goal for goal in goals.values() if entry.badge in goal.evidence][:1]
        return [sources[entry.item], *badge] if entry.item in sources else badge

    found: set[str] = set()
    queue = givers(move)
    while queue:
        goal = queue.pop()
        if goal.key in found:
            continue
        found.add(goal.key)
        queue += [goals[key] for key in (*goal.needs, *goal.errands)]
        queue += [sources[item] for item in goal.requires.items if item in sources]
        for name in goal.requires.field_moves:
            queue += givers(name)
    return frozenset(found)


def events_of(goal: Milestone, memory: MemoryMap) -> frozenset[int]:
    """Return the event flags that prove a goal."""
    flags = memory.fields.get("wEventFlags")
    if flags is None:
        return frozenset()
    return frozenset(
        (item.address - flags.address) * _FLAG_BITS + item.mask.bit_length() - 1
        for item in goal.evidence
        if item.kind == "bit" and item.bank == flags.bank and 0 <= item.address - flags.address < flags.size
    )


def proving_events(goals: Collection[Milestone], memory: MemoryMap) -> frozenset[int]:
    """Return all event flags that prove some goal."""
    return frozenset(event for goal in goals for event in events_of(goal, memory))
