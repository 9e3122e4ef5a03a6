"""Base class of the games: seeded, in words, and with a score from 0 (chance or worse) to 1 (the optimum)."""

from __future__ import annotations

import copy
import string
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from pkmn_multimodel.games.naming import whole_number

LONGEST_TEXT = 4096
"""Most characters of an observation or an action."""


class TextGame(ParallelEnv):  # type: ignore[misc]
    """Game in which all agents act at once, in words.

    A subclass writes :meth:`begin`, :meth:`prompt`, :meth:`options`, :meth:`play`, :meth:`best` and :meth:`score`. A
    reply that names none of the options counts as the first one and costs :attr:`invalid_penalty`.

    Args:
        num_agents: agents, named ``model_0`` and so on.
        rounds: turns of an episode.
        cooperation_level: share of the mean gain of all in each agent's reward, 0..1; the rest is its lead over the
            mean gain of the others. None: each earns its own gain.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "text_game_v0", "render_modes": ["ansi"]}
    vocabulary: Sequence[str] = ()
    """All words that can be options, in the order of their numbers in records."""
    invalid_penalty: float = 2.0
    """Reward that an invalid reply costs its agent."""

    def __init__(self, num_agents: int, rounds: int, cooperation_level: float | None = None) -> None:
        self.possible_agents = [f"model_{number}" for number in range(num_agents)]
        self.agents = list(self.possible_agents)
        self.rounds = whole_number("rounds", rounds)
        self.cooperation_level: float | None = None if cooperation_level is None else float(cooperation_level)
        self.leader: str | None = None
        """Agent that earns the mean gain of all whatever the level; its last reply is in the others' prompts."""
        self._order = ""
        self.round = 0
        self.random = np.random.default_rng(0)
        text = spaces.Text(LONGEST_TEXT, min_length=0, charset=string.printable)
        self.observation_spaces = dict.fromkeys(self.possible_agents, text)
        self.action_spaces = dict.fromkeys(self.possible_agents, text)

    def again(self) -> TextGame:
        """Return another game with the same arguments."""
        twin = copy.deepcopy(self)
        twin.reset(seed=0)
        return twin

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's prompts."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's replies."""
        return self.action_spaces[agent]

    # To be written by a game ------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin an episode, with :attr:`random` seeded."""

    def prompt(self, agent: str) -> str:
        """Return the state in words, as an agent sees it."""
        raise NotImplementedError

    def options(self, agent: str) -> Sequence[str]:
        """Return the words that an agent can choose from now."""
        raise NotImplementedError

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Carry out one option of each agent. Return the gain of each."""
        raise NotImplementedError

    def best(self, agent: str) -> str:
        """Return the option of the best player known, which may see everything."""
        raise NotImplementedError

    def read(self, agent: str, reply: str) -> str | None:
        """Return the choice in a reply, None if it is not valid; by default the option that it names first."""
        return read_choice(reply, self.options(agent))

    @property
    def over(self) -> bool:
        """True if the episode has ended by the rules before its last round."""
        return False

    def score(self) -> float:
        """Return the share of the optimum that all reached together in this episode, 0..1."""
        raise NotImplementedError

    def scores(self) -> Mapping[str, float]:
        """Return for each agent the share of its optimum, 0..1; by default that of all."""
        return dict.fromkeys(self.possible_agents, self.score())

    def roles(self) -> Mapping[str, str]:
        """Return the role of each agent, by which rewards are compared; by default all have the same."""
        return dict.fromkeys(self.possible_agents, "player")

    def teams(self) -> Mapping[str, str]:
        """Return the team of each agent; the league compares the gains of different teams. By default each has its own.

        A game whose agents cannot be opponents has one team.
        """
        return {agent: agent for agent in self.possible_agents}

    # PettingZoo's -----------------------------------------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Begin an episode. Return (prompts, infos); the same seed begins the same episode."""
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.round = 0
        self._order = ""
        self.begin()
        return self._prompts(), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take one reply of each agent. Return (prompts, rewards, terminations, truncations, infos).

        ``infos`` have for each agent the option that was taken, ``choice``; ``valid``, true if the reply named it; and
        its own ``gain``.
        """
        acting = list(self.agents)
        read = {agent: self.read(agent, actions.get(agent, "")) for agent in acting}
        choices = {agent: self.options(agent)[0] if one is None else one for agent, one in read.items()}
        gains = self.play(choices)
        rewards = self._rewards(gains)
        self.round += 1
        if self.leader is not None:
            self._order = choices[self.leader]
        for agent, one in read.items():
            rewards[agent] = rewards[agent] - (self.invalid_penalty if one is None else 0.0)
        ended, cut = self.over, self.round >= self.rounds
        infos = {
            agent: {"choice": choices[agent], "valid": read[agent] is not None, "gain": float(gains[agent])}
            for agent in acting
        }
        prompts = self._prompts()
        if ended or cut:
            self.agents = []
        return prompts, rewards, dict.fromkeys(acting, ended), dict.fromkeys(acting, cut and not ended), infos

    def render(self) -> str:
        """Return what every agent sees."""
        return "\n\n".join(f"{agent}\n{self.prompt(agent)}" for agent in self.possible_agents)

    def _prompts(self) -> dict[str, str]:
        followers = "" if not self._order else f"The leader chose {self._order}. "
        return {
            agent: self.prompt(agent) if agent == self.leader else followers + self.prompt(agent)
            for agent in self.agents
        }

    def _rewards(self, gains: Mapping[str, float]) -> dict[str, float]:
        count, total, level = len(gains), sum(gains.values()), self.cooperation_level
        if level is None:
            return {agent: float(gain) for agent, gain in gains.items()}
        mixed: dict[str, float] = {}
        for agent, gain in gains.items():
            own_level = 1.0 if agent == self.leader else level
            lead = gain - (total - gain) / (count - 1) if count > 1 else gain
            mixed[agent] = own_level * total / count + (1 - own_level) * lead
        return mixed


def read_choice(reply: str, options: Sequence[str]) -> str | None:
    """Return the option that a reply names first; None if it names none. Case and punctuation don't matter."""
    text = " " + "".join(sign if sign.isalnum() else " " for sign in reply.lower()) + " "
    text = " ".join(text.split()).join("  ")
    found = [(text.find(f" {' '.join(option.lower().replace('-', ' ').split())} "), option) for option in options]
    placed = [(place, -len(option), option) for place, option in found if place >= 0]
    return min(placed)[2] if placed else None
