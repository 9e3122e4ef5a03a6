"""A server on loopback that speaks like OpenAI, Ollama and Anthropic, and misbehaves as it is told."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

MODEL = "tiny"
BETWEEN_BYTES_S = 0.02
"""A slow answer's pause after each byte: far longer in all than any test gives a request."""


@dataclass(frozen=True)
class Behaviour:
    """How a question is answered. By default with ``text``, in the form of the interface that was asked."""

    text: Any = "hello"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is, in the place of a reply."""
    content_type: str = "application/json"
    message: str = "it went wrong"
    """Of an error, in the form of the interface."""
    error: Mapping[str, Any] = field(default_factory=dict)
    """More of what the error says."""
    tool_input: Any = None
    """Given as the input of Anthropic's tool."""
    send: Callable[[Handler, bytes], None] | None = None
    """Sends the answer's bytes in its own way."""
    refuses: Sequence[str] = ()
    """Options of a request that are refused as OpenAI refuses them."""
    objects: Callable[[Any], str] | None = None
    """Says for a request's body why it is refused, and nothing where it is taken."""
    strict: bool = False
    """Whether a schema is refused that OpenAI's strict mode would refuse."""


class Handler(BaseHTTPRequestHandler):
    """Answers one connection's requests."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    @property
    def interface(self) -> str:
        """Which of the three is spoken."""
        if self.path.startswith("/api/"):
            return "ollama"
        return "anthropic" if self.headers.get("anthropic-version") else "openai"

    def do_GET(self) -> None:
        """Lists the models."""
        owner = self.server.owner
        if owner.listing is not None:
            self._answer(owner.listing)
            return
        lists = {
            "openai": {"object": "list", "data": [{"id": m, "object": "model", "created": 0} for m in owner.models]},
            "ollama": {"models": [{"model": f"{m}:latest", "size": 1} for m in owner.models]},
            "anthropic": {"data": [{"type": "model", "id": m, "display_name": m} for m in owner.models]},
        }
        self._send(200, json.dumps(lists[self.interface]).encode(), "application/json", {})

    def do_POST(self) -> None:
        """Answers a question."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/api/show":
            self._answer(Behaviour(status=404, message=f"model '{body['model']}' not found"))
            return
        behaviour = self.server.owner.take(Asked(self.interface, self.path, dict(self.headers), body))
        refused = next((option for option in behaviour.refuses if option in body), None)
        if refused is not None:
            error = {"type": "invalid_request_error", "param": refused, "code": "unsupported_parameter"}
            text = f"Unsupported parameter: '{refused}' is not supported with this model."
            behaviour = Behaviour(status=400, message=text, error=error)
        objection = behaviour.objects(body) if behaviour.objects is not None else ""
        if objection:
            behaviour = Behaviour(status=400, message=objection)
        refusal = strict_refusal(body) if behaviour.strict else ""
        if refusal:
            error = {"type": "invalid_request_error", "param": "response_format"}
            behaviour = Behaviour(status=400, message=f"Invalid schema for response_format: {refusal}", error=error)
        self._answer(behaviour)

    def _answer(self, behaviour: Behaviour) -> None:
        body = behaviour.body
        if body is None:
            form = reply_body(self.interface, behaviour)
            body = json.dumps(form if behaviour.status < 400 else error_body(self.interface, behaviour)).encode()
        self._send(behaviour.status, body, behaviour.content_type, behaviour.headers, behaviour.send)

    def _send(
        self,
        status: int,
        body: bytes,
        content_type: str,
        headers: Mapping[str, str],
        send: Callable[[Handler, bytes], None] | None = None,
    ) -> None:
        lines = [f"HTTP/1.1 {status} Answer", f"content-type: {content_type}", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        answer = "\r\n".join([*lines, "", ""]).encode() + body
        try:
            if send is None:
                self.wfile.write(answer)
            else:
                self.close_connection = True
                send(self, answer)
        except OSError:  # whoever asked has gone
            self.close_connection = True

    def pause(self, seconds: float) -> bool:
        """Waits, or until the server stops. Returns whether it goes on."""
        return not self.server.owner.stopping.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: FaultServer

    def handle_error(self, *_: object) -> None:
        """A client that breaks off is expected."""


@dataclass(frozen=True)
class Asked:
    """A question that came."""

    interface: str
    path: str
    headers: Mapping[str, str]
    body: Any


class FaultServer:
    """Runs while it is entered. ``plan`` are the answers to come, the last one for ever."""

    def __init__(self, *plan: Behaviour, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.plan = list(plan) or [Behaviour()]
        self.models = [MODEL]
        self.listing: Behaviour | None = None
        self.asked: list[Asked] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), Handler)
        self._server.owner = self
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._scheme = "http" if tls is None else "https"
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def answer(self, *plan: Behaviour) -> None:
        """Forgets what was asked and answers so from now on."""
        with self._lock:
            self.plan = list(plan)
            self.asked = []

    def take(self, asked: Asked) -> Behaviour:
        """Notes a question. Returns how it is answered."""
        with self._lock:
            self.asked.append(asked)
            return self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


# The forms of the three interfaces ---------------------------------------------------------------------------------


def strict_refusal(body: Mapping[str, Any]) -> str:
    """Why OpenAI's strict mode takes a request's schema for none; empty where it takes it."""
    return _refusal_of(body["response_format"]["json_schema"]["schema"])


def _refusal_of(schema: Mapping[str, Any]) -> str:
    taken = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "description"}
    if set(schema) - taken:
        return f"{sorted(set(schema) - taken)} is not permitted"
    properties = schema.get("properties", {})
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return "additionalProperties is required to be false"
        if set(schema.get("required", ())) != set(properties):
            return "required must name every property"
    within = [*properties.values(), *schema.get("anyOf", ())]
    within += [schema["items"]] if "items" in schema else []
    return next((refusal for one in within if (refusal := _refusal_of(one))), "")


def reply_body(interface: str, behaviour: Behaviour) -> Any:
    """A good reply that holds the behaviour's text."""
    text = behaviour.text
    if interface == "openai":
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        }
    if interface == "ollama":
        message = {"role": "assistant", "content": text}
        return {"model": MODEL, "message": message, "done": True, "prompt_eval_count": 12, "eval_count": 3}
    blocks = [{"type": "text", "text": text}]
    if behaviour.tool_input is not None:
        blocks.append({"type": "tool_use", "id": "t", "name": "reply", "input": behaviour.tool_input})
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": blocks,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 3},
    }


def error_body(interface: str, behaviour: Behaviour) -> Any:
    """An error as the interface tells it."""
    if interface == "ollama":
        return {"error": behaviour.message}
    error = {"message": behaviour.message, "type": "invalid_request_error", **behaviour.error}
    return {"type": "error", "error": error}


# Ways of sending ---------------------------------------------------------------------------------------------------


def never(handler: Handler, answer: bytes) -> None:
    """Accepts, and sends nothing."""
    while handler.pause(60):
        pass


def slowly_from_the_start(handler: Handler, answer: bytes) -> None:
    """A byte now and then, the headers too."""
    for number in range(len(answer)):
        handler.wfile.write(answer[number : number + 1])
        if not handler.pause(BETWEEN_BYTES_S):
            return


def slow_body(handler: Handler, answer: bytes) -> None:
    """The headers at once, then spaces that go before the reply, one by one and without an end."""
    head = answer.partition(b"\r\n\r\n")[0]
    lines = [line for line in head.split(b"\r\n") if not line.startswith(b"content-length")]
    handler.wfile.write(b"\r\n".join([*lines, b"connection: close", b"", b""]))
    while handler.pause(BETWEEN_BYTES_S):
        handler.wfile.write(b" ")


def half(handler: Handler, answer: bytes) -> None:
    """Closes in the middle of the reply."""
    head, _, body = answer.partition(b"\r\n\r\n")
    handler.wfile.write(head + b"\r\n\r\n" + body[: len(body) // 2])


def loading(seconds: float) -> Callable[[Handler, bytes], None]:
    """Loads a model first, and gives it up where the one who asked does not wait, as Ollama does."""
    loaded = threading.Event()

    def send(handler: Handler, answer: bytes) -> None:
        ends_at = time.monotonic() + seconds
        handler.connection.setblocking(False)
        while not loaded.is_set() and time.monotonic() < ends_at:
            if not handler.pause(0.02):
                return
            try:
                if handler.connection.recv(1, socket.MSG_PEEK) == b"":
                    return
            except BlockingIOError:
                continue
        handler.connection.setblocking(True)
        loaded.set()
        handler.wfile.write(answer)

    return send


def hang_up(handler: Handler, answer: bytes) -> None:
    """Closes without a word."""


def endless(handler: Handler, answer: bytes) -> None:
    """JSON that never ends, as fast as it is read."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"a": [0')
    while handler.pause(0):
        handler.wfile.write(b", 0" * 20_000)
