"""A line in which clients take turns, however many requests each of them has in it."""

from collections import OrderedDict, deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class FairLine(Generic[Item]):
    """Items by client: first come, first served among one client's, turns among the clients."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._by_client: OrderedDict[str, deque[Item]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, client: str, item: Item) -> Item | None:
        """Put an item at the end of its client's; gives the one that has no place, if any.

        That is the newest item of the client with the most, which may be the new one.
        """
        turned_away = None
        if self._length >= self.places:
            largest = max(self._by_client, key=lambda name: len(self._by_client[name]))
            if len(self._by_client[largest]) <= len(self._by_client.get(client, ())) + 1:
                return item
            turned_away = self._by_client[largest][-1]
            self.remove(largest, turned_away)
        self._by_client.setdefault(client, deque()).append(item)
        self._length += 1
        return turned_away

    def take(self) -> Item:
        """The next item; its client goes to the end of the line."""
        client, items = self._by_client.popitem(last=False)
        item = items.popleft()
        if items:
            self._by_client[client] = items
        self._length -= 1
        return item

    def remove(self, client: str, item: Item) -> None:
        """Take an item out, if it is still here."""
        items = self._by_client.get(client, deque())
        if item in items:
            items.remove(item)
            self._length -= 1
            if not items:
                del self._by_client[client]

    def clear(self) -> list[Item]:
        """Take everything out."""
        everything = [item for items in self._by_client.values() for item in items]
        self._by_client.clear()
        self._length = 0
        return everything
