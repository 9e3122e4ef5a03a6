"""Work between two steps of a training: pretraining, evaluation, and what the curriculum measures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pkmncli.api import Algorithm
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plurals import counted
from pkmncli.training.beginnings.pretraining import Pretraining
from pkmncli.training.display.callbacks import Callback, Callbacks, Training
from pkmncli.training.display.estimate import duration
from pkmncli.training.display.meters import Meters
from pkmncli.training.loop_options import TrainerOptions
from pkmncli.training.progression import Progression

if TYPE_CHECKING:
    from pkmncli.training.recording.training_record import TrainingRecord


class BetweenSteps:
    """Improves or evaluates the learner while no environment steps.

    Args:
        learner: the learner.
        options: of the training.
        progression: strategy and curriculum.
        evaluate: evaluates the learner; None without evaluations.
        record: takes in results.
        meters: take in times.
        notify: callbacks.
    """

    def __init__(
        self,
        learner: Algorithm,
        options: TrainerOptions,
        progression: Progression,
        evaluate: Callable[[Algorithm], Mapping[str, Any]] | None,
        record: TrainingRecord,
        meters: Meters,
        notify: Callbacks,
    ) -> None:
        self._learner = learner
        self._options = options
        self._progression = progression
        self._evaluate = evaluate
        self._record = record
        self._meters = meters
        self._notify = notify
        self.pretraining = Pretraining(learner, options.pretrain_steps)
        self.metrics_of_next_step: dict[str, float] = {}
        """Metrics of a measurement. Recorded at a checkpoint's own step, a resumed run would record them twice."""

    def take_metrics(self) -> dict[str, float]:
        """Return metrics to record with the step that was just taken, each once."""
        found, self.metrics_of_next_step = self.metrics_of_next_step, {}
        pretrained = self.pretraining.take_metrics()
        return found | {f"pretraining/{name}": value for name, value in pretrained.items()} if pretrained else found

    def evaluate(self, training: Training) -> bool:
        """Evaluate the learner, once at a step. Returns whether the result is the best so far."""
        statistics = self._record.statistics
        if self._evaluate is None or statistics.evaluated_at == statistics.steps:
            return False
        self._notify(Callback.on_activity, "evaluating the learner alone")
        found = self._evaluate(self._learner)
        is_best = statistics.add_evaluation(found)
        values = {name: found[name] for name in ("avg_reward", "std_reward", "avg_length", "goal_share")}
        values |= {f"environment/{name}": value for name, value in found.get("metrics", {}).items()}
        self._record.keep_metrics({f"evaluation/{name}": one for name, one in values.items() if one is not None})
        self._notify(Callback.on_evaluation, training, found)
        return is_best

    def pretrain(self, interrupted: Callable[[], bool]) -> None:
        """Make the updates before the learner's first decision, once there is enough to learn from."""
        if not self.pretraining.pending:
            return
        began, before = time.perf_counter(), self.pretraining.done
        self.pretraining.learn(interrupted, lambda doing: self._notify(Callback.on_activity, doing))
        made = self.pretraining.done - before
        if not made:
            if self._options.mode is AgentMode.RL_ONLY and not interrupted():
                raise ConfigurationError(
                    "pretrain_steps: the learner was shown too few steps to learn from, and decides alone: show it "
                    "more, lower what it waits for (such as dqn.learning_starts), or use --mode adaptive"
                )
            return
        spent, statistics = time.perf_counter() - began, self._record.statistics
        self._meters.leave_out(spent)
        statistics.elapsed_s += spent
        statistics.updates += made
        statistics.pretrain_updates += made
        if not self.pretraining.pending:
            self._notify(
                Callback.on_message,
                f"Pretrained with {counted(statistics.pretrain_updates, 'update')} in {duration(spent)}: "
                "from now on the learner decides, too.",
            )

    def measure(self, interrupted: Callable[[], bool]) -> None:
        """Play the episodes of the learner alone that the curriculum measures, if any are due."""
        if not self._progression.due:
            return
        began, statistics = time.perf_counter(), self._record.statistics
        episodes = counted(self._progression.due, "episode")
        self._notify(Callback.on_activity, f"playing {episodes} of the learner alone, which the curriculum measures")
        measured = self._progression.measure(self._learner, interrupted)
        if measured:
            found = statistics.add_alone(*zip(*measured, strict=True))
            found["after_steps"] = float(statistics.steps)
            self.metrics_of_next_step = {f"alone/{name}": value for name, value in found.items()}
            spent = time.perf_counter() - began
            self._meters.seconds["measuring"] += spent
            statistics.elapsed_s += spent
