"""Engine on Ray: parts of a batch are played, and adapters are updated, in actors on one machine or several.

Any actor can do any job, and one whose actor was lost is done again by another, to the same result.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from pkmn_multimodel.actor import Actor, take_games, take_updates, updates_of
from pkmncli.api.ray_cluster import SECONDS_TO_PLACE, ray_cluster, room_for, start_pauses
from pkmncli.errors import TrainingError

if TYPE_CHECKING:
    from pkmn_multimodel.engines import Part
    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.objectives import AdapterLearner
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.rollouts import Episode, Turn
    from pkmn_multimodel.settings import MultiModelConfig

MOST_LOSSES = 3
"""Losses of actors at the same job after which the training ends: memory that is short kills the next one, too."""


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
        self._placing: set[Any] = set()
        """References to the process ids of actors that the cluster has not started yet."""
        self._unwanted: set[Any] = set()
        """References whose results nobody waits for: they only show that the actor is idle again."""
        self._pauses: Iterator[float] | None = None
        """Pauses after failed starts; None after a start that did not fail."""
        self._starts_at: list[float] = []
        """Times at which actors are started again after failed starts."""
        self.process_ids: list[int] = []
        """Process of each actor that has loaded the base, on its own machine; lost ones included."""
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
        return take_games(parts, self._run([("play", (self._settings, state, part)) for part in parts]))

    def learn(self, turns: Mapping[str, Sequence[Turn]], max_staleness: int) -> dict[str, dict[str, float]]:
        """Update the adapters side by side, each from its turns."""
        jobs = updates_of(self._settings, self._population, self._learners, turns, max_staleness)
        found = dict(zip(turns, self._run([("learn", arguments) for arguments in jobs]), strict=True))
        return take_updates(self._population, self._learners, found)

    def close(self) -> None:
        """End the actors, and a local cluster with them."""
        for actor in [*self._idle, *self._starting.values()]:
            self._kill(actor)
        self._idle, self._starting, self._placing, self._unwanted = [], {}, set(), set()
        self._closing.close()

    def _kill(self, actor: Any) -> None:
        with suppress(Exception):  # the cluster may be gone
            self._ray.kill(actor)

    def _start_one(self) -> None:
        actor = self._start()
        placing = actor.process_id.remote()
        self._starting[placing] = actor
        self._placing.add(placing)

    def _check_idle(self) -> None:
        """Have idle actors prove that they live before they get work: a lost node takes several with it."""
        checks = {actor.process_id.remote(): actor for actor in self._idle}
        self._unwanted |= checks.keys()
        self._starting |= checks
        self._idle.clear()

    def _taken_out(self, reference: Any) -> tuple[bool, bool]:
        """Return True for the reference of a placement, and True for one whose result nobody waits for."""
        found = reference in self._placing, reference in self._unwanted
        self._placing.discard(reference)
        self._unwanted.discard(reference)
        return found

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
            timeout_s = SECONDS_TO_PLACE if self._placing.issuperset(references) else None
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
                placed, unwanted = self._taken_out(reference)
                try:
                    found = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    self._idle.append(actor)
                    if unwanted:
                        continue
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    reason = str(error).strip().partition("\n")[0]
                    self._kill(actor)
                    if job < 0:
                        self._start_later(reason, alone=not (busy or self._idle or self._starting))
                        continue
                    waiting.appendleft(job)
                    losses[job] += 1
                    self._tell("An actor of Ray was lost; another one does its work again.")
                    if losses[job] > MOST_LOSSES:
                        raise TrainingError(f"actors of Ray were lost {MOST_LOSSES + 1} times: {reason}") from None
                    self._start_one()
                    self._check_idle()
                    continue
                if placed:
                    self._starting[actor.load.remote()] = actor
                    continue
                self._idle.append(actor)
                if job >= 0:
                    results[job] = found
                elif not unwanted:
                    self.process_ids.append(found)
                    self._pauses = None
        finally:
            self._starting |= {reference: actor for reference, (actor, _) in busy.items()}
            self._unwanted |= busy.keys()
        return [results[job] for job in range(len(jobs))]
