import re


def test_the_page_fetches_nothing_and_names_what_is_served(serve) -> None:
    said = serve().get("/docs").text
    assert all(path in said for path in ("/v1/answer", "/v1/answers", "/v1/explain", "/v1/what-if"))
    assert "src=" not in said and "<script" not in said and "<link" not in said
    assert set(re.findall(r'href="([^"#]*)', said)) <= {"", "openapi.json"}
    assert "What did I dig with?" in said and 'id="Asked"' in said
