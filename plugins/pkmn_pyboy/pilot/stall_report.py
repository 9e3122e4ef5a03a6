"""Stall reports: the situation of a pilot without progress, in numbers and names of the profile.

They contain no picture, no text of the image or the screen, and nothing that a player typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, fields
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.tasks import PlannedGoal
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.state.game_state import GameState, Party

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_SHOWN = 4
"""Reasons of the latest presses to show in words."""
_LATEST = 24
"""Maximum entries of lists that may grow with the episode."""


def stall_report(game: Game, planner: GoalOrientedPlanner, state: GameState, memory: PilotMemory) -> dict[str, Any]:
    """Return place, goals, plans, the latest presses with their reasons, and the state's numbers, as plain values.

    Args:
        game: the running game.
        planner: the goals.
        state: the current state.
        memory: the pilot's memory.
    """
    map_id = state.map_id
    goal, task, missing = memory.goal, memory.task, memory.route.missing
    report = {
        "game": game.profile.folder.name,
        "step": game.steps,
        "steps_without_progress": memory.stall.idle_steps,
        "place": {
            "map": [map_id >> 8, map_id & 0xFF],
            "name": game.profile.names.maps.get(map_id, ""),
            "x": state.x,
            "y": state.y,
            "facing": int(state.facing),
            "movement": int(state.movement),
        },
        "phase": state.phase.name.lower(),
        "phase_steps": memory.phase_steps,
        "menu": {
            "rows": state.menu.rows,
            "columns": state.menu.columns,
            "first": [state.menu.first_row, state.menu.first_column],
            "cursor": [state.menu.cursor_row, state.menu.cursor_column],
            "cursor_shown": bool(state.menu.cursor_shown),
            "full_screen": bool(state.menu.full_screen),
        },
        "goals": [_goal(one) for one in planner.goals()],
        "goal": asdict(goal) | {"kind": goal.kind.value} if goal is not None else None,
        "plan": {
            "path": _lists(memory.path[:_LATEST]),
            "route": _lists(memory.route.legs[:_LATEST]),
            "route_for": memory.route.key,
            "avoid": _lists(astuple(one) for one in memory.route.avoid[-_LATEST:]),
            "no_way": [*missing.purpose, missing.until] if missing is not None else [],
            "blocks": _lists(memory.walk.blocks[-_LATEST:]),
            "pushes": _lists(memory.pushing.due[:_LATEST]),
            "pushes_for": memory.pushing.purpose,
            "no_push": memory.pushing.failed,
            "task": [task.kind, task.number, task.slot, task.mark] if task is not None else [],
            "shopping": _lists(memory.shop.purchases),
            "battle": list((memory.battle.plan or ())[:3]),
        },
        "presses": _lists(memory.stall.presses),
        "milestones": [index for index, step in enumerate(game.milestones.steps) if step >= 0],
        "party": _party(state.party),
        "battle": _battle(state),
        "money": state.money,
        "badges": [state.johto_badges, state.kanto_badges],
        "bag": _bag(game),
        "flags": sorted(game.set_flags() or ()),
        "tries": dict(sorted(memory.tries.items(), key=lambda one: -one[1])[:_LATEST]),
        "losses": memory.strength.losses,
        "train_to": memory.strength.train_to,
        "maps_visited": len(memory.visits),
    }
    return {"words": _words(report), **report}


def _words(report: Mapping[str, Any]) -> list[str]:
    """Return the summary of a report in lines. The party is given by numbers; reasons use the profile's names."""
    place, plan = report["place"], report["plan"]
    wanted = " > ".join(f"{goal['kind']} {goal['key']}" for goal in report["goals"]) or "nothing"
    goal, pushes = report["goal"], len(plan["pushes"])
    walks_for = f"{goal['kind']} {goal['key']} at ({goal['x']}, {goal['y']}), {goal['why']}" if goal else "nothing"
    party = "; ".join(
        f"species {one['species']} level {one['level']}, HP {one['hp']}/{one['max_hp']}, "
        f"PP {'/'.join(str(points) for points in one['pp'])}"
        for one in report["party"]
    )
    return [
        f"{report['steps_without_progress']:,} steps without progress at step {report['step']:,} of the episode",
        f"place: {place['name'] or 'map'} ({place['map'][0]}.{place['map'][1]}) at ({place['x']}, {place['y']}), "
        f"{report['phase'].replace('_', ' ')} for {report['phase_steps']:,} steps",
        f"wants: {wanted}",
        f"walks for: {walks_for}",
        f"plan: {len(plan['route'])} legs of a route, {pushes} pushes, {len(plan['avoid'])} exits avoided",
        f"party: {party or 'empty'}",
        f"milestones reached: {len(report['milestones'])}, maps visited: {report['maps_visited']}, "
        f"battles lost since the latest milestone: {report['losses']}",
        *(f"pressed: {letters[-_LATEST:]} ({reason})" for reason, letters in report["presses"][-_SHOWN:]),
    ]


def _lists(values: Iterable[Sequence[Any]]) -> list[list[Any]]:
    return [list(one) for one in values]


def _goal(goal: PlannedGoal) -> dict[str, Any]:
    target: dict[str, Any] = {}
    if goal.target is not None:
        plain = {place.name: getattr(goal.target, place.name) for place in fields(goal.target)}
        target = {name: value for name, value in plain.items() if isinstance(value, int | str | tuple) and value != ()}
    return {
        "kind": goal.kind,
        "key": goal.key,
        "number": goal.number,
        "member": goal.member,
        "species": list(goal.species[:_LATEST]),
        "foes": [list(foe) for foe in goal.foes],
        "target": target,
    }


def _party(party: Party) -> list[dict[str, Any]]:
    return [
        {
            "species": one.species,
            "level": one.level,
            "hp": one.hp,
            "max_hp": one.max_hp,
            "status": one.status,
            "item": one.item,
            "moves": list(one.moves),
            "pp": list(one.pp),
            "egg": one.egg,
        }
        for one in party.members
    ]


def _battle(state: GameState) -> dict[str, Any] | None:
    battle = state.battle
    if battle is None:
        return None
    sides = {"own": battle.own, "opponent": battle.opponent}
    return {
        "kind": battle.kind,
        "type": battle.type,
        "trainer": [battle.trainer_class, battle.trainer_number],
        **{name: [one.species, one.level, one.hp, one.max_hp] if one else [] for name, one in sides.items()},
    }


def _bag(game: Game) -> dict[str, Any]:
    bag = game.bag()
    return {
        "items": {str(item): count for item, count in bag.items.items()},
        "balls": {str(item): count for item, count in bag.balls.items()},
        "key_items": sorted(bag.key_items),
        "machines": {str(place): count for place, count in bag.machines.items()},
    }
