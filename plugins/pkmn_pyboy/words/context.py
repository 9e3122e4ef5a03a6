"""State in words: the player's place, the situation, the next goal. For language models, logs and people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from pkmn_pyboy.rules_gen2.status import STAGE_NAMES, StatusCondition
from pkmn_pyboy.state.game_state import Battler, GameState, PartyMember
from pkmn_pyboy.state.mask_rules import allowed_actions
from pkmn_pyboy.words.analysis import GameStateAnalysis
from pkmn_pyboy.words.changes import Changes, Snapshot, changes_between
from pkmncli.api import Action, Context

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game
    from pkmn_pyboy.profile.model import Names
    from pkmn_pyboy.state.details import BattleDetails
    from pkmncli.api import DangerLevel

_IDLE_STEPS_SHOWN = 30
"""Steps without progress before the status line mentions it."""
_SHOWN_REWARDS = 3
_ALL_REACHED = "All goals are reached."


def analyse(game: Game, since: Snapshot | None) -> GameStateAnalysis:
    """Return the meaning of the state, with names, and with changes since the snapshot ``since``."""
    state, names = game.state, game.names
    battle, party = state.battle, state.party
    lead = party.lead
    values: dict[str, Any] = {
        "map_group": state.map_group,
        "map_number": state.map_number,
        "x": state.x,
        "y": state.y,
        "facing": int(state.facing),
        "movement": state.movement,
        "phase": int(state.phase),
        "party_size": party.count,
        "lead_level": lead.level if lead is not None else 0,
        "lead_hp": _share(lead) if lead is not None else 0.0,
        "party_levels": party.level_sum,
        "party_hp": party.hp_share,
        "johto_badges": state.johto_badges.bit_count(),
        "kanto_badges": state.kanto_badges.bit_count(),
        "money": state.money,
        "caught": state.caught,
        "seen": state.seen,
        "milestones": state.milestones / (len(game.profile.milestones) or 1),
        "balls": state.balls,
        "idle_steps": game.steps_since_progress,
        "map_name": names.map_name(state.map_id),
        "able": sum(not member.egg and member.hp > 0 for member in party.members),
        "ailing": sum(member.status_condition is not StatusCondition.HEALTHY for member in party.members),
        "goal": _goal(game),
    }
    if battle is not None:
        values["battle"] = battle.kind
        if battle.opponent is not None:
            opponent = battle.opponent
            values |= {
                "opponent": _species(opponent.species, names),
                "enemy_level": opponent.level,
                "enemy_hp": _share(opponent),
            }
        if battle.own is not None:
            values |= {
                "own": _species(battle.own.species, names),
                "battler_hp": _share(battle.own),
                "effectiveness": battle.best_effectiveness,
            }
    changes = changes_between(since, take_snapshot(game)) if since is not None else Changes()
    return GameStateAnalysis(values, changes=changes)


def status_line(game: Game, earned: Mapping[str, float]) -> str:
    """Return a line with place, party, badges, money, steps without progress, and the largest rewards earned."""
    state, names = game.state, game.names
    lead = state.party.lead
    badges = state.johto_badges.bit_count() + state.kanto_badges.bit_count()
    parts = [
        f"{names.map_name(state.map_id)} ({state.x}, {state.y})",
        f"level {lead.level}" if lead is not None else "no Pokemon yet",
        f"{badges} badge{'' if badges == 1 else 's'}",
        f"money {state.money:,}",
    ]
    if game.steps_since_progress >= _IDLE_STEPS_SHOWN:
        parts.append(f"nothing new for {game.steps_since_progress} steps")
    largest = sorted(earned.items(), key=lambda one: -abs(one[1]))[:_SHOWN_REWARDS]
    paid = [f"{name.rpartition('.')[2].replace('_', ' ')} {total:.1f}" for name, total in largest if total]
    return ", ".join(parts) + (f"; reward from {', '.join(paid)}" if paid else "")


def take_snapshot(game: Game) -> Snapshot:
    """Return the values that a later analysis will compare with."""
    state, names = game.state, game.names
    reached = game.milestones.splits()
    return Snapshot(
        step=game.steps,
        map_name=names.map_name(state.map_id),
        levels=state.party.level_sum,
        hp_share=round(state.party.hp_share, 6),
        party=tuple("an egg" if member.egg else _species(member.species, names) for member in state.party.members),
        money=state.money,
        badges=state.badges,
        caught=state.caught,
        items=game.details().bag.counts(),
        milestones=tuple(split.name for split in reached),
    )


def describe(game: Game, since: Snapshot | None, text_map: str) -> Context:
    """Return the context now, with the map in letters; ``since`` is the snapshot of the previous one."""
    state, names, details = game.state, game.names, game.details()
    analysis = analyse(game, since)
    sentences = analysis.situation()  # danger and changes are separate
    if state.party.members:
        members = zip(state.party.members, details.nicknames, strict=True)
        sentences.append(f"Party: {', '.join(_member(member, nickname, names) for member, nickname in members)}.")
    sentences.append(
        f"Money {state.money}, badges {state.badges}, balls {state.balls}, caught {state.caught}, seen {state.seen}."
    )
    carried = details.bag.counts()
    if carried:
        sentences.append(f"Carries {', '.join(f'{count} {name}' for name, count in carried.items())}.")
    if details.battle is not None:
        sentences += _battle(state, details.battle, names)
    words = game.screen_words()
    if words:
        sentences.append(f'The screen says: "{words}"')
    return Context(
        current_goal=_goal(game),
        context_summary=" ".join(sentences),
        action_suggestions=(_presses(state), *analysis.suggestions),
        text_map=text_map,
        danger=cast("DangerLevel", analysis.danger.name.lower()),
        changes=analysis.changes.words(),
        milestones=game.milestones.splits(),
    )


def _goal(game: Game) -> str:
    milestone = game.milestones.current(game.goal)
    return milestone.hint or milestone.name if milestone is not None else _ALL_REACHED


def _presses(state: GameState) -> str:
    allowed = allowed_actions(state)
    return f"presses that do something: {', '.join(action.name.lower() for action in Action if action in allowed)}"


def _member(member: PartyMember, nickname: str, names: Names) -> str:
    if member.egg:
        return "an egg"
    name = _species(member.species, names)
    called = f"{nickname} ({name})" if nickname and nickname.upper() != name.upper() else name
    text = f"{called} level {member.level} ({member.hp}/{member.max_hp} HP"
    if member.status_condition is not StatusCondition.HEALTHY:
        text += f", {member.status_condition.name.lower()}"
    return f"{text})"


def _battle(state: GameState, details: BattleDetails, names: Names) -> list[str]:
    battle = state.battle
    sentences: list[str] = []
    if battle is None:
        return sentences
    if details.trainer:
        left = sum(member.hp > 0 for member in details.opponents.members)
        sentences.append(f"The trainer is a {details.trainer} with {left} Pokemon that can fight.")
    if battle.own is not None:
        moves = [
            f"{names.moves.get(move, f'move {move}')} ({points} PP)"
            for move, points in zip(battle.own.moves, battle.own.pp, strict=True)
            if move
        ]
        sentences.append(f"{_species(battle.own.species, names)} has the moves {', '.join(moves)}.")
        sentences += _condition("Own side", battle.own, (*details.own_conditions, *details.own_screens))
    if battle.opponent is not None:
        opposing = (*details.opponent_conditions, *details.opponent_screens)
        sentences += _condition("Opponent", battle.opponent, opposing)
    if details.weather:
        sentences.append(f"Weather: {details.weather}.")
    return sentences


def _condition(side: str, battler: Battler, conditions: tuple[str, ...]) -> list[str]:
    said = [battler.status_condition.name.lower()] if battler.status_condition is not StatusCondition.HEALTHY else []
    said += conditions
    said += [f"{name} {stage:+}" for name, stage in zip(STAGE_NAMES, battler.stages, strict=False) if stage]
    return [f"{side}: {', '.join(said)}."] if said else []


def _species(number: int, names: Names) -> str:
    return names.species.get(number, f"species {number}")


def _share(one: PartyMember | Battler) -> float:
    return one.hp / one.max_hp if one.max_hp else 0.0
