"""Frequent runs of two to six actions, and what followed them.

They are read from the actions before each decision in its own row, so no row needs a look at its neighbours. A run is
one number while it is counted: its actions, each + 1, are the digits in a base above all of them, the last one lowest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pkmn_decisions.analysis.conditions import where
from pkmn_decisions.analysis.option_tests import wilson
from pkmn_decisions.analysis.patterns import PatternQuestion
from pkmn_decisions.analysis.situations import situation, with_names
from pkmn_decisions.store.names import Names
from pkmn_decisions.store.view import RunViews
from pkmncli.api import REMEMBERED_ACTIONS

SHORTEST, LONGEST = 2, REMEMBERED_ACTIONS
"""Lengths of a run: the row of a decision has the five actions before it, and one more for a longer run."""

MOSTLY = 0.5
"""Share of its occurrences in a longer run from which a run is not shown separately."""

_CODES = "sequence_codes"


@dataclass(frozen=True, slots=True)
class Sequence:
    """Consecutive actions, in the situation of the last of them. Returns count from the last one."""

    situation: dict[str, int]
    actions: tuple[int, ...]
    frequency: int
    judged: int
    successes: int
    mean_return: float
    usual_rate: float
    """Success rate of all decisions in the situation."""
    usual_return: float

    @property
    def success_rate(self) -> float:
        """Share of the judged occurrences that succeeded."""
        return self.successes / self.judged

    @property
    def difference(self) -> float:
        """Mean return minus the usual one in the situation."""
        return self.mean_return - self.usual_return

    def as_dict(self, names: Names) -> dict[str, Any]:
        """Return plain values, with the names of the numbers."""
        interval = wilson(self.successes, self.judged)
        return {
            "context": with_names(self.situation, names),
            "actions": list(self.actions),
            "action_names": [names.of("action", action) for action in self.actions],
            "frequency": self.frequency,
            "judged": self.judged,
            "success_rate": self.success_rate,
            "interval": list(interval) if interval else None,
            "mean_return": self.mean_return,
            "usual_success_rate": self.usual_rate,
            "usual_mean_return": self.usual_return,
        }


def find_sequences(
    views: RunViews, question: PatternQuestion, shortest: int = SHORTEST, longest: int = LONGEST
) -> list[Sequence]:
    """Return the frequent runs of ``shortest`` to ``longest`` actions, the largest difference first.

    A run is shown only at its natural length: it is left out if at least half of its occurrences are the beginning or
    the end of the same longer run, or if it is only a shorter run that continues in any way.
    """
    keys, expressions = situation(question.by)
    condition, parameters = where(question.of_situations)
    parts = ", ".join(f"s{index}" for index in range(len(keys)))
    columns = [*(f"previous_{back}" for back in range(longest - 1, 0, -1)), "action"]
    base = _base(views, columns)
    kind = next(name for name, bits in (("UINTEGER", 32), ("UBIGINT", 64), ("HUGEINT", 127)) if base**longest < 2**bits)
    # The operator ** would compute in floating point.
    powers = " ".join(f"WHEN {length} THEN {base ** (length - 1)}::{kind}" for length in range(1, longest + 1))
    code = " + ".join(f"({name} + 1)::{kind} * {base**place}::{kind}" for place, name in enumerate(reversed(columns)))
    selected = ", ".join(f"{expression} AS s{index}" for index, expression in enumerate(expressions))
    views.query(
        f"""
        CREATE OR REPLACE TEMP TABLE {_CODES} AS
        SELECT {longest}::UTINYINT AS length, {selected},
            ({code})::{kind} AS code, count(*) AS frequency,
            count(near_return) AS judged, count(*) FILTER (success) AS successes, sum(near_return) AS total
        FROM judged_decisions WHERE {condition} GROUP BY ALL
        """,
        parameters,
    )
    for length in range(longest - 1, 0, -1):
        # The code of a shorter run is the end of a longer one's.
        shorter = f"code % {base**length}::{kind}"
        views.query(
            f"INSERT INTO {_CODES} SELECT {length}, {parts}, {shorter}, sum(frequency), sum(judged), "
            f"sum(successes), sum(total) FROM {_CODES} WHERE length = {length + 1} GROUP BY {parts}, {shorter}"
        )
    shown, shown_parameters = where(question.of_actions)
    same = "b.length = c.length - 1" + "".join(f" AND b.s{index} = c.s{index}" for index in range(len(keys)))
    lowest = " OR ".join(f"(length = {length} AND code >= {base ** (length - 1)})" for length in range(1, longest + 1))
    most = f"LIMIT {question.limit * longest}" if question.limit is not None else ""
    _, rows = views.query(
        f"""
        WITH usual AS (
            SELECT {parts}, sum(successes) / sum(judged) AS usual_rate, sum(total) / sum(judged) AS usual_return
            FROM {_CODES} WHERE length = 1 GROUP BY {parts} HAVING sum(judged) > 0
        ), runs AS (
            SELECT *, code // {base}::{kind} AS beginning, code % CASE length {powers} END AS ending,
                (code % {base})::INTEGER - 1 AS action
            FROM {_CODES} WHERE frequency >= ? AND ({lowest})
        ), goes_on AS (
            SELECT length - 1 AS length, {parts}, code, max(frequency) AS longer
            FROM (
                SELECT length, {parts}, beginning AS code, frequency FROM runs
                UNION ALL SELECT length, {parts}, ending, frequency FROM runs
            ) GROUP BY ALL
        ), candidates AS (
            SELECT runs.* FROM runs LEFT JOIN goes_on USING (length, {parts}, code)
            WHERE judged > 0 AND length >= {shortest} AND {shown} AND coalesce(longer < {MOSTLY} * frequency, true)
        ), whole AS (
            SELECT c.*, least(
                (SELECT b.frequency FROM runs b WHERE {same} AND b.code = c.beginning),
                (SELECT b.frequency FROM runs b WHERE {same} AND b.code = c.ending)
            ) AS shorter
            FROM candidates c
        )
        SELECT {parts}, code, frequency, judged, successes, total / judged AS mean, usual_rate, usual_return
        FROM whole JOIN usual USING ({parts})
        WHERE length = {shortest} OR coalesce(frequency >= {MOSTLY} * shorter, true)
        ORDER BY abs(mean - usual_return) * judged DESC, frequency DESC, {parts}, code {most}
        """,
        [question.min_frequency, *shown_parameters],
    )
    return _without_shifted([_sequence(keys, base, row) for row in rows])[: question.limit]


def _without_shifted(sequences: list[Sequence]) -> list[Sequence]:
    """Return the runs without shifted copies of a cyclic or very long run."""
    kept: list[Sequence] = []
    for one in sequences:
        if not any(_is_shifted(one, other) for other in kept):
            kept.append(one)
    return kept


def _is_shifted(one: Sequence, other: Sequence) -> bool:
    """Return True if two runs are the same one, shifted by a few actions, and about as frequent."""
    length = len(one.actions)
    if one.situation != other.situation or len(other.actions) != length:
        return False
    if min(one.frequency, other.frequency) < MOSTLY * max(one.frequency, other.frequency):
        return False
    return any(
        one.actions[shift:] == other.actions[: length - shift] or other.actions[shift:] == one.actions[: length - shift]
        for shift in range(1, length // 2 + 1)
    )


def _base(views: RunViews, columns: list[str]) -> int:
    """Return a base in which each action + 1 is one digit."""
    highest = ", ".join(f"max({column})" for column in columns)
    _, rows = views.query(f"SELECT coalesce(greatest({highest}), 0) FROM judged_decisions")
    return int(rows[0][0]) + 2


def _actions(code: int, base: int) -> tuple[int, ...]:
    digits = []
    while code:
        code, digit = divmod(code, base)
        digits.append(digit - 1)
    return tuple(reversed(digits))


def _sequence(keys: list[str], base: int, row: tuple[Any, ...]) -> Sequence:
    code, frequency, judged, successes, mean, usual_rate, usual_return = row[len(keys) :]
    return Sequence(
        situation=dict(zip(keys, map(int, row[: len(keys)]), strict=True)),
        actions=_actions(int(code), base),
        frequency=int(frequency),
        judged=int(judged),
        successes=int(successes),
        mean_return=float(mean),
        usual_rate=float(usual_rate),
        usual_return=float(usual_return),
    )
