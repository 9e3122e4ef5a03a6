"""The evidence by which the learner takes over, for each kind of situation: walking, words, menus, battles.

A learner may walk well long before it can fight. So its confidence is measured in every kind of situation: how often
the learner's choice is the one that the advised side would have made, and the rewards after the steps that it decided
against those after the advised side's steps. The first is known at every step, whoever decides it, and comes first; the
second needs the learner's own steps, and its weight grows with their number. So a learner that has found a better way
than its teacher's stays confident, and one whose choices look right but earn nothing does not.

This is another question than that of :mod:`pkmncli.advice.worth`, which compares language model and rules within the
advised side and has no step of the learner; so it has its own counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pkmncli.api import Source
from pkmncli.config.hand_over_settings import HandOverSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEARNER, ADVISED = 0, 1
"""Sides whose outcomes are compared."""

_SURE_DEVIATIONS = 1.0
"""Standard errors that the learner's outcomes must fall short by before that counts against it."""

_MOST_TAKEN, _LEAST_KEPT = 0.6, 0.4
"""Shares of the learner's decisions at which a kind of situation counts as taken over, and as lost again."""

_LEAST_OUTCOME = 1e-9
"""Smallest divisor of a relative difference, in place of rewards of 0."""

_SHARE_MEMORY = 500
"""Latest steps of a situation over which the learner's share is reported."""


class Evidence(NamedTuple):
    """Evidence on the learner in one kind of situation."""

    agreement: float
    """Share of its choices that the advised side would have made, 0..1, reduced while they are few."""
    outcome: float
    """Rewards after its own steps over those after the advised side's, 0..1: 1 if they do not fall short.

    A shortfall is relative to the size of the advised side's rewards, whatever their sign.
    """
    weight: float
    """Weight of the outcome against the agreement, 0..1."""
    share: float
    """Share of the latest steps that it decided, 0..1."""

    @property
    def confidence(self) -> float:
        """The learner's confidence in the situation, 0..1."""
        return self.weight * self.outcome + (1 - self.weight) * self.agreement


class HandOver:
    """Evidence by kind of situation, and the learner's confidence from it.

    Args:
        situations: the kind of situation of each phase.
        num_envs: number of environments.
        settings: the amount of evidence needed.
    """

    def __init__(self, situations: Sequence[str], num_envs: int, settings: HandOverSettings) -> None:
        by_situation = settings.by == "situation"
        self.names = tuple(dict.fromkeys(situations)) if by_situation else ("all",)
        self._kinds = np.array([self.names.index(one) if by_situation else 0 for one in situations], np.int64)
        self._settings = settings
        count, horizon = len(self.names), settings.horizon
        self._agreed = np.zeros((count, 2))
        """(situations, 2): number of choices that count, and the share of them that agreed."""
        self._outcomes = np.zeros((count, 2, 3))
        """(situations, sides, 3): number of steps that count, mean and variance of the rewards after them."""
        self._shares = np.zeros((count, 2))
        self._taken = np.zeros(count, bool)
        # The latest steps of each environment whose rewards are not complete yet, the newest one last.
        self._kind = np.full((num_envs, horizon), -1, np.int64)
        self._side = np.zeros((num_envs, horizon), np.int64)
        self._rewards = np.zeros((num_envs, horizon))
        self._idle = np.zeros(num_envs, np.int64)
        """Steps of each environment since its last reward."""

    # Results -----------------------------------------------------------------------------------------------------

    def evidence(self, place: int) -> Evidence:
        """Return the evidence in one kind of situation, by its index in :attr:`names`."""
        settings = self._settings
        count, share = self._agreed[place]
        agreement = share * count / (count + settings.doubt)
        own, theirs = self._outcomes[place]
        # Windows of rewards overlap: only as many are independent as fit side by side.
        independent = own[0] / settings.horizon
        weight = independent / (independent + settings.outcome_doubt)
        outcome = 1.0
        if not theirs[0]:
            weight = 0.0  # nothing to compare with
        elif own[0]:
            error = (own[2] / max(independent, 1.0)) ** 0.5
            missing = theirs[1] - own[1] - _SURE_DEVIATIONS * error
            # Relative to the size of theirs, which is below 0 if steps cost something and earn little.
            outcome = 1.0 if missing <= 0 else 1.0 - min(missing / max(abs(theirs[1]), _LEAST_OUTCOME), 1.0)
        return Evidence(float(agreement), outcome, float(weight), float(self._shares[place, 1]))

    def confidences(
        self, phases: NDArray[np.int64], own: NDArray[np.float32], advised: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the learner's confidence in each environment's next step, (num_envs,) in 0..1.

        Args:
            phases: (num_envs,), phases that the step is decided in.
            own: (num_envs,), the learner's own confidence; used if the advised side's action is unknown.
            advised: (num_envs,), actions of the advised side, -1 if unknown.
        """
        if self._settings.by == "values":
            return own
        steps = zip(phases.tolist(), own.tolist(), advised.tolist(), self._idle.tolist(), strict=True)
        return np.array([self.confidence(*one) for one in steps], np.float32)

    def confidence(self, phase: int, own: float, advised: int, idle: int) -> float:
        """Return the learner's confidence in one step, 0..1; arguments as of :meth:`confidences`, for one environment.

        ``idle`` is the number of steps of the episode since its last reward.
        """
        if advised < 0 or self._settings.by == "values":
            return own
        return 0.0 if idle >= self._settings.idle_steps else self.evidence(int(self._kinds[phase])).confidence

    # Input -------------------------------------------------------------------------------------------------------

    def note_choices(
        self,
        phases: NDArray[np.int64],
        greedy: NDArray[np.int64],
        counts: NDArray[np.bool_],
        advised: NDArray[np.int64],
    ) -> None:
        """Take in the choices of the learner and of the advised side.

        Args:
            phases: (num_envs,), phases that the step is decided in.
            greedy: (num_envs,), the learner's choice.
            counts: (num_envs,), False if the learner explores at random.
            advised: (num_envs,), the advised side's choice, -1 if unknown.
        """
        for index in np.flatnonzero(counts & (advised >= 0)).tolist():
            tally = self._agreed[self._kinds[phases[index]]]
            tally[0] = min(tally[0] + 1, self._settings.memory)
            tally[1] += (float(greedy[index] == advised[index]) - tally[1]) / tally[0]

    def note_steps(self, records: NDArray[Any], phases: NDArray[np.int64]) -> list[str]:
        """Take in a step of every environment.

        Args:
            records: (num_envs,), the step records.
            phases: (num_envs,), phases that the steps were decided in.

        Returns:
            One sentence for each kind of situation that changed hands.
        """
        for window in (self._kind, self._side, self._rewards):
            window[:, :-1] = window[:, 1:]
        kinds = self._kinds[phases]
        own = (records["source"] == Source.RL) | (records["source"] == Source.EXPLORE)
        self._kind[:, -1] = kinds
        self._side[:, -1] = np.where(own, LEARNER, ADVISED)
        self._rewards[:, -1] = records["reward"]
        self._idle = np.where(records["reward"] > 0, 0, self._idle + 1)
        for index, ended in enumerate((records["terminated"] | records["truncated"]).tolist()):
            if ended:
                for first in range(self._kind.shape[1]):
                    self._settle(index, first)
                self._kind[index] = -1
                self._idle[index] = 0
            else:
                self._settle(index, 0)
                self._kind[index, 0] = -1
        for kind, decided in zip(kinds.tolist(), own.tolist(), strict=True):
            tally = self._shares[kind]
            tally[0] = min(tally[0] + 1, _SHARE_MEMORY)
            tally[1] += (float(decided) - tally[1]) / tally[0]
        return self._changes()

    def _settle(self, index: int, first: int) -> None:
        """Count the rewards after a step of an environment, by its index among the latest steps."""
        kind = self._kind[index, first]
        if kind < 0:
            return
        tally = self._outcomes[kind, self._side[index, first]]
        tally[0] = min(tally[0] + 1, self._settings.outcome_memory)
        change = float(self._rewards[index, first:].sum()) - tally[1]
        tally[1] += change / tally[0]
        tally[2] += (change * change * (1 - 1 / tally[0]) - tally[2]) / tally[0]

    def _changes(self) -> list[str]:
        said = []
        for place, name in enumerate(self.names):
            count, share = self._shares[place]
            taken = bool(self._taken[place])
            if count < _SHARE_MEMORY or (share < _MOST_TAKEN if not taken else share > _LEAST_KEPT):
                continue
            self._taken[place] = not taken
            known = self.evidence(place)
            who = "The rules take over again" if taken else "The learner takes over"
            said.append(
                f"{who}: {name}. It chooses as the rules do in {known.agreement:.0%}, its own steps earn "
                f"{known.outcome:.0%} of theirs; it decided {share:.0%} of the latest {_SHARE_MEMORY} such steps."
            )
        return said

    def metrics(self) -> dict[str, float]:
        """Return confidence and share by situation, by name."""
        found = {}
        for place, name in enumerate(self.names):
            known = self.evidence(place)
            found[f"hand_over/{name}/confidence"] = known.confidence
            found[f"hand_over/{name}/agreement"] = known.agreement
            found[f"hand_over/{name}/outcome"] = known.outcome
            found[f"hand_over/{name}/share"] = known.share
        return found

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {name: getattr(self, f"_{name}").tolist() for name in _KEPT}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        for name in _KEPT:
            array = getattr(self, f"_{name}")
            array[:] = np.asarray(state[name], array.dtype)


_KEPT = ("agreed", "outcomes", "shares", "taken", "kind", "side", "rewards", "idle")
