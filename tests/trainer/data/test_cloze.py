"""Korean statements become questions whose answer stands in the passage without its particle."""

from __future__ import annotations

from kgqa.trainer.data.generated import cloze_questions
from kgqa.types import Example, Passage, Question


def statement(text: str, passage: str, yes_no_label: bool = True) -> Example:
    return Example(Question(text, (), Passage(passage), "1"), yes_no_label=yes_no_label)


def test_a_noun_gives_way_to_a_question_word() -> None:
    reported = [
        statement("링귀니는 레미를 모자에 숨겼다.", "링귀니의 모자 속에는 레미가 숨어 있다."),
        statement("그 탑은 1995년에 파리에서 지어졌다.", "파리의 그 탑은 1995년에 세워졌다."),
        statement("그 탑은 로마에 있다.", "그 탑은 로마에 없다.", yes_no_label=False),
    ]
    made = list(cloze_questions(reported, unanswerable=0.0))
    output = {e.question.text: {e.question.passage_text[s.start : s.end] for s in e.spans} for e in made}
    assert output == {
        "링귀니는 무엇을 모자에 숨겼다?": {"레미"},
        "링귀니는 레미를 무엇에 숨겼다?": {"모자"},
        "그 탑은 몇 년에 파리에서 지어졌다?": {"1995년"},
        "그 탑은 1995년에 어디에서 지어졌다?": {"파리"},
    }


def test_some_stand_beside_another_passage() -> None:
    reported = [
        statement("나비는 우유를 마셨다.", "우유는 나비의 것이다."),
        statement("배는 항구에 있다.", "항구의 배"),
    ]
    made = list(cloze_questions(reported, unanswerable=1.0))
    assert made and all(
        not e.spans or e.question.passage_text in {"우유는 나비의 것이다.", "항구의 배"} for e in made
    )
    assert any(not e.spans for e in made)
