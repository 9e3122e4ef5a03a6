"""Command lines that are wrong, each with the exit code and a part of the line that it must end with.

A case is the command line as it is typed, the exit code, and that part. {r} is the folder of a finished run, {runs} the
folder that it is in, and {name} its name.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Case = tuple[str, int, str]

FILES = {
    "file.txt": b"hello\n",
    "empty": b"",
    "bad.toml": b"a = \n",
    "bad.json": b'{"a": 1,}',
    "list.json": b"[1]",
    "twice.json": b'{"steps": 300, "steps": 400}',
    "unknown.toml": b"sede = 1\n",
    "bytes.toml": b"\xff\xfe\x00",
    "other.gbc": bytes(32768),
    "experiment.toml": b"[experiment]\nnam = 'x'\n",
    "tune.toml": b"[tune]\nname='x'\n",
    "tune2.toml": b"[tune]\nname='x'\n[space]\n'dqn.gama' = [0.1,0.2]\n",
    "tune3.toml": b"[tune]\nname='x'\ntrials=0\n[space]\n'dqn.gamma' = [0.1,0.2]\n",
}
"""Files that are there."""


def wrong_inputs(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """Give a test these cases."""
    return pytest.mark.parametrize(("line", "code", "said"), cases, ids=[line for line, _, _ in cases])


def assert_refused(case: Case, pkmn: Callable[..., Any], shared_run: Callable[..., Path], folder: Path) -> None:
    """Run a wrong command line in a folder with the files."""
    line, code, said = case
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    run = shared_run() if "{r" in line else folder
    words = {"{r}": str(run), "{runs}": str(run.parent), "{name}": run.name}
    arguments = [words.get(word, word.replace("{r}", str(run))) for word in shlex.split(line)]
    if arguments[0] == "train" and not {"--steps", "--resume"} & set(arguments):
        arguments.append("--steps=5")  # should a case be let through after all

    result = pkmn(*arguments)

    assert result.code == code, result
    (told,) = result.err.splitlines()
    assert said in told
    assert len(told) < 3000
    assert "unexpected" not in result.err and "Traceback" not in result.err
    assert not (folder / "runs").exists() or not list((folder / "runs").rglob("checkpoints")), "nothing has begun"
