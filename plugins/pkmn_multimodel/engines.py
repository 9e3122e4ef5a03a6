"""Engines of a training: where games are played and adapters are updated. This one does both in the trainer's process.

An engine decides nothing that a result depends on: with the same weights, parts and turns all engines return the same.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch

from pkmn_multimodel.players import RandomPlayer, ScriptedPlayer
from pkmn_multimodel.population.bases import device_of, load_base
from pkmn_multimodel.population.population import Population
from pkmn_multimodel.rollouts import Episode, Player, Sampler, play, rewarded
from pkmn_multimodel.services import ServicePlayer

if TYPE_CHECKING:
    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.objectives import AdapterLearner
    from pkmn_multimodel.rollouts import Turn
    from pkmn_multimodel.settings import MultiModelConfig


@dataclass(slots=True)
class Part:
    """Games that are played side by side in one place."""

    seeds: Sequence[int]
    seats: Sequence[Mapping[str, str]]
    generator: torch.Generator
    """Generator of the sampling. Afterwards, it is in its state after the games."""
    players: Mapping[str, Player]
    """Players that do not learn. Afterwards, their random numbers are in their state after the games."""


class Engine(Protocol):
    """Place where games are played and adapters are updated."""

    def play(self, parts: Sequence[Part]) -> list[list[Episode]]:
        """Return the games of each part, played with the current weights.

        Raises:
            TimeoutError: a part took longer than ``episode_timeout_s``.
            TrainingError: the engine has failed.
        """
        ...

    def learn(self, turns: Mapping[str, Sequence[Turn]], max_staleness: int) -> dict[str, dict[str, float]]:
        """Update each adapter from its turns, as :meth:`AdapterLearner.learn`. Return the metrics of each."""
        ...

    def close(self) -> None:
        """End all that the engine has started."""
        ...


class InProcessEngine:
    """Engine in the trainer's process: one part after another, one adapter after another.

    Args:
        settings: of the training.
        make_game: makes a game.
        population: models.
        learners: of each adapter that learns.
    """

    def __init__(
        self,
        settings: MultiModelConfig,
        make_game: Callable[[], TextGame],
        population: Population,
        learners: Mapping[str, AdapterLearner],
    ) -> None:
        self._settings = settings
        self._make_game = make_game
        self._population = population
        self._learners = learners
        self.sampler: Sampler | None = None
        """Source of sampled replies; None for the population. The likeliest ones are always the population's."""

    def play(self, parts: Sequence[Part], *, greedy: bool = False) -> list[list[Episode]]:
        """Return the games of each part; with ``greedy``, by the likeliest replies."""
        return [self._played(part, greedy=greedy) for part in parts]

    def _played(self, part: Part, *, greedy: bool) -> list[Episode]:
        settings = self._settings
        return play(
            lambda: rewarded(self._make_game(), settings),
            part.seeds,
            part.seats,
            self._population,
            part.players,
            part.generator,
            max_new_tokens=settings.max_new_tokens,
            temperature=settings.temperature,
            gamma=settings.gamma,
            timeout_s=settings.episode_timeout_s,
            greedy=greedy,
            sampler=None if greedy else self.sampler,
        )

    def learn(self, turns: Mapping[str, Sequence[Turn]], max_staleness: int) -> dict[str, dict[str, float]]:
        """Update each adapter from its turns."""
        return {name: self._learners[name].learn(its, max_staleness) for name, its in turns.items()}

    def close(self) -> None:
        """Do nothing: nothing was started."""


def parts_of(
    count: int,
    seeds: Sequence[int],
    seats: Sequence[Mapping[str, str]],
    generator: torch.Generator,
    players: Mapping[str, Player],
) -> list[Part]:
    """Return games in ``count`` parts of about the same size, each with separate random numbers.

    A single part has the generator and the players themselves.
    """
    count = min(count, len(seeds))
    if count == 1:
        return [Part(seeds, seats, generator, players)]
    ends = [len(seeds) * number // count for number in range(count + 1)]
    found = []
    for first, last in pairwise(ends):
        own, others = torch.randint(1 << 62, (2,), generator=generator).tolist()
        found.append(
            Part(
                seeds[first:last],
                seats[first:last],
                torch.Generator().manual_seed(own),
                {name: _reseeded(player, others) for name, player in players.items()},
            )
        )
    return found


def _reseeded(player: Player, seed: int) -> Player:
    """Return a copy of a script with other random numbers. A service is asked by all parts."""
    if isinstance(player, ServicePlayer) or not isinstance(player, RandomPlayer | ScriptedPlayer):
        return player
    twin = copy.copy(player)
    twin.random = np.random.default_rng([seed, *player.name.encode()])
    return twin


def made_population(
    settings: MultiModelConfig,
    make_game: Callable[[], TextGame],
    seed: int,
    tell: Callable[[str], None] = lambda text: None,
) -> Population:
    """Return the models that the settings describe, with their first weights.

    Args:
        settings: of the training.
        make_game: makes a game, from whose prompts a small base learns the form of replies.
        seed: of the training.
        tell: reports a line to the user.
    """
    if settings.engine == "sharded":  # each process moves its share to its own device
        narrow = settings.precision == "auto" and device_of(settings.device, "multimodel.device") != "cpu"
        precision = "bfloat16" if narrow else settings.precision
        settings = settings.model_copy(update={"device": "cpu", "precision": precision})
    base, tokenizer, device = load_base(settings, _examples(rewarded(make_game(), settings)), seed, tell)
    return Population(
        base,
        tokenizer,
        [f"model_{number}" for number in settings.learners()],
        rank=settings.rank,
        alpha=settings.alpha,
        target_modules=tuple(settings.target_modules),
        seed=derived(seed, "adapters"),
        device=device,
        kv_tokens=settings.kv_cache_size,
        chat=settings.chat_template,
    )


def _examples(game: TextGame) -> list[tuple[str, Sequence[str]]]:
    """Return prompts of games played at random, with their options."""
    found: dict[str, Sequence[str]] = {}
    random = np.random.default_rng(0)
    for seed in range(20):
        prompts, _ = game.reset(seed=seed)
        while game.agents:
            options = {agent: game.options(agent) for agent in game.agents}
            found |= {prompts[agent]: options[agent] for agent in game.agents}
            prompts, *_ = game.step(
                {agent: words[int(random.integers(len(words)))] for agent, words in options.items()}
            )
    game.close()
    return list(found.items())


def derived(seed: int, purpose: str) -> int:
    """Return a seed for one purpose, below 2**40."""
    digest = hashlib.blake2b(f"{seed} {purpose}".encode(), digest_size=5)
    return int.from_bytes(digest.digest(), "little")
