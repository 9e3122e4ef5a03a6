"""Pilot of environments that have none: it plays the actions of advice, in the worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pkmncli.api import Advice, Decision, Environment
from pkmncli.api.actions import MASK
from pkmncli.api.spaces import blank_observation
from pkmncli.declared import action_names_of
from pkmncli.training.workers.flat_environment import flattened

NO_DECISION = Decision(-1, "", -1.0)
"""Decision of a step without advice: the learner acts, whatever its confidence."""

ALL_ACTIONS = "all its actions were taken"

_REASON_CHARACTERS = 50


class ActionCarrier:
    """Player of lists of actions. Every other step is the learner's.

    A list ends at its last action, at an action that the mask forbids, or when the learner acts in between.

    Args:
        environment: of the worker.
    """

    unbroken = True

    def __init__(self, environment: Environment) -> None:
        self._environment = flattened(environment)
        self._arrays = blank_observation(self._environment.observation_space)
        self._done = self._seed = self._acts = 0
        self.advice_end = ""
        """End of the latest advice, as a clause for people."""

    def reset(self, seed: int) -> None:
        """Begin an episode."""
        self._done, self._seed, self._acts = 0, seed, 0

    def reconsider(self, advice: Advice) -> Decision:
        """Return the first action of new advice, in place of the decision before it."""
        self._done = 0
        return self._next(advice)

    def act(self, advice: Advice | None) -> Decision:
        """Return the next action of the advice, after the step that carried out the one before."""
        self._acts += 1
        if advice is None:
            return self.without_advice()
        self._done += 1
        return self._next(advice)

    def without_advice(self) -> Decision:
        """Return the decision of a step without advice."""
        return NO_DECISION

    def _next(self, advice: Advice) -> Decision:
        actions = advice.presses
        if self._done >= len(actions) or actions[self._done] not in self.allowed():
            done = self._done >= len(actions)
            self.advice_end = (
                ALL_ACTIONS if done else f"its action {self._done + 1} of {len(actions)} is not allowed now"
            )
            return self.without_advice()._replace(advice_over=True)
        words = (advice.reason or advice.goal)[:_REASON_CHARACTERS]
        last = self._done == len(actions) - 1
        self.advice_end = ALL_ACTIONS if last else ""
        return Decision(actions[self._done], f"advice: {words}", advice.confidence, advised=True, advice_over=last)

    def allowed(self) -> list[int]:
        """Return the actions that the mask allows now."""
        self._environment.write_observation(self._arrays)
        return np.flatnonzero(self._arrays[MASK]).tolist()

    def save_state(self) -> dict[str, Any]:
        """Return the memory as plain values."""
        return {"done": self._done, "seed": self._seed, "acts": self._acts}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`save_state`."""
        self._done, self._seed, self._acts = state["done"], state["seed"], state["acts"]


class LoneActionCarrier(ActionCarrier):
    """Carrier that plays without a learner: with no advice it does nothing, or acts at random where it has to act."""

    def without_advice(self) -> Decision:
        """Return the idle action, or a random allowed one if the environment declares none."""
        allowed = self.allowed()
        names = action_names_of(self._environment, len(self._arrays[MASK]))
        if names.idle and names.idle_action in allowed:
            return Decision(names.idle_action, "no advice", 0.0)
        place = int(np.random.default_rng((self._seed, self._acts)).integers(len(allowed)))
        return Decision(allowed[place], "no advice: at random", 0.0)
