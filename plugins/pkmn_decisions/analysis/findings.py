"""Data of a report: the question, and the findings of each section, computed on request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from pkmn_decisions.analysis.calibration import Calibration, calibrate
from pkmn_decisions.analysis.changes import Change, find_changes
from pkmn_decisions.analysis.loops import LoopPlace, find_loops
from pkmn_decisions.analysis.patterns import SORTS, Pattern, PatternQuestion, patterns_of_tallies
from pkmn_decisions.analysis.pilots import better_pilot
from pkmn_decisions.analysis.prices import Prices
from pkmn_decisions.analysis.sequences import LONGEST, SHORTEST, Sequence, find_sequences
from pkmn_decisions.analysis.sources import AdviceCost, SourceComparison, advice_costs, deciders_of_tallies
from pkmn_decisions.analysis.story import Story
from pkmn_decisions.analysis.tallies import TABLE, collect
from pkmn_decisions.store.view import RunViews, run_names
from pkmncli.api import RunInfo


@dataclass
class Analysis:
    """Findings about some runs. Each is computed once, from the files at that time."""

    views: RunViews
    question: PatternQuestion
    lengths: tuple[int, int] = (SHORTEST, LONGEST)
    """Minimum and maximum length of sequences."""
    prices: Mapping[str, Prices] = field(default_factory=dict)
    """Prices of language models, by the name of the run that paid them."""
    runs: list[RunInfo] = field(default_factory=list)
    """Runs whose settings are known: not decisions recorded by hand or elsewhere."""

    def __post_init__(self) -> None:
        self.question.check()

    @property
    def run(self) -> RunInfo | None:
        """Run whose settings remedies change."""
        return self.runs[0] if self.runs else None

    @cached_property
    def overview(self) -> dict[str, Any]:
        """Extent of the runs: counts, and the first and last decision's time in UTC."""
        _, counted = self.views.query("SELECT count(*) FROM decision_rows")
        times, newest = self.views.times(), self.views.newest_steps()
        _, rows = self.views.query("SELECT count(*) FILTER (purpose = 'train') FROM episodes")
        return {
            "runs": run_names(self.views.folders),
            "decisions": counted[0][0],
            "episodes": rows[0][0],
            "steps": sum(newest.values()),
            "first": None if times is None else datetime.fromtimestamp(times[0], UTC),
            "last": None if times is None else datetime.fromtimestamp(times[1], UTC),
        }

    @cached_property
    def all_patterns(self) -> list[Pattern]:
        """Single patterns that are frequent enough, in the question's order."""
        assert self._collected
        return patterns_of_tallies(self.views, self._without_limit)

    @property
    def patterns(self) -> list[Pattern]:
        """Patterns up to the question's limit."""
        return self.all_patterns[: self.question.limit]

    @cached_property
    def weighty_patterns(self) -> list[Pattern]:
        """Significant patterns, those with most at stake first."""
        found = [one for one in self.all_patterns if one.figures.significant]
        return sorted(found, key=SORTS["stake"])

    @cached_property
    def story(self) -> Story:
        """Actions that the story needs."""
        assert self._collected
        return Story(self.views, tuple(self.question.by), trust_rules=not any(map(better_pilot, self.runs)))

    @property
    def telling_patterns(self) -> list[Pattern]:
        """Significant patterns that contradict no goal of the story, those with most at stake first."""
        return [one for one in self.weighty_patterns if self.story.allows(one)]

    @cached_property
    def mean_reward(self) -> float:
        """Mean reward of a step, over all decisions of the question."""
        assert self._collected
        _, rows = self.views.query(f"SELECT sum(reward) / nullif(sum(frequency), 0) FROM {TABLE}")
        return float(rows[0][0] or 0.0)

    @cached_property
    def deciders(self) -> list[SourceComparison]:
        """Comparison of the sources of decisions in each situation."""
        assert self._collected
        return deciders_of_tallies(self.views, self.question)

    @cached_property
    def calibrations(self) -> list[Calibration]:
        """Agreement of confidence with outcomes."""
        return calibrate(self.views, self.question.conditions)

    @cached_property
    def advice_costs(self) -> list[AdviceCost]:
        """Cost of the language model by situation."""
        return advice_costs(self.views, self.question.by, self.question.conditions, self.prices)

    @cached_property
    def interval_share(self) -> float:
        """Share of the questions to the language model that were asked after its interval, without an event, 0..1."""
        _, rows = self.views.query("SELECT avg((event = 'interval')::INT) FROM advice")
        return float(rows[0][0] or 0.0)

    @cached_property
    def loops(self) -> list[LoopPlace]:
        """Places where episodes were in loops."""
        return find_loops(self.views, self.question.of_situations)

    @cached_property
    def sequences(self) -> list[Sequence]:
        """Frequent sequences of actions."""
        return find_sequences(self.views, self.question, *self.lengths)

    @cached_property
    def changes(self) -> list[Change]:
        """Changes between two parts."""
        return find_changes(self.views, self.question)

    @cached_property
    def _collected(self) -> bool:
        collect(self.views, self.question.by, self.question.of_situations)
        return True

    @property
    def _without_limit(self) -> PatternQuestion:
        asked = self.question
        return PatternQuestion(asked.min_frequency, asked.by, asked.conditions, asked.sort)
