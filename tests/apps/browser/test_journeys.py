"""The main journeys in a real browser: what is clicked works, nothing is loaded from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.tab import (
    DESK,
    FORMS,
    MARKS,
    PHONE,
    Form,
    ask_example,
    asked,
    at_each_width,
    downloaded,
    fits,
    go_to,
    gone,
    is_said_in,
    settled,
    violations,
    visit,
)

from kgqa.data.datasets.json_lines import read_examples

pytestmark = MARKS
IN_VIEW = "document.querySelector('.st-key-picked').getBoundingClientRect().bottom < innerHeight"
"""Whether what is said of a clicked concept is to be seen."""


def test_ask_why_what_if_upload_compare(page: Any, address: str, tmp_path: Path) -> None:
    go_to(page, address)
    page.get_by_role("button", name="clean the carpet").click()
    page.locator("[role=status][aria-live]").first.wait_for()
    assert "q=What+did+she+use" in page.url
    page.locator("svg g.node").first.wait_for()
    settled(page)
    picture = page.locator("[data-testid=stGraphVizChart] svg")
    whole = picture.get_attribute("viewBox")
    page.get_by_role("button", name="Closer").click()
    assert picture.get_attribute("viewBox") != whole
    page.get_by_role("button", name="All of it").click()
    node = page.locator("svg g.node").last
    label = " ".join(node.locator("text").all_text_contents())
    node.click()
    page.get_by_text(f"What the graph says of {label}").first.wait_for()
    settled(page)
    assert page.get_by_label("This", exact=True).input_value() == label
    page.wait_for_function(IN_VIEW)
    page.locator(".st-key-more summary").click()
    page.get_by_role("button", name="Which facts mattered?").click()
    page.get_by_text("when one fact is taken away").first.wait_for()

    settled(page)
    page.get_by_label("This", exact=True).fill("Purple <b>spoon</b>")
    page.get_by_label("that", exact=True).fill("build a house")
    page.get_by_role("button", name="Ask again").click()
    page.get_by_text("added: a Purple <b>spoon</b> is used to build a house").first.wait_for()
    page.get_by_text("new to this graph").first.wait_for()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Edits as Turtle").click()
    assert "urn:kgqa:added:" in Path(download.value.path()).read_text(encoding="utf-8")
    page.locator(".st-key-undo0 button").click()
    gone(page, ".before-after")
    settled(page)
    page.get_by_role("button", name="What if there were no").first.click()
    page.locator(".before-after").first.wait_for()
    settled(page)

    page.get_by_role("link", name="Compare").click()
    page.get_by_role("heading", name="Compare").first.wait_for()
    settled(page)
    assert page.get_by_role("textbox", name="Question", exact=True).input_value() == "What did she use?"
    page.get_by_role("button", name="Compare").click()
    page.get_by_text(" ms").first.wait_for()

    bees = tmp_path / "bees.ttl"
    bees.write_text('<x:smoker> <x:calms> <x:bees> . <x:bees> <x:makes> "<img src=x onerror=alert(1)>" .')
    page.get_by_role("link", name="Your graph").click()
    page.get_by_role("heading", name="Your graph").first.wait_for()
    settled(page)
    page.locator("input[type=file]").set_input_files(bees)
    page.get_by_text("bees.ttl", exact=True).first.wait_for()
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("button", name="Ask over this graph").first.wait_for()
    settled(page)
    page.get_by_role("button", name="Ask over this graph").click()
    page.locator(".st-key-example0").first.wait_for()
    settled(page)
    page.get_by_role("textbox", name="Question", exact=True).fill("What calms the bees?")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("over bees").first.wait_for(state="attached")


def test_the_history_survives_a_reload_and_is_walked_by_arrows(page: Any, address: str) -> None:
    go_to(page, address)
    for example in ("example0", "example1"):
        page.locator(f".st-key-{example} button").click()
        page.locator(".st-key-history0" if example == "example0" else ".st-key-history1").first.wait_for()
        settled(page)
    page.goto(address)
    page.locator(".st-key-history1").first.wait_for()
    settled(page)
    assert "plant flowers" in page.locator(".st-key-history1").inner_text()
    page.get_by_role("textbox", name="Question", exact=True).press("ArrowUp")
    asked(page, "What did I dig with?")
    page.get_by_text("Passage: I want to plant flowers").first.wait_for()
    page.get_by_text("Passage: I want to plant flowers").click()
    page.get_by_label("Passage", exact=True).fill("I want to build a house, so I dug the ground.")
    page.get_by_label("Passage", exact=True).press("Control+Enter")
    page.get_by_text("Passage: I want to build a house").first.wait_for()


def test_a_graph_of_ones_own_is_kept_over_a_reload(page: Any, address: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="in [dev]")
    page.goto(f"{address}/own")
    page.get_by_role("button", name="Open beekeeping").click()
    page.get_by_text("Questions it answers").first.wait_for()
    settled(page)
    assert "kept=" in page.url
    page.reload()
    page.get_by_text("Questions it answers").first.wait_for()
    settled(page)
    page.locator(".st-key-suggested0 button").click()
    page.get_by_text("over beekeeping").first.wait_for(state="attached")
    settled(page)
    page.locator(".st-key-more summary").click()  # with the query, and the same as a command
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    assert not violations(page, axe)
    assert "&g=" in page.url
    page.goto(page.url.replace("&g=", "&g=x"))
    page.get_by_text("no longer open here").first.wait_for()


@PHONE
def test_a_passage_from_a_file_and_questions_that_follow(
    page: Any, address: str, tmp_path: Path, form: Form
) -> None:
    say = visit(page, address, form)
    file = tmp_path / "picnic.md"
    file.write_text("# Picnic\n\nMina packed her **bag**. She put in bread and [juice](x). It began to rain.")
    page.get_by_text(say("passage_file")).click()
    page.locator("input[type=file]").set_input_files(file)
    passage = page.get_by_label(say("passage"), exact=True)
    page.wait_for_function("[...document.querySelectorAll('textarea')].some(e => e.value.includes('Mina'))")
    settled(page)
    assert (
        passage.input_value()
        == "Picnic\n\nMina packed her bag. She put in bread and juice. It began to rain."
    )
    question = page.get_by_role("textbox", name=say("question"), exact=True)
    for words in ("What did she put in?", "What did she pack?"):
        question.fill(words)
        if form[0] < 768:  # Streamlit's hint would lie over what is typed
            assert not page.locator(".st-key-asking").get_by_test_id("InputInstructions").is_visible()
        page.get_by_role("button", name=say("ask_button"), exact=True).click()
        asked(page, words)
    if form[0] < 768:
        page.get_by_test_id("stExpandSidebarButton").click()
        settled(page)
    page.locator(".st-key-history1 button:visible").first.click()
    page.wait_for_function(
        "[...document.querySelectorAll('input')].some(e => e.value === 'What did she put in?')"
    )


@DESK
def test_the_evidence_can_be_taken_along(page: Any, address: str, form: Form) -> None:
    say = visit(page, address, form)
    ask_example(page, 0)
    page.locator(".st-key-how_many button").last.click()
    settled(page)
    # more than the path has the width of the page, so that it can be read
    assert page.locator("svg g.node text").first.bounding_box()["height"] > 8
    buttons = {kind: page.get_by_role("button", name=f"{say('save_as')} {kind}") for kind in ("PNG", "SVG")}
    assert downloaded(page, buttons["PNG"]).startswith(b"\x89PNG")
    assert downloaded(page, buttons["SVG"]).startswith(b"<svg")
    page.locator(".st-key-more summary").click()
    answer = json.loads(downloaded(page, page.get_by_role("button", name=say("json"))))
    assert answer["answer"] and page.locator("[role=status][aria-live]").get_by_text(answer["answer"]).count()
    page.get_by_text(say("as_list", count="").split("(")[0].strip()).click()
    settled(page)
    turtle = downloaded(page, page.get_by_role("button", name=say("facts_turtle")))
    assert b"@prefix" in turtle or b" <" in turtle


@PHONE
def test_a_file_of_questions_is_scored(page: Any, address: str, tmp_path: Path, form: Form) -> None:
    say = visit(page, address, form, "batch")
    file = tmp_path / "class.csv"
    file.write_text(
        "group;question;passage;answer\n3b;What did I dig with?;I want to plant flowers, so I dug.;trowel|spade\n"
        "3b;;;\n3b;Why?;so;yes;no\n3c;What colour was the sofa?;The cat slept on the sofa.;(none)\n"
    )
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name=say("answer_all")).click()
    note = say("metrics_note", count="|", low="", high="").replace("`", "").split("|")[0].strip()
    page.get_by_text(note).first.wait_for()
    settled(page)
    assert page.locator("[data-testid=stMetric]").count() == 4
    page.get_by_text(say("rows_left_out", count=2)).first.wait_for()
    table = downloaded(page, page.get_by_role("button", name=say("download_csv"))).decode("utf-8-sig")
    assert table.splitlines()[0].startswith("group") and "3c" in table and len(table.splitlines()) == 5
    for _ in at_each_width(page):
        assert page.get_by_text(note).is_visible()


@PHONE
def test_files_are_merged_into_a_graph_that_is_looked_at_and_queried(
    page: Any, address: str, tmp_path: Path, form: Form
) -> None:
    say = visit(page, address, form, "own")
    bees, market = tmp_path / "bees.ttl", tmp_path / "market.csv"
    bees.write_text("<x:smoker> <x:calms> <x:bees> . <x:bees> <x:makes> <x:honey> .")
    market.write_text("name,is sold at\nhoney,Saturday market\n", encoding="utf-16")
    page.locator("input[type=file]").set_input_files([bees, market])
    page.get_by_text(market.name, exact=True).first.wait_for()
    page.get_by_role("button", name=say("open"), exact=True).click()
    page.get_by_role("heading", name=say("schema"), exact=True).first.wait_for()
    settled(page)
    page.get_by_text(f"{bees.name}, {market.name}").first.wait_for()
    page.get_by_text(say("query")).click()
    page.get_by_label("SPARQL").fill("SELECT ?what WHERE { <x:smoker> ?does ?what }")
    shown = page.locator("[data-testid=stDataFrame]").count()
    page.get_by_role("button", name=say("run_query"), exact=True).click()
    page.locator("[data-testid=stDataFrame]").nth(shown).wait_for()


@PHONE
def test_an_opinion_is_kept_as_a_line_to_train_on(
    page: Any, address: str, opinions: Path, form: Form
) -> None:
    say = visit(page, address, form)
    ask_example(page, 0)
    page.locator("[class*=st-key-thumbs] button").last.click()
    page.get_by_label(say("would_be_right")).fill("garden fork")
    page.get_by_role("button", name=say("keep"), exact=True).click()
    page.get_by_text(say("kept")).first.wait_for()
    (example,) = read_examples(opinions)
    assert "garden fork" in str(example)
    opinions.unlink()


@FORMS
def test_readers_are_compared_in_the_pages_language(page: Any, address: str, form: Form) -> None:
    say = visit(page, address, form)
    ask_example(page, 1)
    menu = page.locator(".st-key-pages a") if form[0] < 768 else page.get_by_role("link")
    menu.filter(has_text=say("compare")).first.click()
    page.get_by_role("heading", name=say("compare"), exact=True).first.wait_for()
    settled(page)
    page.get_by_role("button", name=say("compare_button"), exact=True).first.click()
    page.get_by_text(" ms").first.wait_for()
    settled(page)
    facts = page.locator("[data-testid=stMain] ol li").all_inner_texts()
    assert facts and all(is_said_in(fact, say) for fact in facts) and fits(page)
