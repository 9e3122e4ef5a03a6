"""Step record: the few numbers of a state that the training keeps of each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmncli.api import Facts

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game


def facts_of(game: Game) -> Facts:
    """Return the record of the state after the latest reset or step."""
    state = game.state
    battle = state.battle
    opponent = battle.opponent if battle is not None else None
    return Facts(
        state.map_group * 256 + state.map_number,
        state.x,
        state.y,
        int(state.phase),
        battle.kind if battle is not None else 0,
        opponent.species if opponent is not None else 0,
        state.party.hp_share,
        game.milestones.count,
        game.frames,
        game.reader.coarse_hash(),
        game.reader.fine_hash(),
        opponent.hp / opponent.max_hp if opponent is not None and opponent.max_hp else 0.0,
    )
