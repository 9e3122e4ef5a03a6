"""Recording of decisions by a program, one by one, each with its outcome, in a separate folder."""

from __future__ import annotations

import json
import math
import time
import weakref
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmn_decisions.store.game_states import state_columns, state_hash, state_variables
from pkmn_decisions.store.previous import MOST_ACTION, PreviousActions
from pkmn_decisions.store.store import DuckDBStore
from pkmn_decisions.store.view import STANDALONE_FILE, RunViews
from pkmncli.api import Source
from pkmncli.errors import DecisionValidationError, RunError

if TYPE_CHECKING:
    from filelock import BaseFileLock

_FLUSH_EVERY = 256
_FLUSH_SECONDS = 60.0


class RecordingByHand:
    """Recording of one episode of decisions, in a folder that no other process records in meanwhile."""

    def __init__(self, folder: Path) -> None:
        """Open the folder, which is made if it is missing; the decisions of earlier recordings stay.

        Raises:
            DecisionValidationError: the folder has other content.
            RunError: another process records there, or the folder cannot be written.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 - imports asyncio, which reading does not need

        marker = folder / STANDALONE_FILE
        if not marker.exists() and folder.is_dir() and any(folder.iterdir()):
            raise DecisionValidationError(
                f"{folder} was not made by recording decisions by hand: give record_decision another path."
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock: BaseFileLock = FileLock(folder / "standalone.lock")
            self._lock.acquire(timeout=0)
            marker.write_text(json.dumps({"horizon": 1}) + "\n", encoding="utf-8")
        except Timeout:
            raise RunError(f"{folder} is in use by another process: wait for it, or choose another path.") from None
        except OSError as error:
            raise RunError(f"Decisions cannot be stored in {folder}: {error.strerror}. Choose another path.") from error
        views = RunViews([folder], horizon=1, threads=1)
        _, rows = views.query("SELECT coalesce(max(global_step), 0), coalesce(max(episode) + 1, 0) FROM decision_rows")
        views.close()
        self._global_step, self._episode = rows[0]
        self._step = 0
        self._previous = PreviousActions()
        self._flushed = time.monotonic()
        self._store = DuckDBStore(folder)
        # A script may end without closing: its recorded decisions must not be lost.
        self._at_exit = weakref.finalize(self, self._store.close)

    def add(self, game_state: Any, action_taken: int, reasoning: str, confidence: float, outcome_reward: float) -> None:
        """Record one decision; see :meth:`pkmn_decisions.analyzer.DecisionHistoryAnalyzer.record_decision`."""
        state = state_variables(game_state)
        values: dict[str, Any] = {
            "global_step": self._global_step + 1,
            "environment": 0,
            "episode": self._episode,
            "step": self._step + 1,
            "time": time.time(),
            "action": action_taken,
            "source": int(Source.RULE),
            "confidence": confidence,
            "reward": outcome_reward,
            "terminated": False,
            "truncated": False,
            "frames": 0,
            "coarse_hash": state_hash(state),
            "fine_hash": 0,
            "reason": reasoning,
            "near_return": outcome_reward,
            **self._previous.columns(),
            **state_columns(state),
        }
        self._store.append("decisions", {name: [value] for name, value in values.items()})
        self._global_step += 1
        self._step += 1
        self._previous.add(int(action_taken))
        if self._step % _FLUSH_EVERY == 0 or time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write recorded decisions to disk."""
        self._flushed = time.monotonic()
        self._store.flush()

    def close(self) -> None:
        """Write recorded decisions to disk and release the folder."""
        try:
            self._store.close()
        finally:
            self._at_exit.detach()
            self._lock.release()


def check_decision(action_taken: int, confidence: float, outcome_reward: float) -> None:
    """Check that a decision's numbers are valid.

    Raises:
        DecisionValidationError: one is not a number, or out of its range.
    """
    if not (isinstance(action_taken, Integral) and 0 <= action_taken <= MOST_ACTION):
        raise DecisionValidationError(
            f"The action must be a whole number between 0 and {MOST_ACTION}, not {action_taken!r}."
        )
    if not (isinstance(confidence, Real) and 0 <= confidence <= 1):
        raise DecisionValidationError(f"The confidence must be a number between 0 and 1, not {confidence!r}.")
    if not (isinstance(outcome_reward, Real) and math.isfinite(outcome_reward)):
        raise DecisionValidationError(f"The outcome's reward must be a finite number, not {outcome_reward!r}.")
