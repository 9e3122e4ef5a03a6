"""The pilot in a worker, with the advice that it follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pkmncli.api import NO_ACTION, Advice, Decision, Pilot, Source
from pkmncli.errors import TrainingError

EXPIRED = "it expired"
INTERRUPTED = "another player acted"
ENDED_BY_PILOT = "the pilot says that it is completed, or can't be followed"


class AdvisedPilot:
    """A pilot, its advice, and the action that it proposes for the next step.

    Args:
        pilot: the pilot; without one nothing is proposed, and advice only expires.
        shows: True if it may act and others see what it proposes.
    """

    def __init__(self, pilot: Pilot | None, *, shows: bool) -> None:
        self._pilot = pilot
        self._acts = shows and pilot is not None
        self.advice: Advice | None = None
        self.steps_left = 0
        """Steps that the advice holds."""
        self.advice_end = ""
        """End of the latest advice, as a clause for people; empty if it holds or the episode ended."""
        self.proposal = Decision(0, "", 0.0)
        self._reports = getattr(pilot, "reports", None)
        self._unbroken = getattr(pilot, "unbroken", False)

    def begin(self, seed: int) -> None:
        """Begin an episode, without advice."""
        self.take_advice(None)
        if self._pilot is not None:
            self._pilot.reset(seed)
            self.propose()

    def propose(self) -> None:
        """Have the pilot propose the next action."""
        if self._pilot is not None:
            self.proposal = self._pilot.act(self.advice)

    def take_advice(self, advice: Advice | None) -> bool:
        """Take new advice, or withdraw the old.

        Returns:
            True if the pilot reconsidered the next action for it; else what it has proposed stays as it is.
        """
        self.advice, self.advice_end = advice, ""
        self.steps_left = 0 if advice is None else max(advice.expires_after, 1)
        reconsider = getattr(self._pilot, "reconsider", None)
        if advice is None or reconsider is None:
            return False
        # the proposal was made for earlier advice: it can't say that this advice is over
        self.proposal = reconsider(advice) or self.proposal._replace(advice_over=False)
        return True

    def use_up_advice(self, *, by_pilot: bool) -> None:
        """Count a step of the advice, and withdraw it where it ends.

        Args:
            by_pilot: True if the pilot took the step.
        """
        if self.advice is None:
            return
        self.steps_left -= 1
        proposal = self.proposal
        over = proposal.advice_over and (by_pilot or not proposal.advised)
        if self.steps_left == 0 or over or (self._unbroken and not by_pilot):
            ended = EXPIRED
            if over:
                ended = getattr(self._pilot, "advice_end", "") or ENDED_BY_PILOT
            elif self.steps_left:
                ended = INTERRUPTED
            self.take_advice(None)
            self.advice_end = ended

    def decision(self) -> tuple[Decision, Source]:
        """Return what the pilot does now, and on whose behalf.

        Raises:
            TrainingError: there is no pilot that may act.
        """
        if not self._acts:
            raise TrainingError("the pilot was to act, but these environments have none that may")
        return self.proposal, Source.LLM if self.proposal.advised else Source.RULE

    def shown(self) -> tuple[float, int, int]:
        """Return confidence and action of the proposal as others see it, and the steps that the advice holds."""
        if not self._acts:
            return 0.0, NO_ACTION, self.steps_left
        return self.proposal.confidence, self.proposal.action, self.steps_left

    def reports(self) -> list[dict[str, Any]]:
        """Return what the pilot has to report since the latest call."""
        return list(self._reports()) if self._reports is not None else []

    def state_dict(self) -> dict[str, Any] | None:
        """Return the state; None without a pilot."""
        if self._pilot is None:
            return None
        return {
            "memory": self._pilot.save_state(),
            "proposal": list(self.proposal),
            "advice": None if self.advice is None else asdict(self.advice),
            "advice_steps_left": self.steps_left,
        }

    def load_state_dict(self, state: Mapping[str, Any] | None) -> None:
        """Restore a saved state."""
        if self._pilot is None or state is None:
            return
        self._pilot.load_state(state["memory"])
        self.proposal = Decision(*state["proposal"])
        self.advice = None if state["advice"] is None else Advice.from_values(state["advice"])
        self.steps_left = state["advice_steps_left"]
