"""Replies of adapters on one base: sampled in a batch, or scored. Each distinct prompt of a batch is read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import torch

from pkmn_multimodel.population.replies import BASE, Scores

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedTokenizerBase

    from pkmn_multimodel.population.replies import Reply


_PASS_OF_A_CARD = 1e13
"""Tokens times weights that a graphics card reads in the time that it takes to start one pass more."""


@torch.no_grad()
def sample_tokens(
    model: PeftModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[Sequence[int]],
    adapters: Sequence[str],
    generator: torch.Generator,
    *,
    max_new_tokens: int,
    temperature: float,
    greedy: bool,
) -> list[tuple[list[int], list[float]]]:
    """Return the tokens that follow each prompt, with the log-probability of each.

    Args:
        model: base with its adapters.
        tokenizer: of the base.
        prompts: tokens of each prompt.
        adapters: the adapter of each, or :data:`BASE`.
        generator: of the random numbers, on the CPU.
        max_new_tokens: most tokens of a reply.
        temperature: of sampling.
        greedy: take the likeliest token instead.
    """
    same, where = _distinct([(adapter, *row) for adapter, row in zip(adapters, prompts, strict=True)])
    ids, mask = _padded(model, tokenizer, [prompts[row] for row in same])
    cache: Any = None
    live = torch.ones(len(prompts), dtype=torch.bool)
    found: list[tuple[list[int], list[float]]] = [([], []) for _ in prompts]
    step_ids, positions, names = ids, _positions(mask), [adapters[row] for row in same]
    mixed = len(set(adapters)) > 1
    with nullcontext() if mixed else _only(model, adapters[0]):
        for number in range(max_new_tokens):
            out = model(
                input_ids=step_ids,
                attention_mask=mask,
                position_ids=positions,
                cache=cache,
                use_cache=True,
                **({"adapter_names": names} if mixed else {}),
            )
            cache = out.cache
            logits = (out.logits[:, -1].float() / temperature).log_softmax(-1)
            if number == 0 and len(same) < len(prompts):
                where = where.to(mask.device)
                cache.batch_select_indices(where)
                logits, mask, positions, names = logits[where], mask[where], positions[where], list(adapters)
            drawn = logits.argmax(-1) if greedy else _drawn(logits, generator)
            values, tokens = logits.gather(1, drawn[:, None])[:, 0].tolist(), drawn.cpu()
            for row, (token, value) in enumerate(zip(tokens.tolist(), values, strict=True)):
                if live[row]:
                    found[row][0].append(token)
                    found[row][1].append(value)
            live &= tokens != tokenizer.eos_token_id
            if not live.any():
                break
            step_ids = drawn[:, None]
            positions = positions[:, -1:] + 1
            mask = torch.cat([mask, torch.ones(len(prompts), 1, dtype=mask.dtype, device=mask.device)], 1)
    return found


def score(
    model: PeftModel,
    tokenizer: PreTrainedTokenizerBase,
    replies: Sequence[Reply],
    adapter: str,
    temperature: float,
    *,
    read_once: bool | None = None,
) -> Scores:
    """Return the log-probabilities of replies' tokens under an adapter, with gradients where they are on.

    Args:
        model: base with its adapters.
        tokenizer: of the base.
        replies: sampled before.
        adapter: name, or :data:`BASE`.
        temperature: of sampling.
        read_once: read each distinct prompt once, apart from the replies; by default where that is worth it.
    """
    with _only(model, adapter):
        if not (repeats(model, replies) if read_once is None else read_once):
            return _score_whole(model, tokenizer, replies, temperature)
        same, where = _distinct([tuple(reply.prompt_ids) for reply in replies])
        prompts = [replies[row].prompt_ids for row in same]
        return _score_shared(model, tokenizer, replies, prompts, where, temperature)


def repeats(model: PeftModel, replies: Sequence[Reply]) -> bool:
    """Return True if so many prompts of replies are the same that it is faster to read each distinct one once."""
    prompts = [tuple(reply.prompt_ids) for reply in replies]
    spared = sum(map(len, prompts)) - sum(map(len, set(prompts)))
    if model.device.type == "cpu":
        return spared > 0
    base: Any = model.get_base_model()
    return bool(spared * base.num_parameters() > _PASS_OF_A_CARD)


def _score_whole(
    model: PeftModel, tokenizer: PreTrainedTokenizerBase, replies: Sequence[Reply], temperature: float
) -> Scores:
    """Return the scores of replies, each read after its own prompt."""
    ids, mask = _padded(model, tokenizer, [reply.prompt_ids + reply.tokens for reply in replies])
    lengths = torch.tensor([len(reply.tokens) for reply in replies], device=ids.device)
    longest = max(len(reply.tokens) for reply in replies)
    is_reply = torch.arange(longest, 0, -1, device=ids.device) <= lengths[:, None]
    out = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=_positions(mask),
        output_hidden_states=True,
        logits_to_keep=longest + 1,
    )
    told = ids[:, -longest:]
    logits = (out.logits[:, :-1].float() / temperature).log_softmax(-1)
    hidden = out.hidden_states[-1].float()
    last_of_prompt = hidden[torch.arange(len(replies), device=ids.device), ids.shape[1] - lengths - 1]
    return Scores(logits.gather(2, told[:, :, None])[:, :, 0], is_reply, last_of_prompt)


def _score_shared(
    model: PeftModel,
    tokenizer: PreTrainedTokenizerBase,
    replies: Sequence[Reply],
    prompts: Sequence[Sequence[int]],
    where: torch.Tensor,
    temperature: float,
) -> Scores:
    """Return the scores of replies that share prompts.

    Args:
        model, tokenizer, replies, temperature: as those of :func:`score`.
        prompts: tokens of the distinct prompts.
        where: place of each reply's prompt among them, (replies,).
    """
    ids, mask = _padded(model, tokenizer, prompts)
    where = where.to(mask.device)
    told, is_reply = _padded(model, tokenizer, [reply.tokens for reply in replies])
    whole = torch.cat([mask[where], is_reply], 1)
    asked = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=_positions(mask),
        output_hidden_states=True,
        use_cache=True,
        logits_to_keep=1,
    )
    asked.cache.batch_select_indices(where)
    out = model(
        input_ids=told,
        attention_mask=whole,
        position_ids=_positions(whole)[:, -told.shape[1] :],
        cache=asked.cache,
        use_cache=True,
    )
    # A token is predicted at the place before it; the first one of a reply at the end of its prompt.
    before = torch.cat([out.logits[:, -1:], out.logits[:, :-1]], 1)
    is_first = is_reply.cumsum(1).eq(1) & is_reply.bool()
    logits = torch.where(is_first[:, :, None], asked.logits[where], before)
    found = (logits.float() / temperature).log_softmax(-1).gather(2, told[:, :, None])[:, :, 0]
    return Scores(found, is_reply.bool(), asked.hidden_states[-1][where, -1].float())


def _drawn(log_probs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Sample a token of each row by its probability. The vocabulary does not leave a graphics card for that.

    Args:
        log_probs: (rows, vocabulary).
        generator: of the random numbers, on the CPU.
    """
    if log_probs.device.type == "cpu":
        return torch.multinomial(log_probs.exp(), 1, generator=generator)[:, 0]
    return token_at(log_probs, torch.rand(len(log_probs), 1, generator=generator, dtype=torch.float64))


def token_at(log_probs: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
    """Return the token of each row at which the sum of the probabilities passes a mark.

    Args:
        log_probs: (rows, vocabulary).
        marks: (rows, 1), 0 to 1, float64; uniform ones draw tokens by their probability.
    """
    sums = log_probs.double().exp().cumsum(-1)
    return torch.searchsorted(sums, marks.to(sums.device) * sums[:, -1:], right=True)[:, 0]


@contextmanager
def _only(model: PeftModel, adapter: str) -> Iterator[None]:
    if adapter == BASE:
        with model.disable_adapter():
            yield
        return
    model.set_adapter(adapter)
    yield


def _padded(
    model: PeftModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[Sequence[int]]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the tokens of rows, filled up on the left, and the mask of what is theirs; (rows, longest row) each."""
    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), int(tokenizer.pad_token_id or 0))
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for place, row in enumerate(rows):
        ids[place, width - len(row) :] = torch.tensor(row)
        mask[place, width - len(row) :] = 1
    return ids.to(model.device), mask.to(model.device)


def _positions(mask: torch.Tensor) -> torch.Tensor:
    return (mask.cumsum(1) - 1).clamp(min=0)


def _distinct(rows: Sequence[tuple[Any, ...]]) -> tuple[list[int], torch.Tensor]:
    """Return the first place of each distinct row, and for each row the place of its like among them."""
    numbers: dict[tuple[Any, ...], int] = {}
    where = torch.tensor([numbers.setdefault(row, len(numbers)) for row in rows])
    first: dict[int, int] = {}
    for place, number in enumerate(where.tolist()):
        first.setdefault(number, place)
    return list(first.values()), where
