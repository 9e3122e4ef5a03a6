"""A language model behind OpenAI's chat interface, through the official client."""

from __future__ import annotations

import base64
import os
import re
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from openai import BaseModel

from pkmn_openai.prices import OPENAI_PRICES
from pkmn_openai.settings import OpenAISettings
from pkmn_openai.strict_schema import strict_schema
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest, Price
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.transport import bound_client, checked_reply, failure_inside, failure_of_status, where_is

KEY = "OPENAI_API_KEY"
CHECK_TIMEOUT_S = 15.0
_COMPLAINTS = {
    "max_tokens": ("max_tokens",),
    "temperature": ("temperature",),
    "seed": ("seed",),
    "response_format": ("response_format", "json_schema", "grammar"),
}
"""Options that some models refuse, and the words by which they are complained of."""
_REFUSAL = re.compile(
    r"unsupported|not supported|not support|unrecognized|unknown|unexpected|invalid|not permitted|not allowed|forbidden"
    r"|failed to parse|wrong|deprecated|can(?:no|')t be used|must be|instead",
    re.IGNORECASE,
)
"""Words of a message that refuses an option, rather than mentions it."""
_LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})


class OpenAIBackend:
    """Asks a service with OpenAI's interface.

    Some models refuse ``max_tokens``, ``temperature``, ``seed`` or schemas; what is refused once is left out from then
    on, or given in the newer form.

    Args:
        settings: where and how.
        model: the model; without one the settings' default, or the first that the service lists.
    """

    def __init__(self, settings: OpenAISettings | None, model: str | None) -> None:
        self._settings = settings or OpenAISettings()
        self._chosen = model is not None
        self.model = model or self._settings.default_model or ""
        self.sees = self._settings.sees
        self._url = self._settings.base_url or os.environ.get("OPENAI_BASE_URL") or ""
        self._where = where_is(self._url, "OpenAI")
        self._left_out: set[str] = set()
        self._lock = threading.Lock()
        self._made: openai.OpenAI | None = None

    # The contract ------------------------------------------------------------------------------------------------

    def check(self) -> str:
        """Lists the models, and settles which one is asked."""
        if self._url and urlsplit(self._url).scheme not in ("http", "https"):
            raise LLMConnectionError(
                "The setting base_url (or OPENAI_BASE_URL) is no address: write http://HOST:PORT/v1"
            )
        if not self._key:
            raise LLMConnectionError(f"No key for {self._where}: set the environment variable {KEY}")
        try:
            known = self._list(CHECK_TIMEOUT_S)
        except LLMFailure as failure:
            if failure.fault in (LLMFault.NO_MODEL, LLMFault.REFUSED) and self.model:
                return f"Advice: {self.model} at {self._where}."  # it lists no models, which is no must
            raise LLMConnectionError(f"{failure}. {self._advice(failure.fault)}") from failure
        # The default is OpenAI's own: another service is asked for what it has.
        if not self.model or (self._url and known and not self._chosen and self.model not in known):
            if not known:
                raise LLMConnectionError(f"{self._where} lists no models: name one with --llm-model")
            self.model = known[0]
        elif known and self.model not in known:
            some = ", ".join(known[:8])
            raise LLMConnectionError(
                f"{self._where} has no model {self.model!r}; it has {some}: choose with --llm-model"
            )
        return f"Advice: {self.model} at {self._where}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Asks, and asks once more for each thing that the model turns out to refuse."""
        ends_at = time.monotonic() + request.timeout_s
        while True:
            left = ends_at - time.monotonic()
            if left <= 0:
                raise LLMFailure(LLMFault.TIMEOUT, f"{self._where} did not answer within {request.timeout_s:g} s")
            try:
                return self._ask(request, left)
            except _RefusedOptionError as refused:
                with self._lock:
                    self._left_out.add(refused.option)

    def models(self) -> list[str]:
        """The models that the service lists."""
        try:
            return self._list(CHECK_TIMEOUT_S)
        except LLMFailure as failure:
            raise LLMConnectionError(f"{failure}. {self._advice(failure.fault)}") from failure

    def close(self) -> None:
        """Closes the connections; what is under way ends with a fault."""
        if self._made is not None:
            self._made.close()

    @property
    def prices(self) -> Mapping[str, Price]:
        """OpenAI's own; what another service takes for the same names is its own affair."""
        return OPENAI_PRICES if not self._url or urlsplit(self._url).hostname == "api.openai.com" else {}

    # Parts ---------------------------------------------------------------------------------------------------------

    @property
    def _key(self) -> str:
        """The key; servers at home take any, so that none has to be set for them."""
        key = os.environ.get(KEY, "").strip()
        if not key and urlsplit(self._url).hostname in _LOCAL_HOSTS:
            return "none"
        return key

    @property
    def _client(self) -> openai.OpenAI:
        with self._lock:
            if self._made is None:
                http_client = httpx2.Client(follow_redirects=True)
                bound_client(http_client, httpx2)
                self._made = openai.OpenAI(
                    api_key=self._key or "none",
                    base_url=self._url or None,
                    max_retries=0,
                    http_client=http_client,
                )
            return self._made

    def _list(self, timeout_s: float) -> list[str]:
        names: list[str] = self._guarded(
            lambda: [str(one.id) for one in self._client.models.list(timeout=timeout_s).data], timeout_s
        )
        return names

    def _ask(self, request: LLMRequest, timeout_s: float) -> LLMReply:
        began = time.perf_counter()
        options = self._options(request)
        completion = self._guarded(
            lambda: self._client.chat.completions.create(model=self.model, timeout=timeout_s, **options), timeout_s
        )
        error = getattr(completion, "error", None)
        try:
            choice = completion.choices[0]
            message = choice.message
            model, usage = completion.model, completion.usage
            content = message.content
        except (AttributeError, LookupError, TypeError) as fault:
            body = completion.to_dict(warnings=False) if isinstance(completion, BaseModel) else None
            raise failure_inside(self._where, error or body, "answered, but not with a completion") from fault
        error = error or getattr(choice, "error", None)
        if error:
            raise failure_inside(self._where, error, "answered an error")
        return checked_reply(
            self._where,
            content,
            model or self.model,
            getattr(usage, "prompt_tokens", 0),
            getattr(usage, "completion_tokens", 0),
            latency_s=time.perf_counter() - began,
            thoughts=[getattr(message, name, None) for name in ("reasoning_content", "reasoning", "thinking")],
            calls=getattr(message, "tool_calls", None) or getattr(message, "function_call", None),
            refusal=getattr(message, "refusal", None),
            ending=getattr(choice, "finish_reason", None),
        )

    def _options(self, request: LLMRequest) -> dict[str, Any]:
        content: Any = request.prompt
        if request.images and self.sees:
            content = [{"type": "text", "text": request.prompt}]
            for image in request.images:
                url = "data:image/png;base64," + base64.b64encode(image).decode()
                content.append({"type": "image_url", "image_url": {"url": url}})
        options: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": content},
            ],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        if request.seed is not None:
            options["seed"] = request.seed
        if request.schema is not None and self._settings.use_schema:
            options["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": strict_schema(request.schema), "strict": True},
            }
        for name in self._left_out & set(options):
            value = options.pop(name)
            if name == "max_tokens":
                options["max_completion_tokens"] = value
        return options

    def _guarded(self, call: Any, timeout_s: float) -> Any:
        """Runs a call of the client; every error of it becomes a failure."""
        try:
            return call()
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            option = self._refused_option(error)
            if option:
                raise _RefusedOptionError(option) from error
            raise self._of_status(error) from error
        except openai.APIStatusError as error:
            raise self._of_status(error) from error
        except openai.APITimeoutError as error:
            raise LLMFailure(LLMFault.TIMEOUT, f"{self._where} did not answer within {timeout_s:.3g} s") from error
        except openai.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, httpx2.ReadError) and "longer than" in str(cause):
                raise LLMFailure(LLMFault.BROKEN, f"{self._where}: {cause}") from error
            if not isinstance(cause, httpx2.TransportError):  # redirected for ever, or packed
                raise LLMFailure(LLMFault.BROKEN, f"{self._where} answered what is no reply") from error
            raise LLMFailure(LLMFault.UNREACHABLE, f"{self._where} can't be reached") from error
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise LLMFailure(LLMFault.BROKEN, f"{self._where} answered what is no reply") from error

    def _of_status(self, error: openai.APIStatusError) -> LLMFailure:
        return failure_of_status(error.status_code, error.response.text, error.response.headers, self._where)

    def _refused_option(self, error: openai.APIStatusError) -> str:
        """An option that the answer complains of, and that is not yet left out; empty for none."""
        if self._of_status(error).fault is LLMFault.TOO_LONG:
            return ""  # which may well speak of max_tokens
        body = error.body if isinstance(error.body, dict) else {}
        named = body.get("param")
        if isinstance(named, str) and named:  # the service names what it complains of, or names something else
            return next((option for option in self._candidates if named.split(".")[0] in _COMPLAINTS[option]), "")
        message = body.get("message")
        text = message if isinstance(message, str) and message else error.response.text
        if not _REFUSAL.search(text):
            return ""
        places = {
            option: min(place for word in _COMPLAINTS[option] if (place := text.find(word)) >= 0)
            for option in self._candidates
            if any(word in text for word in _COMPLAINTS[option])
        }
        return min(places, key=lambda option: places[option], default="")  # what comes first is what is complained of

    @property
    def _candidates(self) -> list[str]:
        return [option for option in _COMPLAINTS if option not in self._left_out]

    def _advice(self, fault: LLMFault) -> str:
        if fault is LLMFault.AUTHENTICATION:
            return f"Check the key in {KEY}"
        if self._url:
            return "Is the server running there? The setting base_url says where it is looked for"
        return "Check the network, or name another service with the setting base_url"


class _RefusedOptionError(Exception):
    def __init__(self, option: str) -> None:
        super().__init__(option)
        self.option = option
