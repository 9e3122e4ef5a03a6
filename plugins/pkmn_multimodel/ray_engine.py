"""Engine on Ray: parts of a batch are played, and adapters are updated, in actors on one machine or several.

An actor keeps nothing between two jobs but the base: adapters, random numbers and the state of a learner come with each
job. So any actor can do any job, and one whose actor was lost is done again by another, to the same result.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from pkmn_multimodel.engines import InProcessEngine, Part, derived, made_population
from pkmn_multimodel.objectives import AdapterLearner
from pkmn_multimodel.players import RandomPlayer, ScriptedPlayer
from pkmncli.api.ray_cluster import SECONDS_TO_PLACE, begin_actor, ray_cluster, room_for, start_pauses
from pkmncli.errors import CheckpointError, ConfigurationError, TrainingError

if TYPE_CHECKING:
    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.rollouts import Episode, Turn
    from pkmn_multimodel.settings import MultiModelConfig

MOST_LOSSES = 3
"""Losses of actors at the same job after which the training ends: memory that is short kills the next one, too."""


class Actor:
    """Worker of the engine, in a process of Ray.

    Args:
        path: ``sys.path`` of the trainer.
        settings: of the training.
        make_game: makes a game.
        seed: of the training.
        threads: of the arithmetic.
    """

    def __init__(
        self, path: list[str], settings: MultiModelConfig, make_game: Callable[[], TextGame], seed: int, threads: int
    ) -> None:
        begin_actor(path)
        torch.set_num_threads(threads)
        self._settings, self._make_game, self._seed = settings, make_game, seed
        self._population: Population | None = None

    def load(self) -> int:
        """Load the base. Return the process id."""
        self._population = made_population(self._settings, self._make_game, self._seed)
        return os.getpid()

    def play(self, settings: MultiModelConfig, state: Mapping[str, Any], part: Part) -> tuple[list[Episode], Part]:
        """Return the games of a part, and the part with its random numbers after them.

        Args:
            settings: of the training, as they are now.
            state: of the population.
            part: games.
        """
        population = self._with_weights(state)
        with population.fitting_threads():
            return InProcessEngine(settings, self._make_game, population, {}).play([part])[0], part

    def learn(
        self,
        settings: MultiModelConfig,
        state: Mapping[str, Any],
        learner_state: Mapping[str, Any],
        turns: Sequence[Turn],
        max_staleness: int,
    ) -> tuple[dict[str, float], dict[str, Any], dict[str, Any]]:
        """Update one adapter. Return metrics, and the states of the learner and the population afterwards.

        Args:
            settings: of the training, as they are now.
            state: of the population, with this adapter alone.
            learner_state: of the adapter's learner.
            turns: to learn from.
            max_staleness: as that of :meth:`AdapterLearner.learn`.
        """
        population, (name,) = self._with_weights(state), state["adapters"]
        learner = AdapterLearner(population, name, settings, derived(self._seed, name))
        learner.load_state_dict(learner_state)
        with population.fitting_threads():
            metrics = learner.learn(turns, max_staleness)
        return metrics, learner.state_dict(), population.state_dict([name]) | {"shared": {}}

    def _with_weights(self, state: Mapping[str, Any]) -> Population:
        assert self._population is not None
        try:
            self._population.load_state_dict(state)
        except CheckpointError as error:
            raise ConfigurationError(
                f"an actor has another base than the trainer ({error}): each machine needs the same files, and the "
                "same multimodel.precision"
            ) from None
        return self._population


class RayEngine:
    """Engine whose actors are processes of Ray.

    Args:
        settings: of the training.
        make_game: makes a game.
        seed: of the training.
        population: models, of which the trainer keeps the state.
        learners: of each adapter that learns.
        tell: reports a line to the user.
        clock: returns the time in seconds.
        sleep: waits so many seconds.

    Raises:
        PluginError: Ray is not installed.
        ConfigurationError: no cluster answers, or it has no room for an actor.
    """

    def __init__(
        self,
        settings: MultiModelConfig,
        make_game: Callable[[], TextGame],
        seed: int,
        population: Population,
        learners: Mapping[str, AdapterLearner],
        tell: Callable[[str], None] = lambda text: None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._settings = settings
        self._population = population
        self._learners = learners
        self._tell = tell
        self._closing = ExitStack()
        self._idle: list[Any] = []
        self._starting: dict[Any, Any] = {}
        """Actors by the reference to what they do first, or what nobody waits for any more."""
        self._pauses: Iterator[float] | None = None
        """Pauses after failed starts; None after a start that did not fail."""
        self._starts_at: list[float] = []
        """Times at which actors are started again after failed starts."""
        self.process_ids: list[int] = []
        """Process of each actor that has started, on its own machine; lost ones included."""
        wanted = settings.actors
        self._ray: ModuleType = self._closing.enter_context(ray_cluster(settings.ray_address, wanted))
        try:
            room = room_for(self._ray, wanted, settings.gpus_per_actor, "engine = ray")
            if room < wanted:
                tell(f"actors = {wanted}: the Ray cluster has room for {room}, which do the work of all.")
            threads = max(torch.get_num_threads() // (1 if settings.ray_address else room), 1)
            kind = self._ray.remote(num_cpus=1, num_gpus=settings.gpus_per_actor, scheduling_strategy="SPREAD")(Actor)
            self._start: Callable[[], Any] = lambda: kind.remote(sys.path, settings, make_game, seed, threads)
            for _ in range(room):
                self._start_one()
        except BaseException:
            self.close()
            raise

    def play(self, parts: Sequence[Part]) -> list[list[Episode]]:
        """Return the games of each part."""
        state = self._ray.put(self._population.state_dict())
        found = []
        for part, (episodes, after) in zip(
            parts, self._run([("play", (self._settings, state, part)) for part in parts]), strict=True
        ):
            part.generator.set_state(after.generator.get_state())
            for name, player in part.players.items():
                if isinstance(player, RandomPlayer | ScriptedPlayer):
                    player.random.bit_generator.state = after.players[name].random.bit_generator.state
            found.append(episodes)
        return found

    def learn(self, turns: Mapping[str, Sequence[Turn]], max_staleness: int) -> dict[str, dict[str, float]]:
        """Update the adapters side by side, each from its turns."""
        jobs = [
            (
                "learn",
                (
                    self._settings,
                    self._population.state_dict([name]),
                    self._learners[name].state_dict(),
                    its,
                    max_staleness,
                ),
            )
            for name, its in turns.items()
        ]
        found = {}
        for name, (metrics, learner, population) in zip(turns, self._run(jobs), strict=True):
            self._population.load_state_dict(population)
            self._learners[name].load_state_dict(learner)
            found[name] = metrics
        return found

    def close(self) -> None:
        """End the actors, and a local cluster with them."""
        for actor in [*self._idle, *self._starting.values()]:
            with suppress(Exception):  # the cluster may be gone
                self._ray.kill(actor)
        self._idle, self._starting = [], {}
        self._closing.close()

    def _start_one(self) -> None:
        actor = self._start()
        self._starting[actor.load.remote()] = actor

    def _start_later(self, reason: str, *, alone: bool) -> None:
        """Start an actor again after a pause: the cluster may not know yet that a node is lost.

        Args:
            reason: of the failed start.
            alone: True if no other actor can do the work.

        Raises:
            TrainingError: no actor could be started for two minutes.
        """
        self._pauses = self._pauses or start_pauses(self._clock)
        pause = next(self._pauses, None)
        if pause is not None:
            self._starts_at.append(self._clock() + pause)
        elif alone and not self._starts_at:
            raise TrainingError(f"no actor of Ray could be started for {SECONDS_TO_PLACE:.0f} s: {reason}")

    def _next_done(self, busy: Mapping[Any, Any]) -> Any:
        """Return a reference to what an actor has done, or None when it was time to start one again."""
        pause = max(min(self._starts_at) - self._clock(), 0.0) if self._starts_at else None
        done = []
        if references := [*busy, *self._starting]:
            timeout_s = None if busy else SECONDS_TO_PLACE
            done, _ = self._ray.wait(references, num_returns=1, timeout=timeout_s if pause is None else pause)
        elif pause is not None:
            self._sleep(pause)
        if done:
            return done[0]
        if pause is None:
            raise TrainingError(
                f"the Ray cluster has started no actor for {SECONDS_TO_PLACE:.0f} s: it has too few free resources"
            )
        self._starts_at.remove(min(self._starts_at))
        self._start_one()
        return None

    def _run(self, jobs: Sequence[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """Return the results of jobs, each a method of an actor and its arguments."""
        ray, waiting, results = self._ray, deque(range(len(jobs))), dict[int, Any]()
        busy: dict[Any, tuple[Any, int]] = {}
        losses = [0] * len(jobs)
        try:
            while len(results) < len(jobs):
                while waiting and self._idle:
                    actor, job = self._idle.pop(0), waiting.popleft()
                    method, arguments = jobs[job]
                    busy[getattr(actor, method).remote(*arguments)] = actor, job
                reference = self._next_done(busy)
                if reference is None:
                    continue
                actor, job = busy.pop(reference) if reference in busy else (self._starting.pop(reference), -1)
                try:
                    found = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    self._idle.append(actor)
                    if job < 0 and not isinstance(error.cause, ConfigurationError):
                        continue  # of a job that nobody waits for
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    reason = str(error).strip().partition("\n")[0]
                    with suppress(Exception):
                        ray.kill(actor)
                    if job < 0:
                        self._start_later(reason, alone=not (busy or self._idle or self._starting))
                        continue
                    waiting.appendleft(job)
                    losses[job] += 1
                    self._tell("An actor of Ray was lost; another one does its work again.")
                    if losses[job] > MOST_LOSSES:
                        raise TrainingError(f"actors of Ray were lost {MOST_LOSSES + 1} times: {reason}") from None
                    self._start_one()
                    continue
                self._idle.append(actor)
                if job >= 0:
                    results[job] = found
                elif isinstance(found, int):
                    self.process_ids.append(found)
                    self._pauses = None
        finally:
            self._starting |= {reference: actor for reference, (actor, _) in busy.items()}
        return [results[job] for job in range(len(jobs))]
