"""An agent that plays now, for someone who watches: its picture or text, and what it decides and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pkmncli.api import Source
from pkmncli.errors import RunError
from pkmncli.replay.caption import in_a_line, with_caption
from pkmncli.training.display.status import DECIDED_BY
from pkmncli.video import SCALE, enlarge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.training.evaluation.evaluation import Policy
    from pkmncli.training.workers.pool import WorkerPool


class LivePlay:
    """Episodes of an agent, step by step, one after the other.

    Args:
        title: the agent in words.
        pool: one environment, built for evaluation.
        policy: decides each step.
        episodes: number of episodes; None for as many as the viewer wants.
        interrupted: returns true to stop.
    """

    overlay = True
    caption_lines = 4

    def __init__(
        self,
        title: str,
        pool: WorkerPool,
        policy: Policy,
        *,
        episodes: int | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.title = title
        self.interrupted = interrupted
        self.ended: list[str] = []
        """Result of each ended episode in words."""
        self.pool = pool
        self._policy = policy
        self._episodes = episodes
        self._pictured: bool | None = None
        """True if the environment draws pictures; None before that was tried."""
        self.total_steps = 0
        """Steps of all episodes so far."""
        self._step = 0
        self._reward = 0.0
        self._decided = self._reason = ""

    @property
    def frames_per_second(self) -> float | None:
        """Steps per second at the real console's speed; None where the environment says none."""
        rate: float | None = self.pool.call(0, "render_rate")
        return rate

    def __iter__(self) -> Iterator[None]:
        """Play on, one step per item; the first item shows the start.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        self.pool.reset()
        yield
        while self._episodes is None or len(self.ended) < self._episodes:
            if self.interrupted():
                raise KeyboardInterrupt
            choice = self._policy.decide(self.pool, 0, len(self.ended))
            self.pool.begin_step(0, *choice)
            self._take_in(self.pool.finish_step(0))
            yield

    def _take_in(self, record: np.void) -> None:
        """Take in the record of a step; after the last one of an episode the next has begun."""
        self._step += 1
        self.total_steps += 1
        self._reward += float(record["reward"])
        names, action = self.pool.action_names.names, int(record["action"])
        self._decided = names[action] if not self.pool.flat_actions.dimensions and 0 <= action < len(names) else ""
        who = DECIDED_BY[Source(int(record["source"]))]
        self._decided = f"{self._decided}, by {who}, confidence {float(record['confidence']):.2f}".removeprefix(", ")
        self._reason = bytes(record["reason"]).decode(errors="ignore")
        if record["terminated"] or record["truncated"]:
            success = self.pool.latest_end(0).success
            how = "" if success is None else ", goal reached" if success else ", goal not reached"
            self.ended.append(f"{self._step:,} steps, reward {self._reward:,.1f}{how}")
            self._step, self._reward = 0, 0.0

    def lines(self) -> Sequence[str]:
        """Return the caption: progress; the state of the game; who chose which action; the reason."""
        progress = f"episode {len(self.ended) + 1}, step {self._step:,}   reward {self._reward:,.1f}"
        if self.ended:
            progress += f"   before: {self.ended[-1]}"
        return progress, self.pool.status(0), self._decided, self._reason

    def caption(self) -> str:
        """Return the caption as text."""
        return "\n".join(self.lines())

    def words(self) -> str:
        """Return the text on the screen in one line; empty if there is none."""
        return in_a_line(self.pool.call(0, "screen_words"))

    def text(self, columns: int) -> str | None:
        """Return the environment's own text for a terminal; its state in words if it has neither text nor picture."""
        text: str | None = self.pool.call(0, "text_view", columns)
        if self._pictured is None:
            self._pictured = isinstance(self.pool.view(0), np.ndarray)
        return text if text is not None or self._pictured else self.pool.context(0).context_summary

    def screens(self) -> NDArray[np.uint8]:
        """Return the environment's picture, (height, width, 3).

        Raises:
            RunError: it draws none.
        """
        picture = self.pool.view(0)
        if not isinstance(picture, np.ndarray):
            why = picture or "the environment draws no pictures"
            raise RunError(f"{self.title} cannot be shown in a window: {why}; use --terminal")
        return picture

    def picture(self) -> NDArray[np.uint8]:
        """Return the picture, enlarged and with its caption."""
        return with_caption(enlarge(self.screens(), SCALE), self.lines())
