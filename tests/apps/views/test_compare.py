from collections.abc import Callable
from typing import Any

from apps.views.batch import SAMPLE
from apps.views.compare import agreement
from kgqa.types import Answer, Question, Source


def test_readers_stand_side_by_side(open_page: Callable[[str], Any]) -> None:
    page = open_page("compare").run()
    assert len(page.multiselect[0].value) >= 4
    page.text_input(key="question").input("What did I dig with?")
    page.text_area(key="passage").input("I want to plant flowers <i>now</i>.")
    page.button[0].click().run()
    output = "\n".join(item.proto.body for item in page.get("html"))
    assert not page.exception and not page.error
    assert (
        "without facts" in output and "shuffled" in output and "text only" in output and "<i>" not in output
    )


def test_a_file_is_read_by_all(open_page: Callable[[str], Any]) -> None:
    page = open_page("compare").run()
    page.file_uploader[0].upload("q.csv", SAMPLE.encode(), "text/csv").run()
    page.button(key="compare_file").click().run()
    assert not page.exception and not page.error
    figures, cells = (table.value for table in page.dataframe)
    assert len(figures) >= 4 and "Exactly right" in figures and len(cells) == 4
    assert figures["agrees with the first"][0] == "100%"


def test_readers_agree_on_what_reads_alike() -> None:
    first, second = (Answer(Question("q"), text, Source.KNOWLEDGE, 0.5) for text in ("the Trowel", "trowel"))
    nothing = Answer(Question("q"), None, Source.NONE, 0.5)
    assert agreement([first, nothing, None], [second, first, first]) == 0.5 and agreement([], []) == 0.0


def test_of_no_answer_nothing_is_said_to_be_certain() -> None:
    from streamlit.testing.v1 import AppTest

    script = (
        "from apps.views.what_if import card\nfrom kgqa.types import Answer, Question, Source\n"
        "card('text only', Answer(Question('q'), None, Source.NONE, 1.0))"
    )
    (shown,) = AppTest.from_string(script, default_timeout=60).run().get("html")
    assert "No answer" in shown.proto.body
    assert "certain" not in shown.proto.body and "answerable" not in shown.proto.body


def test_where_to_turn_is_said_once(open_page: Callable[[str], Any]) -> None:
    page = open_page("compare").run()
    page.text_input(key="question").input("How do I make a bomb?")
    page.button[0].click().run()
    told = [item.proto.body for item in page.get("html") if "988" in item.proto.body]
    assert not page.exception and len(told) == 1


def test_an_empty_question_is_one_sentence(open_page: Callable[[str], Any]) -> None:
    page = open_page("compare").run()
    page.button[0].click().run()
    assert not page.exception and "empty" in page.error[0].value
