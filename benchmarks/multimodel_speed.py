"""Speed of sampling and learning with adapters on one base, beside the plain loops of transformers and PyTorch.

    python benchmarks/multimodel_speed.py --base SmolLM2-135M-Instruct.Q4_1.gguf --models 2 4 --rounds 3
    python benchmarks/multimodel_speed.py --base random:7b --device cuda --precision bfloat16

Each round measures all in turn, in tokens a second: replies of all models in one batch, as a training samples them; the
same with ``generate`` of transformers, a call for each adapter; an update of each adapter by our objective, without and
with the time that the hash of the last one takes, which a training needs after the next games; and the same samples
through a plain loop with the same adapters: rows of prompt and reply, the cross-entropy of transformers, its gradients,
a step of Adam. Ratios are the medians over the rounds; a first round warms up. A base ``random:SIZE`` has random
weights in the shape of a known model of that size: its speed counts, not its words.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from pkmn_multimodel.objectives import AdapterLearner
from pkmn_multimodel.population.bases import device_of, load_base
from pkmn_multimodel.population.population import Population
from pkmn_multimodel.population.replies import Reply
from pkmn_multimodel.rollouts import Turn
from pkmn_multimodel.settings import MultiModelConfig

PROMPT = "Coins, round {}. Last round: {} of 2 shared. keep or share? Answer:"


SHAPES = {
    "tiny": (64, 128, 2, 4, 4, 640),
    "135m": (576, 1536, 30, 9, 3, 49_152),
    "1.5b": (1536, 8960, 28, 12, 2, 151_936),
    "7b": (3584, 18_944, 28, 28, 4, 152_064),
}
"""Width, width of the inner layer, layers, heads, heads of keys and values, vocabulary: SmolLM2 and Qwen2.5."""


def main() -> None:
    """Print a table for each number of models."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--base", required=True, help=f"as multimodel.base, or random:{{{','.join(SHAPES)}}}")
    parser.add_argument("--models", type=int, nargs="+", default=[2])
    parser.add_argument("--replies", type=int, default=16, help="replies of each model in a batch")
    parser.add_argument("--tokens", type=int, default=8, help="tokens of a reply")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--out", type=Path, help="file of lines of JSON that the figures are added to")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for models in options.models:
        _compare(options, models)
        if options.device.startswith("cuda"):
            print(f"most memory: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB", flush=True)
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()


def _compare(options: argparse.Namespace, models: int) -> None:
    settings = MultiModelConfig.model_validate(
        {
            "base": "tiny" if options.base.startswith("random:") else options.base,
            "num_models": models,
            "kl_coef": 0.0,
            "device": options.device,
            "precision": options.precision,
            "model_types": ["llama3"],
        }
    )
    examples = [(PROMPT.format(number % 3 + 1, number % 2), ("keep", "share")) for number in range(options.replies)]
    base, tokenizer, device = load_base(settings, examples, 0)
    if options.base.startswith("random:"):
        base = random_base(options.base.partition(":")[2], tokenizer, device, options.precision)
    names = [f"model_{number}" for number in range(models)]
    population = Population(base, tokenizer, names, rank=settings.rank, alpha=settings.alpha, device=device)
    learners = [AdapterLearner(population, name, settings, 0) for name in names]
    prompts = [prompt for prompt, _ in examples]
    generator = torch.Generator().manual_seed(0)
    found: dict[str, list[float]] = {}
    for number in range(options.rounds + 1):
        replies = population.sample(
            prompts * len(names),
            [name for name in names for _ in prompts],
            generator,
            max_new_tokens=options.tokens,
        )
        measures: dict[str, Callable[[], float]] = {
            "sampling": lambda: _sampled(population, prompts, names, generator, options.tokens),
            "generate of transformers": lambda: _generated(population, prompts, names, options.tokens),
            "learning": lambda replies=replies: _learned(learners, names, replies),  # type: ignore[misc]
            "plain loop": lambda replies=replies: _plain(population, names, replies),  # type: ignore[misc]
        }
        for name, measure in measures.items():
            _wait(device)
            began = time.perf_counter()
            tokens = measure()
            _wait(device)
            spent = time.perf_counter() - began
            if number:
                found.setdefault(name, []).append(tokens / spent)
            if name == "learning":
                for adapter in names:
                    population.version_of(adapter)  # waits for the hash, which a training needs after the next games
                if number:
                    found.setdefault("learning and hash", []).append(tokens / (time.perf_counter() - began))
    print(f"{options.base}, {options.precision}, {device}: {models} adapters, {options.replies} replies of each")
    for name, values in found.items():
        print(f"{name:25} {statistics.median(values):10.1f} tokens/s  ({min(values):.1f} to {max(values):.1f})")
    beside = {"sampling": "generate of transformers", "learning": "plain loop", "learning and hash": "plain loop"}
    for ours, theirs in beside.items():
        ratios = [one / other for one, other in zip(found[ours], found[theirs], strict=True)]
        print(
            f"{ours} / {theirs}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True
        )
    if options.out is not None:
        line = {**{name: str(value) for name, value in vars(options).items()}, "models": models, "tokens/s": found}
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def random_base(shape: str, tokenizer: PreTrainedTokenizerBase, device: str, precision: str) -> PreTrainedModel:
    """Return a base of a shape of :data:`SHAPES` with random weights.

    Args:
        shape: name.
        tokenizer: of its prompts.
        device: place of the weights.
        precision: ``float32`` or ``bfloat16``.
    """
    width, inner, layers, heads, key_heads, vocabulary = SHAPES[shape]
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        max_position_embeddings=1024,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=shape == "135m",
        dtype=precision,
    )
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16 if precision == "bfloat16" else torch.float32)
    try:
        with torch.device(device_of(device, "--device")):
            return LlamaForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(before)


def _wait(device: str) -> None:
    """Wait until the graphics card has done all its work."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def _sampled(
    population: Population, prompts: Sequence[str], names: Sequence[str], generator: torch.Generator, tokens: int
) -> float:
    seats = [name for name in names for _ in prompts]
    replies = population.sample(list(prompts) * len(names), seats, generator, max_new_tokens=tokens)
    return float(sum(len(reply.tokens) for reply in replies))


def _generated(population: Population, prompts: Sequence[str], names: Sequence[str], tokens: int) -> float:
    model, tokenizer = population.model, population.tokenizer
    texts = list(prompts)
    if tokenizer.chat_template:
        texts = [
            str(
                tokenizer.apply_chat_template(
                    [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
                )
            )
            for text in texts
        ]
    asked: Any = tokenizer(texts, return_tensors="pt", padding=True).to(population.device)
    made = 0
    for name in names:
        model.set_adapter(name)
        with torch.no_grad():
            out = model.generate(
                **asked, max_new_tokens=tokens, do_sample=True, top_k=0, pad_token_id=tokenizer.pad_token_id
            )
        made += int((out[:, asked["input_ids"].shape[1] :] != tokenizer.pad_token_id).sum())
    return float(made)


def _learned(learners: Sequence[AdapterLearner], names: Sequence[str], replies: Sequence[Reply]) -> float:
    tokens = 0
    for name, learner in zip(names, learners, strict=True):
        own = [reply for reply in replies if reply.adapter == name]
        turns = [
            Turn(name, "player", 0, reply, "", True, float(place % 2), float(place % 2))
            for place, reply in enumerate(own)
        ]
        learner.learn(turns, 1 << 20)
        tokens += sum(len(reply.prompt_ids) + len(reply.tokens) for reply in own)
    return float(tokens)


def _plain(population: Population, names: Sequence[str], replies: Sequence[Reply]) -> float:
    tokens = 0
    for name in names:
        own = [reply for reply in replies if reply.adapter == name]
        weights = list(population.parameters_of(name).values())
        optimizer = torch.optim.Adam(weights, lr=0.0)
        population.model.set_adapter(name)
        rows = [reply.prompt_ids + reply.tokens for reply in own]
        longest = max(map(len, rows))
        pad = int(population.tokenizer.pad_token_id or 0)
        ids = torch.tensor([[pad] * (longest - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        labels = torch.tensor(
            [[-100] * (longest - len(reply.tokens)) + reply.tokens for reply in own], device=population.device
        )
        optimizer.zero_grad()
        population.model(
            input_ids=ids.to(population.device), attention_mask=mask.to(population.device), labels=labels
        ).loss.backward()
        optimizer.step()
        tokens += sum(len(reply.prompt_ids) + len(reply.tokens) for reply in own)
    return float(tokens)


if __name__ == "__main__":
    main()
