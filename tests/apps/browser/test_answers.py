"""Answers as they are shown: lists, reasons, one wording of certainty; at three sizes, in two languages."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

from support.tab import (
    LANGUAGES,
    MARKS,
    PHONE,
    Form,
    ask_example,
    asked,
    at_each_width,
    is_said_in,
    settled,
    visit,
)

from apps.examples import gallery_of
from apps.texts import text

pytestmark = MARKS
TOOK = re.compile(r", \d+ ms$")
STAGE = """
@prefix : <http://stage.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Ines rdfs:label "Inês Carvalho" ; :directed :Storm, :Salt . :Bruno rdfs:label "Bruno Reis" ; :directed :Gala .
:Storm rdfs:label "The Storm" ; a :Play ; :priceEuros 16 ; rdfs:comment "A storm." .
:Salt rdfs:label "Salt Road" ; a :Play ; :priceEuros 12 .
:Gala rdfs:label "Gala Night" ; a :Play ; :priceEuros 30 . :Play rdfs:label "play" .
"""


def ask(page: Any, say: Any, question: str) -> str:
    page.get_by_role("textbox", name=say("question"), exact=True).fill(question)
    page.get_by_role("button", name=say("ask_button"), exact=True).click()
    asked(page, question)
    return str(page.locator("[role=status][aria-live]").inner_text())


def headline(page: Any) -> list[str]:
    """The answer as it is shown in large, and the line of how sure it is."""
    return [
        line.strip()
        for line in page.locator("[role=status][aria-live] > div:not(.before-after)").all_inner_texts()
    ]


def open_stage(page: Any, say: Any, folder: Path) -> None:
    bad, good = folder / "bad.ttl", folder / "theatre.ttl"
    bad.write_text("this is no Turtle")
    good.write_text(STAGE, encoding="utf-8")
    page.locator("input[type=file]").set_input_files(bad)
    page.get_by_text(bad.name, exact=True).first.wait_for()
    page.get_by_role("button", name=say("open"), exact=True).click()
    page.locator("[data-testid=stAlert]").first.wait_for()
    settled(page)
    wrong = page.locator("[data-testid=stAlert]").inner_text()
    assert bad.name in wrong and is_said_in(wrong, say)
    assert not page.get_by_text(bad.name, exact=True).count()  # it is not sent again with the next
    page.locator("input[type=file]").set_input_files(good)
    page.get_by_text(good.name, exact=True).first.wait_for()
    page.get_by_role("button", name=say("open"), exact=True).click()
    page.get_by_role("button", name=say("ask_own")).first.wait_for()
    settled(page)


@LANGUAGES
def test_several_things_are_the_answer_each_with_its_fact(
    page: Any, address: str, tmp_path: Path, form: Form
) -> None:
    say = visit(page, address, form, "own")
    open_stage(page, say, tmp_path)
    page.get_by_text(f"{say('left_out')}: 1").first.wait_for()
    assert not page.get_by_text(say("all_understood")).count()
    suggested = page.locator("[class*=st-key-suggested] button").all_inner_texts()
    assert suggested and all(is_said_in(words, say) for words in suggested)
    assert not any("price euros" in words for words in suggested)
    for _ in at_each_width(page):
        assert page.get_by_role("button", name=say("ask_own")).is_visible()
    page.get_by_role("button", name=say("ask_own")).click()
    page.locator(".st-key-example0").first.wait_for()
    settled(page)
    output = ask(page, say, "Which plays did Inês Carvalho direct?")
    assert "The Storm" in output and "Salt Road" in output and say("things", count=2) in output
    assert "Gala Night" not in output
    for _ in at_each_width(page):
        assert page.locator("li").filter(has_text="The Storm:").is_visible()
    assert "16 Euros" in ask(page, say, "How much does The Storm cost?").replace("euros", "Euros")


@PHONE
def test_the_answer_comes_before_its_reasons_and_is_said_alike_everywhere(
    page: Any, address: str, form: Form
) -> None:
    visit(page, address, form)
    ask_example(page, 0)
    # the first of two: while the page is run again, what it showed stands beside what it shows
    shown, took = headline(page), page.get_by_text(TOOK).first.text_content()
    assert shown[0]
    page.reload()
    page.locator("[role=status][aria-live]").first.wait_for()
    settled(page)
    assert headline(page) == shown
    assert page.get_by_text(TOOK).first.text_content() == took  # it was not computed again
    button = page.locator(".st-key-without button")
    button.click()
    page.locator(".before-after").first.wait_for()
    settled(page)
    assert page.locator(".before-after s").inner_text().startswith(shown[0])
    assert page.locator("[class*=st-key-history] button p").first.inner_text().endswith(f"→ {shown[0]}")
    for _ in at_each_width(page):
        assert page.locator(".st-key-undo0").is_visible()


@LANGUAGES
def test_what_cannot_be_asked_is_told_in_the_pages_language_and_all_pages_are_a_tap_away(
    page: Any, address: str, form: Form
) -> None:
    say = visit(page, address, form)
    page.get_by_role("button", name=say("ask_button"), exact=True).click()
    page.get_by_text(say("empty_question")).first.wait_for()
    settled(page)
    page.get_by_label(say("passage"), exact=True).fill("a b " * 60_000)
    page.get_by_role("textbox", name=say("question"), exact=True).fill("Why?")
    page.get_by_role("button", name=say("ask_button"), exact=True).click()
    wrong = page.locator("[data-testid=stAlert]").filter(has_text="200,000")
    wrong.first.wait_for()
    settled(page)
    assert is_said_in(wrong.inner_text(), say)
    for width in at_each_width(page):
        links = page.locator(".st-key-pages a") if width < 768 else page.get_by_role("link")
        boxes = [link.bounding_box() for link in links.all()] if width < 768 else []
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    links.filter(has_text=say("batch")).first.click()
    page.get_by_role("heading", name=say("batch")).first.wait_for()


@LANGUAGES
def test_a_passage_that_says_it_is_marked_in_place_and_facts_are_folded(
    page: Any, address: str, form: Form
) -> None:
    say = visit(page, address, form)
    name, (passage, _, _) = next(iter(gallery_of(form[2])["gallery_other"].items()))
    page.get_by_role("button", name=name, exact=True).click()
    page.locator("p mark").first.wait_for()
    settled(page)
    assert page.locator("p").filter(has=page.locator("mark")).inner_text() == passage
    assert not page.locator("svg g.node").count()
    page.get_by_text(say("facts_aside")).click()
    page.locator("svg g.node").first.wait_for()
    assert all(at_each_width(page))


@PHONE
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
    rows = [shaded(page, say(one)) for one in ("sees_both", "sees_before")]
    assert any(shade for shade in above_the_diagonal(rows[0]))  # the encoder looks ahead
    assert rows[1] and not any(above_the_diagonal(rows[1]))  # the GPT does not
    for _ in at_each_width(page):
        assert page.get_by_text(say("sees_before")).is_visible()


def shaded(page: Any, title: str) -> list[list[float]]:
    """The shares of a table of attention, by its title."""
    column = page.get_by_test_id("stColumn").filter(has_text=title).last
    rows = column.locator("tr").all()[1:]
    return [
        [float(cell.get_attribute("title").rstrip("%")) for cell in row.locator("td").all()] for row in rows
    ]


def above_the_diagonal(rows: list[list[float]]) -> list[float]:
    return [share for place, row in enumerate(rows) for share in row[place + 1 :]]


PURPOSE = {
    "en": ("flowers", "trowel", "to dig, people use a trowel"),
    "ko": ("꽃", "모종삽", "땅을 파는 일은 모종삽으로 한다"),
}
NOTED = """() => {
    window.seen = {};
    const parts = {answer: "[role=status][aria-live]", reasons: "[class*=st-key-without]"};
    new MutationObserver(() => {
        for (const [name, part] of Object.entries(parts))
            if (!(name in seen) && document.querySelector(part)) seen[name] = performance.now();
    }).observe(document.body, {childList: true, subtree: true});
}"""
"""Notes when the answer, and when what may be done about its reasons, comes onto the page."""


@LANGUAGES
def test_the_first_reason_tells_the_answer_apart_and_comes_after_it(
    page: Any, address: str, form: Form
) -> None:
    visit(page, address, form)
    page.evaluate(NOTED)
    ask_example(page, 0)
    purpose, answer, shared = PURPOSE[form[2]]
    reasons = page.locator("p.reason").inner_text()
    assert purpose in reasons and answer in reasons and shared not in reasons
    assert not page.get_by_text("is something that people").count()
    page.locator(".st-key-more summary").click()
    settled(page)  # a page that is run again loses the click
    page.locator(".st-key-mattered button").click()
    bars = page.locator("[data-testid=stMain] ul li span").filter(has_text=answer)
    bars.first.wait_for()
    settled(page)
    assert is_said_in(bars.first.inner_text(), partial(text, language=form[2]))
    assert page.evaluate("seen.answer <= seen.reasons")
    for width in at_each_width(page):
        picture = page.locator("[data-testid=stGraphVizChart] svg").bounding_box()
        assert picture["x"] >= 0 and picture["x"] + picture["width"] <= width + 1


READ = {
    "en": (
        "Plants need light, water and carbon dioxide for photosynthesis.",
        "What do plants need for photosynthesis?",
    ),
    "ko": ("식물은 광합성에 빛과 물과 이산화탄소가 필요하다.", "식물은 광합성에 무엇이 필요한가요?"),
}
"""A passage that lists three things, and what asks for them."""


@LANGUAGES
def test_a_list_in_a_passage_is_counted(page: Any, address: str, form: Form) -> None:
    say = visit(page, address, form)
    passage, question = READ[form[2]]
    page.get_by_label(say("passage"), exact=True).fill(passage)
    output = ask(page, say, question)
    assert say("things", count=3) in output
    word = page.locator("[data-testid=stMain] span[title]").first
    word.focus()  # as a tap does where nothing can be pointed with
    reported = word.evaluate("word => getComputedStyle(word, '::after').content")
    assert word.get_attribute("title") in reported
    page.get_by_text(say("new_passage")).click()
    page.get_by_text(say("try_own")).first.wait_for()
    settled(page)
    page.get_by_text(say("passage_file")).click()
    send = page.locator("[data-testid=stFileUploaderDropzone] button p").first
    send.first.wait_for()
    word = send.evaluate("p => getComputedStyle(p, '::after').content + p.innerText")
    assert is_said_in(word, say)
