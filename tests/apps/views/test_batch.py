from collections.abc import Callable
from typing import Any

from apps.views.batch import SAMPLE


def test_a_file_is_answered_and_scored(open_page: Callable[[str], Any]) -> None:
    page = open_page("batch").run()
    content = SAMPLE + '5,,"no question",,\n'
    page.file_uploader[0].upload("q.csv", content.encode(), "text/csv").run()
    page.button[0].click().run()
    assert not page.exception and not page.error
    rows, answers = page.session_state["batch_answers"]
    assert [a and a.question.id for a in answers] == ["1", "2", "3", "4", None]
    refused = sum(a is not None and a.text is None for a in answers)
    (head,) = [h.value for h in page.subheader]
    assert f"Answers: {4 - refused}" in head.replace("\\", "") and (f"{refused}" in head or not refused)
    assert "Exactly right" in [metric.label for metric in page.metric] and "1" in page.warning[0].value
    shown = page.dataframe[-1].value
    assert shown["id"].tolist() == ["1", "2", "3", "4", "5"] and "kgqa_answer" in shown and "answer" in shown


def test_what_cannot_be_read_is_one_sentence(open_page: Callable[[str], Any]) -> None:
    page = open_page("batch").run()
    page.file_uploader[0].upload("q.csv", b"a,b\n1,2\n", "text/csv").run()
    page.button[0].click().run()
    assert not page.exception and "q.csv:1" in page.error[0].value.replace("\\", "").replace("\u2060", "")
