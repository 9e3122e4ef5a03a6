"""The journal of advice: each answer as a row of the table ``advice``, and back again when a run goes on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pkmncli.api import Advice
from pkmncli.llm.advisor import Delivery
from pkmncli.llm.counsel import LONGEST_REPLY
from pkmncli.llm.replies import Reading
from pkmncli.llm.usage import Usage

_PARTED = "\n-----\n"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """What became of an answer at the step where it came."""

    delivery: Delivery
    step: int
    """Steps taken before it took effect, over all environments."""
    advice: Advice | None
    """What was made of it; nothing where it came too late."""
    problem: str
    followed: bool

    @property
    def model(self) -> str:
        """The model that answered; empty where none did."""
        replies = self.delivery.answer.replies
        return replies[-1].model if replies else ""

    def row(self) -> dict[str, Any]:
        """The row of the table, but its time."""
        answer = self.delivery.answer
        return {
            "global_step": self.step + 1,
            "asked_at": self.delivery.asked_at,
            "environment": self.delivery.environment,
            "event": str(self.delivery.event),
            "followed": self.followed,
            "reading": str(answer.reading),
            "problem": self.problem,
            "advice": json.dumps(asdict(self.advice)) if self.advice is not None else "",
            "model": self.model,
            "cached": answer.cached,
            "prompt": answer.request.prompt if answer.asked else "",
            "reply": _PARTED.join(reply.text[:LONGEST_REPLY] for reply in answer.replies),
            "prompt_tokens": sum(reply.prompt_tokens for reply in answer.replies),
            "completion_tokens": sum(reply.completion_tokens for reply in answer.replies),
            "latency_s": answer.latency_s,
        }


def advice_of(row: Mapping[str, Any]) -> Advice | None:
    """The advice of a row."""
    if not row["advice"]:
        return None
    return Advice.from_values(json.loads(row["advice"]))


def count_again(row: Mapping[str, Any], usage: Usage) -> None:
    """Accounts for an answer that takes effect again: it did cost."""
    usage.add_repeated(
        row["reading"],
        replies=row["reply"].count(_PARTED) + 1 if row["model"] else 0,
        cached=bool(row["cached"]),
        prompt_tokens=int(row["prompt_tokens"]),
        completion_tokens=int(row["completion_tokens"]),
        latency_s=float(row["latency_s"]),
        problem=row["problem"] if row["reading"] == Reading.NOTHING and row["model"] else "",
    )


class AdviceToRepeat:
    """The rows of a journal that lie ahead of a run that goes on, by the step at which they take effect."""

    def __init__(self, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self._rows: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
        self._questions: dict[int, list[int]] = defaultdict(list)
        for row in rows:
            self._rows[int(row["global_step"]) - 1].append(row)
            self._questions[int(row["asked_at"])].append(int(row["environment"]))
        self._last = max(self._rows, default=-1)

    def covers(self, step: int) -> bool:
        """Whether the journal says all that there is to know of a step, so that nothing is asked."""
        return step <= self._last

    def asked(self, step: int) -> Sequence[int]:
        """The environments whose questions were asked at a step, once."""
        return self._questions.pop(step, ())

    def awaits(self, environment: int, asked_at: int) -> bool:
        """Whether the answer to a question lies ahead."""
        rows = (row for some in self._rows.values() for row in some)
        return any((row["environment"], row["asked_at"]) == (environment, asked_at) for row in rows)

    def take(self, step: int) -> Sequence[Mapping[str, Any]]:
        """The rows of a step, once."""
        return self._rows.pop(step, ())
