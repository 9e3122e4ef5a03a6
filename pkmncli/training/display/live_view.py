"""Text of the live view of a training, laid out for the width and height of a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from pkmncli.api import DEFAULT_FRAMES_PER_SECOND, Source
from pkmncli.plurals import counted, whole_percents
from pkmncli.training.display.estimate import duration
from pkmncli.training.display.status import DECIDED_BY
from pkmncli.training.recording.journey import in_words, milestones_ahead, play_time

if TYPE_CHECKING:
    from pkmncli.training.display.status import Status
    from pkmncli.training.recording.counters import TrainingStatistics

WIDE_COLUMNS = 120
"""Width from which milestones are beside the rest, not below it."""
TITLE_COLUMNS = 80
"""Width below which the latest milestone has no words beside its name."""
NARROW_COLUMNS = 60
"""Below, lines that can be done without are left out."""

_LABEL_COLUMNS = 10
_GAP_COLUMNS = 2
"""Columns kept free before milestones that are beside the rest."""
_DONE, _LEFT = "\N{BOX DRAWINGS HEAVY HORIZONTAL}", "\N{BOX DRAWINGS LIGHT HORIZONTAL}"
_LINES_KEPT_FREE = 4
"""Lines of the terminal for the prompt and for messages above the view."""

_SPENT_ON = {
    "environment": ("environment",),
    "learner": ("acting", "waiting for the learner"),
    "LLM": ("advice",),
    "recording": ("recording",),
    "measuring": ("measuring",),
    "viewers": ("viewers",),
}
"""Time by purpose, for people: the names of the meters that each consists of."""

_LEARNING = {
    "loss": ".3g",
    "mean_q": ".3g",
    "epsilon": ".2f",
    "entropy": ".2f",
    "explained_variance": ".2f",
    "reliability": ".2f",
    "buffer_steps": ",.0f",
}
"""Metrics of the learner that are shown, as far as it has them, with their formats."""


_DECIDED_BY = {source: name.removeprefix("the ") for source, name in DECIDED_BY.items()}

_MEASURED_BEFORE = 4
"""Earlier measurings of the learner alone that are shown before the latest, so that one sees where it goes."""


class Clock(NamedTuple):
    """Seconds of the training so far, and still to come as far as that is known."""

    elapsed_s: float
    left_s: float | None


_MOST_AHEAD = 3
"""Maximum milestones ahead that are named."""

_COLUMNS_LEFT_OUT = (2, 3, 4)
"""Columns of the milestones that a narrow terminal leaves out, in this order: in game, first at, episodes."""


def lay_out(
    status: Status, clock: Clock, columns: int, lines: int, doing: str = "", *, ascii_only: bool = False
) -> Text:
    """Return the view as one text, whose last line is empty.

    It is put together by hand: tables of rich take ten times as long to draw.

    Args:
        status: the training's progress.
        clock: how long it has taken and will take.
        columns: width of the terminal.
        lines: its height; milestones that don't fit are left out, the first ones first.
        doing: what it does instead of stepping, such as an evaluation; empty for nothing else.
        ascii_only: use no letter beyond ASCII.
    """
    wide = columns >= WIDE_COLUMNS
    facts_columns = columns * 3 // 5 if wide else columns
    rows = {
        label: list(_wrapped(label, text, facts_columns - (_GAP_COLUMNS if wide else 0)))
        for label, text in _rows(status, doing, short=facts_columns < TITLE_COLUMNS)
        if columns >= NARROW_COLUMNS or label in _ESSENTIAL
    }
    for label in _LEFT_OUT_FIRST:
        if sum(map(len, rows.values())) > lines - _LINES_KEPT_FREE - 1:
            rows.pop(label, None)
    facts = [line for own in rows.values() for line in own]
    room = lines - _LINES_KEPT_FREE - 1 - (0 if wide else len(facts))
    milestones = _milestones(status, room, columns - facts_columns if wide else columns)
    view = [_progress(status, clock, columns, ascii_only)]
    if wide:
        for number in range(max(len(facts), len(milestones))):
            line = facts[number].copy() if number < len(facts) else Text()
            if number < len(milestones):
                line.pad_right(max(facts_columns - len(line), 0))
                line.append_text(milestones[number])
            view.append(line)
    else:
        view += [*facts, *milestones]
    # The terminal shows ^C in the last line: after a full one it would wrap, and shift the view.
    return Text("\n", no_wrap=True, overflow="crop", end="").join([*view, Text()])


def _wrapped(label: str, text: str, columns: int) -> Iterator[Text]:
    style = "bold" if label == "now" else ""
    pieces = textwrap.wrap(text, max(columns - _LABEL_COLUMNS - 2, 10)) or [""]
    for number, piece in enumerate(pieces):
        line = Text(("" if number else label).ljust(_LABEL_COLUMNS), style="dim", end="")
        yield Text.assemble(line, (" " + piece, style))


def lines_of(status: Status, rate: float, left_s: float | None = None) -> list[str]:
    """Return the same in a few lines of text, for output other than a terminal.

    Args:
        status: the training's progress.
        rate: steps per second; 0 if unknown.
        left_s: seconds still to come; None if unknown.
    """
    statistics = status.statistics
    first = [counted(statistics.steps, "step")]
    if rate:
        first.append(f"{rate:.0f}/s")
    if left_s:
        first.append(f"about {duration(left_s)} left")
    first.append(counted(statistics.episodes, "episode"))
    if statistics.average_reward is not None:
        first.append(f"reward in training {statistics.average_reward:,.1f}")
    if statistics.milestones_reached:
        first.append(f"reached {statistics.milestones_reached[-1]}")
    lines = [status.scene.game] if status.scene.game else []
    if statistics.metrics:
        lines.append(f"metrics: {_metrics(statistics)}")
    alone = _alone(status, short=False)
    if alone:
        lines.append(f"learner alone: {alone}")
    if status.journey is not None:
        lines.append(f"journey: {in_words(status.journey)}")
    lately = _lately(statistics)
    lines.append(f"decided by {', '.join(_decided(statistics))}" + (f"; {lately}" if lately else ""))
    taken = _taken_over(status.metrics)
    if taken:
        lines.append(f"taken over by the learner: {taken}")
    say = _say(status)
    if say:
        lines.append(f"trust: {say}")
    learning = _learning(status.metrics)
    if learning:
        lines.append(f"learner: {', '.join(learning)}, {statistics.updates:,} updates")
    return [f"{status.fraction_done:4.0%}  {'  '.join(first)}", *(f"      {line}" for line in lines)]


_LEFT_OUT_FIRST = ("advice", "action", "trust", "learner", "metrics", "episodes", "taken over")
"""Rows that are left out where a terminal has few lines, in this order."""

_ESSENTIAL = frozenset({"now", "alone", "journey", "speed", "reward", "decided", "lately", "game"})


def _progress(status: Status, clock: Clock, columns: int, ascii_only: bool) -> Text:
    statistics, options = status.statistics, status.options
    if options.total_steps is not None:
        done = f"{statistics.steps:,} of {options.total_steps:,} steps"
    else:
        done = f"{statistics.episodes:,} of {counted(options.total_episodes or 0, 'episode')}"
    text = f" {status.fraction_done:4.0%}  {done}"
    if columns >= NARROW_COLUMNS:
        left = "" if clock.left_s is None else f", {duration(clock.left_s)} left"
        text += f"  {duration(clock.elapsed_s)}{left}"
    length = max(columns - len(text) - 1, 5)
    full = int(length * status.fraction_done)
    done_mark, left_mark = ("#", "-") if ascii_only else (_DONE, _LEFT)
    return Text.assemble((done_mark * full, "green"), (left_mark * (length - full), "bright_black"), text)


def _rows(status: Status, doing: str, *, short: bool) -> Iterator[tuple[str, str]]:
    statistics, scene = status.statistics, status.scene
    if doing:
        yield "now", doing
    yield "speed", _speed(status)
    alone = _alone(status, short=short)
    if alone:
        yield "alone", alone
    if status.journey is not None:
        yield "journey", in_words(status.journey, short=short)
    if statistics.average_reward is None:
        yield "reward", "no episode has ended yet"
    else:
        count = len(statistics.recent_rewards)
        of = "in the first episode" if count == 1 else f"mean of the last {count} in training"
        yield "reward", f"{statistics.average_reward:,.1f}, {of}; best {statistics.best_reward or 0:,.1f}"
        mean_length = statistics.total_episode_steps / max(statistics.episodes, 1)
        yield "episodes", f"{statistics.episodes:,}, {mean_length:,.0f} steps each"
    if statistics.metrics:
        yield "metrics", _metrics(statistics)
    yield "decided", "  ".join(_decided(statistics)) or "nothing yet"
    lately = _lately(statistics)
    if lately:
        yield "lately", lately
    taken = _taken_over(status.metrics)
    if taken:
        yield "taken over", taken
    say = _say(status)
    if say:
        yield "trust", say
    learning = _learning(status.metrics)
    if learning:
        yield "learner", ", ".join([*learning, counted(statistics.updates, "update")])
    if scene.game:
        yield "game", scene.game
    if scene.action:
        yield "action", f"{scene.action}, by {scene.source}" + (f": {scene.reason}" if scene.reason else "")
    if scene.advice:
        yield "advice", scene.advice


def _speed(status: Status) -> str:
    total = sum(status.seconds.values())
    shares = [
        f"{name} {spent / total:.0%}"
        for name, meters in _SPENT_ON.items()
        if total and (spent := sum(status.seconds.get(meter, 0.0) for meter in meters)) / total >= 0.005
    ]
    rate = f"{status.steps_per_second:,.0f} steps/s" if status.steps_per_second else "-"
    return "  ".join([rate, *shares])


def _alone(status: Status, *, short: bool) -> str:
    """Return the latest measurement of the learner alone, in words, and earlier ones."""
    measured = status.statistics.alone
    if not measured:
        return ""
    latest = measured[-1]
    episodes, at = round(latest["episodes"]), "" if short else f" after {latest['step']:,} steps"
    if status.scene.goal is None or "goal_share" not in latest:
        before = [f"{one['reward']:,.1f}" for one in measured[-1 - _MEASURED_BEFORE : -1]]
        found = f"reward {latest['reward']:,.1f}{at}"
    else:
        earlier = [one for one in measured[-1 - _MEASURED_BEFORE : -1] if "goal_share" in one]
        before = [f"{round(one['goal_share'] * one['episodes'])}" for one in earlier]
        found = f"{round(latest['goal_share'] * episodes)} of {episodes} starts to {status.scene.goal}{at}"
    return found + (f"; before: {', '.join(before)}" if before else "")


def _metrics(statistics: TrainingStatistics) -> str:
    """Return the environment's own metrics, means of the recent episodes."""
    return ", ".join(f"{name} {value:,.4g}" for name, value in statistics.metrics.items())


def _taken_over(metrics: Mapping[str, float]) -> str:
    """Return the learner's share of the latest steps in each kind of situation, and its confidence there."""
    names = [name.split("/")[1] for name in metrics if name.startswith("hand_over/") and name.endswith("/share")]
    return "  ".join(
        f"{name} {metrics[f'hand_over/{name}/share']:.0%} (sure {metrics[f'hand_over/{name}/confidence']:.2f})"
        for name in names
    )


def _decided(statistics: TrainingStatistics) -> list[str]:
    counts = statistics.steps_by_source
    return [
        f"{_DECIDED_BY[source]} {count:,} ({percent}%)"
        for source, count, percent in zip(Source, counts, whole_percents(counts), strict=True)
        if count
    ]


def _lately(statistics: TrainingStatistics) -> str:
    """Return the learner's share of the steps of the latest episodes."""
    share = statistics.recent_learner_share
    count = len(statistics.recent_rewards)
    recent = "latest episode" if count == 1 else f"last {counted(count, 'episode')}"
    return "" if share is None else f"{share:.0%} by the learner in the {recent}"


def _say(status: Status) -> str:
    """Return trust, curriculum stage and strategy in words."""
    scene = status.scene
    parts = []
    if scene.trust is not None:
        stage = status.statistics.curriculum_stage
        parts.append(f"{scene.trust:.2f} in the rules, curriculum stage {stage}")
    if scene.strategy:
        parts.append(f"strategy {scene.strategy}, {scene.share:.0%} LLM where there is advice")
    return "; ".join(parts)


def _learning(metrics: Mapping[str, float]) -> list[str]:
    return [
        f"{name.replace('_', ' ')} {metrics[f'learner/{name}']:{form}}"
        for name, form in _LEARNING.items()
        if f"learner/{name}" in metrics
    ]


def _milestones(status: Status, most: int, columns: int) -> list[Text]:
    """Return the latest milestones with the best episode's split, in steps and game time, and when first reached.

    Those that no episode has reached which has ended have the split of the running one. The next ones follow, by name.
    """
    statistics = status.statistics
    rate = DEFAULT_FRAMES_PER_SECOND if status.journey is None else status.journey.frames_per_second
    running = {one.name: one for one in status.journey.milestones} if status.journey is not None else {}
    place = {name: index for index, name in enumerate(statistics.milestone_order)}
    names = sorted({*statistics.milestones_reached, *running}, key=lambda name: (place.get(name, len(place)), name))
    if not names or most < 2:
        return []
    rows = [["milestone", "best", "in game", "first at", "episodes"]]
    ahead = milestones_ahead(statistics.milestone_order, names, status.scene.goal)
    shown = ahead[:_MOST_AHEAD] if most > 2 * _MOST_AHEAD else []
    for name in names[-(most - 1 - len(shown)) :]:
        step, frame = statistics.milestone_splits.get(name, (None, None))
        first = statistics.milestone_first_step.get(name)
        if first is None and name in running:
            step, frame, first = running[name].step, running[name].frame, running[name].global_step
        rows.append(
            [
                name,
                "-" if step is None else f"{step:,}",
                "-" if frame is None else play_time(frame / rate, seconds=True),
                "-" if first is None else f"{first:,}",
                f"{statistics.milestone_episodes.get(name, 0):,}",
            ]
        )
    rows += [[name, *["-"] * 4] for name in shown]
    if shown and len(ahead) > len(shown):
        rows[-1][0] += f", {len(ahead) - len(shown)} more"
    kept = list(range(len(rows[0])))
    for leaving in _COLUMNS_LEFT_OUT:
        if sum(max(len(row[place]) for row in rows) + 2 for place in kept) - 2 < columns:
            break
        kept.remove(leaving)
    rows = [[row[place] for place in kept] for row in rows]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    texts = [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    dim = {0, *range(len(rows) - len(shown), len(rows))}
    return [
        Text(text[: max(columns - 1, 1)], style="dim" if number in dim else "") for number, text in enumerate(texts)
    ]
