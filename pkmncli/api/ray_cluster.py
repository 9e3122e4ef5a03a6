"""Connection to Ray: to a cluster by its address, or to a local one on loopback that ends with this program.

Ray sends no usage statistics from here, and prints nothing. ``python -m pkmncli.api.ray_cluster`` is the process that
ends a local cluster whose program was killed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from pkmncli.errors import ConfigurationError, PluginError, TrainingError

SECONDS_TO_CONNECT = 5.0
"""Maximum seconds in which a cluster accepts a connection."""
SECONDS_TO_PLACE = 120.0
"""Maximum seconds in which a cluster finds room for one of the actors and starts its process."""
_HTTP2_BEGIN = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""First words of a client to a gRPC server (RFC 9113, 3.4), which a cluster is: a preface and empty settings."""
_HTTP2_SETTINGS = b"\x04"
"""Kind of the frame that such a server answers with."""
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_LOCAL = {
    # so that other users of this machine can't run code in it; one for all clusters, since Ray reads it once
    "RAY_AUTH_TOKEN": secrets.token_hex(16),
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Ray's name for: listen on loopback alone
    "RAY_memory_monitor_refresh_ms": "0",  # other programs may use the memory; actors must not be killed for that
    "RAY_worker_niceness": "0",  # Ray's 15 leaves an actor a thirtieth of a core beside a program that wants it
}


def require_ray(setting: str) -> None:
    """Raise PluginError if Ray is not installed. Nothing is imported.

    Args:
        setting: what asks for it, as ``workers = ray``.
    """
    if find_spec("ray") is None:
        raise PluginError(f"{setting} needs ray, which is not installed; run: pip install 'pkmncli[ray]'")


def check_address(address: str) -> None:
    """Raise ConfigurationError if an address is none, or no cluster answers there. Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise ConfigurationError(
            f"ray_address = {address}: give the address of the cluster's head node as HOST:PORT, such as 10.0.0.1:6379"
        )
    try:
        with socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_CONNECT) as connection:
            connection.sendall(_HTTP2_BEGIN)
            if connection.recv(4)[3:] != _HTTP2_SETTINGS and "RAY_USE_TLS" not in os.environ:
                raise OSError("it is a server of another kind")
    except (OSError, OverflowError) as error:
        raise ConfigurationError(f"ray_address = {address}: no Ray cluster answers there: {error}") from None


@contextlib.contextmanager
def ray_cluster(address: str | None, processes: int) -> Iterator[ModuleType]:
    """Connect to a cluster, or start a local one, which ends afterwards. Yield the module ``ray``.

    Where this program is connected already, that connection is used, and stays.

    Args:
        address: ``HOST:PORT`` of the cluster's head node; None for a local cluster.
        processes: number of processor cores that a local cluster offers, one for each actor.

    Raises:
        PluginError: Ray is not installed.
        ConfigurationError: no cluster answers at the address.
        TrainingError: a local cluster can't be started.
    """
    require_ray("ray")
    if address is not None:
        check_address(address)
    with contextlib.ExitStack() as at_end:
        at_end.enter_context(_variables(_QUIET if address is not None else {**_LOCAL, **_QUIET}))
        ray = _imported()
        if ray.is_initialized():
            yield ray
            return
        settings: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        if address is not None:
            settings |= {"address": address}
        else:
            folder = tempfile.mkdtemp(prefix="pkmn-ray-")
            at_end.enter_context(_reaper(folder))
            settings |= {"address": "local", "num_cpus": processes, "include_dashboard": False, "_temp_dir": folder}
        at_end.enter_context(_nothing_printed())
        at_end.callback(ray.shutdown)
        try:
            with _signals_kept(), _standard_error_shut(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Ray's are for its own developers
                ray.init(**settings)
        except Exception as error:  # Ray has no class for these
            words = str(error).strip().partition("\n")[0] or type(error).__name__
            if address is None:
                raise TrainingError(f"no local Ray cluster can be started: {words}") from error
            raise ConfigurationError(f"ray_address = {address}: no connection to the Ray cluster: {words}") from error
        yield ray


def begin_actor(path: list[str]) -> None:
    """Set up the process of an actor: it finds the modules that the program finds, and ignores the terminal's signals.

    Args:
        path: ``sys.path`` of the program; folders that this machine does not have are ignored by Python.
    """
    sys.path.extend(one for one in path if one not in sys.path)
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def room_for(ray: ModuleType, wanted: int, gpus: float, setting: str) -> int:
    """Return how many actors of one processor core each a cluster has room for, at most ``wanted``.

    Args:
        ray: the module, connected.
        wanted: number of actors.
        gpus: graphics cards of each actor; may be a part of one.
        setting: what asks for them, for the message.

    Raises:
        ConfigurationError: there is no room for a single one.
    """
    room, nodes = 0, [node["Resources"] for node in ray.nodes() if node["Alive"]]
    for node in nodes:
        of_cores = int(node.get("CPU", 0))
        room += min(of_cores, int(node.get("GPU", 0) / gpus)) if gpus else of_cores
    if room == 0:
        offered = [f"{sum(node.get(kind, 0) for node in nodes):g} {kind}" for kind in ("CPU", "GPU")]
        raise ConfigurationError(
            f"{setting}: the Ray cluster has too few resources: {' and '.join(offered)} on {len(nodes)} node(s), "
            f"and an actor needs 1 CPU{f' and {gpus:g} GPU' if gpus else ''} of one node"
        )
    return min(room, wanted)


def start_pauses(clock: Callable[[], float] = time.monotonic) -> Iterator[float]:
    """Yield the seconds to wait after each failed start of an actor in a row, :data:`SECONDS_TO_PLACE` in all.

    A cluster places actors on a node that was lost until it has noticed the loss, which takes it some seconds.

    Args:
        clock: returns the time in seconds.
    """
    end, pause = clock() + SECONDS_TO_PLACE, 1.0
    while (left := end - clock()) > 0:
        yield min(pause, left)
        pause *= 2


def _imported() -> ModuleType:
    """Return the module ``ray``, which says only what is critical."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray  # noqa: PLC0415 - optional, and takes a while

    logging.getLogger("ray").setLevel(logging.CRITICAL)
    return ray  # type: ignore[no-any-return]


@contextlib.contextmanager
def _variables(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables meanwhile, except those that are set. Ray's processes inherit them; it sets others."""
    before = dict(os.environ)
    os.environ.update(values | before)
    try:
        yield
    finally:
        for name in [name for name in os.environ if name.startswith("RAY_") and name not in before]:
            del os.environ[name]


@contextlib.contextmanager
def _nothing_printed() -> Iterator[None]:
    """Keep what a cluster tells all programs, such as the loss of a node, from being printed: Ray has no setting."""
    module: Any = sys.modules["ray._private.worker"]
    before = getattr(module, "print_to_stdstream", None)
    module.print_to_stdstream = lambda *arguments, **named: None
    try:
        yield
    finally:
        module.print_to_stdstream = before


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep this process's handling of signals, which Ray would take over, and hide the end of the terminal from Ray."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ended = signal.getsignal(signal.SIGTERM)
    with contextlib.ExitStack() as at_end:
        at_end.callback(signal.signal, signal.SIGTERM, ended)
        if sys.platform != "win32":
            before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
            at_end.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        yield


@contextlib.contextmanager
def _standard_error_shut() -> Iterator[None]:
    """Drop what is written to standard error meanwhile: Ray's compiled part writes there until it is connected."""
    try:
        before = os.dup(2)
    except OSError:  # there is none
        yield
        return
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


@contextlib.contextmanager
def _reaper(folder: str) -> Iterator[None]:
    """Have a process end the local cluster of a folder, and remove the folder, when this one ends in any way."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        process.communicate()


def reap(folder: str) -> None:
    """End the processes of a local cluster that are left, which have their logs in its folder. Remove the folder."""
    import psutil  # noqa: PLC0415 - only the reaper needs it

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getppid() and any(file.path.startswith(f"{folder}/") for file in process.open_files()):
                process.kill()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.stdin.read()  # until the program ends
    reap(sys.argv[1])
