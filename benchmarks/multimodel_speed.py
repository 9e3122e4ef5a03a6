"""Speed of sampling and learning with adapters on one base, beside the plain loops of transformers and PyTorch.

    python benchmarks/multimodel_speed.py --base SmolLM2-135M-Instruct.Q4_1.gguf --models 2 --rounds 3

Each round measures all four in turn, in tokens a second: replies of all models in one batch, as a training samples
them; the same with ``generate`` of transformers, a call for each adapter; an update of each adapter by our objective;
and the same number of tokens through a plain forward and backward pass with the same adapters. Ratios are the medians
over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pkmn_multimodel.objectives import AdapterLearner
from pkmn_multimodel.population.bases import load_base
from pkmn_multimodel.population.population import Population
from pkmn_multimodel.population.replies import Reply
from pkmn_multimodel.rollouts import Turn
from pkmn_multimodel.settings import MultiModelConfig

PROMPT = "Coins, round {}. Last round: {} of 2 shared. keep or share? Answer:"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--base", required=True)
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--replies", type=int, default=16, help="replies of each model in a batch")
    parser.add_argument("--tokens", type=int, default=8, help="tokens of a reply")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = MultiModelConfig.model_validate({"base": options.base, "num_models": options.models, "kl_coef": 0.0})
    examples = [(PROMPT.format(number % 3 + 1, number % 2), ("keep", "share")) for number in range(options.replies)]
    base, tokenizer, device = load_base(settings, examples, 0)
    names = [f"model_{number}" for number in range(options.models)]
    population = Population(base, tokenizer, names, rank=settings.rank, alpha=settings.alpha, device=device)
    learners = [AdapterLearner(population, name, settings, 0) for name in names]
    prompts = [prompt for prompt, _ in examples]
    generator = torch.Generator().manual_seed(0)
    found: dict[str, list[float]] = {}
    for _ in range(options.rounds):
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
            began = time.perf_counter()
            tokens = measure()
            found.setdefault(name, []).append(tokens / (time.perf_counter() - began))
    for name, values in found.items():
        print(f"{name:25} {statistics.median(values):10.1f} tokens/s  ({min(values):.1f} to {max(values):.1f})")
    for ours, theirs in (("sampling", "generate of transformers"), ("learning", "plain loop")):
        ratios = [one / other for one, other in zip(found[ours], found[theirs], strict=True)]
        print(f"{ours} / {theirs}: {statistics.median(ratios):.2f}")


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
        scores = population.log_probs(own, name)
        optimizer.zero_grad()
        (-(scores.log_probs * scores.mask).sum()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        tokens += sum(len(reply.prompt_ids) + len(reply.tokens) for reply in own)
    return float(tokens)


if __name__ == "__main__":
    main()
