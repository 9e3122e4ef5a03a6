"""Choice among the advice of several models: by vote, or by which was right lately in this kind of situation.

The record is a discounted upper confidence bound (A. Garivier and E. Moulines, «On Upper-Confidence Bound Policies for
Non-Stationary Bandit Problems», 2008): a model is chosen by its share of advice that brought a reward, plus a
bonus that is larger the less is known. Older results count less, so a model that gets worse loses its place. Nothing is
random in it, so a resumed run chooses alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log, sqrt
from typing import Any, Literal

from pkmncli.advice.worth import Situation
from pkmncli.api import Advice
from pkmncli.llm.client import Answer

DISCOUNT = 0.98
"""Weight of earlier results after each new result in the same kind of situation: about the latest fifty count."""

BONUS = 0.5
"""Weight of the bonus: a larger one tries the models with a lower share more often."""

_BEGINNING = -1
"""Kind of the situation at the beginning of an episode."""


@dataclass(slots=True)
class Record:
    """Discounted number of results of a model in a kind of situation, and of those with a reward."""

    tries: float = 0.0
    wins: float = 0.0


class EnsembleChoice:
    """Choice among the models of an ensemble, and the record of which was right.

    Args:
        models: names of the models, in the order in which ties are decided.
        by: ``vote`` follows the advice that most models agree on, ``record`` the model that was right most often.
        key: returns a key that is equal for the same advice.
    """

    def __init__(self, models: Sequence[str], by: Literal["vote", "record"], key: Callable[[Advice], str]) -> None:
        self._models = tuple(models)
        self._by = by
        self._key = key
        self._records: dict[int, dict[str, Record]] = {}
        self._given, self._tries, self._wins = Counter[str](), Counter[str](), Counter[str]()

    def choose(self, answer: Answer, situation: Situation | None) -> Answer:
        """Return the chosen model's answer, with the answers of all as ``members``.

        Args:
            answer: of the ensemble.
            situation: in which the advice is given; None at the beginning of an episode.
        """
        answers = dict(answer.members)
        advised = {name: one.advice for name, one in answers.items() if one.advice is not None}
        backers: list[str] = []
        if advised:
            rank = self._by_vote(advised) if self._by == "vote" else self._by_record(advised, _kind(situation))
            best = max(advised, key=rank)  # of equals, max() takes the first
            chosen = answers[best]
            backers = [name for name, advice in advised.items() if self._key(advice) == self._key(advised[best])]
        else:
            chosen = next((one for one in answers.values() if one.replies), answer.members[0][1])
        return replace(
            chosen,
            members=answer.members,
            backers=tuple(backers),
            asked=any(one.asked for one in answers.values()),
            latency_s=answer.latency_s,
        )

    def _by_vote(self, advised: Mapping[str, Advice]) -> Callable[[str], tuple[float, ...]]:
        """Return the rank of models: votes for the kind of action, then for the advice itself, then confidence."""
        kinds = {name: _action(advice) for name, advice in advised.items()}
        keys = {name: self._key(advice) for name, advice in advised.items()}
        sure = {name: advice.confidence for name, advice in advised.items()}

        def rank(name: str) -> tuple[float, ...]:
            alike = [other for other in advised if kinds[other] == kinds[name]]
            same = [other for other in alike if keys[other] == keys[name]]
            return len(alike), sum(sure[other] for other in alike), len(same), sure[name]

        return rank

    def _by_record(self, advised: Mapping[str, Advice], kind: int) -> Callable[[str], tuple[float, ...]]:
        """Return the rank of models: the bound of their record in a kind of situation, then as in a vote."""
        records, vote = self._records.get(kind, {}), self._by_vote(advised)
        total = max(sum(record.tries for record in records.values()), 1.0)

        def rank(name: str) -> tuple[float, ...]:
            record = records.get(name)
            if record is None:
                return inf, *vote(name)
            return record.wins / record.tries + sqrt(BONUS * log(total) / record.tries), *vote(name)

        return rank

    def give(self, backers: Sequence[str]) -> None:
        """Count advice that the pilot gets, or that is set aside for the rules."""
        self._given.update(backers)

    def add_result(self, situation: Situation | None, backers: Sequence[str], *, right: bool) -> None:
        """Add the result of advice that has ended.

        Args:
            situation: in which it was given.
            backers: the models that gave it.
            right: True if it brought a reward.
        """
        records = self._records.setdefault(_kind(situation), {})
        for record in records.values():
            record.tries *= DISCOUNT
            record.wins *= DISCOUNT
        for name in backers:
            record = records.setdefault(name, Record())
            record.tries += 1
            record.wins += right
        self._tries.update(backers)
        self._wins.update(backers if right else ())

    def summary(self) -> dict[str, dict[str, int]]:
        """Return for each model how often its advice was given, had a result, and was right."""
        return {
            name: {"given": self._given[name], "tried": self._tries[name], "right": self._wins[name]}
            for name in self._models
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "records": [
                [kind, name, record.tries, record.wins]
                for kind, records in self._records.items()
                for name, record in records.items()
            ],
            "counts": [[name, self._given[name], self._tries[name], self._wins[name]] for name in self._models],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._records = {}
        for kind, name, tries, wins in state["records"]:
            self._records.setdefault(int(kind), {})[name] = Record(float(tries), float(wins))
        for name, given, tries, wins in state["counts"]:
            self._given[name], self._tries[name], self._wins[name] = int(given), int(tries), int(wins)


def _kind(situation: Situation | None) -> int:
    return _BEGINNING if situation is None else situation.phase


def _action(advice: Advice) -> str | int:
    """Return the skill of advice, or its first action."""
    return advice.skill or next(iter(advice.presses), "")
