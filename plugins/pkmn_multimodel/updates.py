"""Update strategies: which adapters learn from a batch of games, and what becomes of the changes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from pkmn_multimodel.population.replies import Reply, Version
from pkmn_multimodel.settings import WeightUpdateStrategy

if TYPE_CHECKING:
    from pkmn_multimodel.objectives import AdapterLearner
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.rollouts import Episode, Turn
    from pkmn_multimodel.settings import MultiModelConfig


class Updates:
    """Updates of all adapters by the strategy of the settings.

    Args:
        population: models.
        learners: of each adapter that learns.
        settings: of the training.
        update: updates adapters by their turns, as :meth:`pkmn_multimodel.engines.Engine.learn`.
    """

    def __init__(
        self,
        population: Population,
        learners: Mapping[str, AdapterLearner],
        settings: MultiModelConfig,
        update: Callable[[Mapping[str, Sequence[Turn]], int], dict[str, dict[str, float]]],
    ) -> None:
        self._population = population
        self._learners = learners
        self._settings = settings
        self._update = update
        self._waiting: deque[dict[str, list[Turn]]] = deque()
        self._rounds = 0

    def learn(self, episodes: Sequence[Episode]) -> dict[str, dict[str, float]]:
        """Take in a batch of games. Return metrics of each adapter that was updated."""
        turns: dict[str, list[Turn]] = {name: [] for name in self._learners}
        for episode in episodes:
            for turn in episode.turns:
                if turn.reply.adapter in turns:
                    turns[turn.reply.adapter].append(turn)
        strategy = self._settings.weight_update_strategy
        if strategy is WeightUpdateStrategy.ASYNCHRONOUS:
            return self._late(turns)
        names = list(self._learners)
        if strategy is WeightUpdateStrategy.SELECTIVE:
            names = self.best(episodes)
        found = self._apart(turns, names)
        if strategy is WeightUpdateStrategy.FEDERATED:
            self._rounds += 1
            if self._rounds % self._settings.federated_every == 0:
                self.average()
        return found

    def best(self, episodes: Sequence[Episode]) -> list[str]:
        """Return the share of the adapters with the highest own gains that may learn, in their usual order."""
        gains: dict[str, list[float]] = {name: [] for name in self._learners}
        for episode in episodes:
            for agent, seat in episode.seats.items():
                if seat in gains:
                    gains[seat].append(episode.gains[agent])
        means = {name: sum(values) / len(values) if values else -math.inf for name, values in gains.items()}
        count = math.ceil(self._settings.selected_share * len(means))
        ranked = sorted(means, key=lambda name: -means[name])[:count]
        return [name for name in self._learners if name in ranked]

    def average(self) -> None:
        """Give all models the mean of their weight changes.

        The mean of products is not the product of means, so it is added to the shared weights as it is, and adapters
        begin again from nothing: then all models have the same weights.
        """
        changes = [self._population.change_of(name) for name in self._learners]
        mean = {layer: torch.stack([change[layer] for change in changes]).mean(0) for layer in changes[0]}
        self._population.add_to_base(mean)
        for name, learner in self._learners.items():
            self._population.forget(name)
            learner.note_version()

    def _late(self, turns: dict[str, list[Turn]]) -> dict[str, dict[str, float]]:
        """Learn from the batch that was played ``max_staleness`` batches ago."""
        self._waiting.append(turns)
        if len(self._waiting) <= self._settings.max_staleness:
            return {}
        return self._apart(self._waiting.popleft(), list(self._learners))

    def _apart(self, turns: Mapping[str, Sequence[Turn]], names: Sequence[str]) -> dict[str, dict[str, float]]:
        late = self._settings.weight_update_strategy is WeightUpdateStrategy.ASYNCHRONOUS
        allowed = self._settings.max_staleness if late else 0
        return self._update({name: turns[name] for name in names if turns[name]}, allowed)

    @property
    def waiting(self) -> int:
        """Batches that were played and not yet learned from."""
        return len(self._waiting)

    def state_dict(self) -> dict[str, Any]:
        """Return the state, with the samples that wait."""
        return {"rounds": self._rounds, "waiting": [_turns_as_values(batch) for batch in self._waiting]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._rounds = int(state["rounds"])
        self._waiting = deque(_turns_from_values(batch) for batch in state.get("waiting", ()))


def _turns_as_values(batch: Mapping[str, Sequence[Turn]]) -> dict[str, Any]:
    return {
        name: [
            [
                turn.agent,
                turn.role,
                turn.number,
                turn.choice,
                turn.valid,
                turn.reward,
                turn.future,
                turn.reply.text,
                turn.reply.prompt_ids,
                turn.reply.tokens,
                turn.reply.log_probs,
                turn.reply.adapter,
                turn.reply.version.number,
                turn.reply.version.digest,
            ]
            for turn in turns
        ]
        for name, turns in batch.items()
    }


def _turns_from_values(batch: Mapping[str, Any]) -> dict[str, list[Turn]]:
    from pkmn_multimodel.rollouts import Turn  # noqa: PLC0415

    found: dict[str, list[Turn]] = {}
    for name, rows in batch.items():
        found[name] = []
        for agent, role, number, choice, valid, reward, future, *its in rows:
            text, prompt_ids, tokens, log_probs, adapter, version, digest = its
            reply = Reply(text, prompt_ids, tokens, log_probs, adapter, Version(version, digest))
            found[name].append(Turn(agent, role, number, reply, choice, valid, reward, future))
    return found
