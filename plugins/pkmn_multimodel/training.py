"""Training of several language models on one game. It writes nothing: runs are made by the command and the trainer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from pkmn_multimodel.engines import Engine, InProcessEngine, Part, derived, made_population, parts_of
from pkmn_multimodel.league import League
from pkmn_multimodel.objectives import AdapterLearner
from pkmn_multimodel.players import RandomPlayer, ScriptedPlayer
from pkmn_multimodel.rollouts import Episode, Player, play, rewarded
from pkmn_multimodel.services import ServicePlayer, outside_players
from pkmn_multimodel.updates import Updates
from pkmncli.errors import CheckpointError, ConfigurationError

if TYPE_CHECKING:
    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.rollouts import Turn
    from pkmn_multimodel.settings import MultiModelConfig
    from pkmn_multimodel.vllm_sampler import VllmSampler

STATE_VERSION = 1
EVALUATION_SEED = 1 << 40
"""First seed of games that are played to evaluate; training never uses one that high."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Games of a batch, and what was learned from them."""

    episodes: Sequence[Episode]
    metrics: Mapping[str, float]


class Training:
    """Training of several models.

    Args:
        settings: may change between batches.
        make_game: makes a game.
        seed: of everything random.
        tell: reports a line to the user.
        population: models; by default they are made by the settings.
    """

    def __init__(
        self,
        settings: MultiModelConfig,
        make_game: Callable[[], TextGame],
        seed: int,
        tell: Callable[[str], None] = lambda text: None,
        population: Population | None = None,
    ) -> None:
        self.settings = settings
        self.seed = seed
        self.episodes = 0
        """Games played."""
        self._make_game = make_game
        self._tell = tell
        self.action_numbers = {word: number for number, word in enumerate(make_game().vocabulary)}
        """Number of each option, for records."""
        learners = settings.learners()
        if not learners:
            raise ConfigurationError(
                f"none of the models can learn: {', '.join(sorted(set(settings.model_types)))} are reached through a "
                "service and only play; give a local kind, such as qwen3 or llama3, in model_types"
            )
        self.names = [f"model_{number}" for number in learners]
        self.players: dict[str, Player] = {**outside_players(settings, seed, tell)}
        self.population = population or made_population(settings, make_game, seed, tell)
        self._generator = torch.Generator().manual_seed(derived(seed, "sampling"))
        self.learners = {
            name: AdapterLearner(self.population, name, settings, derived(seed, name)) for name in self.names
        }
        self._own_engine = InProcessEngine(settings, make_game, self.population, self.learners)
        self._engine: Engine = self._own_engine
        self._sampler: VllmSampler | None = None
        self.updates = Updates(self.population, self.learners, settings, self._learn)
        self.league: League | None = None
        """Past adapters and scripts as opponents, if the settings want them."""
        if settings.league_every:
            self.league = League(self.population, self.names, settings, derived(seed, "league"))

    def batch(self) -> Batch:
        """Play batches of games, ``update_frequency`` of them, and learn from all. Return them as one batch.

        Raises:
            TimeoutError: the games took longer than ``episode_timeout_s``. Nothing has been learned from them.
        """
        settings = self.settings
        wanted = settings.batch_size * settings.update_frequency
        first = self.episodes
        last = first + min(wanted, max(settings.max_episodes - first, 1))
        imitates = first < settings.imitation_games
        if imitates:
            last = min(last, settings.imitation_games)
        agents = [f"model_{number}" for number in range(settings.num_models)]
        self.start()
        episodes: list[Episode] = []
        with self.population.fitting_threads():
            for start in range(first, last, settings.batch_size):
                numbers = range(start, min(start + settings.batch_size, last))
                seeds = [derived(self.seed, f"game {number}") for number in numbers]
                if imitates:
                    episodes += self._shown(seeds)
                    continue
                seats = [self._seats(each) for each in self.league.seats(numbers, agents)] if self.league else None
                episodes += self.play(seeds, seats=seats)
            self.episodes = last
            learned = self.updates.learn(episodes)
            of_league = self.league.note(first, episodes) if self.league and not imitates else {}
        of_sampler = self._sampler.take_gaps() if self._sampler else {}
        return Batch(episodes, {**metrics_of(episodes), **_named(learned), **of_league, **of_sampler})

    def play(
        self,
        seeds: Sequence[int],
        *,
        greedy: bool = False,
        generator: torch.Generator | None = None,
        seats: Sequence[Mapping[str, str]] | None = None,
    ) -> list[Episode]:
        """Play games without learning.

        Args:
            seeds: of the games.
            greedy: take the likeliest replies.
            generator: of the sampling; by default the training's own.
            seats: for each game the adapter or player of each agent; by default each agent's own model.
        """
        settings = self.settings
        players = self.players | (self.league.players if self.league else {})
        seated = [self._seats() for _ in seeds] if seats is None else seats
        if greedy:
            return self._own_engine.play([Part(seeds, seated, generator or self._generator, players)], greedy=True)[0]
        engine = self._own_engine if self._asks_services else self._engine
        parts = parts_of(settings.actors, seeds, seated, generator or self._generator, players)
        return [episode for part in engine.play(parts) for episode in part]

    def _learn(self, turns: Mapping[str, Sequence[Turn]], max_staleness: int) -> dict[str, dict[str, float]]:
        return self._engine.learn(turns, max_staleness)

    @property
    def _asks_services(self) -> bool:
        """True if games need services, which are asked in this process alone."""
        return self._sampler is not None or any(isinstance(player, ServicePlayer) for player in self.players.values())

    @property
    def actor_processes(self) -> list[int]:
        """Process ids of the actors that the engine has started so far, on their machines."""
        return getattr(self._engine, "process_ids", [])

    def _seats(self, seats: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the player of each place; in self-play the first model does, where no other player does.

        Args:
            seats: by default each agent's own model or player.
        """
        if seats is None:
            seats = {f"model_{number}": f"model_{number}" for number in range(self.settings.num_models)}
        if not self.settings.self_play:
            return dict(seats)
        return {
            agent: self.names[0] if seat == agent and agent not in self.players else seat
            for agent, seat in seats.items()
        }

    def _shown(self, seeds: Sequence[int]) -> list[Episode]:
        """Play games by the script that is imitated."""
        settings = self.settings
        return play(
            self.game,
            seeds,
            [self._seats() for _ in seeds],
            self.population,
            self.players,
            self._generator,
            max_new_tokens=settings.max_new_tokens,
            temperature=settings.temperature,
            gamma=settings.gamma,
            teacher=ScriptedPlayer(settings.imitation_strength, derived(self.seed, f"script {seeds[0]}")),
        )

    def evaluate(self, episodes: int, seed: int = 0) -> list[Episode]:
        """Play games of held-out seeds with the likeliest replies. The training is as before afterwards."""
        generator, first = torch.Generator().manual_seed(seed), EVALUATION_SEED + seed
        with self.population.fitting_threads():
            return self.play(range(first, first + episodes), greedy=True, generator=generator)

    def game(self) -> TextGame:
        """Return a new game, whose rewards are those of the training mode."""
        return rewarded(self._make_game(), self.settings)

    def start(self) -> None:
        """Start the engine and the sampler, unless that was done. Ray ends with the thread that starts it.

        Raises:
            ConfigurationError: no Ray cluster answers, or it has no room for an actor; there are too few graphics cards
                to shard the base; or the sampler has another base.
            LLMConnectionError: the sampler cannot be reached, or refuses.
            TrainingError: the engine cannot be started.
        """
        if self.settings.sampler == "vllm" and self._sampler is None:
            from pkmn_multimodel.vllm_sampler import VllmSampler  # noqa: PLC0415 - only where it is used

            self._sampler = self._own_engine.sampler = VllmSampler(self.settings, self.population)
            with self.population.fitting_threads(), closing(self.game()) as game:
                prompts, _ = game.reset(seed=0)
                self._tell(self._sampler.check(next(iter(prompts.values()))))
        if self.settings.engine != "in-process" and self._engine is self._own_engine:
            self._engine = self._started_engine()
            if self._asks_services:
                self._tell(
                    f"engine = {self.settings.engine}: games are played in the trainer's process, since services are "
                    "asked there."
                )

    def _started_engine(self) -> Engine:
        own = (self.settings, self._make_game, self.seed, self.population, self.learners)
        if self.settings.engine == "sharded":
            from pkmn_multimodel.sharded_engine import ShardedEngine  # noqa: PLC0415 - takes a while

            return ShardedEngine(*own)
        from pkmn_multimodel.ray_engine import RayEngine  # noqa: PLC0415 - optional

        return RayEngine(*own, self._tell)

    def close(self) -> None:
        """End the engine, the sampler and the connections of services, whose players play at random afterwards."""
        self._engine.close()
        self._engine = self._own_engine
        if self._sampler is not None:
            self._sampler.close()
            self._sampler = self._own_engine.sampler = None
        for player in self.players.values():
            if isinstance(player, ServicePlayer):
                player.close()

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed training needs: arrays and plain values."""
        return {
            "version": STATE_VERSION,
            "episodes": self.episodes,
            "population": self.population.state_dict(),
            "learners": {name: learner.state_dict() for name, learner in self.learners.items()},
            "updates": self.updates.state_dict(),
            "generator": self._generator.get_state().numpy().copy(),
            **({"league": self.league.state_dict()} if self.league else {}),
            "players": {
                name: player.random.bit_generator.state
                for name, player in self.players.items()
                if isinstance(player, RandomPlayer)
            },
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Raise CheckpointError if it is of other models or another version."""
        if state.get("version") != STATE_VERSION:
            raise CheckpointError(f"the checkpoint is of version {state.get('version')}; this is {STATE_VERSION}")
        if set(state["learners"]) != set(self.learners):
            raise CheckpointError(f"the checkpoint has the models {', '.join(sorted(state['learners']))}")
        self.episodes = int(state["episodes"])
        self.population.load_state_dict(state["population"])
        for name, learner in self.learners.items():
            learner.load_state_dict(state["learners"][name])
        self.updates.load_state_dict(state["updates"])
        if self.league:
            self.league.load_state_dict(state["league"])
        self._generator.set_state(torch.from_numpy(np.asarray(state["generator"], np.uint8).copy()))
        for name, player in self.players.items():
            if isinstance(player, RandomPlayer):
                player.random.bit_generator.state = state["players"][name]


def metrics_of(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return figures of games: score, validity of replies, and rewards of each agent."""
    replies = sum(episode.replies for episode in episodes)
    found = {
        "score": float(np.mean([episode.score for episode in episodes])),
        "valid_replies": sum(episode.valid for episode in episodes) / max(replies, 1),
        "reward": float(np.mean([np.mean(list(episode.rewards.values())) for episode in episodes])),
    }
    for agent in episodes[0].rewards:
        own = [episode.rewards[agent] for episode in episodes if episode.seats[agent] == agent]
        if own:
            found[f"reward/{agent}"] = float(np.mean(own))
    return found


def _named(learned: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {f"{name}/{key}": value for name, values in learned.items() for key, value in values.items()}
