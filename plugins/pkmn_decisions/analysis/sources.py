"""Best source of decisions in each situation, and the cost of the language model's advice there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pkmn_decisions.analysis.conditions import Condition, where
from pkmn_decisions.analysis.option_tests import Option, compare_options
from pkmn_decisions.analysis.patterns import PatternQuestion
from pkmn_decisions.analysis.prices import Prices
from pkmn_decisions.analysis.situations import situation, with_names
from pkmn_decisions.analysis.tallies import TABLE
from pkmn_decisions.store.names import SOURCE_NAMES, Names
from pkmn_decisions.store.view import RunViews


@dataclass(frozen=True, slots=True)
class SourceComparison:
    """Situation with decisions of several sources, the highest mean return first."""

    situation: dict[str, int]
    sources: tuple[Option, ...]

    @property
    def best(self) -> str | None:
        """Only source that is significantly better than the others there; None if there is none."""
        better = [one for one in self.sources if one.significant and (one.difference or 0) > 0]
        return SOURCE_NAMES[better[0].number] if len(better) == 1 else None

    @property
    def decisions(self) -> int:
        """Number of decisions, of all sources."""
        return sum(one.frequency for one in self.sources)

    @property
    def stake(self) -> float:
        """Total of the largest significant difference."""
        return max((one.stake for one in self.sources if one.significant), default=0.0)

    def as_dict(self, names: Names) -> dict[str, Any]:
        """Return plain values, with the names of the numbers."""
        return {
            "context": with_names(self.situation, names),
            "best": self.best,
            "sources": [
                {
                    "source": SOURCE_NAMES[one.number],
                    "frequency": one.frequency,
                    "success_rate": one.success_rate,
                    "interval": list(one.interval) if one.interval else None,
                    "mean_return": one.mean_return,
                    "other_mean_return": one.others_return,
                    "adjusted_p": one.adjusted_p,
                    "significant": one.significant,
                }
                for one in self.sources
            ],
        }


def deciders_of_tallies(views: RunViews, question: PatternQuestion) -> list[SourceComparison]:
    """Return the sources in each situation, from the tallies of the question, the highest stake first."""
    keys, _ = situation(question.by)
    options = compare_options(views, TABLE, len(keys), "source", question.min_frequency)
    by_situation: dict[tuple[int, ...], list[Option]] = defaultdict(list)
    for one in options:
        if one.mean_return is not None:
            by_situation[one.situation].append(one)
    found = [
        SourceComparison(
            dict(zip(keys, numbers, strict=True)),
            tuple(sorted(several, key=lambda one: -(one.mean_return or 0.0))),
        )
        for numbers, several in by_situation.items()
        if len(several) > 1
    ]
    return sorted(found, key=lambda one: (-one.stake, -one.decisions))


_OF_THE_ANSWER = ("action", "source", "confidence", "reason", "model", "reward")


@dataclass(frozen=True, slots=True)
class AdviceCost:
    """Cost of a language model in the situation of its questions."""

    situation: dict[str, int]
    calls: int
    """Questions, without those that the cache answered."""
    cached: int
    useless: int
    """Answers without advice, or with a problem."""
    tokens: int
    latency_s: float | None
    """Mean time of an answer."""
    dollars: float | None
    """Cost in dollars; None if a price is unknown."""

    def as_dict(self, names: Names) -> dict[str, Any]:
        """Return plain values, with the names of the numbers."""
        return {
            "context": with_names(self.situation, names),
            "calls": self.calls,
            "cached": self.cached,
            "useless": self.useless,
            "tokens": self.tokens,
            "latency_s": self.latency_s,
            "dollars": self.dollars,
        }


def advice_costs(
    views: RunViews,
    by: Sequence[str],
    conditions: Sequence[Condition],
    prices: Mapping[str, Prices],
) -> list[AdviceCost]:
    """Return the cost of advice in each situation, the most tokens first.

    Args:
        views: the runs.
        by: dimensions that distinguish situations.
        conditions: on the decisions before which it was asked for; those on source or action do not count.
        prices: of language models, by the name of the run that paid them.
    """
    _, counted = views.query("SELECT count(*) FROM advice")
    if not counted[0][0]:
        return []
    keys, expressions = situation(by)
    parts = ", ".join(f"{expression} AS s{index}" for index, expression in enumerate(expressions))
    names = ", ".join(f"s{index}" for index in range(len(keys)))
    condition, parameters = where([one for one in conditions if one.key not in _OF_THE_ANSWER])
    # A question is asked before the step of its environment; the steps of all environments are counted in turn.
    _, rows = views.query(
        f"""
        WITH questions AS (
            SELECT run, asked_at + 1 + environment AS global_step, model, cached, prompt_tokens, completion_tokens,
                latency_s, advice = '' OR problem <> '' AS useless
            FROM advice
        ), places AS (
            SELECT run, global_step, {parts} FROM decision_rows SEMI JOIN questions USING (run, global_step)
            WHERE {condition}
        )
        SELECT {names}, run, model, count(*) FILTER (NOT cached), count(*) FILTER (cached), count(*) FILTER (useless),
            sum(prompt_tokens) FILTER (NOT cached), sum(completion_tokens) FILTER (NOT cached),
            sum(latency_s) FILTER (NOT cached)
        FROM questions JOIN places USING (run, global_step) GROUP BY ALL
        """,
        parameters,
    )
    by_situation: dict[tuple[int, ...], list[Any]] = defaultdict(list)
    for row in rows:
        by_situation[row[: len(keys)]].append(row[len(keys) :])
    found = []
    for numbers, models in by_situation.items():
        calls = sum(row[2] for row in models)
        found.append(
            AdviceCost(
                situation=dict(zip(keys, map(int, numbers), strict=True)),
                calls=calls,
                cached=sum(row[3] for row in models),
                useless=sum(row[4] for row in models),
                tokens=int(sum((row[5] or 0) + (row[6] or 0) for row in models)),
                latency_s=sum(row[7] or 0.0 for row in models) / calls if calls else None,
                dollars=_dollars(models, prices),
            )
        )
    return sorted(found, key=lambda one: (-one.tokens, -one.calls))


def _dollars(models: Sequence[Any], prices: Mapping[str, Prices]) -> float | None:
    total = 0.0
    for run, model, _, _, _, prompt_tokens, completion_tokens, _ in models:
        if not (prompt_tokens or completion_tokens):
            continue
        known = prices.get(run, {})
        beginnings = [name for name in known if model.startswith(name)]
        if not beginnings:
            return None
        prompt, completion = known[max(beginnings, key=len)]
        total += (float(prompt_tokens or 0) * prompt + float(completion_tokens or 0) * completion) / 1e6
    return total
