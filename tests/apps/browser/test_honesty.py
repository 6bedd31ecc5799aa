"""What the page says of itself: that it does not know, what an answer rests on, where to turn."""

from __future__ import annotations

from typing import Any

from support.tab import LANGUAGES, MARKS, Form, settled, visit

pytestmark = MARKS
HARM = {
    "en": ("He thinks about killing himself.", "What should he do?", "988"),
    "ko": ("그는 자살을 생각한다.", "무엇을 해야 하나요?", "109"),
}


def ask(page: Any, say: Any, passage: str, question: str) -> str:
    """Ask something in the open form; what is said in large."""
    page.get_by_role("textbox", name=say("passage"), exact=True).fill(passage)
    page.get_by_role("textbox", name=say("question"), exact=True).fill(question)
    page.get_by_role("button", name=say("ask_button"), exact=True).click()
    page.locator("[role=status][aria-live]").first.wait_for()
    settled(page)
    return str(page.locator("[role=status][aria-live]").inner_text())


@LANGUAGES
def test_a_question_of_harm_gets_one_calm_sentence(page: Any, address: str, form: Form) -> None:
    say = visit(page, address, form)
    passage, question, number = HARM[form[2]]
    assert number in ask(page, say, passage, question)
    assert not page.locator("svg g.node").count() and not page.get_by_text(say("or"), exact=True).count()
    assert "q=" not in page.url and not page.locator("[class*=st-key-history]").count()


def test_one_of_the_choices_is_the_answer(page: Any, address: str) -> None:
    say = visit(page, address, (1440, "light", "en"))
    page.get_by_role("textbox", name=say("choices"), exact=True).fill("oven\numbrella\nbook")
    output = ask(page, say, "It began to rain while Tom walked home.", "What did he open?")
    assert "umbrella" in output and "oven" not in output and "book" not in output


def test_what_is_not_known_is_said_to_be_and_a_ground_is_one(page: Any, address: str) -> None:
    say = visit(page, address, (1440, "light", "en"))
    output = ask(page, say, "Anna read a book.", "Is Paris in France?")
    assert say("yes") in output and "Paris is found in" in page.locator("p.reason").inner_text()
    page.get_by_text(say("new_passage")).click()
    settled(page)
    ask(page, say, "", "Is Paris in Germany?")
    assert page.get_by_text(say("no_fact_says_so")).first.is_visible()
    assert not page.get_by_text(say("decided_here")).count() and not page.locator("p mark").count()
    assert not page.locator("svg g.node").count()  # facts that say nothing of it are folded away
    assert "Is Paris in France?" not in output  # it stands in the form, once
    page.get_by_text(say("new_passage")).click()
    settled(page)
    assert say("no_word_known") in ask(page, say, "", "asdfghjkl")
    assert say("errs") in page.locator("[data-testid=stMain]").inner_text()
    page.get_by_text(say("new_passage")).click()
    settled(page)
    assert "Buch" in ask(page, say, "Anna las im Garten ein Buch.", "Was las Anna im Garten?")
    assert page.locator("p[lang=de]").is_visible()  # read aloud as what it is
    assert not page.get_by_text(say("unread")).count()  # the reader for many languages reads it
