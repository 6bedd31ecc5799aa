"""Which addresses visitors may name: http(s) endpoints on public hosts, unless the app was started otherwise."""

from __future__ import annotations

import ipaddress
import os
import socket
import urllib.error
import urllib.request
from http.client import HTTPMessage
from typing import IO
from urllib.parse import urlsplit

from kgqa.types import InputError


def sparql_allowed() -> bool:
    """Whether visitors may name SPARQL endpoints at all."""
    return os.environ.get("KGQA_ALLOW_SPARQL") == "1"


def checked_url(url: str) -> str:
    """The address of an endpoint that may be asked.

    Raises:
        InputError: not http(s), no host, one that cannot be found, or one inside this network
            (unless KGQA_ALLOW_PRIVATE=1).
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


class CheckedRedirects(urllib.request.HTTPRedirectHandler):
    """Lets an endpoint send the question on only to an address that a visitor may name."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The request to the new address; an error where it may not be asked."""
        try:
            checked_url(newurl)
        except InputError as error:
            raise urllib.error.HTTPError(req.full_url, code, str(error), headers, fp) from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_redirects() -> None:
    """From now on every redirect that this process follows is checked."""
    urllib.request.install_opener(urllib.request.build_opener(CheckedRedirects))


def _is_inside(address: str) -> bool:
    ip = ipaddress.ip_address(address.split("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        ip = ip.ipv4_mapped or ip.sixtofour or ip
    return not ip.is_global or ip.is_multicast or ip.is_reserved
