from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from pydantic import ValidationError

from kgqa.qa.answerer import Answerer
from kgqa.qa.render import response_json
from kgqa.serving.api import EXAMPLE, EXAMPLE_ANSWER, AnswerBody, QuestionBody, WhatIfRequest
from kgqa.types import Answer, Evidence, EvidencePath, InputError, Passage, Question, Source


class Panic(BaseException):
    """As pyo3's, of native libraries."""


def test_an_answer_is_the_contract_of_the_command_line(serve) -> None:
    found = serve().post("/v1/answer", json={"question": "What?", "id": "7"})
    assert found.status_code == 200 and found.headers["x-request-id"]
    body = found.json()
    assert (body["id"], body["answer"], body["source"], body["model"]) == ("7", "to What?", "passage", "stub")
    assert set(body) == {
        *(
            "id",
            "question",
            "answer",
            "source",
            "confidence",
            "reason",
            "care",
            "items",
            "evidence",
            "model",
            "graph",
        )
    }


def test_questions_of_many_callers_are_read_together_and_none_is_lost_or_mixed(serve, stub) -> None:
    client = serve()
    stub.seconds = 0.02
    with ThreadPoolExecutor(32) as callers:
        answers = list(
            callers.map(lambda i: client.post("/v1/answer", json={"question": f"q{i}"}).json(), range(96))
        )
    assert [body["answer"] for body in answers] == [f"to q{i}" for i in range(96)]
    assert len(stub.batches) < 60


def test_many_at_once_keep_their_order_and_a_bad_one_its_place(serve) -> None:
    questions = [{"question": "a"}, {"question": " ", "id": "bad"}, {"question": "b", "graph": "none such"}]
    found = serve().post("/v1/answers", json={"questions": questions}).json()["answers"]
    assert found[0]["answer"] == "to a" and found[1]["id"] == "bad"
    assert [found[i]["error"]["field"] for i in (1, 2)] == ["question", "graph"]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"question": ""}, 422, "question"),
        ({"question": "a", "pasage": "b"}, 422, "pasage"),
        ({"question": "a", "passage": "p" * 200_001}, 422, "passage"),
        ({"question": "a", "choices": ["x"] * 21}, 422, "choices"),
        ({"question": "a", "choices": ["x", " "]}, 422, "choices"),
        ({"question": "a", "model": "none such"}, 422, "model"),
        ({"question": "\ud800"}, 422, "question"),
        ([], 422, "body"),
    ],
)
def test_an_error_names_field_and_remedy(serve, body: object, status: int, field: str) -> None:
    found = serve().post("/v1/answer", content=json.dumps(body), headers={"content-type": "application/json"})
    assert found.status_code == status and found.headers["content-type"] == "application/problem+json"
    reported = found.json()
    assert (
        set(reported) == {"type", "title", "status", "detail", "instance", "errors"}
        and reported["status"] == status
    )
    assert reported["errors"][0]["field"] == field and reported["instance"] == found.headers["x-request-id"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 50_000, b'{"question": ' + b"9" * 5_000 + b"}", b"\xff\xfe"]
)
def test_what_is_no_json_is_a_problem(serve, content: bytes) -> None:
    found = serve().post("/v1/answer", content=content, headers={"content-type": "application/json"})
    assert found.status_code in (400, 422) and found.headers["content-type"] == "application/problem+json"


def test_a_fault_says_nothing_of_the_inside(serve) -> None:
    found = serve().post("/v1/answer", json={"question": "fault"})
    assert found.status_code == 500 and "secret" not in found.text and found.json()["instance"]


def test_a_damaged_graph_is_the_services_fault_and_its_path_stays_inside(serve) -> None:
    found = serve().post("/v1/answer", json={"question": "damaged"})
    assert found.status_code == 503 and "damaged" in found.json()["detail"] and "secret" not in found.text
    assert found.json()["title"] == "The graph is damaged"


def test_too_long_too_many_and_not_ready(serve, stub) -> None:
    stub.seconds = 0.0
    slow = serve(timeout_s=0.2)
    stub.seconds = 3
    assert slow.post("/v1/answer", json={"question": "a"}).status_code == 504
    assert slow.post("/v1/explain", json={"question": "a"}).status_code == 504
    stub.seconds = 0


@pytest.mark.parametrize(
    "raised", [InputError("/home/me/secret.ttl: line 3: secret"), Panic("/home/me/secret")]
)
def test_what_cannot_be_loaded_is_told_to_whoever_runs_the_service_and_to_nobody_else(raised) -> None:
    from fastapi.testclient import TestClient

    from kgqa.serving.api import create_service

    reported = threading.Event()

    def nothing() -> None:
        raise raised

    app = create_service(nothing, failed=reported.set)
    with TestClient(app, "http://localhost") as client:
        assert reported.wait(10) and app.state.service.failure is raised
        answers = [client.get("/ready"), client.post("/v1/answer", json={"question": "a"})]
        assert client.get("/health").status_code == 200
    assert [answer.status_code for answer in answers] == [503, 503] and answers[0].json()[
        "status"
    ] == "failed"
    assert not any("secret" in answer.text for answer in answers)


def test_while_it_loads_callers_are_told_when_to_come_again(serve) -> None:
    check_cancelled = threading.Event()

    def slowly() -> dict[tuple[str, str], object]:
        check_cancelled.wait(20)
        raise InputError("enough")

    client = serve(slowly)
    answers = [client.get("/ready"), client.post("/v1/answer", json={"question": "a"})]
    check_cancelled.set()
    assert [answer.status_code for answer in answers] == [503, 503] and answers[0].json()[
        "status"
    ] == "loading"
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers)
    assert answers[1].json()["title"] == "The service is not ready"


def test_it_answers_to_addresses_and_to_names_that_are_its_own(serve) -> None:
    client = serve(host_names=("Answers.example",))

    def status(host: str, path: str = "/v1/graphs") -> int:
        return int(client.get(path, headers={"host": host}).status_code)

    own = ("localhost", "localhost:8600", "127.0.0.1:8600", "[::1]:8600", "10.0.0.7", "answers.example:80")
    assert [status(host) for host in own] == [200] * len(own)
    others = (
        "rebound.example",
        "localhost.rebound.example",
        "127.0.0.1.rebound.example",
        "",
        "[::1",
        "a@b:c",
    )
    assert [status(host) for host in others] == [421] * len(others)
    assert status("rebound.example", "/metrics") == 421 and status("rebound.example", "/docs") == 421
    assert status("rebound.example", "/health") == status("rebound.example", "/ready") == 200
    output = client.get("/v1/graphs", headers={"host": "rebound.example"}).json()["detail"]
    assert "--host-name" in output


def test_the_graph_around_the_evidence_comes_where_it_is_asked_for(serve, stub, digging) -> None:
    path = EvidencePath((0,), (False,), 0.5)
    stub.evidence = Evidence(paths=(path,), subgraph=digging)
    client = serve()
    asked = {"question": "a"}
    sent = (("answer", asked), ("answers", {"questions": [asked]}), ("explain", asked), ("what-if", asked))
    for where, body in sent:
        brief, full = (client.post(f"/v1/{where}{how}", json=body).json() for how in ("", "?full=true"))
        for found, nodes in ((brief, 0), (full, 2)):
            found = found["answers"][0] if where == "answers" else found.get("before", found)
            assert found["reason"] and "query" in found["evidence"]
            if not nodes:
                assert not {"candidates", "timing_ms"} & set(found) and "paths" not in found["evidence"]
                continue
            assert found["evidence"]["paths"][0]["triples"]
            graph = found["evidence"]["subgraph"]
            assert len(graph["nodes"]) >= nodes
            assert graph["size"] == [len(digging.nodes), len(digging.edges)]


def test_what_a_native_library_raises_is_a_fault_of_one_question(serve) -> None:
    client = serve()
    for _ in range(2):
        assert client.post("/v1/answer", json={"question": "panic"}).status_code == 500
        assert client.post("/v1/explain", json={"question": "panic"}).status_code == 500
        assert client.post("/v1/answer", json={"question": "a"}).status_code == 200


def test_explain_and_what_if(serve) -> None:
    client = serve()
    explained = client.post("/v1/explain", json={"question": "a"})
    assert explained.status_code == 200 and explained.json()["attributions"] == []
    wrong = {"head": "trowel", "relation": "eats", "tail": "bread"}
    for edited in ("add", "remove", "strike"):  # the last was the name of the second
        refused = client.post("/v1/what-if", json={"question": "a", edited: [wrong]})
        assert refused.status_code == 422 and refused.json()["errors"][0]["field"] == "relation"
    unknown = client.post("/v1/what-if", json={"question": "a", "add": [["trowel", "used for", "dig"]]})
    assert "head, relation and tail" in unknown.json()["errors"][0]["detail"]


def test_what_is_served_is_told(serve) -> None:
    client = serve()
    assert client.get("/v1/readers").json() == {"readers": ["stub"]}
    reported = client.get("/ready").json()
    assert (reported["reader"], reported["graph"]) == (
        "stub",
        client.get("/v1/graphs").json()["graphs"][0]["name"],
    )
    assert client.get("/v1/graphs").json()["graphs"][0]["concepts"] == 2
    client.post("/v1/answer", json={"question": "a"})
    figures = client.get("/metrics").text
    assert (
        'kgqa_requests_total{path="/v1/answer",status="200"} 1.0' in figures
        and "kgqa_batch_questions" in figures
    )
    described = client.get("/openapi.json").json()
    assert {"/v1/answer", "/v1/answers", "/v1/explain", "/v1/what-if"} <= set(described["paths"])
    assert described["components"]["schemas"]["QuestionBody"]["examples"]


def test_the_log_has_ids_and_no_texts_unless_asked(serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kgqa.serving")
    serve().post("/v1/answer", json={"question": "private"}, headers={"x-request-id": "mine"})
    rows = [json.loads(record.message) for record in caplog.records]
    assert (
        any(row.get("id") == "mine" and row["status"] == 200 for row in rows) and "private" not in caplog.text
    )
    serve(log_texts=True).post("/v1/answer", json={"question": "private"})
    assert "private" in caplog.text


def test_cross_origin_is_off(serve) -> None:
    found = serve().post(
        "/v1/answer", json={"question": "a"}, headers={"origin": "https://elsewhere.example"}
    )
    assert "access-control-allow-origin" not in found.headers


def test_every_refusal_says_what_to_do(serve) -> None:
    with serve() as client:
        asked = {"question": "What did I dig with?"}
        output = {
            name: client.request(*request).json()["detail"]
            for name, request in {"path": ("GET", "/nothing"), "method": ("GET", "/v1/answer")}.items()
        }
        output["model"] = client.post("/v1/answer", json={**asked, "model": "nope"}).json()["detail"]
        output["graph"] = client.post("/v1/answer", json={**asked, "graph": "nope"}).json()["detail"]
        output["form"] = client.post("/v1/answer", content="question=x").json()["detail"]
        output["empty"] = client.post("/v1/answer", json={"question": ""}).json()["detail"]
    assert all("; " in detail for detail in output.values()), output
    assert "model nope is not served" in output["model"] and "graph nope is not served" in output["graph"]
    assert "Content-Type" in output["form"]


def test_the_page_fetches_nothing_and_names_what_is_served(serve) -> None:
    output = serve().get("/docs").text
    assert all(path in output for path in ("/v1/answer", "/v1/answers", "/v1/explain", "/v1/what-if"))
    assert "src=" not in output and "<script" not in output and "<link" not in output
    assert set(re.findall(r'href="([^"#]*)', output)) <= {"", "openapi.json"}
    assert "What did I dig with?" in output and 'id="QuestionBody"' in output


# What the service says of itself in OpenAPI is how it answers: tried by schemathesis, where that is installed.


@pytest.mark.skipif(find_spec("schemathesis") is None, reason="schemathesis is not installed")
def test_requests_made_of_the_description_are_answered_as_described(
    served, model_folder: Path, tools_file: Path
) -> None:
    with served(Answerer.load(str(model_folder), str(tools_file), device="cpu")) as url:
        # whether a model, a relation or half a letter can be used is no matter of the schema, and is refused with 422
        command = (
            f"run {url}/openapi.json --exclude-checks positive_data_acceptance --max-examples 8 --request-timeout 60 "
            "--phases examples,coverage,fuzzing --generation-deterministic --no-color"
        )
        run = "import sys; from schemathesis.cli import schemathesis; schemathesis(sys.argv[1:])"
        tried = subprocess.run(
            [sys.executable, "-c", run, *command.split()],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert tried.returncode == 0, tried.stdout[-4_000:] + tried.stderr[-2_000:]


def test_a_body_is_a_question() -> None:
    asked = QuestionBody(question="q", passage="p", choices=["a", "b"], id="1")
    assert asked.as_question() == Question("q", ("a", "b"), Passage("p"), "1")
    assert QuestionBody(question="q").as_question() == Question("q")


def test_examples_are_valid() -> None:
    QuestionBody.model_validate(EXAMPLE)
    AnswerBody.model_validate(EXAMPLE_ANSWER)
    with pytest.raises(ValidationError):
        WhatIfRequest.model_validate({**EXAMPLE, "add": [{"head": "a"}]})


def test_what_is_described_is_what_is_sent() -> None:
    answer = Answer(Question("q"), "a", Source.PASSAGE, 0.5)
    assert set(AnswerBody.model_fields) == set(response_json(answer, True))
    assert set(EXAMPLE_ANSWER) == set(response_json(answer, False))


def test_however_many_fields_are_unknown_one_fault_is_told() -> None:
    unknown = {f"field{n}": n for n in range(100_000)}
    for sent in (unknown, EXAMPLE | unknown, {**EXAMPLE, "add": [unknown]}):
        with pytest.raises(ValidationError) as caught:
            WhatIfRequest.model_validate(sent)
        assert [fault["type"] for fault in caught.value.errors()] == ["extra_forbidden"]
