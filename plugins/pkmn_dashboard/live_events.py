"""Live events of a running training for viewers: its state, latest decisions and screens.

Each viewer gets the newest state, at its own rate; the board is read and screens are encoded once for all of them. A
slow viewer misses states in between, and nothing waits for one that never reads.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from pkmn_dashboard.pictures import png
from pkmn_dashboard.watched_run import WatchedRun
from pkmncli.api import Source
from pkmncli.api.live import LiveStanding, LiveState, LiveTraining

MOST_VIEWERS = 64
HIGHEST_RATE = 15.0
"""Maximum pictures per second of a viewer."""

HIGHEST_RATE_OF_ALL = 40.0
"""Maximum pictures per second of all viewers together, so that many cost no more than a few."""

SECONDS_BETWEEN_STATES = 1.0
"""Seconds between two states for a viewer without pictures."""

SECONDS_WATCHED = 2 * SECONDS_BETWEEN_STATES + 1
"""Seconds for which the trainer is asked to publish its state, each time."""

SECONDS_TO_CATCH_UP = 0.2
"""Seconds to wait for a new state if nobody watched before; the trainer publishes between two steps."""


_SOURCES = {int(source): source.name.lower() for source in Source}


class LiveEvents:
    """Live state of one run, for any number of viewers. Used by one event loop.

    Args:
        run: the run.
        ended: returns whether the server is about to end.
    """

    def __init__(self, run: WatchedRun, ended: Callable[[], bool] = lambda: False) -> None:
        self._run = run
        self._ended = ended
        self._read_at = -math.inf
        self._state_text = "{}"
        self._pictures: list[tuple[int, bytes, str]] = []
        """For each environment: number of changes, pixels, and the same as a PNG file in base64."""
        self._rates: list[float] = []
        """Requested pictures per second of each viewer."""

    async def events(self, rate: float, *, pictures: bool) -> AsyncIterator[str]:
        """Yield the events for one viewer, until the server ends."""
        pictures = pictures and rate > 0
        wanted = min(rate, HIGHEST_RATE) if pictures else 0.0
        sent: dict[int, int] = {}
        self._rates.append(wanted)
        try:
            yield "retry: 2000\n\n"
            while not self._ended():
                await self._catch_up()
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
        """Return the rate that a viewer gets, given its requested rate."""
        return min(rate, HIGHEST_RATE_OF_ALL / max(len(self._rates), 1))

    @property
    def viewers(self) -> int:
        """Number of viewers."""
        return len(self._rates)

    async def state(self) -> dict[str, Any]:
        """Return the newest state."""
        await self._catch_up()
        self._refresh()
        content: dict[str, Any] = json.loads(self._state_text)
        return content

    async def _catch_up(self) -> None:
        """Wait a moment for a newer state if nobody has watched for a while."""
        began = time.monotonic()
        training = self._run.training()
        if training is None or began - self._read_at < SECONDS_WATCHED:
            return
        self._watch(training)
        while (passed := time.monotonic() - began) < SECONDS_TO_CATCH_UP:
            age_s = training.state().age_s
            if age_s is not None and age_s < passed:
                return
            await asyncio.sleep(0.01)

    def _watch(self, training: LiveTraining) -> None:
        training.watch(SECONDS_WATCHED, self._fair(max(self._rates, default=0.0)))

    def _refresh(self) -> None:
        """Read the board, unless it was read just now."""
        now = time.monotonic()
        if now - self._read_at < 1 / HIGHEST_RATE:
            return
        self._read_at = now
        training = self._run.training()
        if training is None:
            self._pictures = []
            self._state_text = json.dumps({"run": "ended", "may_control": False, "environments": []})
            return
        self._watch(training)
        self._state_text = json.dumps(self._described(training, training.state()))
        self._take_pictures(training)

    def _described(self, training: LiveTraining, state: LiveState) -> dict[str, Any]:
        known = state.age_s is not None
        return {
            "run": "paused" if state.paused else "running",
            "may_control": self._run.may_control,
            "steps": state.steps if known else None,
            "episodes": state.episodes if known else None,
            "elapsed_s": round(state.elapsed_s, 1) if known else None,
            "fraction_done": state.fraction_done if known else None,
            "steps_per_second": round(state.steps_per_second, 1) or None,
            "age_s": None if state.age_s is None else round(state.age_s, 1),
            "answers": state.answers,
            "message": state.message,
            "doing": state.doing if known else "",
            "environments": [
                {**_decision(row, self._run.action_names()), **_standing(row, standing, self._run.frames_per_second())}
                for row, standing in zip(training.records(), training.standings(), strict=True)
            ]
            if known
            else [],
        }

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


def _decision(record: Any, actions: Sequence[str]) -> dict[str, Any]:
    """Return the latest decision of an environment in words."""
    action = int(record["action"])
    return {
        "episode": int(record["episode"]),
        "step": int(record["step"]),
        "action": actions[action] if action < len(actions) else f"action_{action}",
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


def _standing(record: Any, standing: LiveStanding, frames_per_second: float) -> dict[str, Any]:
    """Return the progress of an environment's episode in words."""
    return {
        "played_s": round(int(record["frames"]) / frames_per_second, 1),
        "latest_milestone": standing.milestones[-1][0] if standing.milestones else None,
        "progress": dict(standing.progress),
        "steps_since_progress": standing.steps_since_progress,
    }


def _finite(value: Any) -> float | None:
    number = float(value)
    return round(number, 4) if math.isfinite(number) else None
