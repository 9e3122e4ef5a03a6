"""A language model that several nodes share: a local one, whose adapter can learn, or that of a service."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_multimodel.services import api_error, service
from pkmn_multimodel.settings import LLMBackend, LLMConfig, MultiModelConfig, UpdateStrategy
from pkmncli.api import LLMFailure, LLMRequest, tell_once
from pkmncli.errors import LLMConnectionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pkmn_multimodel.population.population import Population, Shape
    from pkmn_multimodel.population.replies import Reply
    from pkmncli import LLMManager

SHARED = "shared"
"""Name of the adapter that the nodes share."""
EXAMPLES = (
    ("Is the sky blue? yes or no. Answer:", ("yes", "no")),
    ("Coins. keep or share? Answer:", ("keep", "share")),
)
"""Prompts that a model is made from where there is no other."""


class NodeConfig(BaseModel):
    """Settings of a node. Those of a single question may differ."""

    model_config = ConfigDict(extra="forbid")

    temperature: float | None = Field(None, gt=0, description="temperature of sampling; by default the model's")
    max_new_tokens: int = Field(64, ge=1, description="most tokens of a reply")
    system: str = Field("", description="text before every prompt")
    greedy: bool = Field(False, description="take the likeliest token; local models only")


@dataclass(frozen=True, slots=True)
class LLMResponse:
    """Reply of a model to a node's prompt.

    Attributes:
        text: the reply.
        model: name of the model.
        node_id: the node that asked.
        prompt_tokens: tokens of the prompt.
        completion_tokens: tokens of the reply.
        latency_s: seconds from question to reply.
        log_probs: log-probability of each token of the reply; empty for a service.
        version: updates of the model's shared parameters before it.
        reply: the sampled tokens, for :meth:`SharedLLMManager.policy_gradients`; None for a service.
    """

    text: str
    model: str
    node_id: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_s: float = 0.0
    log_probs: Sequence[float] = ()
    version: int = 0
    reply: Reply | None = field(default=None, repr=False)


@dataclass(slots=True)
class _Node:
    config: NodeConfig
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class SharedLLMManager:
    """Language model that several nodes share. It is loaded, or its service connected, by the first question.

    The shared parameters are one adapter of a local model. A model of a service has none: it is frozen.

    Args:
        config: of the model.
        seed: of the sampling and of the adapter's first weights.
        tell: reports a line for people, such as which model is used in place of one that is not here.

    Raises:
        ValueError: a frozen model is to learn.
    """

    def __init__(self, config: LLMConfig, *, seed: int = 0, tell: Callable[[str], None] = tell_once) -> None:
        self.config = config
        self._seed = seed
        self._tell = tell
        self._nodes: dict[str, _Node] = {}
        self._population: Population | None = None
        self._service: LLMManager | None = None
        self._generator: Any = None
        if not self.is_local and (config.enable_lora or config.update_strategy is UpdateStrategy.LORA):
            raise ValueError(self._frozen)

    @property
    def is_local(self) -> bool:
        """True if the model runs on this machine."""
        return self.config.backend is LLMBackend.HUGGINGFACE

    @property
    def learns(self) -> bool:
        """True if there are shared parameters that can be updated."""
        return self.is_local and self.config.update_strategy is not UpdateStrategy.FROZEN

    def register_node(self, node_id: str, node_config: Mapping[str, Any] | None = None) -> None:
        """Register a node that asks the model, or change its settings.

        Args:
            node_id: its name.
            node_config: values of :class:`NodeConfig`.

        Raises:
            ValueError: a setting is wrong.
        """
        config = NodeConfig.model_validate(dict(node_config or {}))
        if node_id in self._nodes:
            self._nodes[node_id].config = config
        else:
            self._nodes[node_id] = _Node(config)

    def generate_for_node(self, node_id: str, prompt: str, **kwargs: Any) -> LLMResponse:
        """Return the model's reply to a node's prompt.

        Args:
            node_id: a registered node.
            prompt: text.
            kwargs: settings of the node that differ for this question.

        Raises:
            ValueError: there is no such node, a setting is wrong, or the prompt is too long.
            RuntimeError: the model cannot be loaded.
            openai.APIError: the service of OpenAI or vLLM gave no reply.
            anthropic.APIError: the service of Anthropic gave no reply.
        """
        if node_id not in self._nodes:
            raise ValueError(f"there is no node {node_id!r}; registered: {', '.join(self._nodes) or 'none'}")
        node = self._nodes[node_id]
        config = NodeConfig.model_validate({**node.config.model_dump(), **kwargs})
        begun = time.monotonic()
        temperature = config.temperature or self.config.temperature
        made = self._sampled(node_id, prompt, config, temperature) if self.is_local else None
        response = made or self._asked(node_id, prompt, config, temperature)
        node.requests += 1
        node.prompt_tokens += response.prompt_tokens
        node.completion_tokens += response.completion_tokens
        node.seconds += time.monotonic() - begun
        return response

    def shared_parameters(self) -> dict[str, NDArray[np.float32]]:
        """Return copies of the shared parameters by name; none for a frozen model."""
        if not self.learns:
            return {}
        return {name: weights.detach().float().cpu().numpy().copy() for name, weights in self._weights().items()}

    def policy_gradients(
        self, responses: Sequence[LLMResponse], rewards: Sequence[float]
    ) -> dict[str, NDArray[np.float32]]:
        """Return the gradients of the policy's loss by parameter: replies above the mean reward become likelier.

        Args:
            responses: of this model, at the same temperature as that of its settings.
            rewards: of each.

        Raises:
            ValueError: the model is frozen, or a response has no sampled tokens.
        """
        import torch  # noqa: PLC0415 - takes a second

        if not self.learns:
            raise ValueError(self._frozen)
        replies = [response.reply for response in responses if response.reply is not None]
        if not replies or len(replies) != len(responses) or len(replies) != len(rewards):
            raise ValueError("give replies of this model, and a reward for each")
        population, weights = self._loaded(), self._weights()
        mean = sum(rewards) / len(rewards)
        advantages = torch.tensor([reward - mean for reward in rewards], device=population.device)
        with population.fitting_threads():
            likely = population.log_probs(replies, SHARED, self.config.temperature).of_reply()
            found = torch.autograd.grad(-(likely * advantages).mean(), list(weights.values()))
        return {name: grad.float().cpu().numpy() for name, grad in zip(weights, found, strict=True)}

    def update_shared_parameters(self, gradients: Mapping[str, Any], learning_rate: float) -> dict[str, Any]:
        """Descend the gradients by a step. Return ``updated``, ``gradient_norm``, ``version`` and ``hash``.

        Args:
            gradients: for each parameter that changes an array of its shape.
            learning_rate: size of the step.

        Raises:
            ValueError: the model is frozen, or a gradient is of no parameter, of another shape, or not finite.
        """
        import torch  # noqa: PLC0415 - takes a second

        if not self.learns:
            raise ValueError(self._frozen)
        if not learning_rate > 0:
            raise ValueError(f"learning_rate must be above 0: {learning_rate}")
        population, weights = self._loaded(), self._weights()
        steps = {}
        for name, values in gradients.items():
            if name not in weights:
                raise ValueError(f"there is no shared parameter {name!r}; shared_parameters() has all")
            steps[name] = torch.as_tensor(values).to(weights[name])
            if steps[name].shape != weights[name].shape or not bool(steps[name].isfinite().all()):
                raise ValueError(f"the gradient of {name} must be finite, of the shape {tuple(weights[name].shape)}")
        with torch.no_grad():
            for name, step in steps.items():
                weights[name].sub_(learning_rate * step)
        population.note_change(SHARED)
        version = population.version_of(SHARED)
        norm = float(sum(float(step.square().sum()) for step in steps.values()) ** 0.5)
        return {"updated": len(steps), "gradient_norm": norm, "version": version.number, "hash": version.digest}

    def close(self) -> None:
        """Close the connections to a service; the next question opens them again."""
        if self._service is not None:
            self._service.close()
            self._service = None

    def get_global_stats(self) -> dict[str, Any]:
        """Return what all nodes asked, and each of them."""
        nodes = {
            name: {
                "requests": node.requests,
                "prompt_tokens": node.prompt_tokens,
                "completion_tokens": node.completion_tokens,
                "seconds": node.seconds,
            }
            for name, node in self._nodes.items()
        }
        version = 0 if self._population is None else self._population.version_of(SHARED).number
        return {
            "backend": self.config.backend.value,
            "model": self.config.model_name,
            "learns": self.learns,
            "updates": version,
            **{key: sum(node[key] for node in nodes.values()) for key in next(iter(nodes.values()), {})},
            "nodes": nodes,
        }

    # Parts ------------------------------------------------------------------------------------------------------------

    @property
    def _frozen(self) -> str:
        reason = "its update_strategy says so" if self.is_local else f"{self.config.backend.value} is a service"
        return f"{self.config.model_name} is frozen and cannot learn: {reason}"

    def _loaded(self) -> Population:
        if self._population is None:
            self._population = local_population(self.config, [SHARED], self._seed, self._tell)
        return self._population

    def _weights(self) -> dict[str, Any]:
        return dict(self._loaded().parameters_of(SHARED))

    def _sampled(self, node_id: str, prompt: str, config: NodeConfig, temperature: float) -> LLMResponse:
        import torch  # noqa: PLC0415 - takes a second

        if self._generator is None:
            self._generator = torch.Generator().manual_seed(self._seed)
        asked = f"{config.system}\n{prompt}" if config.system else prompt
        return sampled_response(
            *(self._loaded(), SHARED, asked, config, self.config, self._generator),
            node_id=node_id,
            temperature=temperature,
        )

    def _connected(self) -> LLMManager:
        """Return the service. At first, look for its key and its model."""
        if self._service is None:
            made = service(self.config.backend, self.config.model_name, self.config.api_key)
            try:
                made.check()
            except LLMConnectionError:
                made.close()
                raise
            self._service = made
        return self._service

    def _asked(self, node_id: str, prompt: str, config: NodeConfig, temperature: float) -> LLMResponse:
        request = LLMRequest(config.system, prompt, max_tokens=config.max_new_tokens, temperature=temperature)
        try:
            reply = self._connected().complete(request)
        except (LLMFailure, LLMConnectionError) as failure:
            raise api_error(self.config.backend, failure) from failure
        return LLMResponse(
            reply.text, reply.model, node_id, reply.prompt_tokens, reply.completion_tokens, reply.latency_s
        )


def sampled_response(
    population: Population,
    adapter: str,
    prompt: str,
    config: NodeConfig,
    model: LLMConfig,
    generator: Any,
    *,
    node_id: str,
    temperature: float,
) -> LLMResponse:
    """Return a local model's reply. Raise ValueError if prompt and reply are longer than ``max_length``."""
    length = len(population.tokenizer(prompt)["input_ids"])
    if not 0 < length <= model.max_length - config.max_new_tokens:
        raise ValueError(
            f"the prompt has {length:,} tokens; with {config.max_new_tokens} of the reply at most "
            f"{model.max_length:,} are allowed"
        )
    begun = time.monotonic()
    with population.fitting_threads():
        reply = population.sample(
            [prompt],
            [adapter],
            generator,
            max_new_tokens=config.max_new_tokens,
            temperature=temperature,
            greedy=config.greedy,
        )[0]
    return LLMResponse(
        text=reply.text.strip(),
        model=model.model_name,
        node_id=node_id,
        prompt_tokens=length,
        completion_tokens=len(reply.tokens),
        latency_s=time.monotonic() - begun,
        log_probs=tuple(reply.log_probs),
        version=reply.version.number,
        reply=reply,
    )


def local_population(
    config: LLMConfig,
    names: Sequence[str],
    seed: int,
    tell: Callable[[str], None],
    shapes: Mapping[str, Shape] | None = None,
) -> Population:
    """Return a local model with adapters: the named one if it is in the local cache, else one that is made now.

    Args:
        config: of the model.
        names: of the adapters.
        seed: of their first weights.
        tell: reports a line if the named model is not here.
        shapes: rank, scale and layers of each adapter.

    Raises:
        RuntimeError: the model cannot be loaded, or the graphics card has too little memory.
    """
    import torch  # noqa: PLC0415 - takes seconds, as what follows

    from pkmn_multimodel.population.bases import load_base, memory_error  # noqa: PLC0415
    from pkmn_multimodel.population.population import Population  # noqa: PLC0415
    from pkmncli.errors import ConfigurationError  # noqa: PLC0415

    settings = MultiModelConfig.model_validate(
        {
            "num_models": 1,
            "model_types": ["qwen3"],
            "model_names": {"qwen3": config.model_name},
            "device": config.device,
        }
    )
    try:
        base, tokenizer, device = load_base(settings, EXAMPLES, seed, tell)
    except ConfigurationError as error:
        raise RuntimeError(f"Model loading failed: {error}") from None
    except torch.cuda.OutOfMemoryError as error:
        raise memory_error(error) from None
    return Population(base, tokenizer, names, seed=seed, device=device, shapes=shapes or {})


def create_qwen3_manager(model_name: str = "Qwen/Qwen3-0.6B", device: str = "auto") -> SharedLLMManager:
    """Return the manager of a local Qwen3 model."""
    return _local(model_name, device)


def create_qwen_coder_manager(
    model_name: str = "Qwen/Qwen2.5-Coder-0.5B-Instruct", device: str = "auto"
) -> SharedLLMManager:
    """Return the manager of a local Qwen model for code."""
    return _local(model_name, device)


def create_qwen_math_manager(
    model_name: str = "Qwen/Qwen2.5-Math-1.5B-Instruct", device: str = "auto"
) -> SharedLLMManager:
    """Return the manager of a local Qwen model for mathematics."""
    return _local(model_name, device)


def create_llama3_manager(
    model_name: str = "meta-llama/Llama-3.2-1B-Instruct", device: str = "auto"
) -> SharedLLMManager:
    """Return the manager of a local Llama 3 model."""
    return _local(model_name, device)


def create_openai_manager(model_name: str = "gpt-4o-mini", api_key: str | None = None) -> SharedLLMManager:
    """Return the manager of a model of OpenAI, which is frozen.

    Args:
        model_name: the model.
        api_key: the key, set for this process; by default that in ``OPENAI_API_KEY``.
    """
    return _of_service(LLMBackend.OPENAI_API, model_name, api_key)


def create_claude_manager(model_name: str = "claude-haiku-4-5", api_key: str | None = None) -> SharedLLMManager:
    """Return the manager of a model of Anthropic, which is frozen.

    Args:
        model_name: the model.
        api_key: the key, set for this process; by default that in ``ANTHROPIC_API_KEY``.
    """
    return _of_service(LLMBackend.ANTHROPIC, model_name, api_key)


def _local(model_name: str, device: str) -> SharedLLMManager:
    return SharedLLMManager(LLMConfig.model_validate({"model_name": model_name, "device": device}))


def _of_service(backend: LLMBackend, model_name: str, api_key: str | None) -> SharedLLMManager:
    return SharedLLMManager(
        LLMConfig.model_validate({"backend": backend, "model_name": model_name, "api_key": api_key})
    )
