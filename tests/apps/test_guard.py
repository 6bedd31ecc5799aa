import http.client
import socket
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import apps.guard
from apps.guard import CheckedHTTP, CheckedHTTPS, CheckedRedirects, checked_url, sparql_allowed
from kgqa.types import InputError


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/x",
        "gopher://127.0.0.1/",
        "http://",
        "http://127.0.0.1/sparql",
        "http://127.1/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://0.0.0.0/",
        "http://10.0.0.8/",
        "http://192.168.1.1:8080/",
        "http://169.254.169.254/latest/meta-data",
        "http://100.64.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://[fec0::1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://192.0.0.8/",
        "http://192.88.99.1/",
        "http://[3fff::1]/",
        "http://[5f00::1]/",
        "http://93.184.216.34:25/",
        "https://93.184.216.34:22/sparql",
        "http://localhost/sparql",
        "http://user:secret@93.184.216.34/",
        "http://[::1",
        "http://93.184.216.34:99999/",
    ],
)
def test_schemes_and_inner_addresses_are_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGQA_ALLOW_PRIVATE", raising=False)
    with pytest.raises(InputError) as caught:
        checked_url(url)
    assert "secret" not in str(caught.value) or "user name" in str(caught.value)


def test_public_addresses_pass_and_inner_ones_if_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGQA_ALLOW_PRIVATE", raising=False)
    assert checked_url(" https://93.184.216.34/sparql ") == "https://93.184.216.34/sparql"
    monkeypatch.setenv("KGQA_ALLOW_PRIVATE", "1")
    assert checked_url("http://127.0.0.1:3030/ds") == "http://127.0.0.1:3030/ds"
    with pytest.raises(InputError):
        checked_url("file:///etc/passwd")


def test_endpoints_are_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGQA_ALLOW_SPARQL", raising=False)
    assert not sparql_allowed()


def test_an_endpoint_cannot_send_a_question_on_to_an_inner_address(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Sly(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(302 if self.path == "/sparql" else 200)
            self.send_header("Location", f"http://127.0.0.1:{server.server_port}/secret")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Sly)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    opener = urllib.request.build_opener(CheckedRedirects, urllib.request.ProxyHandler({}))
    url = f"http://127.0.0.1:{server.server_port}/sparql"
    monkeypatch.delenv("KGQA_ALLOW_PRIVATE", raising=False)
    with pytest.raises(urllib.error.HTTPError, match="inside this network"):
        opener.open(url, timeout=5)
    assert asked == ["/sparql"]
    monkeypatch.setenv("KGQA_ALLOW_PRIVATE", "1")
    opener.open(url, timeout=5).close()
    server.shutdown()
    server.server_close()
    assert asked[-1] == "/secret"


def test_a_name_that_changes_its_address_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Inner(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Inner)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    direct = urllib.request.ProxyHandler({})
    opener = urllib.request.build_opener(CheckedHTTP, CheckedHTTPS, CheckedRedirects, direct)
    address = f"127.0.0.1:{server.server_port}"
    monkeypatch.delenv("KGQA_ALLOW_PRIVATE", raising=False)
    for scheme in ("http", "https"):
        with pytest.raises(urllib.error.URLError, match="inside this network"):
            opener.open(f"{scheme}://{address}/sparql", timeout=5)
    assert not asked
    monkeypatch.setenv("KGQA_ALLOW_PRIVATE", "1")
    opener.open(f"http://{address}/sparql", timeout=5).close()
    server.shutdown()
    server.server_close()
    assert asked == ["/sparql"]


def test_a_head_that_drips_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps.guard, "_is_inside", lambda address: False)
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            to, _ = listener.accept()
            with to:
                to.recv(1 << 16)
                while not done.wait(0.05):
                    try:
                        to.send(b"H")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        opener = urllib.request.build_opener(CheckedHTTP, urllib.request.ProxyHandler({}))
        monkeypatch.delenv("KGQA_ALLOW_PRIVATE", raising=False)
        begin = time.monotonic()
        with pytest.raises((OSError, http.client.HTTPException)):
            opener.open(f"http://127.0.0.1:{listener.getsockname()[1]}/", timeout=0.5)
        assert time.monotonic() - begin < 5
        done.set()
        thread.join()
