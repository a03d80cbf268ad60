"""Which addresses a crawler may connect to: the public internet, and hosts that the user allows.

A photo site's answer names other hosts. Without this check it could make the crawler ask the
machines of a private network, or a cloud's metadata service, on its behalf.
"""

import ipaddress
import socket
from collections.abc import Collection

import httpx

from recallseg.replay.web.failures import FetchError

_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def checked_addresses(url: httpx.URL, allow_hosts: Collection[str] = ()) -> list[str]:
    """The addresses of a URL's host, IPv4 first, if the crawler may connect to it.

    The caller connects to one of these and not to the name, so that a second look-up of the name
    cannot give another address. `allow_hosts` lists hosts (`host` or `host:port`) that may be
    private.
    """
    if url.scheme not in _PORTS or not url.host:
        raise FetchError("address is not http or https")
    if url.userinfo:
        raise FetchError("address with a password")
    port = url.port or _PORTS[url.scheme]
    if port > 65535:
        raise FetchError("malformed address")
    addresses = _resolve(url.host, port)
    allowed_names = {host.lower() for host in allow_hosts}
    is_allowed = url.host in allowed_names or f"{url.host}:{port}" in allowed_names
    if not is_allowed and not all(is_public(address) for address in addresses):
        raise FetchError("private address")
    return [str(address) for address in sorted(addresses, key=lambda address: address.version)]


def is_public(address: Address) -> bool:
    """Whether an address is on the public internet, also an IPv4 address within IPv6."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast


def _resolve(host: str, port: int) -> list[Address]:
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError("host not found", "failed", retry=True) from error
    texts = dict.fromkeys(str(answer[4][0]).partition("%")[0] for answer in answers)
    return [ipaddress.ip_address(text) for text in texts]
