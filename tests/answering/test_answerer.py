import re
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.answering.answerer import Answerer, Foreign
from kgqa.answering.evidence.paths import answer_paths
from kgqa.batch import Movable
from kgqa.graph.opening import open_graph
from kgqa.limits.stopping import Stopped, until
from kgqa.models.eight_bits import EightBitLinear
from kgqa.models.pretrained import write_card
from kgqa.models.reader import Reader, read_card
from kgqa.types import Answer, Candidate, Evidence, InputError, Passage, Question, Source, Subgraph

PASSAGE = Passage("I want to plant flowers so I dug the ground.")


@pytest.fixture
def answerer(model_folder: Path, tools_file: Path) -> Answerer:
    return Answerer.load(str(model_folder), str(tools_file))


def test_every_kind_of_question_gets_an_answer_with_its_parts(answerer: Answerer) -> None:
    questions = [
        Question("What did I dig with?", passage=PASSAGE, id="open"),
        Question("What did I dig with?", ("trowel", "excavator"), PASSAGE),
        Question("xyzzy?"),
    ]
    opened, chosen, unknown = answerer.answer_many(questions)
    assert opened.question.id == "open" and opened.candidates and 0 <= opened.confidence <= 1
    assert chosen.source is Source.CHOICE and chosen.text in ("trowel", "excavator")
    assert abs(sum(c.score for c in chosen.candidates) - 1) < 1e-5
    assert unknown.source in set(Source)
    assert opened.model == "toy" and opened.timing_ms["total"] > 0


@pytest.mark.parametrize("name", ["everyday", "conceptnet", "mine"])
def test_what_a_graph_is_called_changes_no_answer(answerer: Answerer, tools_file: Path, name: str) -> None:
    path = tools_file.with_name(f"{name}.ttl")
    path.write_bytes(tools_file.read_bytes())
    renamed = answerer.with_graph(open_graph(path))
    assert renamed.graph.name == name != answerer.graph.name
    questions = [
        Question("What did I dig with?", passage=PASSAGE),
        Question("Is a trowel used to build a house?"),
        Question("Who sails the Kestrel?"),
    ]
    for before, after in zip(answerer.answer_many(questions), renamed.answer_many(questions), strict=True):
        assert (before.text, before.confidence, before.candidates) == (
            after.text,
            after.confidence,
            after.candidates,
        )


@pytest.mark.parametrize(
    "written",
    [
        lambda text: "\n".join([*text.splitlines()[:2], *reversed(text.splitlines()[2:])]),
        lambda text: text.replace("http://example.org/", "http://elsewhere.example/things#"),
        lambda text: re.sub(
            r'label "([^"]+)"', lambda label: label[0].upper().replace("LABEL", "label"), text
        ),
        lambda text: text + 'ex:quill rdfs:label "Zorvan Quillet" ; ex:mooredBeside ex:umbrix .',
    ],
    ids=["order", "prefix", "capitals", "unrelated"],
)
def test_how_a_graph_is_written_changes_no_answer(
    answerer: Answerer, tools_file: Path, written: Callable[[str], str]
) -> None:
    path = tools_file.with_name("other.ttl")
    path.write_text(written(tools_file.read_text()))
    other = answerer.with_graph(open_graph(path))
    for question in (Question("What did I dig with?", passage=PASSAGE), Question("Who sails the Kestrel?")):
        before, after = answerer.answer(question), other.answer(question)
        assert (before.text or "").casefold() == (after.text or "").casefold()
        assert before.source is after.source


def test_a_batch_answers_as_one_by_one(answerer: Answerer) -> None:
    questions = [Question("What did I dig with?", passage=PASSAGE), Question("Where is the house?")]
    for one, many in zip(map(answerer.answer, questions), answerer.answer_many(questions), strict=True):
        assert one.text == many.text and abs(one.confidence - many.confidence) < 1e-4


def test_a_knowledge_answer_cites_a_path_to_it(answerer: Answerer) -> None:
    answer = answerer.answer(Question("What did I dig with?", passage=PASSAGE))
    for candidate in [c for c in answer.candidates if c.text == "trowel"]:
        (path, *_) = answer_paths(candidate, answerer.retrieve(answer.question)[0])
        triples = [answerer.retrieve(answer.question)[0].triple(step) for step in path.steps]
        assert triples[0].head == candidate.concept and triples[0].relation.endswith("usedFor")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (Question("  "), "empty"),
        (Question("why " * 1000), "characters"),
        (Question("why", passage=Passage("x" * 1_000_000)), "1,000,000"),
        (Question("why", tuple("abcdefghijklmnopqrstuvwxyz")), "choices"),
        (Question("why", ("a", " ")), "choice is empty"),
    ],
)
def test_bad_questions_end_in_one_line(answerer: Answerer, question: Question, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        answerer.answer(question)
    assert "\n" not in str(error.value)


def test_a_word_with_a_slip_is_linked_to_the_nearest_label(answerer: Answerer) -> None:
    (subgraph,) = answerer.retrieve(Question("Where is the excavater?"))
    assert "excavator" in subgraph.labels
    assert "excavator" in answerer.with_graph(answerer.graph).retrieve(Question("excavater"))[0].labels


class Elsewhere(torch.Tensor):
    """A tensor of another device, as far as that can be played on the CPU: numpy cannot read it."""

    def numpy(self, *, force: bool = False) -> np.ndarray:
        raise TypeError("a tensor of another device cannot be read by numpy")


def test_a_reader_on_another_device_answers_the_same(
    answerer: Answerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = [
        Question("What did I dig with?", passage=PASSAGE),
        Question("What did I dig with?", ("trowel", "excavator"), PASSAGE),
    ]
    expected = [answerer.answer(question) for question in questions]
    went: list[str] = []

    def to(batch: Movable, device: str, non_blocking: bool = False) -> Movable:
        went.append(str(device))
        kind = torch.Tensor if device == "cpu" else Elsewhere
        values = {item.name: getattr(batch, item.name) for item in fields(batch)}  # type: ignore[arg-type]
        moved = {n: v.as_subclass(kind) for n, v in values.items() if isinstance(v, torch.Tensor)}
        moved |= {n: v.to(device) for n, v in values.items() if isinstance(v, Movable)}
        return replace(batch, **moved)  # type: ignore[type-var]

    monkeypatch.setattr(Movable, "to", to)
    monkeypatch.setattr(Reader, "device", "elsewhere")
    for question, before in zip(questions, expected, strict=True):
        after = answerer.answer(question)
        assert after.text == before.text and abs(after.confidence - before.confidence) < 1e-5
        assert after.evidence.paths == before.evidence.paths
    assert {"elsewhere", "cpu"} <= set(went)


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_lighter_matrices_change_an_answer_little(
    answerer: Answerer, model_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    if precision == "int8" and not torch.cpu.get_capabilities().get("avx2"):
        pytest.skip("no AVX2 here")
    monkeypatch.setenv("KGQA_PRECISION", precision)
    half = Answerer.load(str(model_folder), str(tools_file))
    assert half.reader.precision == precision and answerer.reader.precision == "fp32"
    network = half.reader.network
    eight = [
        {type(layer) for layer in part.modules()} for part in (network.stepper.encoder, network.reasoner)
    ]
    assert [EightBitLinear in kinds for kinds in eight] == [precision == "int8", False]
    for question in (
        Question("What did I dig with?", passage=PASSAGE),
        Question("What did I dig with?", ("trowel", "excavator"), PASSAGE),
    ):
        whole, rounded = answerer.answer(question), half.answer(question)
        assert {c.text for c in whole.candidates} == {c.text for c in rounded.candidates}
        best = {c.text: c.score for c in whole.candidates}
        assert all(abs(best[c.text] - c.score) < 0.05 for c in rounded.candidates)


def test_a_device_that_is_not_here_is_one_sentence(model_folder: Path, tools_file: Path) -> None:
    with pytest.raises(InputError, match="here are auto"):
        Answerer.load(str(model_folder), str(tools_file), device="typewriter")


def test_a_korean_question_is_answered_in_korean_words(answerer: Answerer) -> None:
    pytest.importorskip("kiwipiepy")
    passage = Passage("꽃을 심으려고 삽으로 땅을 팠다.")
    question = Question("땅을 무엇으로 팠니?", passage=passage, id="ko")
    answer = answerer.answer(question)
    assert answer.question == question
    for candidate in answer.candidates:
        if candidate.span is not None:
            assert passage.text[candidate.span.start : candidate.span.end] == candidate.text
    assert answerer.shown(answer).question == question
    chosen = answerer.answer(Question("땅을 무엇으로 팠니?", ("모종삽", "굴착기"), passage))
    assert chosen.text in ("모종삽", "굴착기")


@pytest.fixture
def by_language(answerer: Answerer, model_folder: Path, tmp_path: Path) -> Answerer:
    """A reader with another for languages other than English."""
    shutil.copytree(model_folder, tmp_path / "many")
    card = read_card(tmp_path / "many")
    del card["checksums"]
    settings = answerer.reader.settings.model_copy(update={"multilingual": True})
    write_card(tmp_path / "many", {**card, "name": "many", "reading": settings.model_dump()})
    foreign = Foreign(str(tmp_path / "many"), "cpu")
    return Answerer(answerer.reader, answerer.retriever, answerer.decision, foreign=foreign)


def test_questions_go_to_the_reader_of_their_language(by_language: Answerer) -> None:
    pytest.importorskip("kiwipiepy")
    passage = Passage("꽃을 심으려고 삽으로 땅을 팠다.")
    asked = [
        Question("땅을 무엇으로 팠니?", passage=passage),
        Question("What did I dig with?", passage=PASSAGE),
        Question("Womit grabe ich den Garten um?"),
    ]
    answers = by_language.answer_many(asked)
    assert [answer.model for answer in answers] == ["many", "toy", "many"]
    assert [answer.question for answer in answers] == asked
    assert [by_language.answer(question).text for question in asked] == [answer.text for answer in answers]
    assert by_language.with_edits().answer(asked[0]).model == "many"
    for candidate in answers[0].candidates:
        if candidate.span is not None:  # read as it stands, and not of a translation
            assert passage.text[slice(*candidate.span)] == candidate.text
    assert by_language.read_as(asked[0]) == asked[0]
    assert by_language.explained(answers[2]).question == asked[2]
    for answer in answers:
        by_language.shown(answer), by_language.influences(answer)


def test_the_language_can_be_set(answerer: Answerer, model_folder: Path, tools_file: Path) -> None:
    english = Question("What did I dig with?")
    assert not answerer.is_korean(english) and answerer.is_korean(Question("왜?"))
    assert not answerer.is_korean(Question("Is 윤태호 from 제주?"))
    assert answerer.is_korean(Question("The Hobbit은 뭐야?"))
    set_to_english = Answerer.load(str(model_folder), str(tools_file), language="en")
    assert not set_to_english.is_korean(Question("왜?"))
    with pytest.raises(InputError, match="auto, en, ko"):
        Answerer.load(str(model_folder), str(tools_file), language="fr")


def test_a_question_ends_soon_after_its_time(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", passage=Passage("I plant flowers."))
    for allowed in (0, 3):  # stopped between stages, and between layers
        checks = iter([False] * allowed + [True] * 100)
        with pytest.raises(Stopped), until(lambda checks=checks: next(checks)):
            answerer.answer(question)
    assert answerer.answer(question).question == question
    with pytest.raises(InputError, match="surrogate"):
        answerer.answer(Question("\ud800?"))


def test_influence_is_the_change_when_a_fact_is_taken_away(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", ("trowel", "bee"), Passage("I plant flowers."))
    answer = answerer.answer(question)
    for found in answerer.influences(answer):
        assert -1 <= found.change <= 1 and found.sentence
    if answer.text == "trowel":
        assert answerer.influences(answer)
    assert pytest.approx(1.0) == sum(c.score for c in answer.candidates)


def test_no_fact_near_an_answer_has_no_influence(
    model_folder: Path, tools_file: Path, digging: Subgraph
) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    best = Candidate("a spoon", Source.CHOICE, 0.6)  # the facts are there, but none leads to it
    question = Question("What did I dig with?", ("a spoon", "a fork"))
    answer = Answer(question, best.text, best.source, 0.6, (best,), Evidence(subgraph=digging))
    assert answerer.influences(answer) == []
