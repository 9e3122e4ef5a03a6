"""Meaning of a state for a player: its danger, the party's health, suggestions.

:class:`GameStateAnalysis` works from the 25 state variables alone, as observations hold them, and says more if it has
more: names, the goal, changes. :meth:`PokemonEnvironment.analysis` gives it all of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any

from pkmn_pyboy.state.game_state import PHASE_NAMES, Facing, Phase
from pkmn_pyboy.state.variables import STATE_VARIABLES
from pkmn_pyboy.words.changes import Changes
from pkmncli.errors import ConfigurationError, did_you_mean

EXTRA_VARIABLES = {
    "map_name": "name of the map",
    "opponent": "name of the opponent in battle",
    "own": "name of the own Pokemon in battle",
    "able": "Pokemon that can fight",
    "ailing": "Pokemon with a status condition",
    "goal": "the current goal in words",
}
"""Values that a caller may give besides the state variables."""

WEAK, HURT = 0.25, 0.6
"""Shares of hit points below which a Pokemon or a party counts as weak, and as hurt."""
NEARLY_OUT = 0.2
OUTMATCHED_LEVELS = 5
"""Levels above the player's Pokemon from which an opponent counts as too strong."""
GOOD_FACTOR, POOR_FACTOR = 2.0, 0.5
STUCK_STEPS = 300
"""Steps without progress after which another approach is suggested."""

_TRAINER = 2
_KINDS = ("none", "wild", "trainer")
_SHARES = {variable.name for variable in STATE_VARIABLES if variable.unit == "share"}
_BY_NAME = {variable.name: variable for variable in STATE_VARIABLES}


class Danger(IntEnum):
    """Danger of losing for the party."""

    NONE = 0
    LOW = 1
    HIGH = 2
    CRITICAL = 3


@dataclass(frozen=True, slots=True)
class BattleAnalysis:
    """Battle from the player's side; ``in_battle`` is False if there is none. Shares are 0..1."""

    in_battle: bool
    kind: str
    opponent: str
    opponent_level: int
    opponent_hp: float
    own: str
    own_hp: float
    level_advantage: int
    """Levels of the first party member above the opponent."""
    effectiveness: float
    matchup: str
    """Matchup by types: good, even or bad; unknown before both are out."""
    can_run: bool
    can_catch: bool
    danger: Danger
    suggestions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplorationAnalysis:
    """Place, health and progress of the player. Shares are 0..1."""

    map: str
    map_id: int
    x: int
    y: int
    facing: str
    phase: str
    party_size: int
    party_hp: float
    health: str
    """Health: none (no Pokemon), good, hurt or weak."""
    needs_healing: bool
    badges: int
    caught: int
    seen: int
    money: int
    balls: int
    milestones: float
    steps_since_progress: int
    stuck: bool
    goal: str
    danger: Danger
    suggestions: tuple[str, ...]


class GameStateAnalysis:
    """Analysis of a state.

    Args:
        state_variables: values by name, in their natural units (levels, tiles, shares 0..1, money as money); names are
            those of the observation's variables and :data:`EXTRA_VARIABLES`, and missing ones are 0 or unknown. Or
            the (25,) array of an observation, each value scaled to 0..1.
        changes: changes since an earlier snapshot.

    Raises:
        ConfigurationError: a name is unknown, or the array has another length.
    """

    def __init__(self, state_variables: Mapping[str, Any] | Any, *, changes: Changes | None = None) -> None:
        if isinstance(state_variables, Mapping):
            unknown = sorted(set(state_variables) - _BY_NAME.keys() - EXTRA_VARIABLES.keys())
            if unknown:
                known = [*_BY_NAME, *EXTRA_VARIABLES]
                hint = did_you_mean(unknown[0], known, f"choose from {', '.join(_BY_NAME)}")
                raise ConfigurationError(f"there is no state variable {unknown[0]!r}; {hint}")
            self.values = dict(state_variables)
        else:
            self.values = natural_values(state_variables)
        self.changes = changes or Changes()
        self.battle = self._battle()
        self.exploration = self._exploration()
        self.danger: Danger = self.battle.danger if self.battle.in_battle else self.exploration.danger

    @property
    def state_variables(self) -> Mapping[str, Any]:
        """Values that it was built from, by name, in their natural units."""
        return self.values

    def analyze_battle_state(self) -> dict[str, Any]:
        """Return the battle as plain values, see :class:`BattleAnalysis`."""
        return _plain(self.battle)

    def analyze_exploration_state(self) -> dict[str, Any]:
        """Return place, health and progress as plain values, see :class:`ExplorationAnalysis`."""
        return _plain(self.exploration)

    def get_summary(self) -> str:
        """Return the whole in a few sentences, the goal last."""
        goal = self.exploration.goal
        return " ".join([*self.sentences(), f"Goal: {goal}"] if goal else self.sentences())

    def sentences(self) -> list[str]:
        """Return place, battle, party, danger and changes, a sentence each."""
        sentences = [*self.situation(), f"Danger: {self.danger.name.lower()}."]
        words = self.changes.words()
        if words:
            sentences.append(f"In the last {self.changes.steps} steps: {', '.join(words)}.")
        return sentences

    def situation(self) -> list[str]:
        """Return place, battle and party, a sentence each."""
        place = self.exploration
        sentences = [f"{place.map}, tile ({place.x}, {place.y}), facing {place.facing}; {place.phase}."]
        if self.battle.in_battle:
            sentences.append(self._battle_sentence())
        if place.party_size:
            sentences.append(f"Party of {place.party_size} at {place.party_hp:.0%} of its hit points, {place.health}.")
        else:
            sentences.append("No Pokemon yet.")
        return sentences

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Most urgent suggestions."""
        return self.battle.suggestions if self.battle.in_battle else self.exploration.suggestions

    # Inner parts ------------------------------------------------------------------------------------------------

    def _number(self, name: str) -> int:
        return round(float(self.values.get(name, 0)))

    def _share(self, name: str) -> float:
        return float(self.values.get(name, 0.0))

    def _text(self, name: str, otherwise: str = "") -> str:
        return str(self.values.get(name) or otherwise)

    def _battle(self) -> BattleAnalysis:
        kind = min(self._number("battle"), _TRAINER)
        opponent_level = self._number("enemy_level")
        own_hp, effectiveness = self._share("battler_hp"), self._share("effectiveness")
        out = kind > 0 and opponent_level > 0 and own_hp > 0
        advantage = self._number("lead_level") - opponent_level if opponent_level else 0
        matchup = "unknown"
        if out:
            matchup = "good" if effectiveness >= GOOD_FACTOR else "bad" if effectiveness <= POOR_FACTOR else "even"
        wild = kind == 1
        can_catch = wild and out and self._number("balls") > 0
        # If the player's Pokemon has a name it is out, even without hit points.
        asked = out or (kind > 0 and bool(self._text("own")))
        danger = self._battle_danger(own_hp, advantage, matchup) if asked else Danger.NONE
        return BattleAnalysis(
            in_battle=kind > 0,
            kind=_KINDS[kind],
            opponent=self._text("opponent", "the opponent"),
            opponent_level=opponent_level,
            opponent_hp=self._share("enemy_hp"),
            own=self._text("own", "the own Pokemon"),
            own_hp=own_hp,
            level_advantage=advantage,
            effectiveness=effectiveness,
            matchup=matchup,
            can_run=wild,
            can_catch=can_catch,
            danger=danger,
            suggestions=self._battle_suggestions(danger, matchup, wild=wild, can_catch=can_catch) if asked else (),
        )

    def _battle_danger(self, own_hp: float, advantage: int, matchup: str) -> Danger:
        others = self._number("able") - 1 if "able" in self.values else self._number("party_size") - 1
        if own_hp <= NEARLY_OUT:
            return Danger.HIGH if others > 0 else Danger.CRITICAL
        points = (own_hp <= HURT) + (advantage <= -OUTMATCHED_LEVELS) + (matchup == "bad")
        return Danger(min(points, Danger.HIGH))

    def _battle_suggestions(self, danger: Danger, matchup: str, *, wild: bool, can_catch: bool) -> tuple[str, ...]:
        suggestions = []
        if matchup == "good":
            suggestions.append("attack: a move is very effective")
        if danger >= Danger.HIGH:
            suggestions.append("run, or heal" if wild else "heal or change to a healthier Pokemon")
        elif matchup == "bad":
            suggestions.append("change to a Pokemon whose moves work better")
        if can_catch and danger < Danger.HIGH:
            suggestions.append("a ball can be thrown, best at few hit points")
        return tuple(suggestions) or ("attack with the strongest move",)

    def _exploration(self) -> ExplorationAnalysis:
        map_id = self._number("map_group") * 256 + self._number("map_number")
        size, hp_share = self._number("party_size"), self._share("party_hp")
        health = "none" if not size else "weak" if hp_share < WEAK else "hurt" if hp_share < HURT else "good"
        idle = self._number("idle_steps")
        needs_healing = health == "weak" or (size > 0 and self._share("lead_hp") <= NEARLY_OUT)
        danger = Danger.HIGH if health == "weak" else Danger.LOW if health == "hurt" or needs_healing else Danger.NONE
        phase = PHASE_NAMES[min(self._number("phase"), len(PHASE_NAMES) - 1)]
        stuck = idle >= STUCK_STEPS
        suggestions = []
        if needs_healing:
            suggestions.append("heal before going on")
        if self._number("ailing"):
            suggestions.append("cure who is ill")
        if phase in (Phase.DIALOGUE.name.lower(), Phase.CHOICE.name.lower()):
            suggestions.append("read on with a, refuse or leave with b")
        if stuck:
            suggestions.append(f"nothing came of {idle} steps: try another way")
        return ExplorationAnalysis(
            map=self._text("map_name", f"map {map_id >> 8}.{map_id & 0xFF}"),
            map_id=map_id,
            x=self._number("x"),
            y=self._number("y"),
            facing=Facing(min(self._number("facing"), Facing.RIGHT)).name.lower(),
            phase=phase.replace("_", " "),
            party_size=size,
            party_hp=hp_share,
            health=health,
            needs_healing=needs_healing,
            badges=self._number("johto_badges") + self._number("kanto_badges"),
            caught=self._number("caught"),
            seen=self._number("seen"),
            money=self._number("money"),
            balls=self._number("balls"),
            milestones=self._share("milestones"),
            steps_since_progress=idle,
            stuck=stuck,
            goal=self._text("goal"),
            danger=danger,
            suggestions=tuple(suggestions),
        )

    def _battle_sentence(self) -> str:
        battle = self.battle
        if not battle.opponent_level:
            return f"A {battle.kind} battle begins."
        text = f"A {battle.kind} battle: {battle.opponent} level {battle.opponent_level} at {battle.opponent_hp:.0%}"
        if battle.matchup == "unknown":
            return f"{text}."
        return f"{text}, {battle.own} at {battle.own_hp:.0%}; the match of types is {battle.matchup}."


def natural_values(observed: Any) -> dict[str, float]:
    """Return the (25,) state variables of an observation in their natural units, by name.

    Values that were limited to 1 stay limited.

    Raises:
        ConfigurationError: there are not 25.
    """
    scaled = [float(value) for value in observed]
    if len(scaled) != len(STATE_VARIABLES):
        raise ConfigurationError(f"an observation has {len(STATE_VARIABLES)} state variables, not {len(scaled)}")
    values = {}
    for variable, value in zip(STATE_VARIABLES, scaled, strict=True):
        natural = value * variable.scale
        if variable.unit == "log":
            natural = math.expm1(natural)
        values[variable.name] = natural if variable.name in _SHARES or variable.unit == "factor" else round(natural)
    return values


def _plain(analysis: BattleAnalysis | ExplorationAnalysis) -> dict[str, Any]:
    values = asdict(analysis)
    return values | {"danger": analysis.danger.name.lower(), "suggestions": list(analysis.suggestions)}
