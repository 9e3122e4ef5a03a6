"""Patterns above the threshold are found, those below are not, and few marked ones are false."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.planted import (
    BAD,
    GOOD,
    NULL_MAPS,
    RARE_GOOD,
    Plan,
    write_planted,
)
from support.variants import long_after

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer

SEEDS = range(6)
PLANS = {
    "independent rewards": {},
    "rewards that go on": {"memory": 0.95},
    "lucky episodes": {"memory": 0.9, "episode_luck": 1.0},
    "few episodes": {"memory": 0.9, "episodes": 12, "steps": 2000},
}


def patterns(folder: Path, **given: Any) -> dict[tuple[int, int], dict[str, Any]]:
    found = DecisionHistoryAnalyzer(folder, threads=2).analyze_patterns(**given)
    return {(one["context"]["map"], one["action"]): one for one in found}


@pytest.mark.parametrize("plan", long_after(1, PLANS.values()), ids=PLANS.keys())
def test_all_that_was_planted_is_marked_and_at_most_a_twentieth_falsely(tmp_path: Path, plan: dict[str, Any]) -> None:
    true, false = 0, 0
    for seed in SEEDS:
        found = patterns(write_planted(tmp_path / str(seed), Plan(seed=seed, **plan)), min_frequency=5)
        good, bad = found[GOOD], found[BAD]
        assert good["significant"] and good["return_difference"] > 0.4
        assert bad["significant"] and bad["return_difference"] < -0.4
        assert RARE_GOOD not in found
        false += sum(one["significant"] for (map_id, _), one in found.items() if map_id in NULL_MAPS)
        true += sum(one["significant"] for (map_id, _), one in found.items() if map_id not in NULL_MAPS)
    assert false <= 0.05 * (true + false)


@pytest.mark.long
@pytest.mark.parametrize("plan", long_after(1, PLANS.values()), ids=PLANS.keys())
def test_where_nothing_was_planted_a_run_rarely_has_anything_marked(tmp_path: Path, plan: dict[str, Any]) -> None:
    # Every marked pattern is false here, so the level is the share of runs with any: about 5% of 12.
    runs = 0
    for seed in range(12):
        folder = write_planted(tmp_path / str(seed), Plan(seed=100 + seed, planted=False, **{"episodes": 40, **plan}))
        runs += any(one["significant"] for one in patterns(folder, min_frequency=5).values())
    assert runs <= 2
