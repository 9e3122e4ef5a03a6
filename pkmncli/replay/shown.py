"""A replayed episode in its own environment, with a picture and a caption for each step."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pkmncli.api.environments import DEFAULT_RENDER_FPS
from pkmncli.errors import RunError
from pkmncli.replay.caption import in_a_line, side_by_side, with_caption
from pkmncli.replay.explained import LINES
from pkmncli.replay.play_again import Agreement, PlayedStep, play_again
from pkmncli.video import SCALE, enlarge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pkmncli.replay.explained import Explanation
    from pkmncli.training.recording.recorded_episode import RecordedEpisode


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
        return f"{self.title}: {len(one.actions):,} steps, reward {one.total_reward:.2f}, {one.outcome}."

    @property
    def hidden(self) -> bool:
        """True if the current step is before the first one to show."""
        return self._latest is not None and self._latest.number < self.first

    @property
    def hidden_left(self) -> int:
        """Number of steps before the first one to show that are still to be played."""
        return max(self.first - 1 - (0 if self._latest is None else self._latest.number), 0)

    def screen(self) -> NDArray[np.uint8]:
        """Return the environment's picture, (height, width, 3).

        Raises:
            RunError: it draws none.
        """
        picture: NDArray[np.uint8] | None = self.environment.render()
        if picture is None:
            raise RunError(f"{self.title} cannot be shown: the environment draws no pictures (rgb_array)")
        return picture

    def lines(self) -> Sequence[str]:
        """Return the caption of the current step."""
        assert self._latest is not None
        return self.explanation.lines(self._latest, self.environment.facts())


class Show:
    """Show of one episode, or of two side by side, step by step.

    Args:
        episodes: one or two.
        overlay: captions below the pictures, which are enlarged for them; two episodes always have them, so that a
            viewer can tell which is which.
        interrupted: True to stop. Called between two steps, since PyBoy may swallow an exception of a signal handler.
        on_step: called after each step of an episode, also of those before the first to show.
    """

    def __init__(
        self,
        episodes: Sequence[ShownEpisode],
        *,
        overlay: bool = False,
        interrupted: Callable[[], bool] = lambda: False,
        on_step: Callable[[], None] = lambda: None,
    ) -> None:
        self.episodes = episodes
        self.overlay = overlay or len(episodes) > 1
        self.on_step = on_step
        self.interrupted = interrupted

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

    def skip_hidden(self) -> None:
        """Play the steps before the first ones to show.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        for one in self.episodes:
            while one.hidden_left:
                if self.interrupted():
                    raise KeyboardInterrupt
                if not one.advance():
                    break
                self.on_step()

    def _advance(self, one: ShownEpisode) -> bool:
        while True:
            if self.interrupted():
                raise KeyboardInterrupt
            moved = one.advance()
            if moved:
                self.on_step()
            if not moved or not one.hidden:
                return moved

    @property
    def title(self) -> str:
        """The episodes in words."""
        return " | ".join(one.title for one in self.episodes)

    @property
    def caption_lines(self) -> int:
        """Number of lines of :meth:`caption`."""
        return LINES if self.overlay else 1

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

    def text(self, columns: int) -> str | None:
        """Return the environment's own text for a terminal; None if it has none, or if there are two episodes."""
        see = getattr(self.episodes[0].environment, "text_view", None)
        text: str | None = None if see is None or len(self.episodes) > 1 else see(columns)
        return text

    def caption(self) -> str:
        """Return the caption as text: the first episode's progress and place, or with an overlay all lines."""
        if not self.overlay:
            return "  ".join(self.episodes[0].lines()[:2])
        return "\n".join("   |   ".join(lines) for lines in zip(*(one.lines() for one in self.episodes), strict=True))

    def words(self) -> str:
        """Return the text on the screens in one line; empty if there is none."""
        found = [getattr(one.environment, "screen_words", str)() for one in self.episodes]
        return "   |   ".join(map(in_a_line, found)) if any(found) else ""

    @property
    def frames_per_second(self) -> float:
        """Steps per second at the real console's speed, from the environment's metadata."""
        return float(self.episodes[0].environment.metadata.get("render_fps") or DEFAULT_RENDER_FPS)


def _joined(pictures: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    return pictures[0] if len(pictures) == 1 else side_by_side(*pictures)
