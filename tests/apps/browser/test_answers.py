"""Answers as they are shown: lists, reasons, one wording of certainty; at three sizes, in two languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tab import MARKS, Form, ask_example, settled, visit

from apps.examples import gallery_of

pytestmark = MARKS
SIZES = pytest.mark.parametrize(
    "form",
    [
        (390, "dark", "ko"),
        (390, "light", "en"),
        (768, "light", "en"),
        (768, "dark", "ko"),
        (1440, "light", "en"),
    ],
    ids=["phone-ko", "phone", "tablet", "tablet-ko", "desk"],
)
STAGE = """
@prefix : <http://stage.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Ines rdfs:label "Inês Carvalho" ; :directed :Storm, :Salt . :Bruno rdfs:label "Bruno Reis" ; :directed :Gala .
:Storm rdfs:label "The Storm" ; a :Play ; :priceEuros 16 . :Salt rdfs:label "Salt Road" ; a :Play ; :priceEuros 12 .
:Gala rdfs:label "Gala Night" ; a :Play ; :priceEuros 30 . :Play rdfs:label "play" .
"""


def ask(page: Any, say: Any, question: str) -> str:
    page.get_by_role("textbox", name=say("question"), exact=True).fill(question)
    page.get_by_role("button", name=say("ask_button"), exact=True).click()
    page.locator("[role=status][aria-live]").get_by_text(question).wait_for()
    settled(page)
    return str(page.locator("[role=status][aria-live]").inner_text())


def open_stage(page: Any, say: Any, folder: Path) -> None:
    bad, good = folder / "bad.ttl", folder / "theatre.ttl"
    bad.write_text("this is no Turtle")
    good.write_text(STAGE, encoding="utf-8")
    page.locator("input[type=file]").set_input_files(bad)
    page.get_by_text(bad.name, exact=True).wait_for()
    page.get_by_role("button", name=say("open"), exact=True).click()
    page.locator("[data-testid=stAlert]").wait_for()
    settled(page)
    assert not page.get_by_text(bad.name, exact=True).count()  # it is not sent again with the next
    page.locator("input[type=file]").set_input_files(good)
    page.get_by_text(good.name, exact=True).wait_for()
    page.get_by_role("button", name=say("open"), exact=True).click()
    page.get_by_role("button", name=say("ask_own")).wait_for()
    settled(page)


@SIZES
def test_several_things_are_the_answer_each_with_its_fact(
    page: Any, address: str, tmp_path: Path, form: Form
) -> None:
    say = visit(page, address, form, "own")
    open_stage(page, say, tmp_path)
    page.get_by_role("button", name=say("ask_own")).click()
    page.locator(".st-key-example0").wait_for()
    settled(page)
    said = ask(page, say, "Which plays did Inês Carvalho direct?")
    assert "The Storm" in said and "Salt Road" in said and say("things", count=2) in said
    assert "Gala Night" not in said
    page.get_by_text(say("each_of", count=2)).wait_for()
    assert page.locator("li").filter(has_text="The Storm:").count() == 1
    assert "16 Euros" in ask(page, say, "How much does The Storm cost?").replace("euros", "Euros")


@SIZES
def test_the_answer_comes_before_its_reasons_and_is_said_alike_everywhere(
    page: Any, address: str, form: Form
) -> None:
    say = visit(page, address, form)
    ask_example(page, 0)
    shown = page.locator("[role=status][aria-live] > div").nth(1).inner_text().strip()
    assert shown
    page.reload()
    page.locator("[role=status][aria-live]").wait_for()
    settled(page)
    assert page.locator("[role=status][aria-live] > div").nth(1).inner_text().strip() == shown
    button = page.locator(".st-key-without button")
    button.click()
    page.get_by_text(say("after"), exact=True).wait_for()
    settled(page)
    below = page.get_by_text(say("before"), exact=True).bounding_box()["y"] - button.bounding_box()["y"]
    assert 0 < below < 400  # beside the button that asked for it
    page.get_by_text(say("edits", count=1)).wait_for()


@SIZES
def test_an_empty_question_says_so_and_all_pages_are_a_tap_away(page: Any, address: str, form: Form) -> None:
    say = visit(page, address, form)
    page.get_by_role("button", name=say("ask_button"), exact=True).click()
    page.get_by_text(say("empty_question")).wait_for()
    links = page.locator(".st-key-pages a") if form[0] < 768 else page.get_by_role("link", name=say("batch"))
    boxes = [link.bounding_box() for link in links.all()] if form[0] < 768 else []
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= form[0] for box in boxes)
    link = links.filter(has_text=say("batch")).first
    link.wait_for()
    link.click()
    page.get_by_role("heading", name=say("batch")).wait_for()


@SIZES
def test_a_passage_that_says_it_is_quoted_by_its_sentence_and_facts_are_folded(
    page: Any, address: str, form: Form
) -> None:
    visit(page, address, form)
    name, (passage, _, _) = next(iter(gallery_of(form[2])["gallery_other"].items()))
    page.get_by_role("button", name=name, exact=True).click()
    page.locator("blockquote mark").wait_for()
    settled(page)
    assert page.locator("blockquote").inner_text() == passage
    assert not page.locator("svg g.node").count()


@SIZES
def test_hidden_words_are_found_and_temperatures_can_be_read(page: Any, address: str, form: Form) -> None:
    say = visit(page, address, form, "learn")
    first = page.locator("ul").filter(has_text="dog").first
    assert first.locator("li span").first.inner_text() == "dog"
    for heat in ("1", "2", "5"):
        column = page.get_by_test_id("stColumn").filter(has_text=f"{say('temperature')} {heat}").last
        shares = [
            int(share.rstrip("%")) for share in column.locator("li span:nth-child(2)").all_inner_texts()
        ]
        assert len(shares) == 6 and min(shares) > 0 and 97 <= sum(shares) <= 103
