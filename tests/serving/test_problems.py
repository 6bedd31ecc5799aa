import json

from kgqa.serving.middleware import of_input, of_validation, problem
from kgqa.types import InputError


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
