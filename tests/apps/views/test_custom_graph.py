import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.custom_graphs import uploaded
from apps.follow_ups import in_english
from apps.views.custom_graph import TINTS, covers
from kgqa.types import Answer, Candidate, InputError, Question, Relation, Source

BEES = """
@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:smoker rdfs:label "smoker", "훈연기"@ko ; ex:calms ex:bees .
ex:bees rdfs:label "<b>bees</b>" ; ex:makes ex:honey . ex:honey rdfs:label "honey" .
"""


def upload(page: Any, text: str, name: str = "bees.ttl") -> None:
    page.file_uploader[0].upload(name, text.encode(), "text/turtle")
    page.button[0].click().run()


def test_a_file_becomes_a_graph_in_memory() -> None:
    graph = uploaded([("bees.ttl", BEES.encode())])
    manifest = graph.manifest
    assert graph.name == "bees" and manifest["edges"] == 2 and "ko" in manifest["languages"]
    assert graph.labels(graph.find(["honey"])[0]) == ["honey"]


def test_a_graph_is_known_by_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.testing.v1 import AppTest

    files = [("bees.ttl", BEES.encode()), ("my market.csv", b"name,is sold at\nhoney,Saturday market\n")]
    script = "import streamlit as st\nfrom apps.custom_graphs import *\n{}\nst.text('|'.join(sources()))"
    own = AppTest.from_string(script.format(f"keep_custom(uploaded({files!r}))"), default_timeout=60).run()
    assert not own.exception and own.text[0].value == "bees.ttl|my market.csv"
    monkeypatch.delenv("KGQA_GRAPH", raising=False)
    assert AppTest.from_string(script.format("")).run().text[0].value == ""
    monkeypatch.setenv("KGQA_GRAPH", "farm.ttl")
    assert AppTest.from_string(script.format("")).run().text[0].value == "farm.ttl"


def test_together_with_another_graph(tools_file: Path) -> None:
    graph = uploaded([("bees.ttl", BEES.encode())], tools_file)
    assert graph.manifest["edges"] > 2 and len(graph.find(["trowel"])[0]) and len(graph.find(["honey"])[0])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bees.ttl", b"ex:a ex:b"),
        ("bees.ttl", b"\xff\xfe\x00"),
        ("bees.exe", b"MZ"),
        ("bees.rdf", b"<!DOCTYPE x [<!ENTITY a 'aaaa'>]><x>&a;"),
        ("bees.jsonld", b'{"@context": "http://127.0.0.1:9/context", "@id": "x"}'),
        ("bees.ttl", b"#" * 50_000_001),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_the_visitors_name(name: str, content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        uploaded([(name, content)])
    assert name in str(caught.value) and "/tmp" not in str(caught.value) and "\n" not in str(caught.value)


def test_upload_report_search_and_ask(open_page: Callable[[str], Any]) -> None:
    page = open_page("custom_graph").run()
    assert not page.text_input  # no endpoint unless the app was started so
    upload(page, BEES)
    assert not page.exception and not page.error
    assert [m.value for m in page.metric][:2] == ["3", "2"]
    page.text_input(key="search").input("hon").run()
    output = "\n".join(item.proto.body for item in page.get("html"))
    assert "honey" in output and "<b>bees" not in output
    assert page.session_state["graph_choice"] == "own"
    page.text_input(key="search").input("nothing like it").run()
    assert page.text[0].value.startswith("No concept")


def test_the_map_shows_one_kind_of_thing(open_page: Callable[[str], Any]) -> None:
    kinds = 'ex:smoker kgqa:kind "tool" . ex:bees kgqa:kind "animal" .'
    page = open_page("custom_graph").run()
    text = f"@prefix kgqa: <https://kgqa.org/ontology#> .\n{BEES}\n{kinds}"
    upload(page, text)
    (kind,) = (box for box in page.selectbox if "tool" in box.options)
    assert kind.options == ["all kinds of things", "animal", "tool"]
    kind.select_index(2).run()
    (chart,) = page.get("graphviz_chart")
    assert not page.exception and "smoker" in chart.proto.spec and "honey" not in chart.proto.spec


def test_the_map_is_coloured_by_the_types_that_facts_state(open_page: Callable[[str], Any]) -> None:
    page = open_page("custom_graph").run()
    text = f"{BEES} ex:smoker a ex:Tool . ex:bees a ex:Animal . ex:honey a ex:Food ."
    upload(page, text)
    (chart,) = page.get("graphviz_chart")
    assert not page.exception and all(tint in chart.proto.spec for tint in TINTS[:3])
    assert any("Animal" in item.proto.body for item in page.get("html"))
    assert any(box.options[0] == "all kinds of things" and "Tool" in box.options for box in page.selectbox)


def test_records_without_a_name_are_called_by_their_class(open_page: Callable[[str], Any]) -> None:
    page = open_page("custom_graph").run()
    trips = (
        "ex:bees ex:trip [ a ex:Trip ; ex:to ex:rose ; ex:km 2 ] , [ a ex:Trip ; ex:to ex:lime ; ex:km 3 ] ."
    )
    upload(page, f"{BEES} {trips}")
    (chart,) = page.get("graphviz_chart")
    assert not page.exception and "the Trip (" in chart.proto.spec


def test_what_an_endpoint_connects_to_is_checked_however_the_app_was_started(
    open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_ALLOW_SPARQL", "1")
    monkeypatch.delenv("KGQA_ALLOW_PRIVATE", raising=False)
    # as where a name has changed its address since it was checked
    monkeypatch.setattr("apps.views.custom_graph.checked_url", lambda url: url)
    monkeypatch.setattr("apps.guard.checked_url", lambda url: url)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(2)
        page = open_page("custom_graph").run()
        page.text_input[0].input(f"http://127.0.0.1:{server.getsockname()[1]}/sparql")
        page.button[0].click().run()
        line, _ = server.accept()  # it is connected to, and left without a word
        line.settimeout(5)
        assert line.recv(1) == b""
        line.close()
        with pytest.raises(TimeoutError):
            server.accept()


def test_endpoints_are_checked(open_page: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_ALLOW_SPARQL", "1")
    page = open_page("custom_graph").run()
    page.text_input[0].input("http://127.0.0.1:8001/sparql")
    page.button[0].click().run()
    assert not page.exception and "inside this network" in page.error[0].value


def test_a_file_that_fails_is_not_sent_again_with_the_next(open_page: Callable[[str], Any]) -> None:
    page = open_page("custom_graph").run()
    upload(page, "this is no Turtle", "bad.ttl")
    assert not page.exception and "bad.ttl" in page.error[0].value.replace("\\", "")
    assert not page.file_uploader[0].value
    upload(page, BEES)
    assert not page.exception and not page.error and page.session_state["graph_choice"] == "own"


def test_what_was_left_out_is_not_everything() -> None:
    from streamlit.testing.v1 import AppTest

    script = (
        "from apps.views.custom_graph import report\nreport({'warnings': [], 'skipped': {'prose': %d}})\n"
    )
    left_out, whole = (AppTest.from_string(script % count).run() for count in (4, 0))
    assert not left_out.success and "4" in left_out.expander[0].label
    assert whole.success and not whole.expander


@pytest.mark.parametrize(("gold", "right"), [("7", True), ("7 years", True), ("years", False), ("8", False)])
def test_a_number_is_right_with_and_without_its_unit(gold: str, right: bool) -> None:
    number = Candidate("7 years", Source.KNOWLEDGE, 0.9, concept='"7"^^<x:integer>')
    answer = Answer(Question("How old?"), "7 years", Source.KNOWLEDGE, 0.9, (number,))
    assert covers(answer, gold) is right


@pytest.mark.parametrize(
    ("relation", "about", "question"),
    [
        ("requires", "feed the colony", "What does feeding the colony require?"),
        ("protects from", "veil", "What does a veil protect from?"),
        ("lives in", "Odin", "Where does Odin live?"),
        ("price euros", "The Storm", "What is the price of The Storm?"),
        ("runtime (minutes)", "The Storm", "What is the runtime of The Storm?"),
        ("height in m", "K2", "What is the height of K2?"),
        ("birth year", "Ann", "What is the birth year of Ann?"),
        ("age years", "Ann", "What is the age of Ann?"),
    ],
)
def test_suggested_questions_are_english(relation: str, about: str, question: str) -> None:
    assert in_english(Relation("", relation), about) == question
