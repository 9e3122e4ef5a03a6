"""Games played to the end, several side by side, with one batch of replies in each turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pkmn_multimodel.players import ScriptedPlayer
from pkmn_multimodel.settings import TrainingMode

if TYPE_CHECKING:
    import torch

    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.population.replies import Reply
    from pkmn_multimodel.settings import MultiModelConfig


class Player(Protocol):
    """Player that does not learn: a script or a service."""

    name: str

    def replies(self, prompts: Sequence[str], options: Sequence[Sequence[str]]) -> Sequence[str]:
        """Return a reply to each prompt."""
        ...


class Sampler(Protocol):
    """Source of the replies of models with adapters: the population itself, or a server that has the same weights."""

    def sample(
        self,
        prompts: Sequence[str],
        adapters: Sequence[str],
        generator: torch.Generator,
        *,
        max_new_tokens: int,
        temperature: float,
        greedy: bool,
    ) -> list[Reply]:
        """Return a reply to each prompt, each by its own adapter."""
        ...


@dataclass(slots=True)
class Turn:
    """Reply of a model that learns, and what came of it."""

    agent: str
    role: str
    number: int
    """Round of the episode, from 0."""
    reply: Reply
    choice: str
    valid: bool
    reward: float
    future: float = 0.0
    """Discounted reward from this turn on."""


@dataclass(slots=True)
class Episode:
    """Game that was played to its end."""

    seed: int
    seats: Mapping[str, str]
    """Adapter or player of each agent."""
    turns: list[Turn] = field(default_factory=list)
    rewards: dict[str, float] = field(default_factory=dict)
    gains: dict[str, float] = field(default_factory=dict)
    """Own gain of each agent, before it is mixed with that of the others."""
    score: float = 0.0
    """Share of the optimum, 0..1."""
    scores: dict[str, float] = field(default_factory=dict)
    teams: dict[str, str] = field(default_factory=dict)
    """Team of each agent."""
    rounds: int = 0
    replies: int = 0
    valid: int = 0
    choices: list[dict[str, str]] = field(default_factory=list)
    """Option of each agent in each round."""


def rewarded(made: TextGame, settings: MultiModelConfig) -> TextGame:
    """Return a new game with the rewards of the training mode."""
    if settings.training_mode is TrainingMode.COOPERATIVE:
        made.cooperation_level = 1.0
    elif settings.training_mode is TrainingMode.COMPETITIVE:
        made.cooperation_level = 0.0
    elif made.cooperation_level is None:  # a game that was made with a level keeps it
        made.cooperation_level = settings.cooperation_level
    if settings.training_mode is TrainingMode.HIERARCHICAL:
        made.leader = made.possible_agents[0]
    return made


def play(
    make_game: Callable[[], TextGame],
    seeds: Sequence[int],
    seats: Sequence[Mapping[str, str]],
    population: Population,
    players: Mapping[str, Player],
    generator: torch.Generator,
    *,
    max_new_tokens: int,
    temperature: float,
    gamma: float,
    timeout_s: float = float("inf"),
    greedy: bool = False,
    teacher: ScriptedPlayer | None = None,
    sampler: Sampler | None = None,
) -> list[Episode]:
    """Play games side by side.

    Args:
        make_game: makes a game.
        seeds: one of each game.
        seats: for each game the adapter or player of each agent.
        population: models with adapters.
        players: all others, by name.
        generator: of the sampling.
        max_new_tokens, temperature: of the sampling.
        gamma: discount of later rewards.
        timeout_s: most seconds.
        greedy: take the likeliest reply.
        teacher: script that replies for all adapters, which can imitate it.
        sampler: source of the models' replies; by default the population.

    Raises:
        TimeoutError: the games took longer.
    """
    began = time.monotonic()
    games = [make_game() for _ in seeds]
    episodes = [Episode(seed, seat) for seed, seat in zip(seeds, seats, strict=True)]
    with ExitStack() as open_games:
        for game in games:
            open_games.callback(game.close)
        prompts = [game.reset(seed=seed)[0] for game, seed in zip(games, seeds, strict=True)]
        while any(game.agents for game in games):
            if time.monotonic() - began > timeout_s:
                raise TimeoutError(f"Episode timeout: {len(games)} games took more than {timeout_s:g} s")
            asked = [
                (place, agent, episodes[place].seats[agent])
                for place, game in enumerate(games)
                for agent in game.agents
            ]
            texts, replies = _replies(
                *(asked, prompts, games, population, sampler or population, players, generator),
                *(max_new_tokens, temperature, greedy, teacher),
            )
            for place, game in enumerate(games):
                acting = list(game.agents)
                if not acting:
                    continue
                episode, number, roles = episodes[place], game.round, game.roles()
                prompts[place], rewards, _, _, infos = game.step({agent: texts[place, agent] for agent in acting})
                episode.rounds += 1
                episode.choices.append({agent: infos[agent]["choice"] for agent in acting})
                for agent in acting:
                    info = infos[agent]
                    episode.rewards[agent] = episode.rewards.get(agent, 0.0) + rewards[agent]
                    episode.gains[agent] = episode.gains.get(agent, 0.0) + info["gain"]
                    reply = replies.get((place, agent))
                    if reply is not None:
                        episode.replies += 1
                        episode.valid += info["valid"]
                        turn = Turn(agent, roles[agent], number, reply, info["choice"], info["valid"], rewards[agent])
                        episode.turns.append(turn)
                if not game.agents:
                    episode.score, episode.scores = game.score(), dict(game.scores())
                    episode.teams = dict(game.teams())
    for episode in episodes:
        _add_futures(episode.turns, gamma)
    return episodes


def _replies(
    asked: Sequence[tuple[int, str, str]],
    prompts: Sequence[Mapping[str, str]],
    games: Sequence[TextGame],
    population: Population,
    sampler: Sampler,
    players: Mapping[str, Player],
    generator: torch.Generator,
    max_new_tokens: int,
    temperature: float,
    greedy: bool,
    teacher: ScriptedPlayer | None,
) -> tuple[dict[tuple[int, str], str], dict[tuple[int, str], Reply]]:
    """Return the texts of all that act now, and the replies of those with adapters, by game and agent."""
    own = [(place, agent, seat) for place, agent, seat in asked if seat not in players]
    replies: dict[tuple[int, str], Reply] = {}
    if teacher is not None:
        replies = {
            (place, agent): population.written(prompts[place][agent], teacher.choose(games[place], agent), seat)
            for place, agent, seat in own
        }
    elif own:
        sampled = sampler.sample(
            [prompts[place][agent] for place, agent, _ in own],
            [seat for _, _, seat in own],
            generator,
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            greedy=greedy,
        )
        replies = {(place, agent): reply for (place, agent, _), reply in zip(own, sampled, strict=True)}
    texts = {key: reply.text for key, reply in replies.items()}
    for name, player in players.items():
        its = [(place, agent) for place, agent, seat in asked if seat == name]
        if its:
            told: Sequence[str]
            if isinstance(player, ScriptedPlayer):
                told = [player.choose(games[place], agent) for place, agent in its]
            else:
                told = player.replies(
                    [prompts[place][agent] for place, agent in its],
                    [games[place].options(agent) for place, agent in its],
                )
            texts.update(zip(its, told, strict=True))
    return texts, replies


def _add_futures(turns: Sequence[Turn], gamma: float) -> None:
    future: dict[str, float] = {}
    for turn in reversed(turns):
        turn.future = turn.reward + gamma * future.get(turn.agent, 0.0)
        future[turn.agent] = turn.future
