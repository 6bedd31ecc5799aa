import re


def test_the_page_fetches_nothing_and_names_what_is_served(serve) -> None:
    output = serve().get("/docs").text
    assert all(path in output for path in ("/v1/answer", "/v1/answers", "/v1/explain", "/v1/what-if"))
    assert "src=" not in output and "<script" not in output and "<link" not in output
    assert set(re.findall(r'href="([^"#]*)', output)) <= {"", "openapi.json"}
    assert "What did I dig with?" in output and 'id="QuestionBody"' in output
