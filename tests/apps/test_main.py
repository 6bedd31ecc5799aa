from pathlib import Path

import apps.main


def test_navigation_opens_on_the_ask_page(small_app: Path) -> None:
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_file(apps.main.__file__, default_timeout=60).run()
    assert not page.exception and page.title[0].value == "kgqa"
    page.button(key="example0").click().run()
    assert not page.exception
    assert page.sidebar.button(key="history0").label.startswith("What did I dig with")
