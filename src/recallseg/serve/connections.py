"""HTTP connections with time limits, and how many of them one client may have.

uvicorn limits the time between two requests and nothing else: a client that sends a byte now and
then keeps its connection for good. This is its protocol for HTTP/1.1 with an alarm for each part of
a request.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from recallseg.serve.clients import client_name
from recallseg.serve.limits import ServerLimits

SENDING = 30.0
"""Seconds in which a client must have taken its answer off the line."""
LENIENCE = 5.0
"""Seconds for the application to notice a slow body first, and to say so."""


class Connections:
    """All open connections by client, oldest first."""

    def __init__(self, limits: ServerLimits, note: Callable[[str], None]) -> None:
        self.limits, self.note = limits, note
        self._by_client: dict[str, dict[TimedProtocol, None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def admit(self, connection: "TimedProtocol") -> bool:
        """Whether a connection may stay; it may take the place of one that is still sending."""
        own = self._by_client.get(connection.client_name, {})
        if len(own) >= self.limits.connections_per_client and not self._make_room(own):
            return False
        if self._count >= self.limits.connections and not self._make_room(
            max(self._by_client.values(), key=len)
        ):
            return False
        self._by_client.setdefault(connection.client_name, {})[connection] = None
        self._count += 1
        return True

    def forget(self, connection: "TimedProtocol") -> None:
        """Take note that a connection is closed."""
        own = self._by_client.get(connection.client_name, {})
        if connection in own:
            del own[connection]
            self._count -= 1
            if not own:
                del self._by_client[connection.client_name]

    def _make_room(self, own: "dict[TimedProtocol, None]") -> bool:
        """Close the oldest connection that has no complete request; false if all of them have."""
        for connection in own:
            if connection.is_sending:
                self.forget(connection)
                connection.refuse("crowded out", 503, "Too many connections of yours are open.")
                return True
        return False


class TimedProtocol(H11Protocol):
    """A connection that is closed when its client is slow with the head, the body or the answer."""

    def __init__(self, connections: Connections, **uvicorn: Any) -> None:  # noqa: ANN401
        super().__init__(**uvicorn)
        self._connections = connections
        self._part: tuple[str, int] = ("", 0)
        self._alarm: asyncio.TimerHandle | None = None
        self.client_name = ""

    @property
    def is_sending(self) -> bool:
        """Whether nothing of this connection is being worked on."""
        return self._part[0] in ("head", "body", "idle")

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin with the first head, or refuse at once."""
        super().connection_made(transport)
        self.client_name = client_name(self.client[0] if self.client else "")
        if self._connections.admit(self):
            self._watch()
        else:
            self.refuse("refused", 503, "Too many connections of yours are open.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._set_alarm(None)
        self._connections.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Go on, perhaps with the next part."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Go on with the next request, which may be here already."""
        super().on_response_complete()
        self._watch()

    def _current_part(self) -> str:
        if self.transport.is_closing():
            return "closing"
        if self.conn.their_state is h11.IDLE:
            begun = self.cycle is None or bool(self.conn.trailing_data[0])
            return "head" if begun else "idle"
        return "body" if self.conn.their_state is h11.SEND_BODY else "answer"

    def _watch(self) -> None:
        """Set the alarm anew if another part of a request has begun."""
        limits = self._connections.limits
        part = (self._current_part(), id(self.cycle))
        if part != self._part:
            self._part = part
            self._set_alarm(
                {
                    "head": limits.header_seconds,
                    "body": limits.body_seconds + LENIENCE,
                    "answer": limits.seconds + SENDING,
                    "idle": SENDING,
                    "closing": SENDING,
                }[part[0]]
            )

    def _set_alarm(self, seconds: float | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = None if seconds is None else self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        part, _ = self._part
        if part == "head":
            self.refuse("slow head", 408, "The head of the request did not arrive in time.")
        elif part != "idle" or self.transport.get_write_buffer_size():
            self._connections.note(f"slow {part}")
            self.transport.abort()

    def refuse(self, reason: str, code: int, sentence: str) -> None:
        """Say why, if nothing else is being said, and close the connection."""
        self._connections.note(reason)
        if self.transport.is_closing():
            self.transport.abort()
            return
        if self.cycle is None or self.cycle.response_complete:
            body = b'{"detail":"%s"}' % sentence.encode()
            self.transport.write(
                b"HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\nConnection: close\r\n"
                b"Retry-After: 2\r\nContent-Length: %d\r\n\r\n%s" % (code, len(body), body)
            )
        self.transport.close()
        self._watch()
