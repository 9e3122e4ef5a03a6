"""The figure of a run: from its latest values, also if many episodes end with one step."""

from __future__ import annotations

import pytest

from pkmncli.tuning.objective import Measured, Objective

# Four environments whose episodes end together, every 100 steps; half of the latest reached the milestone.
ROWS = tuple(
    (step, name, value)
    for step, rewards in ((100, (9.0, 9.0, 9.0, 9.0)), (200, (8.0, 1.0, 2.0, 5.0)))
    for number, reward in enumerate(rewards)
    for name, value in (("episode/reward", reward), ("milestone/starter/step", 40.0))
    if name == "episode/reward" or step == 100 or number < 2
)


@pytest.mark.parametrize(("last", "figure", "share"), [(1, 4.0, 0.5), (3, 4.0, 0.5), (4, 4.0, 0.5), (5, 6.5, 0.75)])
def test_episodes_that_end_with_one_step_count_together(last: int, figure: float, share: float) -> None:
    """Episodes of one step count together in any order: none of them is later."""
    for rows in (ROWS, tuple(sorted(ROWS))):
        measured = Measured(200, rows)
        assert measured.value(Objective("episode/reward", last, maximize=True), 200) == figure
        assert measured.value(Objective("milestone/starter/share", last, maximize=True), 200) == share
        assert measured.value(Objective("episode/reward", last, maximize=True), 199) == 9.0
        assert measured.value(Objective("episode/reward", last, maximize=True), 99) is None
