"""The state in words: where the player is, what is going on, what comes next. For language models, logs and people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.mask_rules import allowed_actions
from pkmn_pyboy.state.game_state import Battle, Battler, GameState, Party, Phase
from pkmncli.api import Action, Context

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment
    from pkmn_pyboy.profile import Names

_FEW_HIT_POINTS = 0.3


def describe(environment: PokemonEnvironment) -> Context:
    """What :meth:`PokemonEnvironment.context` gives."""
    state = environment.state
    names = environment.profile.names
    milestone = environment.milestones.current()
    lines = [
        f"{names.map_name(state.map_id)}, tile ({state.x}, {state.y}), facing {state.facing.name.lower()}; "
        f"{state.phase.name.lower().replace('_', ' ')}.",
        _party(state.party, names),
        f"Money {state.money}, badges {state.badges}, balls {state.balls}, caught {state.caught}, seen {state.seen}.",
    ]
    if state.battle is not None:
        lines.append(_battle(state.battle, names))
    words = environment.screen_words()
    if words:
        lines.append(f'The screen says: "{words}"')
    return Context(
        current_goal=milestone.hint or milestone.name if milestone is not None else "All goals are reached.",
        context_summary=" ".join(lines),
        action_suggestions=_suggestions(state),
        text_map=environment.text_map(),
    )


def _party(party: Party, names: Names) -> str:
    if not party.members:
        return "No Pokemon yet."
    parts = []
    for member in party.members:
        if member.egg:
            parts.append("an egg")
            continue
        name = names.species.get(member.species, f"species {member.species}")
        parts.append(f"{name} level {member.level} ({member.hp}/{member.max_hp} HP)")
    return f"Party: {', '.join(parts)}."


def _battle(battle: Battle, names: Names) -> str:
    kind = "A trainer battle" if battle.kind == 2 else "A wild battle"
    if battle.opponent is None:
        return f"{kind} begins."
    text = f"{kind} against {_battler(battle.opponent, names)}"
    if battle.own is not None:
        moves = [
            f"{names.moves.get(move, f'move {move}')} ({points} PP)"
            for move, points in zip(battle.own.moves, battle.own.pp, strict=True)
            if move
        ]
        text += f"; {_battler(battle.own, names)} fights with {', '.join(moves)}"
    return f"{text}."


def _battler(battler: Battler, names: Names) -> str:
    name = names.species.get(battler.species, f"species {battler.species}")
    return f"{name} level {battler.level} ({battler.hp}/{battler.max_hp} HP)"


def _suggestions(state: GameState) -> tuple[str, ...]:
    allowed = [action.name.lower() for action in Action if action in allowed_actions(state)]
    suggestions = [f"presses that do something now: {', '.join(allowed)}"]
    if state.phase in (Phase.DIALOGUE, Phase.CHOICE):
        suggestions.append("read on with a, refuse or leave with b")
    elif state.phase is Phase.BATTLE_MENU:
        suggestions.append("fight, or run from a wild Pokemon that is too strong")
    elif state.phase is Phase.FREE and state.party.members and state.party.hp_share < _FEW_HIT_POINTS:
        suggestions.append("heal before going on")
    return tuple(suggestions)
