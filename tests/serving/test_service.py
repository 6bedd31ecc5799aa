import json
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgqa.types import InputError


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
            "candidates",
            "items",
            "evidence",
            "timing_ms",
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
    told = found.json()
    assert (
        set(told) == {"type", "title", "status", "detail", "instance", "errors"} and told["status"] == status
    )
    assert told["errors"][0]["field"] == field and told["instance"] == found.headers["x-request-id"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 50_000, b'{"question": ' + b"9" * 5_000 + b"}", b"\xff\xfe"]
)
def test_what_is_no_json_is_a_problem(serve, content: bytes) -> None:
    found = serve().post("/v1/answer", content=content, headers={"content-type": "application/json"})
    assert found.status_code in (400, 422) and found.headers["content-type"] == "application/problem+json"


def test_a_fault_says_nothing_of_the_inside(serve) -> None:
    found = serve().post("/v1/answer", json={"question": "fault"})
    assert found.status_code == 500 and "secret" not in found.text and found.json()["instance"]


def test_too_long_too_many_and_not_ready(serve, stub) -> None:
    stub.seconds = 0.0
    slow = serve(timeout_s=0.2)
    stub.seconds = 3
    assert slow.post("/v1/answer", json={"question": "a"}).status_code == 504
    assert slow.post("/v1/explain", json={"question": "a"}).status_code == 504
    stub.seconds = 0

    def nothing() -> None:
        raise InputError("no reader here; train one")

    broken = serve(nothing)
    assert broken.get("/health").status_code == 200 and broken.get("/ready").status_code == 503
    assert broken.post("/v1/answer", json={"question": "a"}).status_code == 503


def test_explain_and_what_if(serve) -> None:
    client = serve()
    explained = client.post("/v1/explain", json={"question": "a"})
    assert explained.status_code == 200 and explained.json()["influences"] == []
    wrong = {"head": "trowel", "relation": "eats", "tail": "bread"}
    refused = client.post("/v1/what-if", json={"question": "a", "add": [wrong]})
    assert refused.status_code == 422 and refused.json()["errors"][0]["field"] == "relation"


def test_what_is_served_is_told(serve) -> None:
    client = serve()
    assert client.get("/v1/readers").json() == {"readers": ["stub"]}
    assert client.get("/v1/graphs").json()["graphs"][0]["concepts"] == 2
    client.post("/v1/answer", json={"question": "a"})
    figures = client.get("/metrics").text
    assert (
        'kgqa_requests_total{path="/v1/answer",status="200"} 1.0' in figures
        and "kgqa_batch_questions" in figures
    )
    described = client.get("/openapi.json").json()
    assert {"/v1/answer", "/v1/answers", "/v1/explain", "/v1/what-if"} <= set(described["paths"])
    assert described["components"]["schemas"]["Asked"]["examples"]


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
        said = {
            name: client.request(*request).json()["detail"]
            for name, request in {"path": ("GET", "/nothing"), "method": ("GET", "/v1/answer")}.items()
        }
        said["model"] = client.post("/v1/answer", json={**asked, "model": "nope"}).json()["detail"]
        said["graph"] = client.post("/v1/answer", json={**asked, "graph": "nope"}).json()["detail"]
        said["form"] = client.post("/v1/answer", content="question=x").json()["detail"]
        said["empty"] = client.post("/v1/answer", json={"question": ""}).json()["detail"]
    assert all("; " in detail for detail in said.values()), said
    assert "model is served: nope" in said["model"] and "graph is served: nope" in said["graph"]
    assert "Content-Type" in said["form"]
