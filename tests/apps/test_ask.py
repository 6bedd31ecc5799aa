import os
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "apps" / "ask.py"


@pytest.fixture
def page(model_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch):
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    monkeypatch.setenv("KGQA_MODEL", str(model_folder))
    monkeypatch.setenv("KGQA_GRAPH", str(tools_file))
    st.cache_resource.clear()
    return AppTest.from_file(str(APP), default_timeout=60).run()


def test_an_example_is_one_click_away(page) -> None:
    page.button[0].click().run()
    assert not page.exception and page.subheader and "confidence" in page.caption[1].value


def test_a_question_of_ones_own(page) -> None:
    page.text_area(key="passage").input("I plant flowers <b>bold</b>")
    page.text_input(key="question").input("What did I dig with?")
    page.button[-1].click().run()
    assert not page.exception and page.subheader
    assert not any("<b>" in m.value for m in page.markdown)


def test_an_empty_question_gets_one_sentence(page) -> None:
    page.button[-1].click().run()
    assert not page.exception and "empty" in page.error[0].value
    assert os.environ["KGQA_MODEL"]
