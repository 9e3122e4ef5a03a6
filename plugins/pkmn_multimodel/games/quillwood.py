"""The bundled Game Boy game for two agents: a navigator, who chooses what to do next, and a fighter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from pkmn_multimodel.games.naming import whole_number
from pkmn_multimodel.games.text_game import TextGame
from pkmncli.api import Advice, make_environment, make_pilot

ENVIRONMENT, PILOT = "pyboy", "rules"
"""Registered names of the environment, and of the pilot that carries out what the agents choose."""
NAVIGATOR, FIGHTER = "navigator", "fighter"
SKILLS: Final[Mapping[str, Mapping[str, str]]] = {
    NAVIGATOR: {"story": "", "train": "fight", "heal": "heal", "catch": "catch"},
    FIGHTER: {"fight": "fight", "flee": "flee", "catch": "catch"},
}
"""Options of each role, each with the pilot's skill; without one the pilot continues the story."""
ERRAND: Final = (
    *("route_reached", "first_battle_won", "glade_reached", "ranger_met"),
    *("parcel_taken", "parcel_delivered"),
)
"""Milestones of an episode: the way to the old ranger and back with his parcel."""
BEGINNING = "starter"
"""Milestone at which an episode begins: the first creature is chosen."""
LONGEST_BEGINNING = 1000
"""Steps by which it must be reached."""


class Quillwood(TextGame):
    """Two agents share one game. The navigator's word counts while the player walks, the fighter's in battles.

    Both choose at the same time; a rule pilot carries out their words for some steps of the environment. Each milestone
    of the first errand earns both 1. The episode begins with the first creature and ends when the parcel is delivered.

    Args:
        num_agents: 2.
        cooperation_level: as for :class:`TextGame`; it changes nothing, since both gain the same.
        rounds: most rounds of an episode.
        steps_per_round: steps of the environment in a round.
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "quillwood_v0"}
    vocabulary = tuple(dict.fromkeys(word for words in SKILLS.values() for word in words))

    def __init__(
        self,
        num_agents: int = 2,
        cooperation_level: float | None = None,
        rounds: int = 10,
        steps_per_round: int = 30,
    ) -> None:
        if num_agents != 2:
            raise ValueError(f"the game quillwood needs 2 models, a navigator and a fighter: {num_agents}")
        if rounds < 1 or steps_per_round < 1:
            raise ValueError("rounds and steps_per_round must be 1 or more")
        super().__init__(num_agents, rounds, cooperation_level)
        self.steps_per_round = whole_number("steps_per_round", steps_per_round)
        self._environment: Any = None
        self._pilot: Any = None
        self._reached = 0

    def again(self) -> Quillwood:
        """Return another game with the same arguments, on another emulator."""
        return Quillwood(2, self.cooperation_level, self.rounds, self.steps_per_round)

    def begin(self) -> None:
        """Start the emulator unless it runs, and play to the first creature."""
        if self._environment is None:
            self._start()
        seed = int(self.random.integers(1 << 31))
        self._environment.reset(seed=seed)
        self._pilot.reset(seed)
        for _ in range(LONGEST_BEGINNING):
            if BEGINNING in self._milestones():
                break
            self._step(None)
        self._reached = 0

    def close(self) -> None:
        """Stop the emulator. The next reset starts another."""
        if self._environment is not None:
            self._environment.close()
        self._environment = self._pilot = None

    def roles(self) -> Mapping[str, str]:
        """Return navigator or fighter for each agent."""
        return dict(zip(self.possible_agents, (NAVIGATOR, FIGHTER), strict=True))

    def teams(self) -> Mapping[str, str]:
        """Return one team: they have the same gain."""
        return dict.fromkeys(self.possible_agents, "player")

    def options(self, agent: str) -> Sequence[str]:
        """Return the words of the agent's role."""
        return tuple(SKILLS[self.roles()[agent]])

    def prompt(self, agent: str) -> str:
        """Return the state in the environment's words, the goal and the options."""
        context, role = self._environment.context(), self.roles()[agent]
        *first, last = self.options(agent)
        words = f"{', '.join(first)} or {last}"
        state = " ".join(f"{context.context_summary} Goal: {context.current_goal}".split())
        return f"You are the {role}. {state} {words}? Answer:"

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Carry out the words for some steps. Return the milestones that were reached."""
        advice = {
            role: _advice(SKILLS[role][choices[agent]]) for agent, role in self.roles().items() if agent in choices
        }
        before = self._reached
        for _ in range(self.steps_per_round):
            self._step(advice[FIGHTER if self._in_battle() else NAVIGATOR])
            self._reached = len(self._milestones() & set(ERRAND))
            if self.over:
                break
        return dict.fromkeys(choices, float(self._reached - before))

    @property
    def over(self) -> bool:
        """True if the errand is done."""
        return self._reached == len(ERRAND)

    def best(self, agent: str) -> str:
        """Return what the rules alone do: the story, and to fight."""
        return "story" if self.roles()[agent] == NAVIGATOR else "fight"

    def score(self) -> float:
        """Return the share of the milestones that were reached."""
        return self._reached / len(ERRAND)

    def _start(self) -> None:
        self._environment = make_environment(ENVIRONMENT, observation_type="state", goals="none")
        self._pilot = make_pilot(PILOT, self._environment)
        self._names = list(self._environment.milestone_names)

    def _step(self, advice: Advice | None) -> None:
        self._environment.advance(int(self._pilot.act(advice).action))

    def _in_battle(self) -> bool:
        return str(self._environment.phase_names[self._environment.facts().phase]).startswith("battle")

    def _milestones(self) -> set[str]:
        steps = self._environment.milestone_steps()
        return {name for name, step in zip(self._names, steps, strict=True) if step >= 0}


def _advice(skill: str) -> Advice | None:
    return Advice(goal=skill, skill=skill, confidence=1.0) if skill else None
