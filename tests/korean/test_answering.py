from __future__ import annotations

from dataclasses import replace

import pytest

from kgqa.graph.formats.source_files import Label
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.korean.answering import KoreanOver, said_in_korean
from kgqa.qa.render import answer_json, path_sentences
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    Item,
    Link,
    NodeRole,
    Passage,
    Question,
    Relation,
    Source,
    Span,
    Subgraph,
    Triple,
)

PASSAGE = "삽이 부러져서 우리는 프라이팬으로 땅을 팠다."
USED = "https://kgqa.org/relation/UsedFor"


@pytest.fixture
def graph():
    labels = [
        Label("urn:trowel", "trowel", "en", True),
        Label("urn:trowel", "모종삽", "ko", True),
        Label("urn:plant", "plant flowers", "en", True),
        Label("urn:plant", "꽃을 심다", "ko", True),
        Label("urn:spade", "spade", "en", True),
    ]
    facts = [Triple("urn:trowel", USED, "urn:plant"), Triple("urn:spade", USED, "urn:plant")]
    return GraphStore.from_triples(facts, labels, [Relation(USED, "used for", "is used for")])


def answered(question, *candidates, **evidence):
    text = candidates[0].text if candidates else None
    source = candidates[0].source if candidates else Source.NONE
    return Answer(question, text, source, 0.5, tuple(candidates), Evidence(**evidence))


def test_spans_that_are_one_in_korean_are_one_candidate(graph):
    over = KoreanOver(graph)
    glossed = over.gloss(Question("땅을 무엇으로 팠니?", passage=Passage(PASSAGE)))
    text = glossed.english.passage_text
    spans = [Span(text.index(words), text.index("pan") + 3) for words in ("with a", "a frying", "frying")]
    found = [
        Candidate(text[s.start : s.end], Source.PASSAGE, 0.9 - n / 10, span=s) for n, s in enumerate(spans)
    ]
    others = [Candidate("spade", Source.KNOWLEDGE, 0.75, concept=f"urn:spade{n}") for n in range(2)]
    answer = over.answer(answered(glossed.english, found[0], *others, *found[1:]), glossed)
    assert [(c.text, c.score) for c in answer.candidates] == [("프라이팬", 0.9), *[("spade", 0.75)] * 2]


def test_a_span_comes_back_as_the_korean_words_without_their_particle(graph):
    over = KoreanOver(graph)
    glossed = over.gloss(Question("땅을 무엇으로 팠니?", passage=Passage(PASSAGE)))
    assert glossed.english.text == "What did we dig the ground with?"
    at = glossed.english.passage_text.index("with a frying pan")
    span = Span(at, at + len("with a frying pan"))
    given = answered(
        glossed.english, Candidate("with a frying pan", Source.PASSAGE, 0.9, span=span), span=span
    )
    answer = over.answer(given, glossed)
    assert answer.text == "프라이팬" and answer.question == glossed.korean
    assert PASSAGE[answer.evidence.span.start : answer.evidence.span.end] == "프라이팬"


def test_words_that_the_passage_does_not_have_are_no_answer(graph):
    over = KoreanOver(graph)
    glossed = over.gloss(Question("누가 땅을 팠니?", passage=Passage("땅을 팠다.")))
    at = glossed.english.passage_text.index("I")
    made_up = Candidate("I", Source.PASSAGE, 0.9, span=Span(at, at + 1))
    concept = Candidate("trowel", Source.KNOWLEDGE, 0.1, concept="urn:trowel")
    assert [c.text for c in over.answer(answered(glossed.english, made_up, concept), glossed).candidates] == [
        "모종삽"
    ]


def test_concepts_and_paths_are_said_in_korean(graph):
    over = KoreanOver(graph)
    glossed = over.gloss(Question("꽃을 무엇으로 심니?"))
    assert glossed.english.text == "What do you plant flowers with?"
    plant = (glossed.english.text.index("plant"), glossed.english.text.index(" with"))
    subgraph = Subgraph(
        nodes=("urn:trowel", "urn:plant"),
        labels=("trowel", "plant flowers"),
        edges=__import__("numpy").array([[0, 0, 1]], dtype="int32"),
        weights=__import__("numpy").ones(1, dtype="float32"),
        roles=__import__("numpy").zeros(2, dtype="int32"),
        scores=__import__("numpy").ones(2, dtype="float32"),
        relations=tuple(graph.relations),
        links=(Link(NodeRole.QUESTION, *plant, 1), Link(NodeRole.QUESTION, 0, 4, 1)),
    )
    path = EvidencePath((0,), (False,), 1.0)
    candidate = Candidate("trowel", Source.KNOWLEDGE, 0.9, concept="urn:trowel")
    answer = over.answer(answered(glossed.english, candidate, subgraph=subgraph, paths=(path,)), glossed)
    assert answer.text == "모종삽" and answer.evidence.subgraph.labels[0] == "trowel", "it can be read again"
    shown = over.shown(answer)
    links = [glossed.korean.text[link.start : link.end] for link in shown.evidence.subgraph.links]
    assert links == ["꽃을 무엇으로 심니", "무엇"]
    assert path_sentences(shown.evidence, path) == ["모종삽은 꽃을 심는 데 쓴다"]
    fact = answer_json(shown)["evidence"]["paths"][0]["triples"][0]
    assert (fact["head"], fact["relation"], fact["tail"]) == ("모종삽", "쓰임새", "꽃을 심다")


def test_several_things_are_all_said_in_korean(graph):
    over = KoreanOver(graph)
    glossed = over.gloss(Question("땅을 무엇으로 팠니?", passage=Passage(PASSAGE)))
    (node,) = graph.names(graph.find(["trowel"])[0][:1])
    given = answered(glossed.english, Candidate("trowel", Source.KNOWLEDGE, 0.9, concept=node))
    at = glossed.english.passage_text.index("with a frying pan")
    items = (Item("trowel", node), Item("frying pan", span=Span(at, at + len("with a frying pan"))))
    answer = over.answer(replace(given, items=items), glossed)
    assert [item.text for item in answer.items] == [
        "모종삽",
        "프라이팬",
    ] and answer.text == "모종삽, 프라이팬"


def test_choices_are_answered_as_they_were_written(graph):
    over = KoreanOver(graph)
    glossed = over.gloss(Question("꽃을 무엇으로 심니?", ("모종삽", "굴착기")))
    assert glossed.english.choices[0] == "trowel"
    answer = over.answer(answered(glossed.english, Candidate("trowel", Source.CHOICE, 0.9)), glossed)
    assert answer.text == "모종삽"


def test_yes_and_no(graph):
    over = KoreanOver(graph)
    glossed = over.gloss(Question("땅을 팠니?", passage=Passage(PASSAGE)))
    assert over.answer(answered(glossed.english, Candidate("yes", Source.PASSAGE, 0.9)), glossed).text == "네"


def test_a_number_comes_back_with_what_it_counts(graph):
    over, passage = KoreanOver(graph), "커피는 사천오백 원이다."
    glossed = over.gloss(Question("커피는 얼마니?", passage=Passage(passage)))
    words = "four thousand five hundred"
    at = glossed.english.passage_text.index(words)
    assert over._candidate(
        Candidate(words, Source.PASSAGE, 0.9, span=Span(at, at + len(words))), glossed
    ).text == ("사천오백 원")


def test_a_number_of_another_thing_is_no_answer(graph):
    over, passage = KoreanOver(graph), "학생이 스물네 명 있었다. 선생님이 들어오셨다."
    for question, told in (("선생님은 몇 분이셨나요?", None), ("학생이 몇 명 있었나요?", "스물네 명")):
        glossed = over.gloss(Question(question, passage=Passage(passage)))
        at = glossed.english.passage_text.index("twenty-four")
        found = Candidate("twenty-four", Source.PASSAGE, 0.9, span=Span(at, at + 11))
        answer = over.answer(answered(glossed.english, found, span=found.span), glossed)
        assert (answer.text, answer.source is Source.PASSAGE) == (told, told is not None)
        assert [c.text for c in answer.candidates] == ([told] if told else [])


def test_a_question_needs_no_question_mark(graph):
    over = KoreanOver(graph)
    for text in ("땅을 무엇으로 팠니", "땅을 무엇으로 팠어.", "땅을 무엇으로 팠니?! "):
        assert over.gloss(Question(text)).english.text == "What did you dig the ground with?"


def test_what_has_no_korean_label_keeps_its_own(graph):
    assert KoreanOver(graph).labels(["urn:spade", "urn:trowel", "urn:new"], ["spade", "trowel", "new"]) == [
        "spade",
        "모종삽",
        "new",
    ]
    assert KoreanOver(OverlayGraph(graph)).labels(["urn:trowel"], ["trowel"]) == ["모종삽"]


def test_an_english_passage_is_left_as_it_is(graph):
    over = KoreanOver(graph)
    glossed = over.gloss(Question("무엇으로 팠니?", passage=Passage("I dug with a spoon.")))
    assert glossed.english.passage_text == "I dug with a spoon." and glossed.span(13, 18) == Span(13, 18)


def test_what_was_read_of_korean_is_said_without_its_particle() -> None:
    pytest.importorskip("kiwipiepy")
    text = "탑은 파리에서 세워졌다."
    question = Question("탑은 어디에서 세워졌니?", passage=Passage(text))
    told = (
        Candidate("파리에서", Source.PASSAGE, 0.6, span=Span(3, 7)),
        Candidate("파리", Source.PASSAGE, 0.3, span=Span(3, 5)),
    )
    evidence = Evidence(span=Span(3, 7))
    answer = Answer(question, "파리에서", Source.PASSAGE, 0.6, told, evidence)
    said = said_in_korean(answer)
    assert said.text == "파리" and said.evidence.span == Span(3, 5) and len(said.candidates) == 1
    yes = replace(answer, text="yes", candidates=(Candidate("yes", Source.PASSAGE, 0.9),))
    assert said_in_korean(yes).text == "네"
