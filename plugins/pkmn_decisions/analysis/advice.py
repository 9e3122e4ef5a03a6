"""Advice for the next training: for the prompt of its language model, its pilot, and its strategy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.patterns import Pattern
from pkmn_decisions.analysis.situations import DIMENSIONS, in_words, situation, with_names
from pkmn_decisions.store.names import SOURCE_NAMES, SOURCES_IN_WORDS, Names
from pkmncli.errors import DecisionValidationError

VERSION = 1
"""Version of the JSON form, which a training reads (`--lessons-file`)."""

_OF_THE_DATA = ("action", "run", "environment", "episode", "global_step")
"""Keys of conditions that select actions or recordings, and not situations."""

_PER_SITUATION = 1
"""Maximum lines per situation for each kind of action, good or bad."""


@dataclass(frozen=True, slots=True)
class AdviceLine:
    """Line of advice. ``situation`` is empty if it applies everywhere."""

    audience: str
    """Audience: ``prompt``, ``pilot`` or ``strategy``."""
    situation: dict[str, int]
    text: str
    evidence: str
    weight: float

    def as_dict(self, names: Names) -> dict[str, Any]:
        """Return plain values, with the names of the numbers."""
        return {
            "for": self.audience,
            "context": with_names(self.situation, names),
            "text": self.text,
            "evidence": self.evidence,
        }


def advise(analysis: Analysis) -> list[AdviceLine]:
    """Return everything significant that can be acted on, for each audience the most important first.

    Raises:
        DecisionValidationError: a condition is on a key that situations do not have.
    """
    _check_conditions(analysis)
    lines = [*_prompt(analysis), *_pilot(analysis), *_strategy(analysis)]
    audiences = ("prompt", "pilot", "strategy")
    lines.sort(key=lambda one: (audiences.index(one.audience), -one.weight))
    limit = analysis.question.limit
    return [one for audience in audiences for one in [line for line in lines if line.audience == audience][:limit]]


def advice_document(analysis: Analysis, lines: list[AdviceLine]) -> dict[str, Any]:
    """Return the JSON form that a training reads."""
    return {
        "version": VERSION,
        "runs": analysis.overview["runs"],
        "advice": [one.as_dict(analysis.views.names) for one in lines],
    }


def _check_conditions(analysis: Analysis) -> None:
    """Refuse conditions that the advice cannot express: it would seem to apply always."""
    keys, _ = situation(analysis.question.by)
    lost = [one.key for one in analysis.question.conditions if one.key not in (*keys, *_OF_THE_DATA)]
    if lost:
        key = lost[0]
        other = f", or distinguish situations by it with --by {key}" if key in DIMENSIONS else ""
        raise DecisionValidationError(
            f"Advice describes situations by {', '.join(keys)}, so it cannot be limited by {key}: leave that "
            f"condition out{other}."
        )


def _prompt(analysis: Analysis) -> Iterator[AdviceLine]:
    names = analysis.views.names
    counts: dict[tuple[Any, ...], int] = {}
    for one in analysis.telling_patterns:
        good = (one.figures.difference or 0.0) > 0
        key = (*one.situation.items(), good)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] > _PER_SITUATION:
            continue
        action = names.of("action", one.action)
        unless = "if it serves the goal" if good else "unless the goal needs it"
        text = f"the action {action} brings {'more' if good else 'less'} here than other actions, {unless}"
        yield AdviceLine("prompt", one.situation, text, _evidence(one), one.figures.stake)


def _evidence(one: Pattern) -> str:
    figures = one.figures
    return f"{figures.mean_return:+.2f} against {figures.others_return:+.2f}, {figures.judged:,} tries"


def _pilot(analysis: Analysis) -> Iterator[AdviceLine]:
    for place in analysis.loops:
        decided = place.sources["rule"] + place.sources["llm"]
        if 2 * decided < place.steps:
            continue
        yield AdviceLine(
            "pilot",
            {"map": place.map_id, "phase": place.phases.most_common(1)[0][0]},
            f"gets into loops{place.tiles}: give up its goal there after a while",
            f"{place.steps:,} decisions in all, the longest loop {place.longest:,}",
            float(place.steps),
        )


def _strategy(analysis: Analysis) -> Iterator[AdviceLine]:
    names = analysis.views.names
    for place in analysis.deciders:
        for one in place.sources:
            source = SOURCE_NAMES[one.number]
            if not one.significant or source == "explore":
                continue
            better = (one.difference or 0.0) > 0
            more = "more" if better else "less"
            text = f"let {SOURCES_IN_WORDS[source]} decide {more}: {in_words(place.situation, names)}"
            evidence = f"{one.mean_return:+.2f} against {one.others_return:+.2f}, {one.judged:,} decisions"
            yield AdviceLine("strategy", place.situation, text, evidence, one.stake)
