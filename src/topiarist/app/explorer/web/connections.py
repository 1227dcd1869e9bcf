"""Connections: not more than a server can hold, and none for whoever opens one and then says nothing."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 200  # at once; a browser opens six
PATIENCE = 10.0  # seconds in which a request has to have said what it wants


class Hurried(H11Protocol):
    """The protocol of uvicorn, with a clock for the beginning of each request, and for so many at once."""

    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody comes; the door is shut where the house is full."""
        super().connection_made(transport)
        if len(self.connections) > MOST:
            transport.abort()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Somebody speaks: the clock runs as long as a request has begun and not said what it wants."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE or not self.conn.trailing_data[0]:
            self._stop()
        elif self._clock is None:  # a word now and then does not set it back
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody goes."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._clock = self.loop.call_later(PATIENCE, self.transport.abort)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
