"""Who is asking, and how much each client may have of what all of them share."""

import ipaddress
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager


def client_name(address: str) -> str:
    """What requests of one client have in common: its address, of IPv6 the network of a site."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


class FullError(Exception):
    """There is no room for what a client sends."""


class SharedMemory:
    """The bytes of all requests that are here, of which one client may have a part."""

    def __init__(self, most: int, per_client: int) -> None:
        self.most, self.per_client = most, per_client
        self.taken = 0
        self._by_client: Counter[str] = Counter()

    @contextmanager
    def share(self, client: str) -> Iterator["Share"]:
        """A share that grows with what arrives, and is given back at the end of the block."""
        share = Share(self, client)
        try:
            yield share
        finally:
            self._change(client, -share.taken)

    def _change(self, client: str, count: int) -> None:
        self.taken += count
        self._by_client[client] += count
        if not self._by_client[client]:
            del self._by_client[client]

    def grow(self, client: str, count: int) -> None:
        """Take bytes for a client, or raise FullError."""
        if self.taken + count > self.most or self._by_client[client] + count > self.per_client:
            raise FullError
        self._change(client, count)


class Share:
    """What one request has of the shared memory."""

    def __init__(self, memory: SharedMemory, client: str) -> None:
        self.memory, self.client, self.taken = memory, client, 0

    def grow(self, count: int) -> None:
        """Take more, or raise FullError."""
        self.memory.grow(self.client, count)
        self.taken += count


class RateLimit:
    """So many requests a minute for each client, a few of them at once.

    A client has a bucket that fills with time and that each request takes one from. Only the
    clients that came last are remembered; the bucket of any other is full again by then.
    """

    REMEMBERED = 10_000

    def __init__(self, per_minute: float | None) -> None:
        self.per_second = None if per_minute is None else per_minute / 60
        self.at_once = max(1.0, (per_minute or 0) / 6)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take a request from a client's bucket; the seconds it has to wait first, mostly 0."""
        if self.per_second is None:
            return 0.0
        now = time.monotonic()
        level, since = self._buckets.pop(client, (self.at_once, now))
        level = min(self.at_once, level + (now - since) * self.per_second)
        allowed = level >= 1
        self._buckets[client] = (level - allowed, now)
        if len(self._buckets) > self.REMEMBERED:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self.per_second
