"""Journal of advice: each answer as a row of the table ``advice``, which takes effect again when a run resumes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pkmncli.advice.policy import Objection
from pkmncli.api import Advice
from pkmncli.llm.budget import RepeatedAnswer
from pkmncli.llm.client import LONGEST_REPLY
from pkmncli.llm.replies import Reading
from pkmncli.llm.requests import Delivery

_PARTED = "\n-----\n"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """Answer at the step where it came, and why its advice is not followed."""

    delivery: Delivery
    step: int
    """Steps taken before it took effect, over all environments."""
    objection: Objection | None

    @property
    def model(self) -> str:
        """Model that answered; empty if there is no reply."""
        replies = self.delivery.answer.replies
        return replies[-1].model if replies else ""

    def row(self) -> dict[str, Any]:
        """Return the row of the table, without its time."""
        answer = self.delivery.answer
        problem: str = answer.problem
        if answer.advice is not None:  # the table shows that advice was set aside by `followed` alone
            hidden = self.objection is None or self.objection is Objection.RULES_TURN
            problem = "" if hidden else str(self.objection)
        given = None if self.objection is Objection.OUTDATED else answer.advice
        return {
            "global_step": self.step + 1,
            "asked_at": self.delivery.asked_at,
            "environment": self.delivery.environment,
            "event": str(self.delivery.event),
            "followed": answer.advice is not None and self.objection is None,
            "reading": str(answer.reading),
            "problem": problem,
            "advice": json.dumps(asdict(given)) if given is not None else "",
            "model": self.model,
            "cached": answer.cached,
            "prompt": answer.request.prompt if answer.asked else "",
            "reply": _PARTED.join(reply.text[:LONGEST_REPLY] for reply in answer.replies),
            "prompt_tokens": sum(reply.prompt_tokens for reply in answer.replies),
            "completion_tokens": sum(reply.completion_tokens for reply in answer.replies),
            "latency_s": answer.latency_s,
        }


def advice_of(row: Mapping[str, Any]) -> Advice | None:
    """Return the advice of a row; None if it has none."""
    return Advice.from_values(json.loads(row["advice"])) if row["advice"] else None


def repeated_answer(row: Mapping[str, Any]) -> RepeatedAnswer:
    """Return the cost and reading of an answer that takes effect again."""
    return RepeatedAnswer(
        row["reading"],
        replies=row["reply"].count(_PARTED) + 1 if row["model"] else 0,
        cached=bool(row["cached"]),
        prompt_tokens=int(row["prompt_tokens"]),
        completion_tokens=int(row["completion_tokens"]),
        latency_s=float(row["latency_s"]),
        problem=row["problem"] if row["reading"] == Reading.NOTHING and row["model"] else "",
    )


class AdviceToRepeat:
    """Rows of a journal after a run's checkpoint, by the step at which they take effect."""

    def __init__(self, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self._rows: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
        self._questions: dict[int, list[int]] = defaultdict(list)
        for row in rows:
            self._rows[int(row["global_step"]) - 1].append(row)
            self._questions[int(row["asked_at"])].append(int(row["environment"]))
        self._last = max(self._rows, default=-1)

    def covers(self, step: int) -> bool:
        """Return True if the journal has all advice of a step, so that nothing is asked."""
        return step <= self._last

    def asked(self, step: int) -> Sequence[int]:
        """Return the environments with a question at a step; once."""
        return self._questions.pop(step, ())

    def take(self, step: int) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a step; once."""
        return self._rows.pop(step, ())
