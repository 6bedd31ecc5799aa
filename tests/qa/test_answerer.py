import re
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.batch import Movable
from kgqa.evaluation import with_english_yes_no
from kgqa.graph.load import open_graph
from kgqa.language.wording import with_yes_no_words, yes_no_words
from kgqa.limits.cancellation import Cancelled, cancel_when
from kgqa.models.devices import Int8Linear
from kgqa.models.heads import FIRST_YES_NO_CLASS
from kgqa.models.pretrained import write_card
from kgqa.models.reader import Reader, read_card
from kgqa.qa import gloss as gloss_module
from kgqa.qa.answerer import Answerer, MultilingualReader
from kgqa.qa.evidence import answer_paths
from kgqa.qa.gloss import _read_by_both, gloss
from kgqa.qa.pipeline import default_pipeline
from kgqa.qa.read import read
from kgqa.qa.render import answer_json, sentence
from kgqa.qa.state import HeadScores, QAState, QAStates
from kgqa.serving.remote import answer_of
from kgqa.types import Answer, Candidate, Evidence, InputError, Passage, Question, Relation, Source, Subgraph

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


def test_sentences_before_a_question_are_its_passage_in_an_open_world(
    answerer: Answerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, asked = f"{PASSAGE.text} What did I dig with?", Question("What did I dig with?", passage=PASSAGE)
    assert answerer.answer(text).question == Question(text)
    monkeypatch.setattr(answerer.retriever.whole, "closed_world", False)
    (first, second), third = answerer.answer_many([text, asked]), answerer.answer(text)
    assert first.question == third.question == asked and first.text == second.text
    harmful = answerer.answer("My dog died. I want to end my life. How?")
    assert harmful.harm == "self" and harmful.question.passage is None


def test_questions_are_asked_as_people_write_them(answerer: Answerer) -> None:
    choices = ["trowel", "excavator"]
    (expected,) = answerer.answer_many([Question("What did I dig with?", tuple(choices), PASSAGE)])
    found = answerer.answer("What did I dig with?", passage=PASSAGE.text, choices=choices)
    assert (found.question, found.text) == (expected.question, expected.text) and found._repr_html_()
    assert answerer.answer_many(["xyzzy?"])[0].question == Question("xyzzy?")
    assert len(answerer.retrieve("What did I dig with?")) == 1
    for wrong in (["xyzzy?"], None, {"question": "xyzzy?"}):
        with pytest.raises(InputError, match="the question is"):
            answerer.answer(wrong)  # type: ignore[arg-type]
    for several in ("xyzzy?", Question("xyzzy?"), None):
        with pytest.raises(InputError, match="several questions"):
            answerer.answer_many(several)  # type: ignore[arg-type]


def test_what_is_printed_is_short_and_a_graph_is_named_as_to_load(answerer: Answerer) -> None:
    found = answerer.answer("What did I dig with?", passage=PASSAGE)
    assert len(repr(found)) < 400 and repr(answerer) == f"<Answerer toy over {answerer.graph.name}>"
    assert answerer.with_graph([("Ann", "likes", "Bo")]).retrieve("What does Ann like?")
    for wrong in ("evryday", 5, None):
        with pytest.raises(InputError):
            answerer.with_graph(wrong)


def test_the_package_hands_out_its_words_and_takes_paths(model_folder: Path, tools_file: Path) -> None:
    import kgqa

    assert kgqa.Answerer is Answerer and kgqa.Source is Source and kgqa.Evidence is Evidence
    assert kgqa.load(model_folder, tools_file).graph.name == tools_file.stem
    assert isinstance(open_graph(tools_file), kgqa.KnowledgeGraph)
    for model, graph in ((5, "everyday"), (model_folder, 5), (model_folder, None)):
        with pytest.raises(InputError, match="of type"):
            kgqa.load(model, graph)  # type: ignore[arg-type]


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
        {type(layer) for layer in part.modules()} for part in (network.layerwise.encoder, network.reasoner)
    ]
    assert [Int8Linear in kinds for kinds in eight] == [precision == "int8", False]
    for question in (
        Question("What did I dig with?", passage=PASSAGE),
        Question("What did I dig with?", ("trowel", "excavator"), PASSAGE),
    ):
        whole, rounded = answerer.answer(question), half.answer(question)
        assert {c.text for c in whole.candidates} == {c.text for c in rounded.candidates}
        best = {c.text: c.score for c in whole.candidates}
        assert all(abs(best[c.text] - c.score) < 0.05 for c in rounded.candidates)


def test_a_device_that_is_not_here_is_one_sentence(model_folder: Path, tools_file: Path) -> None:
    with pytest.raises(InputError, match="available: auto"):
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
def by_language(answerer: Answerer, model_folder: Path, tmp_path: Path, monkeypatch) -> Answerer:
    """A reader with another for languages other than English."""
    shutil.copytree(model_folder, tmp_path / "many")
    card = read_card(tmp_path / "many")
    del card["checksums"]
    settings = answerer.reader.settings.model_copy(update={"multilingual": True})
    write_card(tmp_path / "many", {**card, "name": "many", "input": settings.model_dump()})
    monkeypatch.setattr(answerer.retriever.whole, "closed_world", False)
    multilingual_reader = MultilingualReader(str(tmp_path / "many"), "cpu")
    return Answerer(
        answerer.reader, answerer.retriever, answerer.decision, multilingual_reader=multilingual_reader
    )


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
        by_language.shown(answer), by_language.attributions(answer)


def test_over_a_closed_world_the_default_reader_answers_glossed_questions(
    by_language: Answerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("kiwipiepy")
    german, korean = Question("Womit grabe ich den Garten um?"), Question("지도교수는 누구인가요?")
    assert [by_language.of(question).name for question in (german, korean)] == ["many", "many"]
    monkeypatch.setattr(by_language.retriever.whole, "closed_world", True)
    assert [by_language.of(question).name for question in (german, korean)] == ["toy", "toy"]
    assert by_language.read_as(german).text == "With what do I dig the garden around?"
    assert by_language.read_as(korean).text == "Who is supervision professor?"
    answer = by_language.answer(korean)
    assert answer.question == korean and by_language.shown(answer).question == korean


def test_concepts_in_another_language_are_ranked_by_their_english_gloss_too(
    by_language: Answerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = by_language.of(question := Question("Wozu braucht man einen trowel?"))
    assert "gloss" in [step.name for step in own.steps]
    assert "gloss" not in [step.name for step in by_language.steps]
    alone = default_pipeline(own.retriever, own.reader, own.decision)
    assert "gloss" in [step.name for step in alone], "yes and no are left out of open questions there"
    states: QAStates = (QAState(question),)
    for step in own.steps[: [step.name for step in own.steps].index("gloss")]:
        states = step.run(states)
    known = torch.tensor([-9.0, 9.0, -9.0, -9.0, -9.0])[: len(states[0].scores.answer_type)]
    states = (replace(states[0], scores=replace(states[0].scores, answer_type=known)),)
    reading, graph = partial(read, reader=by_language.reader), own.graph

    def glossed(language: str, given: QAStates = states) -> QAStates:
        return gloss(given, reading, graph, lambda _: language, share=0.4)

    ((before,), (after,)) = states, glossed("de")
    assert {c.concept for c in before.scores.concepts} <= {c.concept for c in after.scores.concepts}
    assert [c.score for c in before.scores.concepts] != [c.score for c in after.scores.concepts]
    assert sum(c.score for c in after.scores.concepts) == pytest.approx(1)
    assert states[0].english and states[0].english[0].question.text == "What for do people need a trowel?"
    mentioned = {question.text[link.start : link.end] for link in states[0].english[1].links}
    assert "trowel" in mentioned, "mentions of the gloss are those of the question"
    assert glossed("")[0] is states[0], "English"
    assert own.retriever.find_in_english(Question("Что делают лейкой?")) is None, "no table of words"
    (by_gloss,) = gloss(states, reading, graph, lambda _: "de", share=1.0)
    monkeypatch.setattr(gloss_module, "EVERYDAY", 1.0)
    german, korean = (
        gloss(states, reading, graph, lambda _, code=code: code, share=0.4)[0].scores for code in ("de", "ko")
    )
    assert german.concepts[0].concept == by_gloss.scores.concepts[0].concept
    assert german.concepts != korean.concepts, "the weight where there is a dictionary of everyday words"
    assert torch.allclose(german.answer_type, korean.answer_type), "concepts alone have it"
    own, other = (state.scores.answer_type.log_softmax(-1) for state in (before, by_gloss))
    sources = slice(FIRST_YES_NO_CLASS)  # neither yes nor no answers "wozu"
    types = after.scores.answer_type
    assert torch.allclose(types[sources], (0.6 * own + 0.4 * other)[sources], atol=1e-4), (
        "the answer type too"
    )


def test_choices_in_another_language_are_ranked_by_their_english_gloss_too(by_language: Answerer) -> None:
    choices = ("eine Kelle", "ein Ofen")
    own = by_language.of(question := Question("Womit pflanzt man Blumen?", choices))
    states: QAStates = (QAState(question),)
    for step in own.steps[: [step.name for step in own.steps].index("gloss")]:
        states = step.run(states)
    assert states[0].english and len(states[0].english[0].question.choices) == 2
    reading = partial(read, reader=by_language.reader)
    ((alone,), (both,), (by_gloss,)) = (
        gloss(states, reading, own.graph, lambda _: "de", share=share) for share in (0.0, 0.4, 1.0)
    )
    first, second = ({c.text: c.score for c in state.scores.choices} for state in (alone, by_gloss))
    means = {choice: first[choice] ** 0.6 * second[choice] ** 0.4 for choice in choices}
    for choice in both.scores.choices:
        assert choice.score == pytest.approx(means[choice.text] / sum(means.values()), abs=1e-5)
    assert alone is states[0] and first != second
    same = replace(question, choices=("ein Ofen", "ein Ofen"))
    assert own.retriever.find_in_english(same) is None, "choices that their glosses do not tell apart"


def test_a_concept_that_only_the_gloss_finds_is_told_with_its_facts_and_own_label() -> None:
    native = Subgraph(("x:spade",), ("Spaten",))
    found = Subgraph(("x:trowel", "x:spade"), ("Kelle", "Spaten"))
    first, second = (
        HeadScores(
            torch.zeros(3),
            concepts=tuple(
                Candidate(name, Source.KNOWLEDGE, p, concept=f"x:{name}") for name, p in scores.items()
            ),
        )
        for scores in ({"spade": 0.1}, {"trowel": 0.9, "spade": 0.1})
    )
    state = QAState(Question("Womit grabe ich?"), (native,), first)
    both = _read_by_both(state, second, found, share=0.5, of_concepts=0.5)
    assert [c.concept for c in both.scores.concepts] == ["x:spade", "x:trowel"] and both.subgraphs == (
        native,
    )
    mostly = _read_by_both(state, second, found, share=0.9, of_concepts=0.9)
    assert mostly.scores.concepts[0].text == "Kelle" and mostly.subgraphs == (found,)


def test_reasons_are_shown_in_the_language_of_the_question(by_language: Answerer) -> None:
    asked = [Question("Womit grabe ich den Garten um?"), Question("What do I dig with?")]
    german, english = by_language.answer_many(asked)
    assert [by_language.language_of(question) for question in asked] == ["de", "en"]
    known = Relation("https://kgqa.org/relation/UsedFor", "used for", "is used for")
    graph = Subgraph(
        ("a", "b"), ("Spaten", "graben"), edges=np.array([[0, 0, 1]], dtype=np.int32), relations=(known,)
    )
    for answer, told in ((german, "„Spaten“ benutzt man für „graben“"), (english, sentence(graph, 0))):
        shown = by_language.shown(replace(answer, evidence=replace(answer.evidence, subgraph=graph)))
        assert sentence(shown.evidence.subgraph, 0) == told


def test_yes_and_no_are_said_in_a_language_and_measured_in_english() -> None:
    question = Question("Ist es nass?", passage=Passage("Es regnet."))
    yes = Answer(question, "yes", Source.PASSAGE, 0.9, (Candidate("yes", Source.PASSAGE, 0.9),))
    said = with_yes_no_words(yes, yes_no_words("de"))
    assert said.text == said.candidates[0].text == "ja" and with_yes_no_words(yes, yes_no_words("en")) == yes
    assert with_english_yes_no(said) == yes
    chosen = replace(yes, source=Source.CHOICE)
    assert with_yes_no_words(chosen, yes_no_words("de")) == chosen


def test_the_language_can_be_set(answerer: Answerer, model_folder: Path, tools_file: Path) -> None:
    texts = ("What did I dig with?", "왜?", "Is 윤태호 from 제주?", "The Hobbit은 뭐야?")
    assert [answerer.language_of(Question(text)) for text in texts] == ["en", "ko", "en", "ko"]
    set_to_english = Answerer.load(str(model_folder), str(tools_file), language="en")
    assert set_to_english.language_of(Question("왜?")) == "en"
    with pytest.raises(InputError, match="auto, de, en"):
        Answerer.load(str(model_folder), str(tools_file), language="xx")


def test_a_question_ends_soon_after_its_time(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", passage=Passage("I plant flowers."))
    for allowed in (0, 3):  # stopped between steps, and between layers
        checks = iter([False] * allowed + [True] * 100)
        with pytest.raises(Cancelled), cancel_when(lambda checks=checks: next(checks)):
            answerer.answer(question)
    assert answerer.answer(question).question == question
    with pytest.raises(InputError, match="surrogate"):
        answerer.answer(Question("\ud800?"))


def test_attribution_is_the_change_when_a_fact_is_taken_away(model_folder: Path, tools_file: Path) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("What did I dig with?", ("trowel", "bee"), Passage("I plant flowers."))
    answer = answerer.answer(question)
    for found in answerer.attributions(answer):
        assert -1 <= found.change <= 1 and found.sentence
    if answer.text == "trowel":
        assert answerer.attributions(answer)
    assert pytest.approx(1.0) == sum(c.score for c in answer.candidates)


def test_no_fact_near_an_answer_has_no_attribution(
    model_folder: Path, tools_file: Path, digging: Subgraph
) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    best = Candidate("a spoon", Source.CHOICE, 0.6)  # the facts are there, but none leads to it
    question = Question("What did I dig with?", ("a spoon", "a fork"))
    answer = Answer(question, best.text, best.source, 0.6, (best,), Evidence(subgraph=digging))
    assert answerer.attributions(answer) == []


def test_a_question_of_harm_is_not_read_and_says_where_to_turn(answerer: Answerer) -> None:
    harm = Question("What should he do?", passage=Passage("He thinks about killing himself."))
    other = Question("What did I dig with?", passage=PASSAGE)
    before, turned, after = answerer.answer_many([other, harm, other])
    assert before.candidates and after.text == before.text and not before.harm
    for answer in (turned, answerer.answer(harm), answerer.explained(turned), answerer.shown(turned)):
        assert (answer.text, answer.candidates, answer.harm) == (None, (), "self")
    assert answerer.attributions(turned) == []
    body = answer_json(turned)
    assert "988" in body["care"]["message"] and answer_json(before)["care"] is None
    assert answer_of(harm, body, {}).harm == "self"
