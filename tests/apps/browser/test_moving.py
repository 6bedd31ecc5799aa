"""Back and Forward, the language of the address, the keyboard, and edits in the picture."""

from __future__ import annotations

from typing import Any

import pytest
from support.tab import MARKS, asked, fits, go_to, gone, settled, violations, visit

pytestmark = MARKS
ENTER = """() => {
    const edge = document.querySelector("g.edge[id^=f]");
    edge.focus();
    edge.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true}));
    return edge.classList.contains("taken");
}"""
"""Presses Enter on an arrow; whether it shows that in the same instant."""
RUNS = """window.runs = 0;
let before = "";
setInterval(() => {
    const state = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState;
    if (state === "running" && before !== "running") window.runs++;
    before = state;
}, 5);"""
"""Counts how often the page's script runs."""
PASSAGE = "I want to plant flowers, so I dug the ground."


def answer_of(page: Any) -> str:
    return str(page.locator("[role=status][aria-live] > div:not(.before-after)").first.inner_text())


def test_by_keys_alone_and_back_and_forward(page: Any, address: str) -> None:
    say = visit(page, address, (1440, "light", "en"))
    page.locator("#kgqa-skip").first.wait_for(state="attached")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # over menu and side bar, to the question
    page.get_by_label(say("passage"), exact=True).fill(PASSAGE)
    question = page.get_by_role("textbox", name=say("question"), exact=True)
    for words in ("What did I dig with?", "asdfghjkl"):
        question.fill(words)
        question.press("Enter")
        asked(page, words)
        assert page.evaluate("document.activeElement.value") == words  # one types on where one was
    page.go_back()
    page.locator("[role=status][aria-live]").get_by_text("trowel").first.wait_for()
    settled(page)
    assert question.input_value() == "What did I dig with?" and "What+did+I+dig" in page.url
    page.go_back()
    page.get_by_text(say("try_own")).first.wait_for()
    settled(page)
    page.go_forward()
    page.locator("[role=status][aria-live]").get_by_text("trowel").first.wait_for()
    settled(page)
    page.get_by_text("한국어").click()
    page.locator("html[lang=ko]").first.wait_for(state="attached")
    settled(page)
    assert "lang=ko" in page.url
    page.reload()
    page.locator("[role=status][aria-live]").first.wait_for()
    settled(page)
    assert page.get_by_text("질문").first.is_visible() and "lang=ko" in page.url


def test_a_fact_is_taken_away_in_the_picture_and_comes_back(page: Any, address: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="in [dev]")
    go_to(page, address)
    page.locator(".st-key-example0 button").click()
    page.locator("g.edge[id^=f]").first.wait_for()
    settled(page)
    assert answer_of(page) == "trowel"
    assert page.evaluate(ENTER)  # a sign at once
    page.locator(".before-after").first.wait_for()
    settled(page)
    assert page.locator(".before-after s").inner_text().startswith("trowel")
    assert page.locator("g.edge[id^=x] path[stroke-dasharray]").count() == 1  # once, for both directions
    box = page.locator("[role=status][aria-live]").bounding_box()
    assert box["y"] + box["height"] < 900 and fits(page)
    assert not violations(page, axe)
    page.locator("g.edge[id^=x]").first.focus()
    page.keyboard.press("Enter")
    gone(page, ".before-after")
    settled(page)
    assert answer_of(page) == "trowel"


def test_the_first_screen_shows_what_it_does_and_a_tablet_has_room(page: Any, address: str) -> None:
    say = visit(page, address, (768, "light", "ko"))
    pair = page.locator("[data-testid=stMain]").inner_text()
    assert "모종삽" in pair and "굴착기" in pair and say("try_own") in pair
    beside = page.locator("[data-testid=stSidebar]").bounding_box()
    assert (beside is None or beside["x"] + beside["width"] <= 1) and fits(page)


def test_the_page_runs_once_for_a_click_and_takes_the_browsers_colours(page: Any, address: str) -> None:
    page.add_init_script(RUNS)
    visit(page, address, (1440, "dark", "en"))
    assert page.evaluate("runs") == 1  # nothing to restore for a newcomer
    page.evaluate("window.runs = 0")
    page.locator(".st-key-example0 button").click()
    page.locator("g.edge[id^=f]").first.wait_for()
    settled(page)
    assert page.evaluate("runs") == 1
    dark = page.locator("g.edge[id^=f] path").first.get_attribute("stroke")
    page.emulate_media(color_scheme="light")
    page.locator(f'g.edge[id^=f] path:not([stroke="{dark}"])').first.wait_for(state="attached")
    settled(page)
    assert page.locator("[role=status][aria-live]").get_by_text("trowel").is_visible()


def test_back_leads_to_the_page_before_in_its_language_and_with_ones_graph(page: Any, address: str) -> None:
    say = visit(page, address, (1440, "light", "ko"))
    for name in ("own", "batch"):
        page.get_by_role("link", name=say(name)).first.click()
        page.get_by_role("heading", name=say(name), exact=True).first.wait_for()
        settled(page)
        assert f"/{name}?" in page.url and "lang=ko" in page.url
        if name == "own":
            page.locator(".st-key-sample_beekeeping button").click()
            page.locator(".st-key-suggested0").first.wait_for()
            settled(page)
        assert "kept=" in page.url
    page.go_back()
    page.get_by_role("heading", name=say("own"), exact=True).first.wait_for()
    settled(page)
    assert "lang=ko" in page.url and "kept=" in page.url
    page.go_back()
    page.get_by_text(say("try_own")).first.wait_for()
    page.go_forward()
    page.get_by_role("heading", name=say("own"), exact=True).first.wait_for()
