"""Which addresses visitors may name: http(s) endpoints on public hosts, unless the app was started otherwise."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx2

from kgqa.settings import setting
from kgqa.types import InputError

WEB_PORTS = frozenset({80, 443})
"""Allowed ports below 1024; the others belong to mail, file sharing and remote logins."""


_MORE = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "5f00::/16")))
"""Ranges that `ipaddress` wrongly takes for public: protocol assignments (RFC 6890), 6to4 relays (RFC 7526),
documentation (RFC 9637), segment routing."""


def sparql_allowed() -> bool:
    """Whether visitors may name SPARQL endpoints at all."""
    return setting("KGQA_ALLOW_SPARQL") == "1"


def checked_url(url: str) -> str:
    """The URL of an endpoint that may be queried. Raises InputError if it is not http(s), has no host or an unknown
    one, the port of another service, or a host inside this network (unless KGQA_ALLOW_PRIVATE=1).
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise InputError(f"{url[:200]}: not an address; expected http(s)://host/path") from None
    if parts.scheme not in {"http", "https"} or not host or parts.username or parts.password:
        raise InputError(f"{url[:200]}: only http(s)://host/path is asked, without a user name")
    if setting("KGQA_ALLOW_PRIVATE") == "1":
        return url
    if port not in WEB_PORTS and port < 1024:
        raise InputError(
            f"{host[:200]}:{port}: a port of other services; endpoints are at 80, 443, or 1024 and above"
        )
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        raise InputError(f"{host[:200]}: no such host; check the address") from None
    if not found or any(_is_inside(address) for address in found):
        raise InputError(
            f"{host[:200]}: an address inside this network; "
            "whoever runs the app can allow it with KGQA_ALLOW_PRIVATE=1"
        )
    return url


def check_request(request: httpx2.Request) -> None:
    """Check the URL of a request, and the address itself once it is connected to, since a name may resolve differently
    after `checked_url` (DNS rebinding). With a proxy it is the proxy that connects and has to check. Raises InputError
    as `checked_url` does.
    """
    checked_url(str(request.url))
    if setting("KGQA_ALLOW_PRIVATE") == "1":
        return
    host, traced = "", request.extensions["trace"]

    def trace(event: str, info: dict[str, Any]) -> None:
        nonlocal host
        if event.endswith("connect_tcp.started"):
            host = info["host"]
        traced(event, info)
        if event.endswith("connect_tcp.complete") and host == request.url.raw_host.decode():
            line = info["return_value"]
            if _is_inside(line.get_extra_info("server_addr")[0]):
                line.close()
                raise httpx2.ConnectError("an address inside this network")

    request.extensions["trace"] = trace


def _is_inside(address: str) -> bool:
    ip = ipaddress.ip_address(address.split("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.is_site_local:  # fec0::/10 is deprecated (RFC 3879), but internal where it is still in use
            return True
        ip = ip.ipv4_mapped or ip.sixtofour or ip
    return not ip.is_global or ip.is_multicast or ip.is_reserved or any(ip in net for net in _MORE)
