"""An episode that plays again in an environment of its own, with a picture and words for each step."""

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
    from pkmncli.training.recorded import RecordedEpisode


@dataclass(slots=True)
class ShownEpisode:
    """One episode of one run."""

    title: str
    environment: Any
    episode: RecordedEpisode
    explanation: Explanation
    first: int
    """The step from which on it is shown."""
    agreement: Agreement | None = None
    """How it compared, once it has been played to its end."""
    _steps: Generator[PlayedStep, None, Agreement] | None = None
    _latest: PlayedStep | None = None

    def advance(self) -> bool:
        """Plays to the next step that is shown. Returns whether there is one; at the end the last one stays."""
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
        """How the episode went, in a line."""
        one = self.episode
        return f"{self.title}: {len(one.presses):,} steps, reward {one.total_reward:.2f}, {one.outcome}."

    @property
    def hidden(self) -> bool:
        """Whether the step that it stands at comes before those that are shown."""
        return self._latest is not None and self._latest.number < self.first

    def screen(self) -> NDArray[np.uint8]:
        """What the console shows, (144, 160, 3)."""
        picture: NDArray[np.uint8] = self.environment.render()
        return picture

    def lines(self) -> Sequence[str]:
        """Words for the step that it stands at."""
        assert self._latest is not None
        return self.explanation.lines(self._latest, self.environment.facts())


class Show:
    """One episode, or two side by side, step by step.

    Args:
        episodes: one or two.
        overlay: words go below the pictures, which are enlarged for it.
        interrupted: whether to stop. Asked between two steps, since PyBoy may swallow what a signal raises.
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
        """Plays on, a step of each episode at a time. One that is over stands still until the other is, too.

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
        """What is shown now, enlarged, and with words where there is to be an overlay."""
        pictures = []
        for one in self.episodes:
            picture = enlarge(one.screen(), SCALE)
            if self.overlay:
                lines = [one.title] if len(self.episodes) > 1 else []
                picture = with_caption(picture, [*lines, *one.lines()])
            pictures.append(picture)
        return _joined(pictures)

    def screens(self) -> NDArray[np.uint8]:
        """What the consoles show now, as small as they do."""
        return _joined([one.screen() for one in self.episodes])

    def caption(self) -> str:
        """The words as text: the first episode's progress and place, or with an overlay everything, line by line."""
        if not self.overlay:
            return "  ".join(self.episodes[0].lines()[:2])
        return "\n".join("   |   ".join(lines) for lines in zip(*(one.lines() for one in self.episodes), strict=True))

    @property
    def frames_per_second(self) -> float:
        """Steps a second at the speed of the real console, as the environment's metadata says."""
        return float(self.episodes[0].environment.metadata["render_fps"])


def _joined(pictures: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    return pictures[0] if len(pictures) == 1 else side_by_side(*pictures)
