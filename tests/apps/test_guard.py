import socket
import threading
import time
from collections.abc import Iterator

import pytest
from support.web import Quiet, running

import apps.guard
from apps.guard import check_request, checked_url, sparql_allowed
from kgqa.graph.formats.sparql_client import Endpoint
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


@pytest.fixture
def inner(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    """A server inside this network, which sends whoever asks for /sparql on to /secret, and what it was asked for."""
    asked: list[str] = []

    class Sly(Quiet):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.reply(302, Location="/secret")

        def do_GET(self) -> None:
            asked.append(self.path)
            self.reply(200, b'{"boolean": true}')

    monkeypatch.delenv("KGQA_ALLOW_PRIVATE", raising=False)
    with running(Sly) as url:
        yield url.removeprefix("http://"), asked


def test_an_endpoint_cannot_send_a_question_on_to_an_inner_address(
    inner: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, asked = inner
    monkeypatch.setattr(apps.guard, "_is_inside", lambda address: "/sparql" in asked)  # from then on
    endpoint = Endpoint(f"http://{address}/sparql", 5, 0, check=check_request)
    with pytest.raises(InputError, match="inside this network"):
        endpoint.ask("ASK {}")
    assert asked == ["/sparql"]
    monkeypatch.setenv("KGQA_ALLOW_PRIVATE", "1")
    assert endpoint.ask("ASK {}") and asked[1:] == ["/sparql", "/secret"]


def test_a_name_that_changes_its_address_is_not_asked(
    inner: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, asked = inner
    monkeypatch.setattr(apps.guard, "checked_url", lambda url: url)  # it was another address then
    for scheme in ("http", "https"):
        with pytest.raises(InputError, match="an address inside this network"):
            Endpoint(f"{scheme}://{address}/sparql", 5, 0, check=check_request).ask("ASK {}")
    assert not asked
    monkeypatch.setenv("KGQA_ALLOW_PRIVATE", "1")
    assert Endpoint(f"http://{address}/sparql", 5, 0, check=check_request).ask("ASK {}")


def test_a_proxy_may_be_inside_and_does_its_own_checks(
    inner: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, asked = inner
    monkeypatch.setenv("http_proxy", f"http://{address}")
    assert Endpoint("http://93.184.216.34/sparql", 5, 0, check=check_request).ask("ASK {}")
    assert asked == ["http://93.184.216.34/sparql", "http://93.184.216.34/secret"]
    with pytest.raises(InputError, match="inside this network"):
        Endpoint("http://127.0.0.1/sparql", 5, 0, check=check_request).ask("ASK {}")


def test_a_head_that_drips_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps.guard, "_is_inside", lambda address: False)
    monkeypatch.delenv("KGQA_ALLOW_PRIVATE", raising=False)
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
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        begin = time.monotonic()
        with pytest.raises(InputError, match="timed out"):
            Endpoint(url, 0.5, 0, check=check_request).ask("ASK {}")
        assert time.monotonic() - begin < 5
        done.set()
        thread.join()
