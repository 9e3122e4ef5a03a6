"""Replay of a recorded episode from its start and actions, compared with the record at every step."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pkmncli.errors import RunError, did_you_mean
from pkmncli.training.recording.recorded_episode import RecordedEpisode

if TYPE_CHECKING:
    from pkmncli.api import Environment


@dataclass(frozen=True, slots=True)
class Agreement:
    """Result of a replay. ``first_difference`` is the first step that differs from the record, 0 if there is none."""

    steps: int
    memory_checks: int
    first_difference: int = 0
    difference: str = ""

    @property
    def equal(self) -> bool:
        """True if every check passed."""
        return self.first_difference == 0


def choose_episode(rows: Sequence[Mapping[str, Any]], which: str) -> RecordedEpisode:
    """Return the episode that ``which`` names. Raise RunError if there is none.

    ``best``, ``last``, a number from 0 in the order of ending, or ``E.N``, episode N of environment E.
    """
    if not rows:
        raise RunError("the run has no finished episode yet; replay works as soon as one has ended")
    if which == "best":
        return RecordedEpisode.from_row(max(rows, key=lambda row: float(row["total_reward"])))
    if which == "last":
        return RecordedEpisode.from_row(rows[-1])
    environment, dot, number = which.partition(".")
    if dot and environment.isdigit() and number.isdigit():
        for row in rows:
            if (row["environment"], row["episode"]) == (int(environment), int(number)):
                return RecordedEpisode.from_row(row)
        raise RunError(f"environment {environment} has no finished episode {number}")
    if not which.isdigit() or int(which) >= len(rows):
        raise RunError(
            f"there is no episode {which!r}: give best, last, a number from 0 to {len(rows) - 1}, or 0.3 for "
            "episode 3 of environment 0"
        )
    return RecordedEpisode.from_row(rows[int(which)])


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """A step of a replayed episode. ``total_reward`` is the reward so far, including the step's own."""

    number: int
    action: int
    total_reward: float


def play_again(environment: Environment, episode: RecordedEpisode) -> Generator[PlayedStep, None, Agreement]:
    """Replay an episode, one step per item; after each the environment is in the state after that step.

    Args:
        environment: built as the one that recorded it.
        episode: the record.

    Returns:
        The result; the replay ends at the first step that differs from the record.
    """
    options = None if episode.start_state is None else {"start_state": episode.start_state}
    environment.reset(seed=episode.seed, options=options)
    earlier: Callable[[], Sequence[int]] = getattr(environment, "earlier_memory_hashes", list)
    checks, total = 0, 0.0
    for step, (action, expected) in enumerate(zip(episode.actions, episode.fine_hashes.tolist(), strict=True), start=1):
        _observation, reward, *_ = environment.step(action)
        total += float(reward)
        yield PlayedStep(step, action if isinstance(action, int) else 0, total)
        if environment.facts().fine_hash != expected:
            return Agreement(step, checks, step, "the game's state is another")
        if step in episode.memory_hashes:
            checks += 1
            recorded = episode.memory_hashes[step]
            if environment.memory_hash() != recorded and recorded not in earlier():
                return Agreement(step, checks, step, "the state is the same, but the memory is not")
    return Agreement(len(episode.actions), checks)


def replay(
    environment: Environment, episode: RecordedEpisode, on_step: Callable[[PlayedStep], None] = lambda step: None
) -> Agreement:
    """Replay a whole episode with :func:`play_again`, calling ``on_step`` after each step."""
    steps = play_again(environment, episode)
    while True:
        try:
            on_step(next(steps))
        except StopIteration as ended:
            agreement: Agreement = ended.value
            return agreement


def first_shown(episode: RecordedEpisode, begin: str | None) -> int:
    """Return the first step of an episode to show: that of a milestone, or a step number; 1 by default.

    Raises:
        RunError: the episode did not reach the milestone, or ended before the step.
    """
    if begin is None:
        return 1
    if begin.isdigit():
        if int(begin) > len(episode.actions):
            raise RunError(f"{episode.title} is over after {len(episode.actions):,} steps, before step {int(begin):,}")
        return max(int(begin), 1)
    if begin not in episode.milestones:
        reached = f"it reached {', '.join(episode.milestones) or 'none'}"
        hint = did_you_mean(begin, episode.milestones, reached, shown="{}")
        raise RunError(f"{episode.title} has not reached '{begin}': {hint}")
    return max(episode.milestones[begin], 1)
