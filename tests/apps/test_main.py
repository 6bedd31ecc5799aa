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


def test_a_machine_that_is_busy_for_a_moment_is_not_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reader:
        answered = 0

        def answer_many(self, questions: object) -> None:
            self.answered += 1

    asked = Reader()
    clock = iter([0.0, 5.0, 5.0, 5.1])  # the first answer takes five seconds, the second a tenth
    monkeypatch.setattr(resources, "shared_answerer", lambda: asked)
    monkeypatch.setattr(resources.time, "perf_counter", lambda: next(clock))
    assert not resources.is_slow.__wrapped__()
    assert asked.answered == 2
