"""Journal of advice: each answer as a row of the table ``advice``, which takes effect again when a run resumes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pkmncli.advice.policy import Objection
from pkmncli.api import Advice
from pkmncli.llm.client import LONGEST_REPLY, Answer
from pkmncli.llm.replies import Reading
from pkmncli.llm.requests import Delivery
from pkmncli.llm.usage import RepeatedAnswer

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
        members = [member_values(name, one, agreed=name in answer.backers) for name, one in answer.members]
        replies = [reply for _, one in answer.members or (("", answer),) for reply in one.replies]
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
            "reply": _texts(answer),
            "prompt_tokens": sum(reply.prompt_tokens for reply in replies),
            "completion_tokens": sum(reply.completion_tokens for reply in replies),
            "latency_s": answer.latency_s,
            "members": json.dumps(members) if members else "",
        }


def member_values(name: str, answer: Answer, *, agreed: bool) -> dict[str, Any]:
    """Return the answer of a model of an ensemble as plain values; ``agreed`` if it gave the chosen advice."""
    return {
        "name": name,
        "agreed": agreed,
        "reading": str(answer.reading),
        "problem": answer.problem,
        "advice": None if answer.advice is None else asdict(answer.advice),
        "model": answer.replies[-1].model if answer.replies else "",
        "cached": answer.cached,
        "reply": _texts(answer),
        "prompt_tokens": sum(reply.prompt_tokens for reply in answer.replies),
        "completion_tokens": sum(reply.completion_tokens for reply in answer.replies),
        "latency_s": answer.latency_s,
    }


def _texts(answer: Answer) -> str:
    return _PARTED.join(reply.text[:LONGEST_REPLY] for reply in answer.replies)


def replies_of(text: str) -> list[str]:
    """Return the replies in the ``reply`` of a row or member: the first, and that of the repair if there was one."""
    return text.split(_PARTED) if text else []


def advice_of(row: Mapping[str, Any]) -> Advice | None:
    """Return the advice of a row; None if it has none."""
    return Advice.from_values(json.loads(row["advice"])) if row["advice"] else None


def members_of(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the answers of an ensemble's models in a row; empty without an ensemble."""
    members: list[dict[str, Any]] = json.loads(row["members"]) if row.get("members") else []
    return members


def repeated_answers(row: Mapping[str, Any]) -> list[RepeatedAnswer]:
    """Return the cost and reading of an answer that takes effect again, for each model that was asked."""
    return [
        RepeatedAnswer(
            one["reading"],
            replies=one["reply"].count(_PARTED) + 1 if one["model"] else 0,
            cached=bool(one["cached"]),
            prompt_tokens=int(one["prompt_tokens"]),
            completion_tokens=int(one["completion_tokens"]),
            latency_s=float(one["latency_s"]),
            problem=one["problem"] if one["reading"] == Reading.NOTHING and one["model"] else "",
            member=one.get("name", ""),
        )
        for one in members_of(row) or [row]
    ]


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
