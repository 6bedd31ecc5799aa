from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from apps.memory import FIELDS
from apps.views import ask
from apps.views.answer import sureness
from apps.views.ask import link_of, told_apart
from kgqa.answering import answerer as answerer_module
from kgqa.answering.presentation.edits import strike_answer
from kgqa.text.datasets.json_lines import read_examples
from kgqa.types import Passage, Question

EVIL = "I plant flowers <script>alert(1)</script> **bold** [x](javascript:y) :smile: $a$"


def html_of(page: Any) -> str:
    return "\n".join(item.proto.body for item in page.get("html"))


def button(page: Any, label: str) -> Any:
    return next(b for b in page.button if b.label == label)


def test_an_example_is_one_click_away(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.button(key="example0").click().run()
    assert not page.exception and not page.error
    assert "confidence" in html_of(page) and page.query_params["q"] == "What did I dig with?"
    assert len(page.session_state["history"]) == 1


def test_hostile_text_is_shown_as_it_is(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.query_params["q"] = EVIL
    page.query_params["p"] = EVIL
    page.query_params["lang"] = "<script>"
    page.run()
    assert not page.exception and page.text_input(key="question").value == EVIL
    assert "<script>" not in html_of(page) and "&lt;script&gt;" in html_of(page)
    assert not any("<script>" in m.value or "**bold**" in m.value for m in page.markdown)


@pytest.mark.parametrize(("question", "words"), [("", "question first"), ("  ", "question first")])
def test_a_question_that_cannot_be_asked_gets_one_sentence(
    open_page: Callable[[str], Any], question: str, words: str
) -> None:
    page = open_page("ask").run()
    page.text_input(key="question").input(question)
    button(page, "Ask").click().run()
    assert not page.exception and words in page.error[0].value and "answer" not in page.session_state


def test_a_fact_is_added_struck_and_undone(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.button(key="example0").click().run()
    page.text_input(key="add_head0").input("Excavators")
    page.text_input(key="add_tail0").input("planting <b>flowers</b>")
    button(page, "Ask again").click().run()
    assert not page.exception and not page.error
    ((_, (edit,), _),) = page.session_state["steps"]
    assert edit.labels == ("excavator", "planting <b>flowers</b>") and "<b>" not in html_of(page)
    assert "Before" in html_of(page) and "After" in html_of(page)
    page.multiselect(key="strike1").set_value([0])
    button(page, "Ask again").click().run()
    assert [e.added for step in page.session_state["steps"] for e in step.edits] == [True, False]
    button(page, "Undo").click().run()
    button(page, "Undo all").click().run()
    assert not page.exception and not page.session_state["steps"]
    assert "After" not in html_of(page)


def test_what_if_there_were_no_such_thing(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.button(key="example0").click().run()
    answer = page.session_state["answer"]
    found = [b for b in page.button if b.key == "without"]
    assert bool(found) == bool(strike_answer(answer))
    if found:  # an untrained reader may answer from the passage
        found[0].click().run()
        assert not page.exception and answer.text in found[0].label
        assert all(not e.added for e in page.session_state["steps"][0].edits) and "After" in html_of(page)
        button(page, "Undo").click().run()  # what one click struck, one click brings back
        assert not page.exception and not page.session_state["steps"]


def test_nothing_to_edit_is_said(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.button(key="example0").click().run()
    button(page, "Ask again").click().run()
    assert "strike out" in page.error[0].value


def test_what_mattered_is_measured_on_demand(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.button(key="example0").click().run()
    assert "influences" not in page.session_state
    found = [b for b in page.button if b.key == "mattered"]
    if found:  # an untrained reader may answer from the passage
        found[0].click().run()
        assert not page.exception and page.session_state["influences"] is not None


def test_korean(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.session_state["language"] = "ko"
    page.run()
    page.button(key="example0").click().run()
    assert not page.exception and "확신도" in html_of(page)


def test_a_link_holds_the_question() -> None:
    link = link_of(Question("why?", ("a", "b"), Passage("because")))
    assert link == {"q": "why?", "p": "because", "c": ["a", "b"]}
    assert [sureness(c) for c in (0.95, 0.7, 0.4, 0.1)] == ["sure", "likely", "unsure", "guess"]


def test_a_question_over_a_graph_that_is_gone_is_not_put_to_another(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.query_params["q"] = "What calms the bees?"
    page.query_params["g"] = "gone"
    page.query_params["n"] = "<b>bees</b>"
    page.run()
    assert not page.exception and "no longer open" in page.error[0].value and "<b>" not in page.error[0].value
    assert "answer" not in page.session_state


def test_a_follow_up_keeps_the_passage(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.button(key="example0").click().run()
    passage = page.text_area(key="passage").value
    page.text_input(key="question").input("Where did I dig?")
    button(page, "Ask").click().run()
    assert not page.exception and page.text_area(key="passage").value == passage
    assert page.button(key="before0").label.startswith("What did I dig with")
    page.button(key="before0").click().run()
    assert page.text_input(key="question").value == "What did I dig with?"


def test_below_the_threshold_it_says_so(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.session_state["caution"] = 1.1
    page.run()
    page.button(key="example0").click().run()
    assert not page.exception and "I don&#x27;t know" in html_of(page) and "perhaps" in html_of(page)


def test_opinions_are_kept_on_this_machine(
    open_page: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "said" / "feedback.jsonl"
    monkeypatch.setenv("KGQA_FEEDBACK", str(file))
    page = open_page("ask").run()
    page.button(key="example0").click().run()
    page.feedback[0].set_value(0).run() if hasattr(page, "feedback") else pytest.skip("an older Streamlit")
    next(box for box in page.text_input if "right" in box.label).input("trowel")
    button(page, "Keep").click().run()
    assert not page.exception and read_examples_of(file) == [("trowel",)]


def read_examples_of(file: Path) -> list[tuple[str, ...]]:
    return [example.golds for example in read_examples(file)]


def test_the_history_tells_questions_apart() -> None:
    values = ("I plant.", "With what?", "", "", "trowel", "trowel", "0.9")
    entry = dict(zip(FIELDS, values, strict=True))
    other = entry | {"passage": "I build.", "answer": ""}
    assert told_apart(entry, [entry]) == "With what? → trowel"
    assert told_apart(entry, [entry, other]).startswith("I plant. … ")
    unsure = entry | {"confidence": "0.15"}
    assert told_apart(unsure, [unsure]) == "With what? → I don't know; perhaps trowel"


def test_the_history_says_an_answer_as_it_stands_above(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.session_state["caution"] = 1.0
    page.button(key="example0").click().run()
    (entry,) = page.session_state["history"]
    assert "I don&#x27;t know; perhaps" in html_of(page)
    assert "I don't know; perhaps" in ask.remembered(entry | {"confidence": "0.1", "perhaps": "ladle"})


def test_nothing_is_computed_twice(open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[str] = []
    run = answerer_module.run

    def counted(listed: Any, drafts: Any, watch: Any = None) -> Any:
        stages.extend(stage.name for stage in listed)
        return run(listed, drafts, watch)

    page = open_page("ask").run()
    page.button(key="example0").click().run()
    assert not page.exception
    monkeypatch.setattr(answerer_module, "run", counted)
    page.button(key="example1").click().run()
    assert stages.count("read") == 1 and stages.count("attribute") == 1
    assert stages.index("read") < stages.index("attribute")
    page.button(key="example0").click().run()
    page.button(key="example1").click().run()
    assert stages.count("read") == 1 and stages.count("attribute") == 1


def test_an_empty_question_is_told_without_a_reader(
    open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("ask").run()
    monkeypatch.setattr(ask, "answered", lambda *_: pytest.fail("read"))
    button(page, "Ask").click().run()
    assert "Write a question first" in page.error[0].value


def test_a_question_whose_run_was_ended_is_asked_in_the_next(
    open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, ended = ask.answered, []

    def ends_once(*asked: Any) -> Any:
        if not ended:
            ended.append(True)
            st.stop()
        return opened(*asked)

    page = open_page("ask").run()
    monkeypatch.setattr(ask, "answered", ends_once)
    page.button(key="example0").click().run()
    assert ended and "confidence" not in html_of(page)
    page.run()
    assert "confidence" in html_of(page)
