import shutil
from pathlib import Path

import pytest

import apps.main
from apps import resources


def test_navigation_opens_on_the_ask_page(small_app: Path) -> None:
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_file(apps.main.__file__, default_timeout=60).run()
    assert not page.exception and "leaves unsaid" in page.title[0].value
    page.button(key="example0").click().run()
    assert not page.exception
    assert page.sidebar.button(key="history0").label.startswith("What did I dig with")


def test_where_answers_take_long_the_smaller_reader_stands_in(
    small_app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_file(apps.main.__file__, default_timeout=60).run()
    assert "quick" not in [box.key for box in page.toggle]  # the app was started with a reader of its own
    small = small_app.parent / resources.SMALLER
    shutil.copytree(small_app.parent / "model", small)
    monkeypatch.setattr(resources, "DEFAULT_READER", "model")
    folders = [small_app.parent / "model", small]
    monkeypatch.setattr(resources, "readers", lambda: {folder.name: str(folder) for folder in folders})
    monkeypatch.setattr(resources, "SLOW_S", 0.0)
    page = AppTest.from_file(apps.main.__file__, default_timeout=60).run()
    page.button(key="example0").click().run()
    assert page.toggle[0].value
    with monkeypatch.context() as patched:
        patched.setattr(resources, "is_quick", lambda: True)
        assert list(resources.others()) == ["model"]  # what answers is not compared with itself
    asked = page.session_state["answer"].question
    page.toggle[0].set_value(False).run()
    assert not page.exception and page.session_state["answer"].question == asked
