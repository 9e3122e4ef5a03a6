"""Number of environments that this machine has cores and memory for, measured on one environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil

from pkmncli.errors import ConfigurationError
from pkmncli.plurals import counted
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import WorkerSpec

MANY = 8
"""Number of environments up to which memory is not checked."""
WORKERS_PER_CORE = 4
"""Workers for each core beyond which more of them bring nothing: they also wait for the learner and for each other."""

LIMIT_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
"""Files with the limit and the use of memory of a container, bytes; cgroup version 2, then 1."""


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_bytes() -> int:
    """Return the memory that processes can still take, swap included, within the limit of a container."""
    free = psutil.virtual_memory().available + psutil.swap_memory().free
    for limit, used in LIMIT_FILES:
        try:
            taken = int(Path(used).read_text()) - _cached_bytes(Path(used).with_name("memory.stat"))
            free = min(free, int(Path(limit).read_text()) - taken)
        except (OSError, ValueError):  # no container, or one without a limit
            continue
    return int(max(free, 0))


def _cached_bytes(stat: Path) -> int:
    """Return the bytes of files that a container's memory keeps, and gives up when programs need it."""
    try:
        values = dict(line.split() for line in stat.read_text().splitlines())
    except OSError:
        return 0
    return int(values.get("total_inactive_file", values.get("inactive_file", 0)))


def check_capacity(spec: WorkerSpec, tell: Callable[[str], None], *, cores: int | None = None) -> None:
    """Check that there is room for many environments, before they start. A few are not checked.

    Args:
        spec: how to build them.
        tell: takes a line if there are more of them than the cores keep busy.
        cores: processor cores; those of this machine by default.

    Raises:
        ConfigurationError: the memory does not suffice; the message says how many environments fit.
    """
    cores = cores or usable_cores()
    workers = len(spec.groups)
    elsewhere = spec.ray and spec.ray_address is not None  # Ray counts the cores of a cluster
    if elsewhere or spec.num_envs <= max(MANY, cores):
        return
    free = free_bytes()
    per_worker = _worker_bytes(spec)
    if workers * per_worker > free:
        fit = free // per_worker * spec.envs_per_worker
        raise ConfigurationError(
            f"envs = {spec.num_envs}: {counted(workers, 'worker')} take {_in_words(workers * per_worker)} of "
            f"memory, and {_in_words(free)} are free: at most {fit} fit"
        )
    if workers > WORKERS_PER_CORE * cores:
        most = WORKERS_PER_CORE * cores * spec.envs_per_worker
        tell(
            f"{spec.num_envs} environments in {counted(workers, 'worker')} on {counted(cores, 'core')}: more "
            f"than about {most} bring nothing, and they take long to start."
        )


def _worker_bytes(spec: WorkerSpec) -> int:
    """Return the memory that a worker with one environment has for itself after its first reset."""
    with WorkerPool(replace(spec, num_envs=1, envs_per_worker=1, window=False, ray=False)) as pool:
        pool.reset()
        process = psutil.Process(pool.process_id(0))
        try:
            return max(int(process.memory_full_info().uss), 1)
        except psutil.AccessDenied:
            return 1  # then only the cores are checked


def _in_words(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
