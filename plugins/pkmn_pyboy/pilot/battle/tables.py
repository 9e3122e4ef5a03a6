"""Damage rules on the tables of one cartridge image, and the combatants of a game's state."""

from __future__ import annotations

from pkmn_pyboy.rules_gen2.combatant import Combatant, guessed_stats
from pkmn_pyboy.rules_gen2.damage import DamageRules
from pkmn_pyboy.state.game_state import Battle, Battler, PartyMember
from pkmn_pyboy.world.cartridge import Cartridge


class BattleTables(DamageRules):
    """Moves, types and species of one cartridge image.

    Args:
        cartridge: the image. Where tables are missing, moves have no power and species no types.
    """

    def __init__(self, cartridge: Cartridge) -> None:
        super().__init__(cartridge.moves, cartridge.type_factors)
        self.species = cartridge.species

    def types_of(self, species: int) -> tuple[int, ...]:
        """Return the types of a species, empty if unknown."""
        known = self.species.get(species)
        return known.types if known is not None else ()

    def sides(self, battle: Battle) -> tuple[Combatant, Combatant] | None:
        """Return the own side and the opponent's; None unless both are out."""
        if battle.own is None or battle.opponent is None:
            return None
        return (
            self.battler(battle.own, battle.own_screens, battle.weather),
            self.battler(battle.opponent, battle.opponent_screens, battle.weather),
        )

    def battler(self, battler: Battler, screens: int = 0, weather: int = 0) -> Combatant:
        """Return a Pokemon that is out in the battle as a combatant."""
        return Combatant(
            battler.level,
            battler.hp,
            battler.max_hp,
            battler.status,
            battler.types,
            battler.stats if any(battler.stats) else guessed_stats(battler.level),
            battler.moves,
            battler.pp,
            battler.stages,
            battler.dvs,
            battler.happiness,
            screens,
            weather,
        )

    def member(self, member: PartyMember) -> Combatant:
        """Return a party member as a combatant."""
        return Combatant(
            member.level,
            member.hp,
            member.max_hp,
            member.status,
            self.types_of(member.species),
            member.stats if any(member.stats) else guessed_stats(member.level),
            member.moves,
            member.pp,
            dvs=member.dvs,
            happiness=member.happiness,
        )
