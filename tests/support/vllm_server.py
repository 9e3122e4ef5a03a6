"""A server on loopback with the part of vLLM's interface that a training uses. It samples from a real base with LoRA.

Its answers, errors and traps are those of vLLM 0.32: probabilities that it returns are those before the temperature,
prompts of one request share a seed, samples of one prompt do not, and adapters are loaded from a folder that it reads.
"""

from __future__ import annotations

import json
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from pkmn_multimodel.population.threads import fitting_threads

SUCCESS = "Success: LoRA adapter '{}' {} successfully."


class RefusedError(Exception):
    """What vLLM answers with an error, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a client that went away."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class VllmServer:
    """Serves a base, and adapters that are loaded at run time.

    Args:
        base: folder of the base, which is also its name.
        key: what a request must show, if anything.
        updates: whether it was started with VLLM_ALLOW_RUNTIME_LORA_UPDATING.
        knows_token_ids: False for a version that does not know ``return_token_ids``.
        max_lora_rank: of adapters.
        dtype: of its arithmetic.
    """

    def __init__(
        self,
        base: Path,
        *,
        key: str = "",
        updates: bool = True,
        knows_token_ids: bool = True,
        max_lora_rank: int = 16,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.base = str(base)
        self.key, self.updates, self.knows_token_ids = key, updates, knows_token_ids
        self.max_lora_rank = max_lora_rank
        self.adapters: dict[str, str] = {}
        self.asked: list[tuple[str, Any]] = []
        self.waits: threading.Event | None = None
        """Held back until it is set: what a server that has too much to do does."""
        self.dies_after = sys.maxsize
        """Adapters loaded in all after which it completes nothing any more, but closes the connection."""
        self._model: Any = AutoModelForCausalLM.from_pretrained(self.base, dtype=dtype, local_files_only=True).eval()
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.waits is not None:
            self.waits.set()
        self.stop()

    def stop(self) -> None:
        """Stops listening; connections that are open end with their request."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, body: Any) -> Any:
        """What is answered to a request: an object, or a text."""
        with self._lock, fitting_threads(0):
            self.asked.append((path, body))
            match path:
                case "/v1/models":
                    return {"object": "list", "data": self._cards()}
                case "/v1/load_lora_adapter" if self.updates:
                    return self._load(body["lora_name"], body["lora_path"])
                case "/v1/unload_lora_adapter" if self.updates:
                    return self._unload(body["lora_name"])
                case "/v1/completions":
                    return self._complete(body)
            raise RefusedError(404, "")

    def _cards(self) -> list[dict[str, Any]]:
        cards = [{"id": self.base, "object": "model", "root": self.base, "parent": None, "max_model_len": 1024}]
        return cards + [
            {"id": name, "object": "model", "root": path, "parent": self.base} for name, path in self.adapters.items()
        ]

    def _load(self, name: str, path: str) -> str:
        if name in self.adapters:
            raise RefusedError(400, f"The lora adapter '{name}' has already been loaded.")
        if not (Path(path) / "adapter_config.json").is_file():
            raise RefusedError(404, f"Loading lora {name} failed: No adapter found for {path}")
        rank = json.loads((Path(path) / "adapter_config.json").read_text(encoding="utf-8"))["r"]
        if rank > self.max_lora_rank:
            raise RefusedError(500, f"LoRA rank {rank} is greater than max_lora_rank {self.max_lora_rank}.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of transformers, about what peft calls
            if self.adapters:
                self._model.load_adapter(path, adapter_name=name)
            else:
                self._model = PeftModel.from_pretrained(self._model, path, adapter_name=name).eval()
        self.adapters[name] = path
        return SUCCESS.format(name, "added")

    def _unload(self, name: str) -> str:
        if name not in self.adapters:
            raise RefusedError(404, f"The lora adapter '{name}' cannot be found.")
        del self.adapters[name]
        if self.adapters:
            self._model.set_adapter(next(iter(self.adapters)))  # it warns of a deleted one that is active
            self._model.delete_adapter(name)
        else:
            self._model = self._model.unload()
        return SUCCESS.format(name, "removed")

    def _complete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        name = body["model"]
        if name != self.base and name not in self.adapters:
            raise RefusedError(404, f"The model `{name}` does not exist.")
        prompts = body["prompt"] if isinstance(body["prompt"][0], list) else [body["prompt"]]
        largest = max(max(prompt) for prompt in prompts)
        if largest >= self._model.config.vocab_size:
            raise RefusedError(400, f"Token id {largest} is out of vocabulary")
        choices: list[dict[str, Any]] = []
        with ExitStack() as entered:
            if name != self.base:
                self._model.set_adapter(name)
            elif self.adapters:
                entered.enter_context(self._model.disable_adapter())
            for prompt in prompts:
                choices += self._samples(prompt, body, len(choices))
        return {"id": "cmpl-1", "object": "text_completion", "model": name, "choices": choices}

    @torch.no_grad()
    def _samples(self, prompt: list[int], body: Mapping[str, Any], first: int) -> list[dict[str, Any]]:
        count, warmth = body.get("n", 1), body.get("temperature", 1.0)
        own_ends = [] if body.get("ignore_eos") else [self._model.generation_config.eos_token_id]
        ends = [end for end in [*own_ends, *body.get("stop_token_ids", [])] if end is not None]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(body.get("seed") or 0)
            made = self._model.generate(
                torch.tensor([prompt] * count),
                attention_mask=torch.ones(count, len(prompt), dtype=torch.long),
                max_new_tokens=body.get("max_tokens", 16),
                eos_token_id=ends or -1,
                pad_token_id=0,
                **({"do_sample": True, "temperature": warmth, "top_k": 0} if warmth > 0 else {"do_sample": False}),
                return_dict_in_generate=True,
                output_logits=True,
            )
        likely = torch.stack(made.logits, 1).float().log_softmax(-1)
        found = []
        for row, tokens in enumerate(made.sequences[:, len(prompt) :].tolist()):
            length = next((place + 1 for place, token in enumerate(tokens) if token in ends), len(tokens))
            values = [float(likely[row, place, tokens[place]]) for place in range(length)]
            told = {"token_logprobs": values} if body.get("logprobs") is not None else None
            ids = tokens[:length] if self.knows_token_ids and body.get("return_token_ids") else None
            reason = "stop" if tokens[length - 1] in ends else "length"
            found.append({"index": first + row, "logprobs": told, "token_ids": ids, "finish_reason": reason})
            if body.get("prompt_logprobs") is not None:
                found[-1]["prompt_logprobs"] = self._of_prompt(prompt)
        return found

    def _of_prompt(self, prompt: list[int]) -> list[Any]:
        likely = self._model(torch.tensor([prompt])).logits[0].float().log_softmax(-1)
        values = [float(likely[place, token]) for place, token in enumerate(prompt[1:])]
        return [None, *({str(token): {"logprob": value}} for token, value in zip(prompt[1:], values, strict=True))]


def _handler(owner: VllmServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def _answer(self, body: Any) -> None:
            if owner.key and self.headers.get("authorization") != f"Bearer {owner.key}":
                self._send(401, {"error": "Unauthorized"})
                return
            if self.path == "/v1/completions":
                if owner.waits is not None:
                    owner.waits.wait()
                if sum(path == "/v1/load_lora_adapter" for path, _ in owner.asked) >= owner.dies_after:
                    self.close_connection = True
                    return
            try:
                self._send(200, owner.answer(self.path, body))
            except RefusedError as error:
                named = {"message": str(error), "type": "BadRequestError", "param": None, "code": error.status}
                self._send(error.status, {"error": named} if str(error) else {"detail": "Not Found"})

        def _send(self, status: int, content: Any) -> None:
            is_text = isinstance(content, str)
            data = (content if is_text else json.dumps(content)).encode()
            self.send_response(status)
            if not is_text:  # vLLM names no type for its texts
                self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
