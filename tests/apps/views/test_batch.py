from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from apps.views.batch import SAMPLE, in_place
from kgqa.qa.answerer import Answerer


def test_a_file_is_answered_and_scored(open_page: Callable[[str], Any]) -> None:
    page = open_page("batch").run()
    content = SAMPLE + '5,,"no question",,\n'
    page.file_uploader[0].upload("q.csv", content.encode(), "text/csv").run()
    page.button[0].click().run()
    assert not page.exception and not page.error
    answers = in_place(page.session_state["batch_rows"], page.session_state["batch_job"])
    assert [a and a.question.id for a in answers] == ["1", "2", "3", "4", None]
    refused = sum(a is not None and a.text is None for a in answers)
    (head,) = [h.value for h in page.header]
    assert f"Answers: {4 - refused}" in head.replace("\\", "") and (f"{refused}" in head or not refused)
    assert "Exactly right" in [metric.label for metric in page.metric] and "1" in page.warning[0].value
    shown = page.dataframe[-1].value
    assert shown["id"].tolist() == ["1", "2", "3", "4", "5"] and "kgqa_answer" in shown and "answer" in shown
    assert list(page.dataframe[-1].proto.column_order)[:2] == ["question", "kgqa_answer"]
    again = open_page("batch")  # the page is come back to, its file is forgotten
    for name in ("batch_rows", "batch_job"):
        again.session_state[name] = page.session_state[name]
    again.run()
    assert not again.exception and [h.value for h in again.header] == [head]


def test_facts_are_told_in_the_language_of_the_question(
    open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answerer, "shown", lambda _, answer: replace(answer, text="as it is shown"))
    page = open_page("batch").run()
    page.file_uploader[0].upload("q.csv", SAMPLE.encode(), "text/csv").run()
    page.button[0].click().run()
    assert set(page.dataframe[-1].value["kgqa_answer"]) == {"as it is shown"}


def test_what_cannot_be_read_is_one_sentence(open_page: Callable[[str], Any]) -> None:
    page = open_page("batch").run()
    page.file_uploader[0].upload("q.csv", b"a,b\n1,2\n", "text/csv").run()
    assert not page.button  # it is said when the file is chosen
    assert not page.exception and "q.csv:1" in page.error[0].value.replace("\\", "").replace("\u2060", "")
