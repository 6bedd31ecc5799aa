"""Which addresses visitors may name: http(s) endpoints on public hosts, unless the app was started otherwise."""

from __future__ import annotations

import http.client
import ipaddress
import os
import socket
import urllib.error
import urllib.request
from typing import IO
from urllib.parse import urlsplit

from kgqa.graph.formats.sparql_client import (
    BriefRedirects,
    TimedConnection,
    TimedHTTP,
    TimedHTTPS,
    TimedSecureConnection,
)
from kgqa.types import InputError

WEB_PORTS = frozenset({80, 443})
"""Allowed ports below 1024; the others belong to mail, file sharing and remote logins."""


_MORE = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "5f00::/16")))
"""Ranges that `ipaddress` wrongly takes for public: protocol assignments (RFC 6890), 6to4 relays (RFC 7526),
documentation (RFC 9637), segment routing."""


def sparql_allowed() -> bool:
    """Whether visitors may name SPARQL endpoints at all."""
    return os.environ.get("KGQA_ALLOW_SPARQL") == "1"


def checked_url(url: str) -> str:
    """The URL of an endpoint that may be queried.

    Raises:
        InputError: not http(s), no host, an unknown host, a port of another service, or a host inside this
            network (unless KGQA_ALLOW_PRIVATE=1).
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise InputError(f"{url[:200]}: not an address; expected http(s)://host/path") from None
    if parts.scheme not in {"http", "https"} or not host or parts.username or parts.password:
        raise InputError(f"{url[:200]}: only http(s)://host/path is asked, without a user name")
    if os.environ.get("KGQA_ALLOW_PRIVATE") == "1":
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


class _Connection(TimedConnection):
    def connect(self) -> None:
        super().connect()
        if _is_inside(self.sock.getpeername()[0]):
            self.close()
            raise OSError("an address inside this network")


class _SecureConnection(TimedSecureConnection, _Connection):
    """Checked before the handshake: `HTTPSConnection.connect` calls the one above."""


class CheckedHTTP(TimedHTTP):
    """Checks the address of the connection itself, since a name may resolve differently after `checked_url`
    (DNS rebinding). With a proxy it is the proxy that connects and has to check."""

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """The answer; an error where the address is inside this network and not allowed."""
        return super().http_open(req) if _is_free(req) else self.do_open(_Connection, req)


class CheckedHTTPS(TimedHTTPS):
    """`CheckedHTTP` over TLS."""

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """The answer; an error where the address is inside this network and not allowed."""
        return super().https_open(req) if _is_free(req) else self.do_open(_SecureConnection, req)


def _is_free(req: urllib.request.Request) -> bool:
    return os.environ.get("KGQA_ALLOW_PRIVATE") == "1" or req.has_proxy()


class CheckedRedirects(BriefRedirects):
    """Follows redirects only to addresses that visitors may name."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The request to the new address; an error if it is not allowed."""
        try:
            checked_url(newurl)
        except InputError as error:
            raise urllib.error.HTTPError(req.full_url, code, str(error), headers, fp) from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def checking_opener() -> urllib.request.OpenerDirector:
    """A URL opener for addresses named by visitors: checks every redirect and every connection."""
    return urllib.request.build_opener(CheckedRedirects, CheckedHTTP, CheckedHTTPS)


def _is_inside(address: str) -> bool:
    ip = ipaddress.ip_address(address.split("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.is_site_local:  # fec0::/10 is deprecated (RFC 3879), but internal where it is still in use
            return True
        ip = ip.ipv4_mapped or ip.sixtofour or ip
    return not ip.is_global or ip.is_multicast or ip.is_reserved or any(ip in net for net in _MORE)
