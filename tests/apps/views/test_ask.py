from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st

from apps.memory import FIELDS
from apps.views import ask, voting, what_if
from apps.views.answer import sureness
from apps.views.ask import history_line, link_of
from kgqa.data.datasets.json_lines import read_examples
from kgqa.qa import answerer as answerer_module
from kgqa.qa.render import remove_answer
from kgqa.types import Answer, Evidence, Passage, Question, Source, Subgraph

EVIL = "I plant flowers <script>alert(1)</script> **bold** [x](javascript:y) :smile: $a$"


def html_of(page: Any) -> str:
    return "\n".join(item.proto.body for item in page.get("html"))


def button(page: Any, label: str) -> Any:
    return next(b for b in page.button if b.label == label)


@pytest.fixture
def page(open_page: Callable[[str], Any]) -> Any:
    """The page with an example that was asked by a click."""
    page = open_page("ask").run()
    return page.button(key="example0").click().run()


def test_an_example_is_one_click_away(page: Any) -> None:
    assert not page.exception and not page.error
    assert "%)" in html_of(page) and page.query_params["q"] == "What did I dig with?"
    assert len(page.session_state["history"]) == 1


def test_an_example_is_asked_over_everyday_knowledge(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.button(key="example_own").click().run()
    assert page.session_state["graph_choice"] == "own"
    page.button(key="example0").click().run()
    assert not page.exception and page.session_state["graph_choice"] == "shared"
    assert page.session_state["answer"].graph != "beekeeping"


def test_hostile_text_is_shown_as_it_is(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.query_params["q"] = EVIL
    page.query_params["p"] = EVIL
    page.query_params["lang"] = "<script>"
    page.run()
    assert not page.exception and page.text_input(key="question").value == EVIL
    assert "<script>" not in html_of(page) and "&lt;script&gt;" in html_of(page)
    assert not any("<script>" in m.value or "**bold**" in m.value for m in page.markdown)


def test_a_fact_is_added_struck_and_undone(page: Any) -> None:
    page.text_input(key="add_head0").input("Excavators")
    page.text_input(key="add_tail0").input("planting <b>flowers</b>")
    button(page, "Ask again").click().run()
    assert not page.exception and not page.error
    ((words, (edit,)),) = page.session_state["steps"]
    assert edit.labels == ("excavator", "planting <b>flowers</b>") and "<b>flowers" not in html_of(page)
    assert "new to this graph" in words and "before-after" in html_of(page)
    button(page, "Undo all").click().run()
    assert not page.exception and not page.session_state["steps"]
    assert "before-after" not in html_of(page)


def test_what_is_typed_is_kept_where_it_cannot_be_added(page: Any) -> None:
    page.text_input(key="add_head0").input("Excavators")
    button(page, "Ask again").click().run()
    assert (
        "a head and a tail" in page.error[0].value and page.text_input(key="add_head0").value == "Excavators"
    )


def test_a_click_takes_a_fact_away_in_both_directions_and_brings_it_back(
    digging: Subgraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(what_if.st, "session_state", state)
    monkeypatch.setattr(what_if.st, "rerun", lambda: None)
    there_and_back = np.concatenate([digging.edges, digging.edges[:1, [2, 1, 0]]])
    weights = np.append(digging.weights, digging.weights[:1])
    graph = replace(digging, edges=there_and_back, weights=weights)
    answer = Answer(Question("what"), "trowel", Source.KNOWLEDGE, 0.9, evidence=Evidence(subgraph=graph))
    monkeypatch.setattr(what_if, "answerer", lambda: SimpleNamespace(shown=lambda given: given))
    what_if.take("f0", answer)
    (step,) = state["steps"] = state.pop("steps_wanted")
    assert {(e.triple.head, e.triple.tail) for e in step.edits} == {
        (graph.nodes[a], graph.nodes[b]) for a, b in (graph.edges[0, ::2], graph.edges[0, ::-2])
    }
    what_if.take("x1", answer)
    assert state["steps_wanted"] == []
    what_if.take("n1", answer)
    assert state["concept"] == graph.labels[1]


def test_what_if_there_were_no_such_thing(page: Any) -> None:
    answer = page.session_state["answer"]
    found = [b for b in page.button if b.key == "without"]
    assert bool(found) == bool(remove_answer(answer))
    if found:  # an untrained reader may answer from the passage
        found[0].click().run()
        assert not page.exception and answer.text in found[0].label
        assert all(not e.added for e in page.session_state["steps"][0].edits)
        assert "before-after" in html_of(page)
        page.button(key="undo0").click().run()  # what one click removed, one click brings back
        assert not page.exception and not page.session_state["steps"]


def test_what_mattered_is_measured_on_demand(page: Any) -> None:
    assert "attributions" not in page.session_state
    found = [b for b in page.button if b.key == "mattered"]
    if found:  # an untrained reader may answer from the passage
        found[0].click().run()
        assert not page.exception and page.session_state["attributions"] is not None


def test_korean(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.session_state["language"] = "ko"
    page.run()
    page.button(key="example0").click().run()
    assert not page.exception and "%)" in html_of(page)


def test_a_link_holds_the_question() -> None:
    link = link_of(Question("why?", ("a", "b"), Passage("because")))
    assert link == {"q": "why?", "p": "because", "c": ["a", "b"]}
    assert [sureness(c) for c in (0.95, 0.7, 0.5, 0.4)] == ["sure", "likely", "unsure", "guess"]


def test_a_question_over_a_graph_that_is_gone_is_not_put_to_another(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.query_params["q"] = "What calms the bees?"
    page.query_params["g"] = "gone"
    page.query_params["n"] = "<b>bees</b>"
    page.run()
    assert not page.exception and "no longer open" in page.error[0].value and "<b>" not in page.error[0].value
    assert "answer" not in page.session_state


def test_a_follow_up_keeps_the_passage(page: Any) -> None:
    passage = page.text_area(key="passage").value
    page.text_input(key="question").input("Where did I dig?")
    button(page, "Ask").click().run()
    assert not page.exception and page.text_area(key="passage").value == passage
    assert [entry["passage"] for entry in page.session_state["history"]] == [passage, passage]


def test_below_the_threshold_it_says_so(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.session_state["caution"] = 1.1
    page.run()
    page.button(key="example0").click().run()
    assert not page.exception and "I don&#x27;t know" in html_of(page) and "Perhaps: " in html_of(page)
    assert "Because " not in html_of(page) and not [b for b in page.button if "next" in str(b.key)]


def test_nonsense_is_told_to_be_none_of_its_words(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.query_params["q"] = "asdfghjkl"
    page.run()
    assert not page.exception and "No word of this is known" in html_of(page)


def test_a_language_that_is_not_read_is_told(open_page: Callable[[str], Any], small_app: Path) -> None:
    """A reader of English alone reads German over a closed-world graph only, word for word in English."""
    declared = "<https://kgqa.org/ontology#closedWorld> false ."
    small_app.write_text(f"{small_app.read_text('utf-8')}\nex:graph {declared}\n", encoding="utf-8")
    page = open_page("ask")
    page.session_state["caution"] = 0.01  # however sure the reader is
    page.query_params["q"], page.query_params["p"] = "Was las Anna im Garten?", "Anna las im Garten ein Buch."
    page.run()
    assert not page.exception and any("neither English nor Korean" in said.value for said in page.markdown)
    assert (
        not page.get("graphviz_chart") and "I don&#x27;t know" in html_of(page) and "%)" not in html_of(page)
    )


def test_opinions_are_kept_on_this_machine(
    page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "said" / "feedback.jsonl"
    monkeypatch.setenv("KGQA_FEEDBACK", str(file))
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
    assert history_line(entry, [entry]) == "With what? → trowel"
    assert history_line(entry, [entry, other]).startswith("I plant. … ")
    unsure = entry | {"confidence": "0.15"}
    assert history_line(unsure, [unsure]) == "With what? → I don't know; perhaps trowel"


def test_the_history_says_an_answer_as_it_stands_above(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask").run()
    page.session_state["caution"] = 1.0
    page.button(key="example0").click().run()
    (entry,) = page.session_state["history"]
    assert "Perhaps: " in html_of(page)
    assert "I don't know; perhaps" in history_line(entry | {"confidence": "0.1", "perhaps": "ladle"}, [])


def test_nothing_is_computed_twice(open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    run = answerer_module.run_steps

    def counted(listed: Any, states: Any, watch: Any = None) -> Any:
        steps.extend(stage.name for stage in listed if states)
        return run(listed, states, watch)

    page = open_page("ask").run()
    monkeypatch.setattr(answerer_module, "run_steps", counted)
    page.button(key="example0").click().run()
    assert not page.exception and not steps  # the first screen shows it already
    page.button(key="example2").click().run()
    assert steps.count("read") == 1 and steps.count("attribute") == 1
    assert steps.index("read") < steps.index("attribute")
    page.button(key="example0").click().run()
    page.button(key="example2").click().run()
    assert steps.count("read") == 1 and steps.count("attribute") == 1


@pytest.mark.parametrize("question", ["", "  "])
def test_an_empty_question_is_told_without_a_reader(
    open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    page = open_page("ask").run()
    monkeypatch.setattr(ask, "answered", lambda *_: pytest.fail("read"))
    page.text_input(key="question").input(question)
    button(page, "Ask").click().run()
    assert not page.exception and "Write a question first" in page.error[0].value


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
    assert ended and "answer" not in page.session_state
    page.run()
    assert "answer" in page.session_state


def test_a_question_of_harm_is_told_where_to_turn_and_not_kept(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.query_params["q"] = "What should he do?"
    page.query_params["p"] = "He thinks about killing himself."
    page.run()
    output = html_of(page)
    assert not page.exception and "988" in output and "%)" not in output
    assert not page.session_state["history"] if "history" in page.session_state else True
    assert "q" not in page.query_params


def test_a_class_votes_before_it_sees_the_answer(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.session_state["class_mode"] = True
    page.run()
    page.button(key="example0").click().run()
    assert not page.exception and "%)" not in html_of(page) and "data:image/svg+xml" in html_of(page)
    room = voting.rooms()[page.session_state["room"]]
    assert room.is_open and room.question == "What did I dig with?" and len(room.options) > 1
    room.vote("a pupil", room.options[0])
    button(page, "Show the answer").click().run()
    assert not page.exception and not room.is_open and "%)" in html_of(page)
    assert any("Votes: 1" in item.value for item in page.markdown)


def test_pupils_vote_in_the_language_of_their_class(open_page: Callable[[str], Any]) -> None:
    page = open_page("ask")
    page.session_state["class_mode"], page.session_state["language"] = True, "ko"
    page.run()
    page.button(key="example0").click().run()
    assert not page.exception and "lang=ko" in page.code[0].value


def test_what_may_be_asked_next_is_asked_by_a_click_and_the_same_stands_elsewhere(
    open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "follow_ups", lambda *_: ["What is a trowel used for?"])
    page = open_page("ask")
    page.session_state["caution"] = 0.0  # an untrained reader is never sure
    page.run()
    page.button(key="example0").click().run()
    assert any(code.value.startswith("kgqa ask 'What did I dig with?'") for code in page.code)
    page.button(key="next0").click().run()
    assert not page.exception and page.text_input(key="question").value == "What is a trowel used for?"
