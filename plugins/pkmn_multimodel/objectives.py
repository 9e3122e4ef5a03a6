"""Learning of one adapter from its turns: REINFORCE, GRPO or PPO, with a distance to the base model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from pkmn_multimodel.population.population import Population
from pkmn_multimodel.population.replies import BASE, Scores, Version
from pkmn_multimodel.settings import RLAlgorithm
from pkmncli.errors import CheckpointError, TrainingError

if TYPE_CHECKING:
    from pkmn_multimodel.rollouts import Turn
    from pkmn_multimodel.settings import MultiModelConfig

BASELINE_MEMORY = 0.9
"""Share of a role's earlier mean in its new one."""
LARGEST_GAP = 0.05
"""Largest difference of a token's log-probability between sampling and learning at the same weights, in float32."""


class Whole:
    """Samples that are all learned from in this process. A subclass shares them with other processes."""

    count = 1
    """Processes."""

    def rows(self, samples: int) -> slice:
        """Return the samples of a micro-batch of so many that this process learns from; there may be none."""
        return slice(0, samples)

    def add(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replace each tensor by its sum over the processes."""

    def largest(self, value: float) -> float:
        """Return the largest value of the processes."""
        return value


class AdapterLearner:
    """Learner of one adapter.

    Args:
        population: models; only the adapter's weights are changed.
        adapter: its name.
        settings: of the training.
        seed: of the value's first weights.
        share: share of the samples that this process learns from. All processes have the same weights afterwards.
    """

    def __init__(
        self,
        population: Population,
        adapter: str,
        settings: MultiModelConfig,
        seed: int,
        share: Whole | None = None,
    ) -> None:
        self.adapter = adapter
        self._share = share or Whole()
        self._population = population
        self._settings = settings
        self._weights = population.parameters_of(adapter)
        self._baselines: dict[str, float] = {}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            width = int(population.base.config.hidden_size)
            self._value = torch.nn.Linear(width, 1).to(population.device)
        torch.nn.init.zeros_(self._value.weight)
        torch.nn.init.zeros_(self._value.bias)
        self._parameters = [*self._weights.values(), *self._value.parameters()]
        self._optimizer = torch.optim.Adam(self._parameters, lr=settings.learning_rate)
        self._known: dict[int, str] = {}

    def learn(self, turns: Sequence[Turn], max_staleness: int) -> dict[str, float]:
        """Update the adapter from its turns. Return metrics.

        Turns of weights that are more than ``max_staleness`` versions old are left out. Replies that were not sampled
        are imitated: the likelihood of their tokens is raised, whatever they earned.

        Raises:
            TrainingError: a sample is of other weights, or a log-probability differs from that of the sampler.
        """
        settings = self._settings
        now = self._known_version()
        for turn in turns:
            self._population.check(turn.reply, self._known)
        fresh = [turn for turn in turns if now.number - turn.reply.version.number <= max_staleness]
        metrics = {"stale": float(len(turns) - len(fresh)), "samples": float(len(fresh))}
        if not fresh:
            return metrics
        imitates = not fresh[0].reply.log_probs
        old = [torch.tensor(turn.reply.log_probs) for turn in fresh]
        advantages = np.zeros(0) if imitates else self._advantages(fresh)
        totals: dict[str, float] = {}
        norms = 0.0
        self._optimizer.param_groups[0]["lr"] = settings.learning_rate
        for epoch in range(settings.epochs):
            self._optimizer.zero_grad()
            found: list[tuple[slice, dict[str, torch.Tensor]]] = []
            for start in range(0, len(fresh), settings.micro_batch):
                part = slice(start, start + settings.micro_batch)
                if imitates:
                    loss, values = self._distance_to(fresh[part])
                else:
                    loss, values = self._loss(fresh[part], old[part], advantages[part])
                (loss * (len(fresh[part]) / len(fresh))).backward()  # type: ignore[no-untyped-call]
                found.append((part, values))
            self._share.add([weights.grad for weights in self._parameters if weights.grad is not None])
            norm = torch.nn.utils.clip_grad_norm_(self._parameters, settings.max_grad_norm)
            # The figures leave a graphics card only now: to wait for each would keep its next work back.
            for part, values in found:
                figures = dict(zip(values, torch.stack(list(values.values())).tolist(), strict=True))
                if not imitates:
                    same = epoch == 0 and all(turn.reply.version == now for turn in fresh[part])
                    figures["sampler_gap"] = self._checked_gap(figures["sampler_gap"]) if same else 0.0
                share = len(fresh[part]) / len(fresh)
                for name, value in figures.items():
                    totals[name] = totals.get(name, 0.0) + value * share / settings.epochs
            norms += float(norm)
            self._optimizer.step()
        sums = torch.tensor(list(totals.values()), dtype=torch.float64)
        self._share.add([sums])
        totals = {**dict(zip(totals, sums.tolist(), strict=True)), "gradient_norm": norms / settings.epochs}
        self.note_version()
        staleness = np.mean([now.number - turn.reply.version.number for turn in fresh])
        return metrics | totals | {"staleness": float(staleness)}

    def note_version(self) -> None:
        """Give the adapter's weights, which have changed, their next version."""
        self._known_version()
        self._population.note_change(self.adapter)

    def _known_version(self) -> Version:
        """Return the version of the current weights, which is known from now on; older ones are forgotten."""
        version = self._population.version_of(self.adapter)
        self._known[version.number] = version.digest
        for number in [number for number in self._known if number < version.number - self._settings.max_staleness - 1]:
            del self._known[number]
        return version

    def _advantages(self, turns: Sequence[Turn]) -> NDArray[np.float64]:
        """Return the advantage of each turn.

        Rewards are compared with those of the same role, so that self-play does not reward the luckier seat.
        """
        futures: NDArray[np.float64] = np.array([turn.future for turn in turns])
        algorithm = self._settings.algorithm
        if algorithm is RLAlgorithm.GRPO:
            groups: dict[tuple[str, int], list[int]] = defaultdict(list)
            for place, turn in enumerate(turns):
                groups[turn.role, turn.number].append(place)
            advantages = np.zeros(len(turns))
            for places in groups.values():
                of_group = futures[places]
                advantages[places] = (of_group - of_group.mean()) / (of_group.std() + 1e-6)
            return advantages
        if algorithm is RLAlgorithm.PPO:
            with torch.no_grad():
                predicted = self._values(turns)
            advantages = futures - predicted
            scaled: NDArray[np.float64] = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
            return scaled
        means: dict[str, list[float]] = defaultdict(list)
        for turn in turns:
            means[turn.role].append(turn.future)
        for role, values in means.items():
            mean = float(np.mean(values))
            before = self._baselines.get(role, mean)
            self._baselines[role] = BASELINE_MEMORY * before + (1 - BASELINE_MEMORY) * mean
        expected: NDArray[np.float64] = np.array([self._baselines[turn.role] for turn in turns])
        return futures - expected

    def _values(self, turns: Sequence[Turn]) -> NDArray[np.float64]:
        replies, size = [turn.reply for turn in turns], self._settings.micro_batch
        parts = [replies[start : start + size] for start in range(0, len(replies), size)]
        found = [
            self._value(self._population.log_probs(part, self.adapter, self._settings.temperature).hidden)[:, 0]
            for part in parts
        ]
        return torch.cat(found).cpu().numpy().astype(np.float64)

    def _own(self, turns: Sequence[Turn]) -> tuple[slice, Callable[[str, float], Scores], int]:
        """Return which samples of a micro-batch are learned from here, their log-probabilities, and all tokens.

        Without any, the first sample is read and its tokens do not count, so that all processes do the same steps. For
        the same reason it depends on all samples whether prompts are read once.
        """
        rows = self._share.rows(len(turns))
        own = [turn.reply for turn in turns[rows]]
        repeated = self._population.repeats([turn.reply for turn in turns])

        def scores(adapter: str, temperature: float) -> Scores:
            found = self._population.log_probs(own or [turns[0].reply], adapter, temperature, read_once=repeated)
            return found if own else replace(found, mask=torch.zeros_like(found.mask))

        return rows, scores, sum(len(turn.reply.tokens) for turn in turns)

    def _distance_to(self, turns: Sequence[Turn]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return the cross-entropy of replies that are imitated, and the metrics."""
        _, scores_of, count = self._own(turns)
        scores = scores_of(self.adapter, 1.0)
        loss = -(scores.log_probs * scores.mask).sum() / count
        return loss, {"imitation_loss": loss.detach()}

    def _checked_gap(self, gap: float) -> float:
        """Return this process's part of the largest difference between sampling and learning at the same weights.

        Raises:
            TrainingError: it is larger than rounding makes it.
        """
        gap = self._share.largest(gap)
        if gap > self._allowed_gap:
            raise TrainingError(
                f"{self.adapter}: a token's log-probability differs by {gap:.3g} between sampling and learning at the "
                f"same weights; {self._allowed_gap:g} is allowed"
            )
        return gap / self._share.count  # the metrics of all processes are added

    def _loss(
        self, turns: Sequence[Turn], old: Sequence[torch.Tensor], advantages: NDArray[np.float64]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return the loss of a micro-batch, and the metrics, of which ``sampler_gap`` is this process's own.

        A graphics card has all the numbers before it begins, so nothing has to wait until it is done.
        """
        settings, device = self._settings, self._population.device
        rows, scores_of, count = self._own(turns)
        own = old[rows] or [torch.zeros(len(old[0]))]
        longest = max(map(len, own))
        sampled = torch.stack([torch.nn.functional.pad(values, (longest - len(values), 0)) for values in own]).to(
            device
        )
        weight = torch.zeros(len(own), 1)
        weight[: len(advantages[rows]), 0] = torch.tensor(advantages[rows], dtype=torch.float32)
        weight = weight.to(device)
        futures = torch.tensor([turn.future for turn in turns[rows]], dtype=torch.float32, device=device)
        scores = scores_of(self.adapter, settings.temperature)
        mask = scores.mask
        gap = ((scores.log_probs.detach() - sampled) * mask).abs().max()
        ratio = (scores.log_probs - sampled).exp()
        if settings.algorithm is RLAlgorithm.REINFORCE:
            # The ratio is 1 for samples of the current weights; it corrects older ones.
            gained = ratio.detach().clamp(max=2.0) * scores.log_probs * weight
        else:
            clipped = ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range)
            gained = torch.minimum(ratio * weight, clipped * weight)
        loss = -(gained * mask).sum() / count
        metrics = {
            "policy_loss": loss.detach(),
            "entropy": -(scores.log_probs.detach() * mask).sum() / count,
            "sampler_gap": gap,
        }
        if settings.kl_coef > 0:
            with torch.no_grad():
                base = scores_of(BASE, settings.temperature).log_probs
            apart = base - scores.log_probs
            # Never negative, and its mean is the divergence (Schulman 2020).
            kl = ((apart.exp() - apart - 1) * mask).sum() / count
            loss = loss + settings.kl_coef * kl
            metrics["kl"] = kl.detach()
        if settings.algorithm is RLAlgorithm.PPO:
            guessed = self._value(scores.hidden.detach())[: len(futures), 0]
            error = torch.nn.functional.mse_loss(guessed, futures, reduction="sum") / len(turns)
            loss = loss + 0.5 * error
            metrics["value_loss"] = error.detach()
        return loss, metrics

    @property
    def _allowed_gap(self) -> float:
        return LARGEST_GAP if self._population.base.dtype == torch.float32 else 20 * LARGEST_GAP

    def state_dict(self) -> dict[str, Any]:
        """Return optimizer, value, baselines and known versions: arrays and plain values."""
        self._known_version()
        moments = {}
        for place, parameter in enumerate(self._parameters):
            state = self._optimizer.state.get(parameter)
            if state:
                moments[str(place)] = {
                    "step": float(state["step"]),
                    "mean": state["exp_avg"].float().cpu().numpy().copy(),
                    "square": state["exp_avg_sq"].float().cpu().numpy().copy(),
                }
        return {
            "moments": moments,
            "value": {name: tensor.cpu().numpy().copy() for name, tensor in self._value.state_dict().items()},
            "baselines": dict(self._baselines),
            "known": {str(number): digest for number, digest in self._known.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Raise CheckpointError if it is of another model."""
        try:
            self._value.load_state_dict(
                {name: torch.from_numpy(array.copy()) for name, array in state["value"].items()}
            )
        except RuntimeError:
            raise CheckpointError(f"the checkpoint's {self.adapter} is of another model") from None
        self._optimizer.state.clear()
        for place, moments in state.get("moments", {}).items():
            parameter = self._parameters[int(place)]
            self._optimizer.state[parameter] = {
                "step": torch.tensor(float(moments["step"])),
                "exp_avg": torch.from_numpy(moments["mean"].copy()).to(parameter),
                "exp_avg_sq": torch.from_numpy(moments["square"].copy()).to(parameter),
            }
        self._baselines = {name: float(value) for name, value in state.get("baselines", {}).items()}
        self._known = {int(number): digest for number, digest in state["known"].items()}
