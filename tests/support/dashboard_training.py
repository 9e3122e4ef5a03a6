"""A real training on the bundled game with a live page, in a process of its own, for tests of that page."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from support.warm_python import WarmProcess

REPLY = {"goal": "look around", "skill": "press", "presses": ["right", "up", "a"], "confidence": 0.9, "reason": "look"}
SMALL = [
    "--max-steps-per-episode=40",
    "--save-interval=500000",
    "--set=dqn.learning_starts=40",
    "--set=dqn.batch_size=8",
    "--set=dqn.screen_channels=[4,8]",
    "--set=dqn.screen_features=16",
    "--set=dqn.vector_features=8",
    "--set=dqn.head_features=16",
]
DEADLINE_S = 90.0


@dataclass
class PageTraining:
    """A training that goes on, and where its page is."""

    process: WarmProcess
    url: str
    folder: Path

    def get(self, path: str) -> Any:
        """What the page's server answers."""
        with urllib.request.urlopen(f"{self.url}api/{path}", timeout=DEADLINE_S) as answer:
            return json.load(answer)

    def post(self, path: str) -> None:
        """Asks something of the training."""
        request = urllib.request.Request(f"{self.url}api/{path}", method="POST", headers={"x-pkmn-action": "1"})
        urllib.request.urlopen(request, timeout=DEADLINE_S).close()

    def server(self) -> psutil.Process:
        """The process that serves the page."""
        (found,) = [
            child
            for child in psutil.Process(self.process.pid).children()
            if "pkmn_dashboard.server_process" in child.cmdline()
        ]
        return found


@contextlib.contextmanager
def page_training(folder: Path, *arguments: str) -> Iterator[PageTraining]:
    """Trains in ``folder`` while it is entered, with advice from a file."""
    replies = folder / "replies.toml"
    replies.write_text(f"[[reply]]\ntext = '{json.dumps(REPLY)}'\n")
    command = [
        *("train", "--dashboard", "--run-name=it", "--steps=2000000"),
        *(
            *SMALL,
            "--llm=scripted",
            "--llm-interval=10",
            "--strategy=llm-heavy",
            f"--set=scripted.file={replies}",
            "--llm-price==0.5/1.5",
            *arguments,
        ),
    ]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PKMN_LLM_ALLOWANCE": "1"}
    process = WarmProcess(*command, cwd=folder, env=environment)
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            found = re.match(r"Live page: (http://\S+)", line)
            if found:
                break
        else:
            raise AssertionError(f"no page is served: {lines}")
        yield PageTraining(process, found[1], folder / "runs" / "it")
    finally:
        process.kill()
        with process:
            pass


def wait_until(what: Callable[[], Any], seconds: float = DEADLINE_S) -> Any:
    """Asks again and again until the answer is true, and returns it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = what()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def chromium() -> str | None:
    """Path of a Chromium or Chrome."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)
