"""Processes that trainings start to step environments and to learn."""

from __future__ import annotations

import contextlib

import psutil


def training_processes(process_id: int | None = None) -> list[psutil.Process]:
    """Return the workers and learning processes of a process, by default this one; not the server that forks them."""
    found = []
    for process in psutil.Process(process_id).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            parent = process.parent()
            forked = parent is not None and "forkserver" in " ".join(parent.cmdline())
            if forked or "spawn_main" in " ".join(process.cmdline()):
                found.append(process)
    return found


def orphans() -> set[psutil.Process]:
    """Return all processes of trainings, servers included, that have outlived the training."""
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess):
            command = " ".join(process.cmdline())
            if process.ppid() == 1 and ("spawn_main" in command or "multiprocessing.forkserver" in command):
                found.add(process)
    return found
