"""A class that votes, a batch that is left, stopped and come back to, and a table that is pasted and tested."""

from __future__ import annotations

import re
from typing import Any

from support.tab import MARKS, go_to, settled, visit

pytestmark = MARKS
TABLE = "name,keeps,lives in\nOdin,bees,Norland\nInga,goats,Sudland\nPer,hens,Norland\n"


def test_a_class_votes_before_it_sees_the_answer(page: Any, address: str) -> None:
    say = visit(page, address, (1280, "light", "en"))
    page.get_by_text(say("class_mode"), exact=True).click()
    settled(page)
    page.locator(".st-key-example0 button").click()
    page.get_by_text(say("vote_now")).first.wait_for()
    shown = page.locator("[data-testid=stApp]").inner_text()
    assert say("likely") not in shown and "→ trowel" not in shown  # the side bar does not tell it either
    code = page.locator("code").filter(has_text="room=").inner_text().strip().partition("room=")[2]
    pupil = page.context.browser.new_page(viewport={"width": 390, "height": 844})
    pupil.set_default_timeout(120_000)
    go_to(pupil, f"{address}/?room={code}")
    pupil.get_by_role("button", name="trowel", exact=True).click()
    pupil.get_by_text(say("vote_counted")).first.wait_for()
    page.get_by_text(say("votes", count=1)).first.wait_for()
    page.get_by_role("button", name=say("show_answer")).click()
    page.locator("[role=status][aria-live]").first.wait_for()
    pupil.get_by_text(say("vote_waits")).first.wait_for()
    pupil.close()
    settled(page)
    amount = page.locator(".st-key-how_many [role=radiogroup]")  # large type, yet nothing is cut
    assert amount.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert page.locator("li").filter(has_text="trowel").first.is_visible()


def test_a_batch_goes_on_while_one_is_elsewhere_and_is_stopped(
    page: Any, address: str, tmp_path: Any
) -> None:
    say = visit(page, address, (1440, "light", "en"), "batch")
    file = tmp_path / "questions.csv"
    rows = "".join(f'"What did I dig with, {n}?","I plant flowers, so I dug."\n' for n in range(800))
    file.write_bytes(("Question,Context\n" + rows).encode("utf-16"))
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text(say("rows_found", count=800, rows=800)).first.wait_for()  # said before anything is asked
    page.get_by_role("button", name=say("answer_all")).click()
    page.get_by_role("button", name=say("stop")).first.wait_for()
    page.get_by_role("link", name=say("about")).first.click()
    page.get_by_role("heading", name=say("about"), exact=True).first.wait_for()
    page.go_back()
    page.get_by_role("heading", name=say("batch"), exact=True).first.wait_for()
    page.get_by_text(re.compile(say("answering", done=r"[1-9]\d*", total=r"\d+"))).first.wait_for()
    page.get_by_role("button", name=say("stop")).click()
    given = page.get_by_role("heading", name=say("answers"))
    given.first.wait_for()
    settled(page)
    told = given.inner_text().partition("·")[0]
    assert 0 < int("".join(filter(str.isdigit, told))) < 800  # what was done is kept


def test_a_pasted_table_is_shown_as_it_was_read_and_tested(page: Any, address: str) -> None:
    say = visit(page, address, (1440, "light", "en"), "own")
    page.get_by_label(say("paste_table")).fill(TABLE)
    page.get_by_role("button", name=say("open"), exact=True).click()
    page.get_by_role("button", name=say("ask_own")).first.wait_for()
    settled(page)
    page.get_by_text(say("preview")).click()
    page.locator("[data-testid=stDataFrame]").first.wait_for()
    page.get_by_role("button", name=say("test_graph", count=15)).click()
    page.get_by_text("answered rightly").first.wait_for()
    settled(page)
    right = page.get_by_text("answered rightly").inner_text()
    assert int(right.split()[0]) >= 1 and "of 6" in right  # each of the table's facts is asked for
