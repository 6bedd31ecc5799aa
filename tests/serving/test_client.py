import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from kgqa.cli.ask import ask_server
from kgqa.serving.remote import Client
from kgqa.types import InputError, Passage, Question


@pytest.fixture
def server():
    """Repeats what it is sent; refuses the question "bad"."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bad = body.get("question") == "bad"
            sent = (
                {"detail": "the question is bad; ask another"}
                if bad
                else {"path": self.path, "answers": [], **body}
            )
            sent["key"] = self.headers.get("Authorization", "")
            self.send_response(422 if bad else 200)
            self.end_headers()
            self.wfile.write(json.dumps(sent).encode())

        def log_message(self, *args: object) -> None: ...

    running = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()


def test_every_method_asks_its_path(server: str) -> None:
    client = Client(server, key="k", graph="garden")
    asked = client.answer("q", "p", ("a",))
    assert asked["path"] == "/v1/answer" and asked["graph"] == "garden" and asked["key"] == "Bearer k"
    assert client.explain("q")["path"] == "/v1/explain" and client.answers([{"question": "q"}]) == []
    edit = {"head": "a", "relation": "b", "tail": "c"}
    assert client.what_if("q", add=[edit])["add"] == [edit]


def test_refusals_and_silence_are_one_line(server: str) -> None:
    with pytest.raises(InputError, match="ask another"):
        Client(server).answer("bad")
    with pytest.raises(InputError, match="no answer"):
        Client("http://127.0.0.1:9", timeout_s=2).answer("q")
    with pytest.raises(InputError, match="expected http"):
        Client("file:///etc/passwd")


def test_the_command_names_reader_and_graph_to_the_service(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Question("q", passage=Passage("p"))
    ask_server(server, asked, "k", True, False, 0.2, model="mine", graph="garden")
    sent = json.loads(capsys.readouterr().out)
    assert sent["model"] == "mine" and sent["graph"] == "garden"
    ask_server(server, asked, "k", True, True, 0.2)
    sent = json.loads(capsys.readouterr().out)
    assert not {"model", "graph"} & sent.keys() and sent["path"] == "/v1/answer?full=true"
