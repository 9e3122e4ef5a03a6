"""Three most important findings, in plain sentences with their figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pkmn_decisions.analysis.calibration import BINS
from pkmn_decisions.analysis.findings import Analysis
from pkmn_decisions.analysis.loops import LoopPlace
from pkmn_decisions.analysis.patterns import Pattern
from pkmn_decisions.analysis.situations import in_words
from pkmn_decisions.store.names import SOURCE_NAMES, SOURCES_IN_WORDS

MAX_FINDINGS = 3

_MIN_CALIBRATION_ERROR = 0.2
"""Expected calibration error from which confidence is mentioned."""

_MIN_JUDGED = 100
_MIN_CALLS = 20

_MIN_ACTION_SHARE = 0.1
"""Share of a loop's decisions from which an action is named."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding to act on."""

    kind: str
    text: str
    weight: float
    """Approximate reward at stake; orders findings only."""

    def as_dict(self) -> dict[str, str | float]:
        """Return plain values."""
        return {"kind": self.kind, "text": self.text, "reward_at_stake": self.weight}


def headline(analysis: Analysis) -> list[Finding]:
    """Return at most three findings, of different kinds if possible, the highest stake first."""
    found = sorted(_all(analysis), key=lambda one: -one.weight)
    chosen: list[Finding] = []
    for kinds_once in (True, False):
        for one in found:
            if len(chosen) < MAX_FINDINGS and one not in chosen:
                if kinds_once and any(one.kind == other.kind for other in chosen):
                    continue
                chosen.append(one)
    return sorted(chosen, key=lambda one: -one.weight)


def _all(analysis: Analysis) -> Iterator[Finding]:
    horizon, a_step = analysis.views.horizon, max(analysis.mean_reward, 0.0)
    for place in analysis.loops[:MAX_FINDINGS]:
        yield Finding("loop", _loop(place, analysis), place.steps * a_step)
    weighty = analysis.weighty_patterns
    for one in [one for one in weighty if (one.figures.difference or 0) < 0][:MAX_FINDINGS]:
        # The rewards of a decision also count for its followers, so each is counted once.
        yield Finding("action", _costly(one, analysis), one.figures.stake / horizon)
    for one in [one for one in weighty if (one.figures.difference or 0) > 0][:MAX_FINDINGS]:
        yield Finding("action", _paying(one, analysis), one.figures.stake / horizon)
    yield from _sources(analysis)
    yield from _calibration(analysis, a_step)
    yield from _costs(analysis)


def _loop(place: LoopPlace, analysis: Analysis) -> str:
    names = analysis.views.names
    share = place.steps / analysis.overview["decisions"]
    who = place.sources.most_common(1)[0][0]
    often = [action for action, count in place.actions.most_common(2) if count >= _MIN_ACTION_SHARE * place.steps]
    pressed = " and ".join(names.of("action", action) for action in often)
    advice = {
        "rl": "Let the rules take over sooner without progress, or train longer before the learner is trusted.",
        "explore": "Explore less there.",
        "rule": "Check the goal of the rules there; the usual cause is a goal that cannot be reached.",
        "llm": "Describe the loop in the model's prompt, or ask for advice more often.",
    }[who]
    times = "once" if place.loops == 1 else f"{place.loops:,} times"
    return (
        f"{place.steps:,} decisions ({share:.1%}) were spent in loops on {names.of('map', place.map_id)}"
        f"{place.tiles}, {times}, mostly {SOURCES_IN_WORDS[who]} pressing {pressed}. {advice}"
    )


def _figures(one: Pattern) -> str:
    figures = one.figures
    tries = f"{figures.mean_return:+.2f} on average in {figures.judged:,} tries"
    return f"{tries}, all else there {figures.others_return:+.2f}"


def _do(who: str) -> str:
    return "do" if who == "rule" else "does"


def _who(one: Pattern) -> str:
    return max(one.figures.sources, key=lambda name: one.figures.sources[name])


def _costly(one: Pattern, analysis: Analysis) -> str:
    names, who = analysis.views.names, _who(one)
    advice = {
        "rl": "The learner has not learned this yet: train longer, or give demonstrations there.",
        "explore": "Explore less there, or mask the action.",
        "rule": "Check the goal of the rules there.",
        "llm": "Describe this in the model's prompt.",
    }[who]
    return (
        f"{in_words(one.situation, names)}: pressing {names.of('action', one.action)} brings {_figures(one)}; "
        f"mostly {SOURCES_IN_WORDS[who]} {_do(who)} this. {advice}"
    )


def _paying(one: Pattern, analysis: Analysis) -> str:
    names = analysis.views.names
    share = one.figures.judged / (one.figures.judged + one.figures.others_judged)
    return (
        f"{in_words(one.situation, names)}: pressing {names.of('action', one.action)} brings {_figures(one)}; "
        f"it is {share:.0%} of the actions there. `--show advice` writes it for a model's prompt."
    )


_ADVICE_IF_BETTER = {
    "rl": "Trust the learner more there: a lower trust in the rules, a later stage of the curriculum.",
    "explore": "The learner has not learned this yet: train longer.",
    "rule": "Leave that to the rules: more trust in them, fewer requests for advice.",
    "llm": "Ask for advice more often there, or give the model a larger share.",
}
_ADVICE_IF_WORSE = {
    "rl": "Trust the learner less there, or train longer before it is trusted.",
    "explore": "Explore less there.",
    "rule": "Let the others decide more there: less trust in the rules, or more advice.",
    "llm": "Describe in the model's prompt what pays there, or ask it less often.",
}
"""Advice for a source that decides better, or worse, than the others."""


def _sources(analysis: Analysis) -> Iterator[Finding]:
    names = analysis.views.names
    for place in analysis.deciders[:MAX_FINDINGS]:
        known = [one for one in place.sources if one.significant]
        if not known:
            continue
        one = max(known, key=lambda one: one.stake)
        where = in_words(place.situation, names)
        who, better = SOURCE_NAMES[one.number], (one.difference or 0.0) > 0
        text = (
            f"{where}: {SOURCES_IN_WORDS[who]} {_do(who)} {'better' if better else 'worse'} than the others, "
            f"{one.mean_return:+.2f} a decision in {one.judged:,}, against {one.others_return:+.2f}. "
            f"{(_ADVICE_IF_BETTER if better else _ADVICE_IF_WORSE)[who]}"
        )
        # Gain if the worse sources decide less often.
        stake = abs(one.difference or 0.0) * (one.others_judged if better else one.judged)
        yield Finding("who decides", text, stake / analysis.views.horizon)


def _calibration(analysis: Analysis, a_step: float) -> Iterator[Finding]:
    for one in analysis.calibrations:
        if one.error < _MIN_CALIBRATION_ERROR or one.judged < _MIN_JUDGED or one.source == "explore":
            continue
        number, worst = max(
            ((number, found) for number, found in enumerate(one.bins) if found),
            key=lambda item: item[1].judged * abs(item[1].confidence - item[1].success_rate),
        )
        who = SOURCES_IN_WORDS[one.source]
        much = "little" if worst.confidence < worst.success_rate else "much"
        text = (
            f"Where {who} {'are' if one.source == 'rule' else 'is'} {number / BINS:.0%} to "
            f"{(number + 1) / BINS:.0%} sure, {worst.success_rate:.0%} of {worst.judged:,} decisions succeed "
            f"(calibration error {one.error:.2f} over all). Confidences decide who acts, so {who} "
            f"{'count' if one.source == 'rule' else 'counts'} for too {much} there: check the trust of the "
            "curriculum's stages."
        )
        yield Finding("confidence", text, one.error * one.judged * a_step / 100)


def _costs(analysis: Analysis) -> Iterator[Finding]:
    helped = {tuple(one.situation.items()) for one in analysis.deciders if one.best == "llm"}
    idle = [one for one in analysis.advice_costs if tuple(one.situation.items()) not in helped]
    calls, everywhere = sum(one.calls for one in idle), sum(one.calls for one in analysis.advice_costs)
    if calls < _MIN_CALLS:
        return
    tokens, most = sum(one.tokens for one in idle), idle[0]
    dollars = [one.dollars for one in idle]
    money = f", ${sum(one for one in dollars if one):.2f}" if all(one is not None for one in dollars) else ""
    text = (
        f"{calls:,} of {everywhere:,} questions to the language model ({tokens:,} tokens{money}) were asked where its "
        "decisions are not measurably better than the others', most in "
        f"{in_words(most.situation, analysis.views.names)} ({most.calls:,}). A larger --llm-interval asks less often."
    )
    yield Finding("advice", text, 0.0)
