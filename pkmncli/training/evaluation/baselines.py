"""Pilot and random play on the starts of an evaluation: what a learner is compared with, played once a run."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmncli.api import EpisodeSummary
from pkmncli.atomic_files import read_json, write_json
from pkmncli.diagnostics import say
from pkmncli.errors import RunError
from pkmncli.training.display.verdict import PLAYERS
from pkmncli.training.evaluation.evaluation import PilotPolicy, Policy, RandomPolicy, evaluate

if TYPE_CHECKING:
    from pkmncli.training.workers.pool import WorkerPool
    from pkmncli.training.workers.spec import WorkerSpec

BASELINES_FILE = "baselines.json"
"""In a run's folder."""


def players(*, has_pilot: bool) -> list[str]:
    """Return the baselines that can be played: ``pilot`` where the environments have one, and ``random``."""
    return ["pilot", "random"] if has_pilot else ["random"]


class Baselines:
    """Pilot and random play from the starts of an evaluation, or what an earlier evaluation found.

    Args:
        file: where results are kept, by all that decides them: environment, pilot, seed.
        pool: environments, built for evaluation, which has separate seeds.
    """

    def __init__(self, file: Path, pool: WorkerPool) -> None:
        self._file = file
        self.pool = pool

    @property
    def players(self) -> list[str]:
        """The baselines that can be played: ``pilot`` where the environments have one, and ``random``."""
        return players(has_pilot=self.pool.spec.pilot is not None)

    def find(
        self, who: str, episodes: int, *, on_step: Callable[[int, float], None], interrupted: Callable[[], bool]
    ) -> list[EpisodeSummary]:
        """Return the first ``episodes`` episodes of one of :attr:`players`; fewer only when interrupted.

        Where results cannot be written, that is reported, and they are played again the next time.
        """
        kept, key = self._read(), self._key(who)
        if len(kept.get(key, ())) >= episodes:
            with contextlib.suppress(TypeError):  # edited, or of another version: they are played again
                return [EpisodeSummary(**self._as_now(row)) for row in kept[key][:episodes]]
        seed = self.pool.spec.seed
        policy: Policy = PilotPolicy() if who == "pilot" else RandomPolicy(seed)
        played = evaluate(self.pool, policy, episodes, seed=seed, on_step=on_step, interrupted=interrupted)
        summaries = [one.summary for one in played]
        if len(summaries) == episodes:
            try:
                write_json(self._file, {**kept, key: [asdict(one) for one in summaries]})
            except RunError as error:
                say(f"{error}; until then {PLAYERS[who]} is played anew each time")
        return summaries

    def _as_now(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row of an earlier version, which counted every end of an episode as its goal, as one of now."""
        found = {**row}
        if "success" not in found and self.pool.goal is not None:
            found["success"] = found.get("terminated")
        return found

    def _key(self, who: str) -> str:
        return f"{who}-{_digest(self.pool.spec, who)}"

    def _read(self) -> dict[str, list[dict[str, Any]]]:
        try:
            content = read_json(self._file)
        except (OSError, ValueError):
            return {}  # missing or damaged: they are played again
        return {key: rows for key, rows in content.items() if isinstance(rows, list)}


def _digest(spec: WorkerSpec, who: str) -> str:
    """Return a hash of all that decides how a baseline plays."""
    parts: list[Any] = [spec.seed, spec.environment.target, _plain(spec.environment.settings)]
    if who == "pilot" and spec.pilot is not None:
        parts += [spec.pilot.target, _plain(spec.pilot.settings)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without those that change only the observation, which baselines do not use."""
    return {
        name: value
        for name, value in settings.items()
        if name not in ("observation_type", "goals", "screen", "render_mode")
    }
