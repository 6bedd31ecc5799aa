import pytest
from pydantic import ValidationError

from kgqa.qa.render import response_json
from kgqa.serving.api import EXAMPLE, EXAMPLE_ANSWER, AnswerBody, QuestionBody, WhatIfRequest
from kgqa.types import Answer, Passage, Question, Source


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
