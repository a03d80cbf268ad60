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
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All public IPv6 addresses that have ever been given out are in here."""
_ISATAP = (0x00005EFE, 0x02005EFE)
"""Before the IPv4 address in the last 64 bits of an IPv6 address that tunnels to it."""
_REFUSED = [
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",  # the services of a cloud's host, under a public number
        "192.0.0.0/24",  # IETF protocols; a cloud's metadata service
        "192.88.99.0/24",  # relays from IPv4 to IPv6
        "3fff::/20",  # documentation
    )
]
"""Networks that are not public, or that no photo site is in; `is_global` of some Pythons lets them
through."""

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
    """Whether an address is on the public internet; an IPv4 address within IPv6 must be, too."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = _embedded(address)
        if inner is not None and not is_public(inner):
            return False
        if address.ipv4_mapped or address in _NAT64 or address.sixtofour:
            return True
        if address not in _UNICAST or address.teredo:
            return False
    if any(address in network for network in _REFUSED):
        return False
    return address.is_global and not address.is_multicast


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that packets to an IPv6 address end at, if there is one in it."""
    if inner := address.ipv4_mapped or address.sixtofour:
        return inner
    is_isatap = int(address) >> 32 & 0xFFFFFFFF in _ISATAP
    return (
        ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 or is_isatap else None
    )


def _resolve(host: str, port: int) -> list[Address]:
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError("host not found", "failed", retry=True) from error
    texts = dict.fromkeys(str(answer[4][0]).partition("%")[0] for answer in answers)
    return [ipaddress.ip_address(text) for text in texts]
