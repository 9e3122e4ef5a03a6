"""Sampling by a vLLM server that serves the same base: adapters are loaded into it, and replies come by HTTP.

The server keeps each version of an adapter under a name with its hash. A new version is loaded from a separate folder,
because the server's prefix cache would not notice other weights in the same one.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import torch

from pkmn_multimodel.population.replies import BASE
from pkmncli.api import LLMFailure, LLMFault
from pkmncli.errors import ConfigurationError, LLMConnectionError, TrainingError
from pkmncli.llm.transport import (
    bounded_client,
    check_address,
    close_client,
    exchange,
    failure_of_status,
    key_from,
    route_to,
    unreachable,
    where_is,
    with_advice,
)

if TYPE_CHECKING:
    from pkmn_multimodel.population.population import Population
    from pkmn_multimodel.population.replies import Reply
    from pkmn_multimodel.settings import MultiModelConfig

KEY = "VLLM_API_KEY"
"""Environment variable of the server's key, the one that vLLM itself reads."""
CHECK_TIMEOUT_S = 30.0
MOST_TOKENS = 10_000
"""Most tokens of the replies of one request, so that an answer stays below the size limit."""
LARGEST_MEAN_GAP = 0.1
"""Largest mean difference of a token's log-probability between the server and the trainer."""
_UNCHANGED = {
    **{"top_p": 1.0, "top_k": 0, "min_p": 0.0},
    **{"repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0},
    **{"ignore_eos": True, "logprobs": 0, "return_token_ids": True},
}
"""Part of each request. Without it a server changes probabilities, and ends replies, by generation_config.json."""


class VllmSampler:
    """Sampler that asks a vLLM server.

    Replies have the log-probabilities of the trainer's own model, computed when they arrive. They are compared with
    those of the server: the difference of arithmetic is measured, and another base or adapter is an error.

    Args:
        settings: address and folder.
        population: models, whose adapters the server gets.

    Raises:
        LLMConnectionError: the address or the key is invalid.
    """

    def __init__(self, settings: MultiModelConfig, population: Population) -> None:
        self._settings = settings
        self._population = population
        self._mark = secrets.token_hex(4)
        """Part of the adapters' names: several trainings may share a server."""
        self._served: dict[str, str] = {}
        """Name on the server of each adapter's loaded version."""
        self._gaps: list[torch.Tensor] = []
        self._base_name = ""
        address = settings.sampler_url.rstrip("/").removesuffix("/v1")
        check_address(address, "multimodel.sampler_url is no address: write http://HOST:PORT")
        key, route = key_from(KEY), route_to(address, httpx)
        self._where = f"vLLM at {where_is(address, 'multimodel.sampler_url')}{route.via}"
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client: httpx.AsyncClient = bounded_client(httpx, base_url=address, headers=headers, **route.options)
        self._closing = ExitStack()
        self._closing.callback(close_client, self._client.aclose)
        own = self._closing.enter_context(
            tempfile.TemporaryDirectory(prefix="pkmn-adapters-", dir=settings.sampler_folder)
        )
        self._folder = Path(own).resolve()
        if settings.sampler_folder is not None:  # the server may run as another user
            self._folder.chmod(0o755)
        self._closing.callback(self._unload_all)

    def check(self, prompt: str) -> str:
        """Compare the server's base with the trainer's, and ask for a reply. Return a line for people.

        Args:
            prompt: any one.

        Raises:
            LLMConnectionError: there is no such server, or it refuses what is asked.
            ConfigurationError: it serves another base.
            TrainingError: its adapters have other log-probabilities.
        """
        models = self._ask([("/v1/models", None)], CHECK_TIMEOUT_S)[0]
        try:
            self._base_name = next(str(card["id"]) for card in models["data"] if card["parent"] is None)
        except (KeyError, TypeError, StopIteration):
            raise LLMConnectionError(f"{self._where} is no vLLM server. {self._start}") from None
        gap = self._distance_of_bases(prompt)
        if not gap <= LARGEST_MEAN_GAP:
            raise ConfigurationError(
                f"multimodel.sampler_url: {self._where} serves {self._base_name}, which is not multimodel.base: "
                f"log-probabilities of a prompt's tokens differ by {gap:.2g} on average, above {LARGEST_MEAN_GAP:g}"
            )
        settings, generator = self._settings, torch.Generator().manual_seed(0)
        first = self._population.names[0]
        self.sample(
            [prompt], [first], generator, max_new_tokens=settings.max_new_tokens, temperature=settings.temperature
        )
        return f"Replies are sampled by {self._where} ({self._base_name})."

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
        """Return a reply to each prompt, each by its own adapter, as :meth:`Population.sample` does.

        Raises:
            LLMConnectionError: the server cannot be reached, refuses, or takes longer than ``episode_timeout_s``.
            TrainingError: its log-probabilities are not those of the trainer.
        """
        groups: dict[tuple[str, str], list[int]] = {}
        for place, key in enumerate(zip(adapters, prompts, strict=True)):
            groups.setdefault(key, []).append(place)
        names = {adapter: self._served_name(adapter) for adapter in dict.fromkeys(adapters)}
        most = max(MOST_TOKENS // max_new_tokens, 1)
        end = self._population.tokenizer.eos_token_id
        parts: list[tuple[str, list[int], list[int]]] = []
        bodies: list[dict[str, Any]] = []
        for (adapter, prompt), places in groups.items():
            ids = self._population.prompt_ids(prompt)
            for first in range(0, len(places), most):
                parts.append((adapter, ids, places[first : first + most]))
                bodies.append(
                    {
                        **_UNCHANGED,
                        "model": names[adapter],
                        "prompt": ids,
                        "n": len(parts[-1][2]),
                        # Prompts of one request that have the same seed get the same reply; samples of one do not.
                        "seed": int(torch.randint(1 << 31, (1,), generator=generator)),
                        "max_tokens": max_new_tokens,
                        "temperature": 0.0 if greedy else temperature,
                        "stop_token_ids": [] if end is None else [end],
                    }
                )
        limit = self._settings.episode_timeout_s
        answers = self._ask([("/v1/completions", body) for body in bodies], limit)
        replies: dict[int, Reply] = {}
        told: dict[int, list[float]] = {}
        for (adapter, ids, places), answer in zip(parts, answers, strict=True):
            for place, (tokens, values) in zip(places, self._samples(answer, names[adapter], len(places)), strict=True):
                replies[place], told[place] = self._population.as_reply(ids, tokens, adapter), values
        gaps = []
        for adapter in names:
            of_it = [place for place, own in enumerate(adapters) if own == adapter]
            for first in range(0, len(of_it), self._settings.micro_batch):
                part = of_it[first : first + self._settings.micro_batch]
                gaps += self._score([replies[place] for place in part], [told[place] for place in part], temperature)
        gap = torch.cat(gaps)
        self._gaps.append(gap)
        if not float(gap.mean()) <= LARGEST_MEAN_GAP:
            raise TrainingError(
                f"the log-probabilities of {self._where} differ by {float(gap.mean()):.3g} on average from those of "
                f"the trainer; {LARGEST_MEAN_GAP:g} is allowed"
            )
        return [replies[place] for place in range(len(prompts))]

    def take_gaps(self) -> dict[str, float]:
        """Return the mean and the largest difference of a token's log-probability since the last call."""
        if not self._gaps:
            return {}
        gaps, self._gaps = torch.cat(self._gaps), []
        return {"vllm/gap": float(gaps.mean()), "vllm/largest_gap": float(gaps.max())}

    def close(self) -> None:
        """Unload the adapters, and close the connections."""
        self._closing.close()

    # Parts ------------------------------------------------------------------------------------------------------------

    @property
    def _start(self) -> str:
        rank = self._settings.rank
        return (
            f"Start it with: VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 vllm serve BASE --enable-lora --max-lora-rank {rank}; "
            "BASE is that of multimodel.base, and multimodel.sampler_url has its address"
        )

    def _served_name(self, adapter: str) -> str:
        """Return the server's name of an adapter's current version, which is loaded now if it was not."""
        if adapter == BASE:
            return self._base_name
        version, before = self._population.version_of(adapter), self._served.get(adapter)
        name = f"{self._mark}-{adapter}-{version.number}-{version.digest}"
        if name != before:
            place = self._population.write_adapter(adapter, self._folder / name)
            self._ask([("/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(place)})], CHECK_TIMEOUT_S)
            self._served[adapter] = name
            if before is not None:
                self._unload(before)
        return name

    def _unload(self, name: str) -> None:
        with suppress(LLMConnectionError):  # it only takes memory there
            self._ask([("/v1/unload_lora_adapter", {"lora_name": name})], CHECK_TIMEOUT_S)
        shutil.rmtree(self._folder / name, ignore_errors=True)

    def _unload_all(self) -> None:
        for name in self._served.values():
            self._unload(name)
        self._served = {}

    @torch.no_grad()
    def _distance_of_bases(self, prompt: str) -> float:
        """Return the mean difference of the log-probabilities of a prompt's tokens, but the first, by the two bases."""
        ids = self._population.prompt_ids(prompt)
        body = {"model": self._base_name, "prompt": ids, "max_tokens": 1, "prompt_logprobs": 0}
        answer = self._ask([("/v1/completions", body)], self._settings.episode_timeout_s)[0]
        try:
            of_places = answer["choices"][0]["prompt_logprobs"][1:]
            told = [float(one[str(token)]["logprob"]) for one, token in zip(of_places, ids[1:], strict=True)]
        except (LookupError, TypeError, ValueError):
            raise LLMConnectionError(f"{self._where} told no log-probabilities of a prompt. {self._start}") from None
        (own,) = self._population.log_probs([self._population.as_reply(ids[:1], ids[1:], BASE)], BASE).of_tokens()
        return float((own - torch.tensor(told)).abs().mean())

    def _samples(self, answer: Any, name: str, count: int) -> list[tuple[list[int], list[float]]]:
        """Return tokens and log-probabilities of an answer's samples. Raise LLMConnectionError if it has none."""
        try:
            found = [
                ([int(token) for token in one["token_ids"]], [float(x) for x in one["logprobs"]["token_logprobs"]])
                for one in answer["choices"]
            ]
        except (KeyError, TypeError, ValueError):
            found = []
        whole = len(found) == count and all(tokens and len(tokens) == len(values) for tokens, values in found)
        if not whole or answer["model"] != name:
            raise LLMConnectionError(
                f"{self._where} did not answer with the tokens of {count} replies of {name}; return_token_ids needs "
                "vLLM 0.11 or later"
            )
        return found

    @torch.no_grad()
    def _score(
        self, replies: Sequence[Reply], told: Sequence[Sequence[float]], temperature: float
    ) -> list[torch.Tensor]:
        """Give replies of an adapter the trainer's log-probabilities. Return their distances to the server's.

        Args:
            replies: of one adapter.
            told: log-probability of each of their tokens by the server, before the temperature.
            temperature: of sampling.
        """
        adapter = replies[0].adapter
        plain = self._population.log_probs(replies, adapter).of_tokens()
        own = plain if temperature == 1 else self._population.log_probs(replies, adapter, temperature).of_tokens()
        for reply, values in zip(replies, own, strict=True):
            reply.log_probs = values.tolist()
        return [(values - torch.tensor(other)).abs() for values, other in zip(plain, told, strict=True)]

    def _ask(self, requests: Sequence[tuple[str, Mapping[str, Any] | None]], seconds: float) -> list[Any]:
        """Return the answers to requests, which are sent at once: JSON, or text.

        Args:
            requests: path and body of each; None as a body for a GET.
            seconds: for all together.

        Raises:
            LLMConnectionError: one failed, or they took longer.
        """

        async def one(path: str, body: Mapping[str, Any] | None) -> Any:
            response = await (self._client.get(path) if body is None else self._client.post(path, json=body))
            if not response.is_success:
                raise failure_of_status(response.status_code, response.text, response.headers, self._where)
            return response.json() if "json" in response.headers.get("content-type", "") else response.text

        async def all_of_them() -> list[Any]:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(path, body)) for path, body in requests]
            return [task.result() for task in tasks]

        try:
            return exchange(all_of_them, seconds)
        except TimeoutError:
            limit = " (multimodel.episode_timeout_s)" if seconds == self._settings.episode_timeout_s else ""
            raise LLMConnectionError(f"{self._where} did not answer within {seconds:g} s{limit}") from None
        except ExceptionGroup as group:
            error = group.exceptions[0]
        if isinstance(error, httpx.TransportError):
            error = unreachable(self._where, error)
        elif not isinstance(error, LLMFailure):
            error = LLMFailure(LLMFault.BROKEN, f"{self._where} answered what is no reply")
        is_locked = error.fault is LLMFault.AUTHENTICATION
        raise with_advice(error, f"{KEY} must be its key" if is_locked else self._start)
