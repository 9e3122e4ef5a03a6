"""Most important findings: each with its evidence, who decides so now, and the command that would change it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pkmn_decisions.analysis.calibration import BINS
from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.loops import LoopPlace
from pkmn_decisions.analysis.option_tests import Option
from pkmn_decisions.analysis.patterns import Pattern
from pkmn_decisions.analysis.situations import in_words
from pkmn_decisions.analysis.sources import SourceComparison
from pkmn_decisions.report.remedies import Remedies, Remedy, done_by
from pkmn_decisions.store.names import SOURCE_NAMES, SOURCES_IN_WORDS

MAX_FINDINGS = 5
MAX_OBSERVATIONS = 3
WHO_DECIDES = "who decides"

_EACH_KIND = 3
"""Places of a kind that are considered."""

_MIN_CALIBRATION_ERROR = 0.2
"""Expected calibration error from which confidence is mentioned."""

_MIN_JUDGED = 100
_MIN_CALLS = 20

_MIN_ACTION_SHARE = 0.1
"""Share of a loop's decisions from which an action is named."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding with its evidence."""

    kind: str
    text: str
    who: str
    """Names of the sources that decide so now, with their shares."""
    weight: float
    """Approximate reward at stake; orders findings only."""
    remedy: Remedy | None = None
    """Change that a user can make; None for an observation."""

    def as_dict(self) -> dict[str, str | float | None]:
        """Return plain values."""
        return {
            "kind": self.kind,
            "text": self.text,
            "who": self.who,
            "change": None if self.remedy is None else self.remedy.purpose,
            "command": None if self.remedy is None else self.remedy.command,
            "reward_at_stake": self.weight,
        }

    @property
    def lines(self) -> list[str]:
        """Lines: evidence, who decides so now, and the change, at whose end is its command between backticks."""
        change = [] if self.remedy is None else [f"To change that, {self.remedy.purpose}: `{self.remedy.command}`"]
        return [self.text, f"Now decided by {self.who}.", *change]


def headline(analysis: Analysis) -> list[Finding]:
    """Return at most five findings with different remedies, the highest stake first."""
    chosen: dict[str, Finding] = {}
    for one in _ordered(analysis):
        if one.remedy is not None and len(chosen) < MAX_FINDINGS:
            chosen.setdefault(one.remedy.purpose, one)
    return list(chosen.values())


def observations(analysis: Analysis) -> list[Finding]:
    """Return at most three findings that no setting changes, the highest stake first, each of another kind."""
    found = _ordered(analysis)
    if any(one.kind == WHO_DECIDES and one.remedy for one in found):
        found = [one for one in found if one.kind != WHO_DECIDES]  # the other side of the same comparison
    chosen: dict[str, Finding] = {}
    for one in found:
        if one.remedy is None and len(chosen) < MAX_OBSERVATIONS:
            chosen.setdefault(one.kind, one)
    return list(chosen.values())


def _ordered(analysis: Analysis) -> list[Finding]:
    return sorted(_all(analysis, Remedies(analysis.run, analysis.interval_share)), key=lambda one: -one.weight)


def _all(analysis: Analysis, remedies: Remedies) -> Iterator[Finding]:
    a_step = max(analysis.mean_reward, 0.0)
    for place in analysis.loops[:_EACH_KIND]:
        yield _loop(place, analysis, remedies, place.steps * a_step)
    weighty = analysis.telling_patterns
    for good in (False, True):
        for one in [one for one in weighty if ((one.figures.difference or 0) > 0) == good][:_EACH_KIND]:
            yield _action(one, analysis, remedies)
    yield from _sources(analysis, remedies)
    yield from _calibration(analysis, remedies, a_step)
    yield from _costs(analysis, remedies)


def _loop(place: LoopPlace, analysis: Analysis, remedies: Remedies, stake: float) -> Finding:
    names = analysis.views.names
    share = place.steps / analysis.overview["decisions"]
    who = place.sources.most_common(1)[0][0]
    often = [action for action, count in place.actions.most_common(2) if count >= _MIN_ACTION_SHARE * place.steps]
    taken = " and ".join(names.of("action", action) for action in often)
    times = "one loop" if place.loops == 1 else f"{place.loops:,} loops"
    where = place.in_words(names)
    text = (
        f"{place.steps:,} decisions ({share:.1%}) were spent in {times}{f' on {where}' if where else ''}"
        f", mostly with the action{'s' if len(often) > 1 else ''} {taken}."
    )
    return Finding("loop", text, done_by(place.sources), stake, remedies.leave_loops(who))


def _action(one: Pattern, analysis: Analysis, remedies: Remedies) -> Finding:
    figures, names = one.figures, analysis.views.names
    better = (figures.difference or 0.0) > 0
    who = max(figures.sources, key=lambda name: figures.sources[name])
    share = figures.judged / (figures.judged + figures.others_judged)
    text = (
        f"{in_words(one.situation, names)}: the action {names.of('action', one.action)} brings "
        f"{in_digits(figures.mean_return)} on average in {figures.judged:,} tries, the others there "
        f"{in_digits(figures.others_return)} ({_interval(figures)}). It is {share:.0%} of the actions there."
    )
    remedy = remedies.tell_the_model() if better or who == "llm" else None
    if not better and who == "rule":
        remedy = remedies.better_pilot()
    elif not better and who != "llm":
        remedy = remedies.train_on() if who == "rl" else remedies.decide_less("explore")
    # The rewards of a decision also count for its followers, so each is counted once.
    return Finding("action", text, done_by(figures.sources), figures.stake / analysis.views.horizon, remedy)


def _interval(one: Option) -> str:
    found = one.difference_interval
    if found is None:
        return "not enough for an interval"
    return f"difference {in_digits(found[0])} to {in_digits(found[1])}, 95%"


def in_digits(value: float | None) -> str:
    """Return a reward with two decimals, or three significant digits if it is small."""
    if value is None:
        return "-"
    return f"{value:+.2f}" if value == 0 or abs(value) >= 0.1 else f"{value:+.3g}"


def _sources(analysis: Analysis, remedies: Remedies) -> Iterator[Finding]:
    """Yield a finding for each source that decides better, or worse, than the others in some situations."""
    found: dict[tuple[str, bool], list[tuple[SourceComparison, Option]]] = defaultdict(list)
    for place in analysis.deciders:
        for one in place.sources:
            if one.significant:
                found[SOURCE_NAMES[one.number], (one.difference or 0.0) > 0].append((place, one))
    for (who, better), places in found.items():
        places.sort(key=lambda item: -item[1].stake)
        yield _source(who, better, places, analysis, remedies)


def _source(
    who: str,
    better: bool,
    places: list[tuple[SourceComparison, Option]],
    analysis: Analysis,
    remedies: Remedies,
) -> Finding:
    names = analysis.views.names
    most = places[0][1]
    # Gain if the worse side decided less often.
    stake = sum(abs(one.difference or 0.0) * (one.others_judged if better else one.judged) for _, one in places)
    others = {SOURCE_NAMES[one.number]: one.frequency for one in places[0][0].sources if one.number != most.number}
    elsewhere = f", and in {len(places) - 1:,} other situations" if len(places) > 1 else ""
    text = (
        f"{in_words(places[0][0].situation, names)}{elsewhere}: {SOURCES_IN_WORDS[who]} "
        f"{'decide' if who == 'rule' else 'decides'} {'better' if better else 'worse'} than the others there, "
        f"{in_digits(most.mean_return)} on average in {most.judged:,} decisions, against "
        f"{in_digits(most.others_return)} ({_interval(most)})."
    )
    remedy = remedies.decide_more(who) if better else remedies.decide_less(who)
    now = done_by({who: most.frequency, **others})
    return Finding(WHO_DECIDES, text, now, stake / analysis.views.horizon, remedy)


def _calibration(analysis: Analysis, remedies: Remedies, a_step: float) -> Iterator[Finding]:
    if analysis.run is not None and not remedies.by_values:
        return  # there, confidences say how a side compares with the other, not how often it succeeds
    for one in analysis.calibrations:
        if one.error < _MIN_CALIBRATION_ERROR or one.judged < _MIN_JUDGED or one.source == "explore":
            continue
        number, worst = max(
            ((number, found) for number, found in enumerate(one.bins) if found),
            key=lambda item: item[1].judged * abs(item[1].confidence - item[1].success_rate),
        )
        who = SOURCES_IN_WORDS[one.source]
        too_sure = worst.confidence > worst.success_rate
        text = (
            f"Where {who} {'are' if one.source == 'rule' else 'is'} {number / BINS:.0%} to "
            f"{(number + 1) / BINS:.0%} sure, {worst.success_rate:.0%} of {worst.judged:,} decisions succeed: "
            f"too {'sure' if too_sure else 'unsure'} (calibration error {one.error:.2f} over all)."
        )
        remedy = remedies.judge_by_outcome() if one.source == "rl" and too_sure else None
        yield Finding("confidence", text, done_by({one.source: 1}), one.error * one.judged * a_step / 100, remedy)


def _costs(analysis: Analysis, remedies: Remedies) -> Iterator[Finding]:
    helped = {tuple(one.situation.items()) for one in analysis.deciders if one.best == "llm"}
    idle = [one for one in analysis.advice_costs if tuple(one.situation.items()) not in helped]
    calls, everywhere = sum(one.calls for one in idle), sum(one.calls for one in analysis.advice_costs)
    if calls < _MIN_CALLS or not analysis.deciders:  # nobody else decided: there is nothing to compare with
        return
    tokens, most = sum(one.tokens for one in idle), idle[0]
    dollars = [one.dollars for one in idle]
    money = f", ${sum(one for one in dollars if one):.2f}" if all(one is not None for one in dollars) else ""
    text = (
        f"{calls:,} of {everywhere:,} questions to the language model ({tokens:,} tokens{money}) were asked where its "
        "decisions are not measurably better than the others', most in "
        f"{in_words(most.situation, analysis.views.names)} ({most.calls:,})."
    )
    yield Finding("advice", text, done_by({"llm": 1}), 0.0, remedies.ask_less())
