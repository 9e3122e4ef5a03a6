"""Scheduler of models: it gives each a node with a port and a graphics card, and makes their trainer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pkmn_multimodel.lora import place_of
from pkmn_multimodel.managers import LLMResponse, SharedLLMManager
from pkmn_multimodel.settings import (
    MODEL_TYPES,
    SERVICES,
    LLMBackend,
    LLMConfig,
    MultiModelConfig,
    TrainingMode,
)
from pkmn_multimodel.trainer import MultiModelTrainer
from pkmncli.api import tell_once


@dataclass(frozen=True, slots=True)
class ModelNode:
    """Model and its place.

    Attributes:
        node_id: ``model_0`` and so on.
        kind: kind of the model, one of :data:`pkmn_multimodel.settings.MODEL_TYPES`.
        model_name: its name.
        port: port of the node.
        gpu_id: graphics card of the node.
    """

    node_id: str
    kind: str
    model_name: str
    port: int
    gpu_id: int


class UnifiedScheduler:
    """Scheduler of the models of a training. Model i has the port ``base_port + i`` and the card ``i % num_gpus``.

    Args:
        base_port: port of the first model.
        num_gpus: graphics cards.
        training_mode: relation of the models.
        tell: reports a line for people.

    Raises:
        ValueError: a port or the number of cards is none.
    """

    def __init__(
        self,
        base_port: int = 8001,
        num_gpus: int = 4,
        training_mode: TrainingMode = TrainingMode.MIXED,
        *,
        tell: Callable[[str], None] = tell_once,
    ) -> None:
        place_of(0, base_port, num_gpus)
        self.base_port = base_port
        self.num_gpus = num_gpus
        self.training_mode = training_mode
        self.nodes: list[ModelNode] = []
        """Models in the order in which they were added."""
        self._tell = tell
        self._managers: dict[tuple[str, str], SharedLLMManager] = {}

    def add_model(self, kind: str = "qwen3", model_name: str | None = None) -> ModelNode:
        """Add a model. Return its node.

        Args:
            kind: kind of the model.
            model_name: its name; by default that of its kind.

        Raises:
            ValueError: there is no such kind, models of a kind have two names, or there is no port left.
        """
        if kind not in MODEL_TYPES:
            raise ValueError(f"Unsupported LLM backend: {kind!r}; known: {', '.join(MODEL_TYPES)}")
        names = {node.kind: node.model_name for node in self.nodes}
        name = model_name or names.get(kind) or MultiModelConfig.model_validate({}).model_names[kind]
        if names.get(kind, name) != name:
            raise ValueError(f"models of the kind {kind} share one name: {names[kind]}, not {name}")
        number = len(self.nodes)
        node = ModelNode(f"model_{number}", kind, name, *place_of(number, self.base_port, self.num_gpus))
        self.nodes.append(node)
        return node

    def generate(self, node_id: str, prompt: str, **settings: Any) -> LLMResponse:
        """Return a model's reply, as :meth:`SharedLLMManager.generate_for_node`. Models of a kind share one manager."""
        node = next((one for one in self.nodes if one.node_id == node_id), None)
        if node is None:
            raise ValueError(
                f"there is no node {node_id!r}; known: {', '.join(n.node_id for n in self.nodes) or 'none'}"
            )
        manager = self._managers.get((node.kind, node.model_name))
        if manager is None:
            source = SERVICES.get(node.kind, LLMBackend.HUGGINGFACE)
            config = LLMConfig.model_validate({"backend": source, "model_name": node.model_name})
            manager = self._managers[node.kind, node.model_name] = SharedLLMManager(config, tell=self._tell)
        manager.register_node(node_id)
        return manager.generate_for_node(node_id, prompt, **settings)

    def trainer(self, **settings: Any) -> MultiModelTrainer:
        """Return a trainer of the models, or of those that the settings name if none was added.

        Args:
            settings: further ones of :class:`MultiModelConfig`.
        """
        own: dict[str, Any] = {
            "base_port": self.base_port,
            "num_gpus": self.num_gpus,
            "training_mode": self.training_mode,
        }
        if self.nodes:
            names = MultiModelConfig.model_validate({}).model_names
            own |= {
                "num_models": len(self.nodes),
                "model_types": [node.kind for node in self.nodes],
                "model_names": names | {node.kind: node.model_name for node in self.nodes},
            }
        return MultiModelTrainer(MultiModelConfig.model_validate(own | settings))

    def close(self) -> None:
        """Close the connections to services."""
        for manager in self._managers.values():
            manager.close()

    def get_status(self) -> dict[str, Any]:
        """Return the mode and the models with their places."""
        return {
            "training_mode": self.training_mode.value,
            "base_port": self.base_port,
            "num_gpus": self.num_gpus,
            "models": {
                node.node_id: {
                    "kind": node.kind,
                    "model_name": node.model_name,
                    "port": node.port,
                    "gpu_id": node.gpu_id,
                    "learns": node.kind not in SERVICES,
                }
                for node in self.nodes
            },
        }


def create_unified_scheduler(base_port: int = 8001, num_gpus: int = 4) -> UnifiedScheduler:
    """Return a scheduler of models that cooperate and compete."""
    return UnifiedScheduler(base_port, num_gpus)


def create_cooperative_scheduler(base_port: int = 8001, num_gpus: int = 4) -> UnifiedScheduler:
    """Return a scheduler of models that help each other."""
    return UnifiedScheduler(base_port, num_gpus, TrainingMode.COOPERATIVE)


def create_competitive_scheduler(base_port: int = 8001, num_gpus: int = 4) -> UnifiedScheduler:
    """Return a scheduler of models that oppose each other."""
    return UnifiedScheduler(base_port, num_gpus, TrainingMode.COMPETITIVE)
