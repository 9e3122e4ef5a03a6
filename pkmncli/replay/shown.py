"""A replayed episode in its own environment, with a picture and a caption for each step."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pkmncli.replay.caption import side_by_side, with_caption
from pkmncli.replay.recorded import Agreement, PlayedStep, play_again
from pkmncli.video import SCALE, enlarge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pkmncli.replay.explained import Explanation
    from pkmncli.training.recording.recorded import RecordedEpisode


@dataclass(slots=True)
class ShownEpisode:
    """An episode of a run."""

    title: str
    environment: Any
    episode: RecordedEpisode
    explanation: Explanation
    first: int
    """First step to show."""
    agreement: Agreement | None = None
    """Result of the replay, once it has ended."""
    _steps: Generator[PlayedStep, None, Agreement] | None = None
    _latest: PlayedStep | None = None

    def advance(self) -> bool:
        """Play to the next step to show. Return False if there is none; then the last step stays."""
        if self.agreement is not None:
            return False
        if self._steps is None:
            self._steps = play_again(self.environment, self.episode)
        try:
            self._latest = next(self._steps)
        except StopIteration as ended:
            self.agreement = ended.value
            return False
        return True

    @property
    def headline(self) -> str:
        """Result of the episode, in one line."""
        one = self.episode
        return f"{self.title}: {len(one.presses):,} steps, reward {one.total_reward:.2f}, {one.outcome}."

    @property
    def hidden(self) -> bool:
        """True if the current step is before the first one to show."""
        return self._latest is not None and self._latest.number < self.first

    def screen(self) -> NDArray[np.uint8]:
        """Return the console's screen, (144, 160, 3)."""
        picture: NDArray[np.uint8] = self.environment.render()
        return picture

    def lines(self) -> Sequence[str]:
        """Return the caption of the current step."""
        assert self._latest is not None
        return self.explanation.lines(self._latest, self.environment.facts())


class Show:
    """Show of one episode, or of two side by side, step by step.

    Args:
        episodes: one or two.
        overlay: captions below the pictures, which are enlarged for them.
        interrupted: True to stop. Called between two steps, since PyBoy may swallow an exception of a signal handler.
    """

    def __init__(
        self,
        episodes: Sequence[ShownEpisode],
        *,
        overlay: bool = False,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.episodes = episodes
        self.overlay = overlay
        self._interrupted = interrupted

    def __iter__(self) -> Iterator[None]:
        """Play on, one step of each episode per item. An ended episode keeps its last step until the other has ended.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        while True:
            moved = [self._advance(one) for one in self.episodes]
            if not any(moved):
                return
            yield

    def _advance(self, one: ShownEpisode) -> bool:
        while True:
            if self._interrupted():
                raise KeyboardInterrupt
            moved = one.advance()
            if not moved or not one.hidden:
                return moved

    def picture(self) -> NDArray[np.uint8]:
        """Return the current picture, enlarged, and with captions if ``overlay`` is set."""
        pictures = []
        for one in self.episodes:
            picture = enlarge(one.screen(), SCALE)
            if self.overlay:
                lines = [one.title] if len(self.episodes) > 1 else []
                picture = with_caption(picture, [*lines, *one.lines()])
            pictures.append(picture)
        return _joined(pictures)

    def screens(self) -> NDArray[np.uint8]:
        """Return the current screens of the consoles, in original size."""
        return _joined([one.screen() for one in self.episodes])

    def caption(self) -> str:
        """Return the caption as text: the first episode's progress and place, or with an overlay all lines."""
        if not self.overlay:
            return "  ".join(self.episodes[0].lines()[:2])
        return "\n".join("   |   ".join(lines) for lines in zip(*(one.lines() for one in self.episodes), strict=True))

    @property
    def frames_per_second(self) -> float:
        """Steps per second at the real console's speed, from the environment's metadata."""
        return float(self.episodes[0].environment.metadata["render_fps"])


def _joined(pictures: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    return pictures[0] if len(pictures) == 1 else side_by_side(*pictures)
