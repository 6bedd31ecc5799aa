"""Every page in a real browser: it opens by its address, fits the screen, and can be used by all."""

from __future__ import annotations

from typing import Any

import pytest
from support.tab import (
    FORM,
    LANGUAGES,
    MARKS,
    PHONE,
    WIDTHS,
    Form,
    at_each_width,
    fits,
    settled,
    take_form,
    violations,
    visit,
)

pytestmark = MARKS


@LANGUAGES
def test_the_answer_is_in_view(page: Any, address: str, form: Form) -> None:
    visit(page, address, form)
    page.locator(".st-key-example1 button").click()
    page.locator("svg g.node").first.wait_for()
    for width in at_each_width(page):
        for part in ("[role=status][aria-live]", "[data-testid=stGraphVizChart] svg"):
            box = page.locator(part).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width + 1
            assert 0 <= box["y"] < WIDTHS[width]  # the picture begins there too
        box = page.locator("[role=status][aria-live]").bounding_box()
        assert box["y"] + box["height"] <= WIDTHS[width]


@pytest.mark.parametrize("form", FORM.values(), ids=["en", "ko"])
@pytest.mark.parametrize("path", ["", "own", "compare", "batch", "learn", "about"])
def test_every_page_opens_by_its_address_and_can_be_used_by_all(
    page: Any, address: str, path: str, form: Form
) -> None:
    """No request fails (a console error would tell), and axe-core finds nothing, in a light and a dark form."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python in [dev]"
    )
    visit(page, address, form, path)
    found = violations(page, axe)
    for chart in page.locator("[data-testid=stVegaLiteChart]").all():
        chart.hover()  # what is pointed at has more marks
        found += violations(page, axe)
    width, scheme = (390, "dark") if form[1] == "light" else (1440, "light")
    take_form(page, width, scheme)
    settled(page)
    found += violations(page, axe)
    assert not found and fits(page)


def test_a_hostile_link_is_text(page: Any, address: str) -> None:
    page.goto(
        f"{address}/?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20why%3F&p=%3Cscript%3Ealert(2)%3C/script%3E"
    )
    page.locator("[role=status][aria-live]").first.wait_for()
    page.get_by_text("<script>alert(2)</script>").locator("visible=true").first.wait_for()
    assert page.locator("img[src=x]").count() == 0


@PHONE
def test_the_tour_takes_five_steps(page: Any, address: str, form: Form) -> None:
    say = visit(page, address, form, "learn")
    for number, step in enumerate(("link", "retrieve", "read", "reason", "decide"), start=1):
        page.locator(".st-key-step").get_by_text(str(number), exact=True).click()
        page.get_by_role("heading", name=say(f"step_{step}")).first.wait_for()
        settled(page)


def test_a_graph_can_be_read_on_a_phone(page: Any, address: str) -> None:
    visit(page, address, (390, "light", "ko"), "own")
    page.locator(".st-key-sample_beekeeping button").click()
    page.locator("svg g.node").first.wait_for()
    settled(page)
    assert page.locator("svg g.node text").first.bounding_box()["height"] > 8
    questions = page.locator("[class*=st-key-suggested] [data-testid=stMarkdownContainer]")
    assert questions.count() > 3
    assert all(words.evaluate("e => e.scrollWidth <= e.clientWidth") for words in questions.all())
