"""A training as a run: what is recorded of each batch, and when it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmn_multimodel.exporters import write_exports
from pkmncli.api import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from pkmn_multimodel.rollouts import Episode
    from pkmn_multimodel.training import Batch, Training
    from pkmncli.api.runs import CommandRun


MAY_CHANGE = (
    "max_episodes",
    "learning_rate",
    "cooperation_level",
    "batch_size",
    "micro_batch",
    "save_every",
    "kl_coef",
    "episode_timeout_s",
    "enable_monitoring",
    "max_checkpoints",
    "update_frequency",
    "service_calls",
    "engine",
    "ray_address",
    "gpus_per_actor",
    "sampler",
    "sampler_url",
    "sampler_folder",
)
"""Settings that a resumed run may have other values of."""


class RecordedTraining:
    """Training that is recorded in a run. A step is a reply of a model that learns; an episode is a game.

    Args:
        run: entered.
        training: new, or with the state of the run's checkpoint.
        on_batch: called after each batch with its metrics.
    """

    def __init__(
        self,
        run: CommandRun,
        training: Training,
        on_batch: Callable[[dict[str, float]], None] = lambda metrics: None,
    ) -> None:
        self._run = run
        self._training = training
        self._on_batch = on_batch
        if training.settings.max_checkpoints is not None:
            run.keep_checkpoints(training.settings.max_checkpoints)
        self._batches = 0
        self.step = run.step
        self.last: dict[str, float] = {}
        """Metrics of the latest batch."""
        self.episodes: Sequence[Episode] = ()
        """Games of the latest batch."""

    def resume_or_begin(self) -> None:
        """Load the state that the run resumes from, or save the first one, so that it can resume from the beginning."""
        if self._run.state is None:
            write_exports(self._training.settings, self._run.folder)
            self.save()
        else:
            self._training.load_state_dict(nested(self._run.state))
            self._batches = int(self._run.state["batches"])

    def one_batch(self) -> None:
        """Play and learn from one batch, record it, and save where that is due.

        Raises:
            TimeoutError: as :meth:`Training.batch`.
        """
        settings = self._training.settings
        batch = self._training.batch()
        self._batches += 1
        self._record(batch)
        if self._batches % settings.save_every == 0 or self._run.checkpoint_requested:
            self.save()

    @property
    def stop_requested(self) -> bool:
        """True once the run should end."""
        return self._run.stop_requested

    def save(self) -> str:
        """Write a checkpoint. Return its name."""
        state = {**flat(self._training.state_dict()), "batches": self._batches}
        return self._run.checkpoint(self.step, state).name

    def _record(self, batch: Batch) -> None:
        run, training = self._run, self._training
        self.episodes = batch.episodes
        for episode in batch.episodes:
            self._decisions(episode)
            run.episode(
                self.step,
                reward=float(np.mean(list(episode.rewards.values()))),
                steps=max(len(episode.turns), 1),
                success=episode.score >= 0.9,
                seed=episode.seed,
                metrics={"score": episode.score},
                llm_share=1.0,
            )
        self.last = {f"multimodel/{name}": value for name, value in batch.metrics.items()}
        run.metrics(self.step, self.last)
        run.live(
            fraction_done=training.episodes / training.settings.max_episodes,
            progress={"games": float(training.episodes), "score": batch.metrics["score"]},
        )
        self._on_batch(self.last)

    def _decisions(self, episode: Episode) -> None:
        names = self._training.action_numbers
        for place, turn in enumerate(episode.turns):
            self.step += 1
            self._run.decision(
                self.step,
                names.get(turn.choice, 0),
                reward=turn.reward,
                source=Source.LLM,
                confidence=float(np.exp(np.mean(turn.reply.log_probs or 0.0))),
                terminated=place == len(episode.turns) - 1,
                reason=f"{turn.agent}: {turn.reply.text.strip()}"[:60],
                model=turn.reply.adapter,
            )


def flat(state: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested state with one name for each value, such as ``learners/model_0/known/0``, for a checkpoint."""
    found: dict[str, Any] = {}
    for name, value in state.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}/")
        else:
            found[f"{prefix}{name}"] = value
    return found


def nested(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state that :func:`flat` was given, without its empty parts."""
    found: dict[str, Any] = {}
    for name, value in state.items():
        *path, last = name.split("/")
        place = found
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return found


def summary_of(training: Training, last: dict[str, float]) -> dict[str, Any]:
    """Return the results of a training for its summary."""
    return {
        "games": training.episodes,
        "score": last.get("multimodel/score"),
        "valid_replies": last.get("multimodel/valid_replies"),
        "versions": {name: training.population.version_of(name).number for name in training.names},
    }
