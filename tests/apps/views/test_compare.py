from collections.abc import Callable
from typing import Any


def test_readers_stand_side_by_side(open_page: Callable[[str], Any]) -> None:
    page = open_page("compare").run()
    assert len(page.multiselect[0].value) >= 3
    page.text_input(key="question").input("What did I dig with?")
    page.text_area(key="passage").input("I want to plant flowers <i>now</i>.")
    page.button[0].click().run()
    said = "\n".join(item.proto.body for item in page.get("html"))
    assert not page.exception and not page.error
    assert "without facts" in said and "shuffled" in said and "<i>" not in said


def test_an_empty_question_is_one_sentence(open_page: Callable[[str], Any]) -> None:
    page = open_page("compare").run()
    page.button[0].click().run()
    assert not page.exception and "empty" in page.error[0].value
