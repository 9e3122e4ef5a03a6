"""Server's side of a connection, with a time limit for each request."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_FOR_A_REQUEST = 20.0
"""Maximum seconds from a connection, or an answer, to the end of the next request's headers; uvicorn has no limit."""


class PatientProtocol(H11Protocol):
    """Protocol that closes connections without a whole request; otherwise half-open ones would stay for ever."""

    seconds_for_a_request = SECONDS_FOR_A_REQUEST

    def connection_made(self, transport: Any) -> None:
        """Start the time limit."""
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        self._look: asyncio.TimerHandle | None = self.loop.call_later(self.seconds_for_a_request, self._look_after)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
        if self._look is not None:
            self._look.cancel()
            self._look = None
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Start the time limit of the next request."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def _look_after(self) -> None:
        left = self._waits_since + self.seconds_for_a_request - self.loop.time()
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering:
            left = self.seconds_for_a_request
        elif left <= 0:
            self._look = None
            self.transport.close()
            return
        self._look = self.loop.call_later(left, self._look_after)
