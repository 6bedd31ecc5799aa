from collections.abc import Callable
from typing import Any

from apps.explorer import SCRIPT


def test_the_script_is_there_and_loads_nothing() -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    assert "export default function" in script
    assert not any(word in script for word in ("http", "import ", "fetch", "innerHTML", "eval"))


def test_it_stands_beside_the_picture(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.button(key="example0").click().run()
    assert not page.exception
    assert page.get("bidi_component") and page.get("graphviz_chart")
