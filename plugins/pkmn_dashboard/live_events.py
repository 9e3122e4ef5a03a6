"""What viewers are told of a training that goes on: server-sent events with its state, latest decisions and screens.

Each viewer gets the newest there is, at its own rate; the board is read and screens are encoded once for all of them.
A viewer that is slow misses what was in between, and one that never reads is waited for by nobody.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from pkmn_dashboard.pictures import png
from pkmn_dashboard.watched_run import WatchedRun
from pkmncli.api import Action, Source
from pkmncli.api.live import LiveState, LiveTraining

MOST_VIEWERS = 64
HIGHEST_RATE = 15.0
"""Pictures a second, at most."""

HIGHEST_RATE_OF_ALL = 40.0
"""Pictures a second over all viewers, who share it when they are many, so that a crowd costs no more than a few."""

SECONDS_BETWEEN_STATES = 1.0
"""How often a viewer without pictures is told."""

SPEED_SECONDS = 3.0
"""What the speed is taken over."""


_ACTIONS = {int(action): action.name.lower() for action in Action}
_SOURCES = {int(source): source.name.lower() for source in Source}


class LiveEvents:
    """The live state of one run, for any number of viewers. Used by one event loop.

    Args:
        run: the run.
        ended: whether the server is about to end.
    """

    def __init__(self, run: WatchedRun, ended: Callable[[], bool] = lambda: False) -> None:
        self._run = run
        self._ended = ended
        self._read_at = -math.inf
        self._state_text = "{}"
        self._pictures: list[tuple[int, bytes, str]] = []
        """Of each environment: how often it changed, its pixels, and the same as a PNG file in base64."""
        self._rates: list[float] = []
        """Pictures a second that each viewer wants."""
        self._past: deque[tuple[float, int, float]] = deque(maxlen=256)
        """When, steps and seconds of training, of the states read lately."""

    async def events(self, rate: float, *, pictures: bool) -> AsyncIterator[str]:
        """The events for one viewer, until the server ends."""
        pictures = pictures and rate > 0
        wanted = min(rate, HIGHEST_RATE) if pictures else 0.0
        sent: dict[int, int] = {}
        self._rates.append(wanted)
        try:
            yield "retry: 2000\n\n"
            while not self._ended():
                self._refresh()
                parts = []
                for index, (version, _, text) in enumerate(self._pictures if pictures else ()):
                    if sent.get(index) != version:
                        sent[index] = version
                        parts.append(f'"{index}":"{text}"')
                yield f'event: live\ndata: {{"state":{self._state_text},"screens":{{{",".join(parts)}}}}}\n\n'
                await asyncio.sleep(1 / self._fair(wanted) if pictures and self._pictures else SECONDS_BETWEEN_STATES)
            yield "event: end\ndata: {}\n\n"
        finally:
            self._rates.remove(wanted)

    def _fair(self, rate: float) -> float:
        """What a viewer gets of the rate that it wants."""
        return min(rate, HIGHEST_RATE_OF_ALL / max(len(self._rates), 1))

    @property
    def viewers(self) -> int:
        """How many are listening."""
        return len(self._rates)

    def state(self) -> dict[str, Any]:
        """The newest state."""
        self._refresh()
        content: dict[str, Any] = json.loads(self._state_text)
        return content

    def _refresh(self) -> None:
        """Reads the board, if that was not done just now."""
        now = time.monotonic()
        if now - self._read_at < 1 / HIGHEST_RATE:
            return
        self._read_at = now
        training = self._run.training()
        if training is None:
            self._pictures, self._past = [], deque(maxlen=256)
            self._state_text = json.dumps({"run": "ended", "may_control": False, "environments": []})
            return
        training.watch(2 * SECONDS_BETWEEN_STATES + 1, self._fair(max(self._rates, default=0.0)))
        self._state_text = json.dumps(self._described(training, training.state(), now))
        self._take_pictures(training)

    def _described(self, training: LiveTraining, state: LiveState, now: float) -> dict[str, Any]:
        known = state.age_s is not None
        if known:
            self._past.append((now, state.steps, state.elapsed_s))
        while len(self._past) > 2 and now - self._past[0][0] > SPEED_SECONDS:
            self._past.popleft()
        return {
            "run": "paused" if state.paused else "running",
            "may_control": self._run.may_control,
            "steps": state.steps if known else None,
            "episodes": state.episodes if known else None,
            "elapsed_s": round(state.elapsed_s, 1) if known else None,
            "fraction_done": state.fraction_done if known else None,
            "steps_per_second": None if state.paused else self._speed(),
            "age_s": None if state.age_s is None else round(state.age_s, 1),
            "answers": state.answers,
            "message": state.message,
            "environments": [_decision(row) for row in training.records()] if known else [],
        }

    def _speed(self) -> float | None:
        if len(self._past) < 2:
            return None
        _, steps, seconds = self._past[0]
        _, steps_now, seconds_now = self._past[-1]
        return round((steps_now - steps) / (seconds_now - seconds), 1) if seconds_now > seconds else None

    def _take_pictures(self, training: LiveTraining) -> None:
        screens = training.screens()
        if screens is None:
            self._pictures = []
            return
        if len(self._pictures) != len(screens):
            self._pictures = [(0, b"", "")] * len(screens)
        for index, screen in enumerate(screens):
            content = screen.tobytes()
            version, before, _ = self._pictures[index]
            if content != before:
                self._pictures[index] = (version + 1, content, base64.b64encode(png(screen)).decode())


def _decision(record: Any) -> dict[str, Any]:
    """The latest decision of an environment, for people."""
    return {
        "episode": int(record["episode"]),
        "step": int(record["step"]),
        "action": _ACTIONS.get(int(record["action"]), "?"),
        "source": _SOURCES.get(int(record["source"]), "?"),
        "confidence": _finite(record["confidence"]),
        "reward": _finite(record["reward"]),
        "reason": bytes(record["reason"]).decode(errors="ignore"),
        "map_id": int(record["map_id"]),
        "x": int(record["x"]),
        "y": int(record["y"]),
        "phase": int(record["phase"]),
        "milestones": int(record["milestones"]),
    }


def _finite(value: Any) -> float | None:
    number = float(value)
    return round(number, 4) if math.isfinite(number) else None
