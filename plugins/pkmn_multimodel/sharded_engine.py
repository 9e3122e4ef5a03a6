"""Engine with one base sharded over processes of this machine, each with its own graphics card if there are some.

The weights of the base are sharded by FSDP of PyTorch: each process keeps its share, and all gather a layer when they
use it. So all processes must do each forward pass together; one that has no more games does empty ones. Adapters are
whole in each process. Each plays a part of the games and learns from a share of each micro-batch; the gradients are
added, so all have the same adapters. The trainer's process keeps the state of the training, and the whole base in the
memory of the processor.
"""

from __future__ import annotations

import inspect
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import cloudpickle  # type: ignore[import-untyped]
import torch
import torch.distributed as dist
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from pkmn_multimodel.actor import Actor, take_games, take_updates, updates_of
from pkmn_multimodel.objectives import Whole
from pkmn_multimodel.population.bases import device_of
from pkmncli.child_processes import begin_child, portable, start_forked
from pkmncli.errors import ConfigurationError, PkmnError, TrainingError

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection as Connection
else:
    from multiprocessing.connection import Connection

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from pkmn_multimodel.engines import Part
    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.objectives import AdapterLearner
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.rollouts import Episode, Turn
    from pkmn_multimodel.settings import MultiModelConfig

_LOOPBACK = "127.0.0.1"
_SECONDS_TO_END = 5.0
_MOST_SECONDS_APART = 600.0
"""Most seconds that a process waits for another, besides those that a batch of games may take."""


def check_shards(settings: MultiModelConfig) -> None:
    """Raise ConfigurationError if this machine has too few graphics cards, or PyTorch is too old to shard a base."""
    if "ignored_params" not in inspect.signature(fully_shard).parameters:
        raise ConfigurationError(f"engine = sharded needs torch 2.7 or newer; this is {torch.__version__}")
    device = device_of(settings.device, "multimodel.device")
    if device not in {"cpu", "cuda"}:
        raise ConfigurationError(f"engine = sharded: device = {device} is a single one; give cpu, cuda or auto")
    cards = torch.cuda.device_count() if device == "cuda" else settings.actors
    if cards < settings.actors:
        raise ConfigurationError(
            f"engine = sharded: actors = {settings.actors}, but {cards} graphics "
            f"{'card is' if cards == 1 else 'cards are'} here; each actor needs one"
        )


class _Share(Whole):
    """Share of one of several processes that learn together."""

    def __init__(self, number: int, count: int, device: str) -> None:
        self.count = count
        self._number, self._device = number, device

    def rows(self, samples: int) -> slice:
        return slice(samples * self._number // self.count, samples * (self._number + 1) // self.count)

    def add(self, tensors: Sequence[torch.Tensor]) -> None:
        together = torch.cat([tensor.reshape(-1) for tensor in tensors]).to(self._device)
        dist.all_reduce(together)
        sums = torch.split(together, [tensor.numel() for tensor in tensors])
        for tensor, summed in zip(tensors, sums, strict=True):
            tensor.copy_(summed.view_as(tensor))

    def largest(self, value: float) -> float:
        found = torch.tensor(value, dtype=torch.float64)
        dist.all_reduce(found, dist.ReduceOp.MAX)
        return float(found)


class _Steps:
    """Forward passes that all processes do together.

    Args:
        population: models on a sharded base.
    """

    def __init__(self, population: Population) -> None:
        self._population = population
        self._is_empty = False
        population.model.register_forward_pre_hook(self._before, prepend=True)

    def wait(self) -> None:
        """Do empty passes until no process has a real one to do."""
        ids = torch.zeros(1, 1, dtype=torch.long, device=self._population.device)
        while self._any(works=False):
            self._is_empty = True
            with torch.no_grad():
                self._population.model(input_ids=ids, attention_mask=torch.ones_like(ids))
            self._is_empty = False

    def _before(self, *_: Any) -> None:
        if not self._is_empty:
            self._any(works=True)

    @staticmethod
    def _any(*, works: bool) -> bool:
        flag = torch.tensor(int(works))
        dist.all_reduce(flag, dist.ReduceOp.MAX)
        return bool(flag)


class _Shard(Actor):
    """Actor with a share of the base.

    Args:
        number: of this process, from 0.
        device: cpu or cuda.
        port: where the trainer's process tells them of each other, on loopback.
        others: as those of :class:`Actor`.
    """

    def __init__(self, number: int, device: str, port: int, *others: Any) -> None:
        super().__init__(*others)
        self._number, self._count, self._port = number, self._settings.actors, port
        self._device = f"cuda:{number}" if device == "cuda" else device

    def load(self) -> int:
        """Load the base, and keep a share of it. Return the process id."""
        if sys.platform == "linux":
            for library in ("GLOO", "NCCL"):
                os.environ.setdefault(f"{library}_SOCKET_IFNAME", "lo")
        backend, kind = "gloo", "cpu"
        if self._device != "cpu":
            torch.cuda.set_device(self._device)
            backend, kind = "cpu:gloo,cuda:nccl", "cuda"
        limit = timedelta(seconds=self._settings.episode_timeout_s + _MOST_SECONDS_APART)
        store = TCPStore(_LOOPBACK, self._port, None, is_master=False, timeout=limit)
        dist.init_process_group(backend, store=store, rank=self._number, world_size=self._count, timeout=limit)
        found = super().load()
        assert self._population is not None
        shard(self._population, self._device, init_device_mesh(kind, (self._count,)))
        self._share = _Share(self._number, self._count, self._device)
        self._steps = _Steps(self._population)
        return found

    def play(self, settings: MultiModelConfig, state: Mapping[str, Any], part: Part | None) -> Any:
        """Return the games of a part and the part afterwards. Without a part, only do the forward passes of others."""
        try:
            if part is None:
                self._with_weights(state)
                found = None
            else:
                found = super().play(settings, state, part)
        except Exception as error:
            if _is_between_passes(error):
                self._steps.wait()
            raise
        self._steps.wait()
        return found

    def learn(self, *arguments: Any) -> Any:
        """Do as :meth:`Actor.learn`. Without the states in all processes but the first, which have the same."""
        metrics, learner, weights = super().learn(*arguments)
        if self._number == 0:
            return metrics, learner, weights
        return weights["versions"]


def shard(population: Population, device: str, mesh: Any) -> None:
    """Replace the weights of a base by this process's share of them. Adapters stay whole.

    Args:
        population: models, in the memory of the processor.
        device: place of this process's weights.
        mesh: processes.
    """
    model, base = population.model, population.base
    adapters = {weights for name, weights in model.named_parameters() if "lora_" in name}
    layers = set(base._no_split_modules or ())
    for module in [module for module in base.modules() if type(module).__name__ in layers]:
        fully_shard(module, mesh=mesh, ignored_params=adapters)
    fully_shard(model, mesh=mesh, ignored_params=adapters, reshard_after_forward=True)
    model.to(device)
    population.device = device


def _is_between_passes(error: BaseException | None) -> bool:
    """Return True if an error, if any, is raised only between forward passes, so that the others can continue."""
    return error is None or isinstance(error, TimeoutError | PkmnError)


def _serve(connection: Connection, number: int, device: str, port: int, made: bytes, others: Sequence[Any]) -> None:
    """Do the jobs of the trainer's process until it ends the connection."""
    begin_child()
    path, threads = others
    settings, make_game, seed = cloudpickle.loads(made)
    shard = _Shard(number, device, port, path, settings, make_game, seed, threads)
    while True:
        try:
            method, arguments = connection.recv()
        except (EOFError, OSError):
            os._exit(0)  # the groups of processes would complain that they are not ended
        try:
            found = getattr(shard, method)(*arguments)
        except Exception as error:  # reported by the trainer's process
            found = portable(error)
        connection.send(found)


class ShardedEngine:
    """Engine whose actors share the weights of one base.

    Args:
        settings: of the training.
        make_game: makes a game.
        seed: of the training.
        population: models, of which the trainer keeps the state.
        learners: of each adapter that learns.

    Raises:
        ConfigurationError: there are too few graphics cards, or PyTorch is too old.
        TrainingError: a process can't be started.
    """

    def __init__(
        self,
        settings: MultiModelConfig,
        make_game: Callable[[], TextGame],
        seed: int,
        population: Population,
        learners: Mapping[str, AdapterLearner],
    ) -> None:
        check_shards(settings)
        self._settings = settings
        self._population = population
        self._learners = learners
        self._processes: list[BaseProcess] = []
        self._connections: list[Connection] = []
        device = device_of(settings.device, "multimodel.device")
        made = cloudpickle.dumps((settings, make_game, seed))
        others = (sys.path, max(torch.get_num_threads() // settings.actors, 1))
        listener = socket.create_server((_LOOPBACK, 0))
        port = listener.getsockname()[1]
        # It listens on loopback only, which it would not by itself.
        self._store = TCPStore(
            _LOOPBACK, port, None, is_master=True, wait_for_workers=False, master_listen_fd=listener.detach()
        )
        try:
            for number in range(settings.actors):
                here, there = Pipe()
                self._connections.append(here)
                arguments = (there, number, device, port, made, others)
                self._processes.append(start_forked(_serve, arguments, name=f"pkmn-shard-{number}", preload=[__name__]))
                there.close()
            self.process_ids: list[int] = self._run("load", [()] * settings.actors)
        except BaseException:
            self.close()
            raise

    def play(self, parts: Sequence[Part]) -> list[list[Episode]]:
        """Return the games of each part."""
        state = self._population.state_dict()
        idle = [None] * (len(self._connections) - len(parts))
        found = self._run("play", [(self._settings, state, part) for part in [*parts, *idle]])
        return take_games(parts, found[: len(parts)])

    def learn(self, turns: Mapping[str, Sequence[Turn]], max_staleness: int) -> dict[str, dict[str, float]]:
        """Update the adapters one after another, each by all processes."""
        found = {}
        jobs = updates_of(self._settings, self._population, self._learners, turns, max_staleness)
        for name, arguments in zip(turns, jobs, strict=True):
            first, *versions = self._run("learn", [arguments] * len(self._connections))
            if any(version != first[2]["versions"] for version in versions):
                self.close()
                raise TrainingError(f"engine = sharded: the processes have different weights of {name} after an update")
            found[name] = first
        return take_updates(self._population, self._learners, found)

    def close(self) -> None:
        """End the processes."""
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.join(_SECONDS_TO_END if process.exitcode is None else 0)
            if process.is_alive():
                process.kill()
                process.join()
        self._connections, self._processes = [], []

    def _run(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return what a method of each process returns.

        Raises:
            TrainingError: a process was lost.
            PkmnError, TimeoutError: a process reports it; the engine can be used further.
            Exception: any other error of a process. The engine is closed.
        """
        found: dict[Connection, Any] = {}
        try:
            for connection, its in zip(self._connections, arguments, strict=True):
                connection.send((method, its))
            while len(found) < len(self._connections):
                waited = [connection for connection in self._connections if connection not in found]
                for ready in wait(waited):
                    assert isinstance(ready, Connection)
                    found[ready] = ready.recv()
                    if not _is_between_passes(failure := _error(found[ready])):
                        raise self._lost() or failure  # type: ignore[misc]
        except (EOFError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            lost = self._lost() or TrainingError(f"engine = sharded: a process does not answer: {error}")
            self.close()
            raise lost from None
        except BaseException:
            self.close()
            raise
        for each in found.values():
            if (failure := _error(each)) is not None:
                raise failure
        return [found[connection] for connection in self._connections]

    def _lost(self) -> TrainingError | None:
        """Return the error of a process that has ended, if one has."""
        wait([process.sentinel for process in self._processes], timeout=1)
        codes = [process.exitcode for process in self._processes if process.exitcode is not None]
        if not codes:
            return None
        how = f"signal {-codes[0]}" if codes[0] < 0 else f"exit code {codes[0]}"
        return TrainingError(f"engine = sharded: a process was lost ({how}); the training can be resumed")


def _error(found: Any) -> BaseException | None:
    return found if isinstance(found, BaseException) else None
