"""Every page in a real browser: it opens by its address, fits the screen, and can be used by all."""

from __future__ import annotations

from typing import Any

import pytest
from tab import FORMS, MARKS, Form, go_to, serious_findings, settled, visit

pytestmark = MARKS


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900)])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_answer_is_in_view(page: Any, address: str, width: int, height: int, language: str) -> None:
    page.set_viewport_size({"width": width, "height": height})
    go_to(page, f"{address}/?lang={language}")
    page.locator(".st-key-example1 button").click()
    page.locator("[role=status][aria-live]").wait_for()
    settled(page)
    box = page.locator("[role=status][aria-live]").bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= height and box["x"] + box["width"] <= width
    page.locator("svg g.node").first.wait_for()
    settled(page)
    picture = page.locator("[data-testid=stGraphVizChart] svg").bounding_box()
    assert picture["x"] >= 0 and picture["x"] + picture["width"] <= width + 1


@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [(1440, "light", "en"), (390, "dark", "en"), (1440, "dark", "ko"), (390, "light", "ko")],
)
@pytest.mark.parametrize("path", ["", "own", "compare", "batch", "learn", "about"])
def test_every_page_opens_by_its_address_and_can_be_used_by_all(
    page: Any, address: str, path: str, width: int, scheme: str, language: str
) -> None:
    """No request fails (a console error would tell), and axe-core finds nothing serious."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python in [dev]"
    )
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    go_to(page, f"{address}/{path}?lang={language}")
    serious = list(serious_findings(axe.Axe().run(page)))
    for chart in page.locator("[data-testid=stVegaLiteChart]").all():
        chart.hover()  # what is pointed at has more marks
        serious += serious_findings(axe.Axe().run(page))
    assert not serious


def test_a_hostile_link_is_text(page: Any, address: str) -> None:
    page.goto(
        f"{address}/?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20why%3F&p=%3Cscript%3Ealert(2)%3C/script%3E"
    )
    page.locator("[role=status][aria-live]").wait_for()
    page.get_by_text("<script>alert(2)</script>").last.wait_for()
    assert page.locator("img[src=x]").count() == 0


@FORMS
def test_the_tour_takes_five_steps(page: Any, address: str, form: Form) -> None:
    say = visit(page, address, form, "learn")
    for number, step in enumerate(("link", "retrieve", "read", "reason", "decide"), start=1):
        page.locator(".st-key-step").get_by_text(str(number), exact=True).click()
        page.get_by_role("heading", name=say(f"step_{step}")).wait_for()
        settled(page)
