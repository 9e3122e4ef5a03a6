"""One sentence says how good a learner is alone, and the table beside it never mixes goals with rewards."""

from __future__ import annotations

from typing import Any

from pkmncli.api import EpisodeSummary
from pkmncli.training.display.verdict import rows_of, table_lines, verdict
from pkmncli.training.evaluation.evaluation import report

MILESTONES = ["start", "outside", "badge"]


def played(reached: int, goal: str | None = "badge", *, furthest: str = "outside") -> dict[str, Any]:
    """The report of ten episodes, of which so many reached the goal and the others got as far as a milestone."""
    episodes = []
    for number in range(10):
        steps = {furthest: 7, "start": 0} | ({"badge": 500 + number} if number < reached else {})
        length = 500 + number if number < reached else 1000
        success = None if goal is None else number < reached
        row = (0, number, number, length, 10.0 * reached, number < reached, "", 0.0, steps, 0)
        episodes.append(EpisodeSummary(*row, success=success))
    return report(episodes, MILESTONES, goal)


def test_the_sentence_has_counts_interval_and_who_is_beside() -> None:
    assert verdict(played(8), played(10), played(0)) == (
        "The learner alone reaches badge in 8 of 10 starts (49% to 94%); the pilot in 10, random play in 0."
    )


def test_without_a_pilot_its_part_is_left_out() -> None:
    assert verdict(played(8), None, played(0)).endswith("(49% to 94%); random play in 0.")
    assert verdict(played(8)).endswith("starts (49% to 94%).")


def test_where_the_goal_was_never_reached_it_says_how_far_it_gets() -> None:
    assert verdict(played(0), played(10)).endswith("the pilot in 10. It gets as far as outside, in 10.")
    assert verdict(played(0, furthest="start")).endswith("It reaches no milestone.")


def test_an_environment_without_goals_is_told_by_reward() -> None:
    sentence = verdict(played(3, None), None, played(0, None))
    assert sentence == "The learner alone earns 30.0 an episode; random play 0.0."
    assert rows_of({"learner_alone": played(3, None)})[0] == ["", "reward", "steps"]


def test_the_table_has_a_row_for_each_who_played() -> None:
    rows = rows_of({"learner_alone": played(8), "random": played(0), "other": 1})
    assert rows == [
        ["", "reaches badge", "95% interval", "steps to it", "reward"],
        ["learner alone", "8 of 10", "49% to 94%", "503", "80.0"],
        ["random play", "0 of 10", "0% to 28%", "-", "0.0"],
    ]
    lines = table_lines(rows)
    assert lines[2].index("8 of 10") == lines[3].index("0 of 10")
