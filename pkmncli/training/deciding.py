"""Choice of the actions of a step: learner, arbiter, and the situations that the learner has taken over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import NO_ACTION, PILOT_ACTS, Algorithm, Source, Transitions
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.build import controls_of
from pkmncli.hybrid.hand_over import HandOver
from pkmncli.seeds import Purpose, derive_seed
from pkmncli.training.action_values import ActionValues
from pkmncli.training.loop_options import TrainerOptions
from pkmncli.training.no_learner import NoLearner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.training.workers.pool import WorkerPool
    from pkmncli.training.workers.step_result import StepResult


@dataclass(frozen=True, slots=True)
class StepChoice:
    """Actions of one step of every environment; arrays of shape (num_envs,) unless stated."""

    actions: NDArray[np.int64]
    """PILOT_ACTS where the pilot decides."""
    sources: NDArray[np.uint8]
    confidences: NDArray[np.float32]
    phases: NDArray[np.int64]
    """Phases of the game before the step; 0 where the pilot alone decides."""
    advised: NDArray[np.int64]
    """Actions that the pilot would take; -1 where it has none, or decides alone."""
    values: NDArray[np.float32] | None
    """Learner's value of every action, (num_envs, num_actions); None if it has none."""
    controls: NDArray[np.float32] | None = None
    """Actions of a continuous space, (num_envs, dimensions); None in another."""


class Decider:
    """Choice of the actions of a training.

    Args:
        pool: the environments.
        learner: the learner.
        options: mode, seed, and what the learner may take over.
    """

    def __init__(self, pool: WorkerPool, learner: Algorithm, options: TrainerOptions) -> None:
        self._pool = pool
        self._learner = learner
        self._controls = controls_of(learner)
        self._action_values = ActionValues(learner, pool.num_envs, pool.flat_actions.count)
        self._hands_over = options.mode is AgentMode.ADAPTIVE
        self._pilot_alone: StepChoice | None = None
        """Choice of every step, if neither learner nor arbiter has one."""
        if options.mode is AgentMode.LLM_ONLY and isinstance(learner, NoLearner):
            count = pool.num_envs
            self._pilot_alone = StepChoice(
                np.full(count, PILOT_ACTS, np.int64),
                np.full(count, Source.RULE, np.uint8),
                np.zeros(count, np.float32),
                phases=np.zeros(count, np.int64),
                advised=np.full(count, NO_ACTION, np.int64),
                values=None,
            )
        self.arbiter = Arbiter(options.mode, pool.num_envs, derive_seed(options.seed, Purpose.ARBITER))
        self.hand_over = HandOver(pool.situations, pool.num_envs, options.hand_over)

    @property
    def observes(self) -> bool:
        """True if choices depend on observations."""
        return self._pilot_alone is None

    def choose(self, *, learner_decides: bool) -> StepChoice:
        """Return the actions of the next step. Without ``learner_decides`` the pilot acts everywhere."""
        if self._pilot_alone is not None:
            return self._pilot_alone
        phases, advised = self._pool.phases(), self._pool.pilot_actions()
        actions, confidences, exploring = self._learner.act(self._pool.observations(), explore=True)
        values = self._action_values.latest()
        controls = self._controls() if self._pool.flat_actions.dimensions else None
        if self._hands_over:
            self.hand_over.note_choices(phases, actions, ~exploring & learner_decides, advised)
            confidences = self.hand_over.confidences(phases, confidences, advised)
        actions, sources = self.arbiter.choose(actions, confidences, exploring, self._pool.pilot_confidences())
        if not learner_decides:
            actions = np.full_like(actions, PILOT_ACTS)
        return StepChoice(actions, sources, confidences, phases, advised, values, controls)

    def after_step(self, records: NDArray[Any], choice: StepChoice) -> list[str]:
        """Take in the step. Returns which situations the learner has taken over or given back, in words."""
        return self.hand_over.note_steps(records, choice.phases) if self._hands_over else []

    def metrics(self) -> dict[str, float]:
        """Return the learner's evidence by situation; empty in modes without a hand-over."""
        return self.hand_over.metrics() if self._hands_over else {}


def transitions_of(result: StepResult, choice: StepChoice) -> Transitions:
    """Return what the learner observes of a step."""
    records: NDArray[Any] = result.records
    return Transitions(
        observations=result.observations,
        actions=records["action"].astype(np.int64),
        rewards=records["reward"].astype(np.float32),
        terminated=records["terminated"].copy(),
        truncated=records["truncated"].copy(),
        next_observations=result.next_observations,
        sources=records["source"].copy(),
        advised=choice.advised if (choice.advised >= 0).any() else None,
        controls=result.controls,
    )
