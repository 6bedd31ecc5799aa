from kgqa.serving.middleware import Rates

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
