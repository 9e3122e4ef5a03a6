"""Actions that the story needs: those of the rules, which follow its goals, and those that lead to milestones.

Near rewards alone would speak against the way to a goal whose reward comes later, beside places with rewards at once.
"""

from __future__ import annotations

from collections import defaultdict

from pkmn_decisions.analysis.patterns import Pattern
from pkmn_decisions.analysis.situations import situation
from pkmn_decisions.analysis.tallies import TABLE
from pkmn_decisions.store.names import OUTCOME_NAMES
from pkmn_decisions.store.view import RunViews
from pkmncli.api import Consequence, Source

_NEEDED = 0.05
"""Share of the rules' decisions in a situation, or of an action's uses that led to a milestone, that counts."""

_FEWEST = 10
"""Minimum decisions of the rules in a situation, below which they say nothing about other actions."""

_FEWEST_AT_A_STAGE = 5
"""Minimum decisions with an action, and with others, at a stage of the game, below which the stage says nothing."""


class Story:
    """The rules' actions in each situation, from the collected tallies of a question.

    Args:
        views: the runs.
        by: parts of a situation.
        trust_rules: False if a run's pilot is not the best of its environment: then its actions say nothing.
    """

    def __init__(self, views: RunViews, by: tuple[str, ...], *, trust_rules: bool = True) -> None:
        keys, _ = situation(by)
        parts = ", ".join(f"s{index}" for index in range(len(keys)))
        self._counts: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
        if trust_rules:
            _, rows = views.query(
                f"SELECT {parts}, action, sum(frequency)::BIGINT FROM {TABLE} WHERE source = ? GROUP BY ALL",
                [int(Source.RULE)],
            )
            for *place, action, count in rows:
                self._counts[tuple(map(int, place))][int(action)] = int(count)
        _, rows = views.query(
            f"""
            SELECT {parts}, action, list(judged), list(total), list(all_judged - judged), list(all_total - total) FROM (
                SELECT *, sum(judged) OVER stage AS all_judged, sum(total) OVER stage AS all_total
                FROM (
                    SELECT {parts}, milestones, action, sum(judged)::DOUBLE AS judged, sum(total) AS total
                    FROM {TABLE} GROUP BY ALL
                ) WINDOW stage AS (PARTITION BY {parts}, milestones)
            ) WHERE least(judged, all_judged - judged) >= {_FEWEST_AT_A_STAGE} GROUP BY ALL
            """
        )
        self._differences: dict[tuple[int, ...], list[float]] = {}
        """Situation and action -> difference of the mean return to that of the others, at each stage of the game."""
        for *key, judged, total, others, their_total in rows:
            stages = zip(judged, total, others, their_total, strict=True)
            self._differences[tuple(map(int, key))] = [own / n - rest / m for n, own, m, rest in stages]

    def allows(self, one: Pattern) -> bool:
        """Return True if an action may be reported: its difference speaks against no way to a goal, at any stage."""
        better = (one.figures.difference or 0.0) > 0
        stages = self._differences.get((*one.situation.values(), one.action), [])
        steady = all((difference > 0) == better for difference in stages)
        return steady and not (self.forbids(one) if better else self.needs(one))

    def needs(self, one: Pattern) -> bool:
        """Return True if the rules take the action there too, or it leads to a milestone.

        In a run of the rules, that is assumed where they hardly decided.
        """
        if self._counts and sum(self._of(one).values()) < _FEWEST:
            return True
        milestones = one.figures.outcomes.get(OUTCOME_NAMES[Consequence.MILESTONE], 0)
        return self._share(one) >= _NEEDED or milestones >= _NEEDED * one.figures.frequency

    def forbids(self, one: Pattern) -> bool:
        """Return True if the rules decide there, and take other actions."""
        return sum(self._of(one).values()) >= _FEWEST and self._share(one) < _NEEDED

    def _share(self, one: Pattern) -> float:
        counts = self._of(one)
        return counts.get(one.action, 0) / max(sum(counts.values()), 1)

    def _of(self, one: Pattern) -> dict[int, int]:
        return self._counts.get(tuple(one.situation.values()), {})
