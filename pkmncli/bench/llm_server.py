"""A loopback server in its own process that answers like a language model after a fixed time."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any

_ADVICE = {
    "goal": "go on",
    "skill": "press",
    "presses": ["up", "a"],
    "map": None,
    "x": None,
    "y": None,
    "confidence": 0.5,
    "reason": "it is a measurement",
}


@contextmanager
def answering_server(delay_s: float) -> Iterator[str]:
    """Run the server while the context is open. Yield the address of its OpenAI interface.

    Args:
        delay_s: seconds until an answer.
        delay_s: seconds until a question is answered.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, delay_s), daemon=True)
    process.start()
    theirs.close()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        ours.close()
        process.kill()
        process.join()


def _serve(connection: Connection, delay_s: float) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": "slow", "object": "model", "created": 0, "owned_by": "x"}]})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            time.sleep(delay_s)
            message = {"role": "assistant", "content": json.dumps(_ADVICE)}
            self._send(
                {
                    "id": "x",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "slow",
                    "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                    "usage": {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340},
                }
            )

        def _send(self, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            with suppress(ConnectionError):  # the training has ended
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    connection.send(server.server_address[1])
    server.serve_forever()
