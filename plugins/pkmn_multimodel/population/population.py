"""Population of models: a frozen base, and an adapter for each model that learns."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model

from pkmn_multimodel.population.generation import repeats, sample_tokens, score
from pkmn_multimodel.population.replies import BASE, Reply, Version
from pkmn_multimodel.population.threads import fitting_threads
from pkmncli.errors import CheckpointError, TrainingError

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from pkmn_multimodel.population.replies import Scores

_HASHERS = 4
"""Threads that compute hashes of adapters: blake2b does not hold the interpreter's lock."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Rank, scale and layers of an adapter."""

    rank: int
    alpha: float
    target_modules: Sequence[str]


@dataclass
class Population:
    """Models on one base. Adapters are named ``model_0`` and so on; other names are past adapters.

    Args:
        base: a causal language model; it is frozen.
        tokenizer: of the base; padded on the left.
        names: of the adapters that learn.
        rank, alpha, target_modules: of the adapters.
        seed: of the adapters' first weights.
        device: place of the weights.
        chat: ask in the form of a conversation if the tokenizer has one.
    """

    base: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    names: Sequence[str]
    rank: int = 8
    alpha: float = 16.0
    target_modules: Sequence[str] = ("q_proj", "v_proj", "k_proj", "o_proj")
    seed: int = 0
    device: str = "cpu"
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """Rank, scale and layers of adapters that have others than the rest."""
    kv_tokens: int = 0
    """Most tokens whose keys and values are kept while sampling; 0: no limit."""
    chat: bool = True
    model: PeftModel = field(init=False)

    def __post_init__(self) -> None:
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self._versions = {BASE: Version(0, "")}
        self._hashes: dict[str, tuple[int, Future[str]]] = {}
        """Number and hash of each new version that nobody has asked for yet."""
        self._hasher = ThreadPoolExecutor(_HASHERS, "hash of adapters")
        embedding = next(self.base.get_input_embeddings().parameters())
        self._base_digest = _digest(_joined([embedding]).cpu(), {"embedding": embedding.numel()})
        self._shared: dict[str, torch.Tensor] = {}
        self._originals: dict[str, torch.Tensor] = {}
        """Weights of the layers that have shared changes, before any: sums in another order would round otherwise."""
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of transformers, about what peft calls
            torch.manual_seed(self.seed)
            first, *others = self.names
            model = get_peft_model(self.base, self._config(first), adapter_name=first)
            assert isinstance(model, PeftModel)
            self.model = model
            for name in others:
                self.model.add_adapter(name, self._config(name))
        self.model.to(self.device).eval()
        for name in self.names:
            self.note_change(name, number=0)

    # Sampling ---------------------------------------------------------------------------------------------------------

    def sample(
        self,
        prompts: Sequence[str],
        adapters: Sequence[str],
        generator: torch.Generator,
        *,
        max_new_tokens: int,
        temperature: float = 1.0,
        greedy: bool = False,
    ) -> list[Reply]:
        """Return a reply to each prompt, each by its own adapter, in as few batches as ``kv_tokens`` allows.

        On a graphics card each adapter has separate batches, which are faster there than mixed ones.

        Args:
            prompts: texts.
            adapters: the adapter of each, or :data:`BASE`.
            generator: of the random numbers, on the CPU.
            max_new_tokens: most tokens of a reply.
            temperature: of sampling.
            greedy: take the likeliest token instead.
        """
        asked = [self.prompt_ids(prompt) for prompt in prompts]
        longest = max(len(prompt_ids) for prompt_ids in asked) + max_new_tokens
        rows = max(self.kv_tokens // longest, 1) if self.kv_tokens else len(prompts)
        groups = [list(range(len(prompts)))]
        if self.device.startswith("cuda"):
            groups = [[row for row, own in enumerate(adapters) if own == name] for name in dict.fromkeys(adapters)]
        sampled: dict[int, tuple[list[int], list[float]]] = {}
        for part in [group[first : first + rows] for group in groups for first in range(0, len(group), rows)]:
            found = sample_tokens(
                self.model,
                self.tokenizer,
                [asked[row] for row in part],
                [adapters[row] for row in part],
                generator,
                max_new_tokens=max_new_tokens,
                temperature=temperature,
                greedy=greedy,
            )
            sampled.update(zip(part, found, strict=True))
        return [
            self.as_reply(prompt_ids, tokens, adapter, log_probs)
            for row, (prompt_ids, adapter) in enumerate(zip(asked, adapters, strict=True))
            for tokens, log_probs in [sampled[row]]
        ]

    def as_reply(
        self, prompt_ids: list[int], tokens: list[int], adapter: str, log_probs: Sequence[float] = ()
    ) -> Reply:
        """Return sampled tokens as a reply of an adapter's current version."""
        text = str(self.tokenizer.decode(tokens, skip_special_tokens=True))
        return Reply(text, prompt_ids, tokens, list(log_probs), adapter, self.version_of(adapter))

    def written(self, prompt: str, text: str, adapter: str) -> Reply:
        """Return a reply that was not sampled, for its adapter to imitate: it has no log-probabilities.

        Args:
            prompt: text.
            text: of the reply.
            adapter: name of an adapter.
        """
        told = text if self._is_chat or prompt[-1:].isspace() else f" {text}"
        tokens: list[int] = self.tokenizer(told, add_special_tokens=False)["input_ids"]
        end = [] if self.tokenizer.eos_token_id is None else [int(self.tokenizer.eos_token_id)]
        return Reply(text, self.prompt_ids(prompt), [*tokens, *end], [], adapter, self.version_of(adapter))

    def log_probs(
        self, replies: Sequence[Reply], adapter: str, temperature: float = 1.0, *, read_once: bool | None = None
    ) -> Scores:
        """Return the log-probabilities of replies' tokens under an adapter, with gradients where they are on.

        Args:
            replies: sampled before.
            adapter: name, or :data:`BASE`.
            temperature: of sampling.
            read_once: read each distinct prompt once, apart from the replies; by default where that is worth it.
        """
        return score(self.model, self.tokenizer, replies, adapter, temperature, read_once=read_once)

    def repeats(self, replies: Sequence[Reply]) -> bool:
        """Return True if so many prompts of replies are the same that it is faster to read each distinct one once."""
        return repeats(self.model, replies)

    # Weights ----------------------------------------------------------------------------------------------------------

    def parameters_of(self, adapter: str) -> dict[str, torch.nn.Parameter]:
        """Return an adapter's weights by name."""
        mark = f".{adapter}."
        return {
            name.replace(mark, "."): weights
            for name, weights in self.model.named_parameters()
            if mark in name and "lora_" in name
        }

    def version_of(self, adapter: str) -> Version:
        """Return the version of an adapter's current weights. It waits for their hash."""
        if adapter in self._hashes:
            number, digest = self._hashes[adapter]
            self._versions[adapter] = Version(number, digest.result())
            del self._hashes[adapter]  # not before: where waiting is interrupted, the next call waits again
        return self._versions[adapter]

    def note_change(self, adapter: str, number: int | None = None) -> None:
        """Give an adapter's weights a new version after a change. Their hash is computed beside what follows.

        Args:
            adapter: its name.
            number: of the version; by default the next one.
        """
        if number is None:
            number = self.version_of(adapter).number + 1
        shared = {f"shared {name}": tensor for name, tensor in self._shared.items()}
        self._hashes[adapter] = number, self._hash_of({**self.parameters_of(adapter), **shared})
        self._versions.setdefault(adapter, Version(0, ""))

    def _hash_of(self, tensors: Mapping[str, torch.Tensor]) -> Future[str]:
        """Return the hash of the values that tensors have now, by their names."""
        sizes = {name: tensor.numel() for name, tensor in tensors.items()}
        values = _joined(tensors.values())
        arrived = values.to("cpu", non_blocking=values.is_cuda)
        done = torch.cuda.current_stream(values.device).record_event() if values.is_cuda else None
        return self._hasher.submit(_digest, arrived, sizes, done)

    def check(self, reply: Reply, known: Mapping[int, str]) -> None:
        """Raise TrainingError if a reply is of weights that its adapter never had.

        Args:
            reply: to be learned from.
            known: digests of the adapter's latest versions by number.
        """
        digest = known.get(reply.version.number)
        if digest != reply.version.digest:
            raise TrainingError(
                f"a sample of {reply.adapter} is of version {reply.version.number} ({reply.version.digest}), but that "
                f"version is {digest or 'unknown'}: it was sampled by other weights"
            )

    def add_copy(self, adapter: str, name: str) -> None:
        """Keep a copy of an adapter under another name, which does not learn."""
        if name not in self.model.peft_config:
            self.model.add_adapter(name, self._config(adapter))
            self.model.to(self.device)
        copies = self.parameters_of(name)
        for own, weights in self.parameters_of(adapter).items():
            copies[own].data.copy_(weights.data)
            copies[own].requires_grad_(False)
        self.note_change(name, self.version_of(adapter).number)

    def write_adapter(self, adapter: str, folder: Path) -> Path:
        """Write an adapter as peft does, for other programs. Return the folder of its files."""
        self.model.save_pretrained(str(folder), selected_adapters=[adapter], save_embedding_layers=False)
        return folder / adapter

    def change_of(self, adapter: str) -> dict[str, torch.Tensor]:
        """Return what an adapter adds to each layer's weights, by the layer's name."""
        changes = {}
        for name, layer in self._layers():
            down, up = layer.lora_A[adapter].weight.detach(), layer.lora_B[adapter].weight.detach()
            changes[name] = layer.scaling[adapter] * up @ down
        return changes

    def fitting_threads(self) -> AbstractContextManager[None]:
        """Use as many threads meanwhile as suit the base's size."""
        return fitting_threads(self.base.num_parameters(), self.device)

    @torch.no_grad()
    def add_to_base(self, changes: Mapping[str, torch.Tensor]) -> None:
        """Add changes to the base's weights, for all models."""
        self._share({name: self._shared.get(name, torch.zeros_like(one)) + one for name, one in changes.items()})

    @torch.no_grad()
    def forget(self, adapter: str) -> None:
        """Set what an adapter adds to zero. Its first matrix stays, so that it can learn on."""
        for _, layer in self._layers():
            layer.lora_B[adapter].weight.zero_()

    def _share(self, shared: Mapping[str, torch.Tensor]) -> None:
        """Set all that is added to the weights of some layers."""
        for name, layer in self._layers():
            if name in shared:
                weight = layer.base_layer.weight
                original = self._originals.setdefault(name, weight.detach().clone())
                weight.copy_(original + _placed_as(original, shared[name]))
                self._shared[name] = shared[name]

    # State ------------------------------------------------------------------------------------------------------------

    def state_dict(self, adapters: Sequence[str] | None = None) -> dict[str, Any]:
        """Return adapters, shared changes and versions: arrays and plain values.

        Args:
            adapters: names of the adapters; by default all.
        """
        names = [name for name in self._versions if name != BASE] if adapters is None else adapters
        versions = {name: self.version_of(name) for name in names}
        return {
            "base": self._base_digest,
            "adapters": {name: _arrays(self.parameters_of(name)) for name in names},
            "versions": {name: [version.number, version.digest] for name, version in versions.items()},
            "shared": _arrays(self._shared),
        }

    @torch.no_grad()
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Raise CheckpointError if it is of another model."""
        if state["base"] != self._base_digest:
            raise CheckpointError("the checkpoint is of another base model")
        shared = {name: torch.from_numpy(array.copy()) for name, array in state.get("shared", {}).items()}
        self._share({name: tensor.to(self.device) for name, tensor in shared.items()})
        for name, arrays in state["adapters"].items():
            if name not in self.model.peft_config:
                self.model.add_adapter(name, self._config())
                self.model.to(self.device)
                for weights in self.parameters_of(name).values():
                    weights.requires_grad_(False)
            own = self.parameters_of(name)
            if {key: tuple(weights.shape) for key, weights in own.items()} != {
                key: array.shape for key, array in arrays.items()
            }:
                raise CheckpointError(f"the checkpoint's adapter {name} is of another model or rank")
            for key, weights in own.items():
                weights.copy_(torch.from_numpy(arrays[key].copy()))
        for name, (number, _) in state["versions"].items():
            self.note_change(name, int(number))
        for name, (_, digest) in state["versions"].items():
            if self.version_of(name).digest != digest:
                raise CheckpointError(f"the checkpoint's adapter {name} does not have the weights that its hash says")

    # Parts ------------------------------------------------------------------------------------------------------------

    def _config(self, name: str = "") -> LoraConfig:
        shape = self.shapes.get(name) or Shape(self.rank, self.alpha, self.target_modules)
        return LoraConfig(
            r=shape.rank,
            lora_alpha=shape.alpha,  # type: ignore[arg-type]
            lora_dropout=0.0,
            target_modules=list(shape.target_modules),
            task_type="CAUSAL_LM",
        )

    def _layers(self) -> Iterable[tuple[str, Any]]:
        for name, module in self.model.named_modules():
            if hasattr(module, "lora_A") and hasattr(module, "base_layer"):
                yield name, module

    @property
    def _is_chat(self) -> bool:
        return self.chat and bool(self.tokenizer.chat_template)

    def prompt_ids(self, prompt: str) -> list[int]:
        """Return a prompt's tokens, as a message of a user where the model was trained on conversations."""
        if self._is_chat:
            messages = [{"role": "user", "content": prompt}]
            prompt = str(self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        ids: list[int] = self.tokenizer(prompt)["input_ids"]
        return ids


def _placed_as(weight: Any, change: torch.Tensor) -> torch.Tensor:
    """Return a change on the device of a weight, in its precision, and sharded over the same processes."""
    moved: torch.Tensor = change.to(weight.device, weight.dtype)
    if not hasattr(weight, "placements"):
        return moved
    from torch.distributed.tensor import distribute_tensor  # noqa: PLC0415 - only where a base is sharded

    return distribute_tensor(moved, weight.device_mesh, weight.placements)


def _digest(values: torch.Tensor, sizes: Mapping[str, int], done: torch.cuda.Event | None = None) -> str:
    """Return a hash of tensors by name.

    Args:
        values: of all, one after another, on the processor.
        sizes: number of values of each, by name.
        done: the copy of the values from a graphics card.
    """
    if done is not None:
        done.synchronize()
    parts = dict(zip(sizes, torch.split(values, list(sizes.values())), strict=True))
    digest = hashlib.blake2b(digest_size=8)
    for name, part in sorted(parts.items()):
        digest.update(name.encode())
        digest.update(part.numpy().data)
    return digest.hexdigest()


def _joined(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """Return a copy of the values of tensors, one after another, float32."""
    return torch.cat([tensor.detach().float().reshape(-1) for tensor in tensors])


def _arrays(tensors: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray[Any, Any]]:
    """Return tensors as float32 arrays. They leave a graphics card together, since each transfer waits for it."""
    if not tensors:
        return {}
    parts = torch.split(_joined(tensors.values()).cpu(), [tensor.numel() for tensor in tensors.values()])
    return {name: part.view(tensor.shape).numpy() for (name, tensor), part in zip(tensors.items(), parts, strict=True)}
