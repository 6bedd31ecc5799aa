from __future__ import annotations

import json

from kgqa.serving.middleware import Rates, of_input, of_validation, problem
from kgqa.types import InputError

KEY = "a-key-of-some-length"


def test_a_key_is_asked_for_where_keys_are_set(serve) -> None:
    client = serve(keys=(KEY,))
    assert client.post("/v1/answer", json={"question": "a"}).status_code == 401
    for header, status in (("Bearer wrong", 401), (f"Basic {KEY}", 401), (f"Bearer {KEY}", 200)):
        found = client.post("/v1/answer", json={"question": "a"}, headers={"authorization": header})
        assert found.status_code == status
    assert client.get("/health").status_code == 200


def test_a_caller_has_a_rate(serve) -> None:
    client = serve(per_minute=12)  # two at once
    codes = [client.post("/v1/answer", json={"question": "a"}).status_code for _ in range(3)]
    assert codes == [200, 200, 429]


def test_buckets_fill_again_and_are_of_one_caller() -> None:
    now = [0.0]
    rates = Rates(60, clock=lambda: now[0])
    assert [rates.wait_s("a") > 0 for _ in range(11)] == [False] * 10 + [True]
    assert rates.wait_s("b") == 0
    now[0] = 1.5
    assert rates.wait_s("a") == 0 and rates.wait_s("a") > 0


def test_a_body_has_a_size_whether_or_not_it_tells(serve) -> None:
    client = serve(most_bytes=1_000)
    assert client.post("/v1/answer", json={"question": "a" * 2_000}).status_code == 413
    parts = (b"x" * 100 for _ in range(100))
    assert client.post("/v1/answer", content=parts).status_code == 413


def test_ids_of_callers_are_kept_where_they_are_sane(serve) -> None:
    client = serve()
    assert client.get("/health", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert client.get("/health", headers={"x-request-id": "a b"}).headers["x-request-id"] != "a b"


def test_a_line_becomes_field_detail_and_remedy() -> None:
    found = of_input(InputError("the passage has 3 characters; pass the part that matters"))
    assert found == {
        "field": "passage",
        "detail": "the passage has 3 characters",
        "remedy": "pass the part that matters",
    }
    assert of_input(InputError("odd"))["field"] == "question"


def test_validation_is_named_by_its_place() -> None:
    found = of_validation([{"loc": ("body", "choices", 3), "msg": "too short", "type": "string_too_short"}])
    assert found[0]["field"] == "choices.3" and found[0]["remedy"] == "write something"


def test_what_is_no_json_is_said_to_be_none() -> None:
    output = {"error": "Expecting value"}
    error = {"loc": ("body", 7), "type": "json_invalid", "msg": "JSON decode error", "ctx": output}
    assert of_validation([error])[0]["field"] == "body"
    assert "Expecting value, character 7" in of_validation([error])[0]["detail"]


def test_half_a_letter_can_be_told() -> None:
    assert json.loads(problem(422, "\ud800", "id").body)["detail"] == "\ud800"
