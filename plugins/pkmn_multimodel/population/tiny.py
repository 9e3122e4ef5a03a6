"""A small language model that is made at the start: for tests, for machines without a model, to try settings."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from pkmn_multimodel.population.threads import fitting_threads

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PAD, END = "<pad>", "<end>"
_VOCABULARY = 640
_FORMAT_STEPS, _CHANGING_STEPS = 60, 150
"""Steps after which most replies are valid where the options are those of one or two roles, and where they change."""
_FORMAT_BATCH = 64


def tiny_model(
    examples: Sequence[tuple[str, Sequence[str]]], seed: int = 0, steps: int | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return a small model that answers prompts of a kind with one of their options, each about as likely.

    It is trained for some seconds to answer in this form. The same examples and seed give the same model.

    Args:
        examples: prompts with the options of each.
        seed: of the weights and of the training.
        steps: of the training; by default more if there are many sets of options.
    """
    if steps is None:
        steps = _FORMAT_STEPS if len({tuple(options) for _, options in examples}) <= 2 else _CHANGING_STEPS
    tokenizer = _tokenizer([f"{prompt} {' '.join(options)}" for prompt, options in examples])
    with torch.random.fork_rng(devices=[]), fitting_threads(0):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(tokenizer),
                hidden_size=64,
                intermediate_size=128,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=4,
                max_position_embeddings=1024,
                pad_token_id=tokenizer.pad_token_id,
                bos_token_id=None,
                eos_token_id=tokenizer.eos_token_id,
                tie_word_embeddings=False,
            )
        )
        _teach_format(model, tokenizer, examples, steps)
    model.eval()  # type: ignore[no-untyped-call]
    return model, tokenizer


def _tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of bytes and of the texts' frequent parts. It can write any text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=[PAD, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, padding_side="left"
    )


def _teach_format(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    examples: Sequence[tuple[str, Sequence[str]]],
    steps: int,
) -> None:
    @functools.cache
    def encoded(text: str) -> list[int]:
        found: list[int] = tokenizer(text)["input_ids"]
        return found

    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(steps):
        rows = []
        for place in torch.randint(len(examples), (_FORMAT_BATCH,)).tolist():
            prompt, options = examples[place]
            answer = options[int(torch.randint(len(options), (1,)))]
            asked = encoded(prompt)
            rows.append((asked + encoded(f" {answer}{END}"), len(asked)))
        width = max(len(ids) for ids, _ in rows)
        ids = torch.full((len(rows), width), tokenizer.pad_token_id)
        labels = torch.full((len(rows), width), -100)
        for row, (tokens, asked_length) in enumerate(rows):
            ids[row, width - len(tokens) :] = torch.tensor(tokens)
            labels[row, width - len(tokens) + asked_length :] = torch.tensor(tokens[asked_length:])
        loss = model(input_ids=ids, attention_mask=(ids != tokenizer.pad_token_id).long(), labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
