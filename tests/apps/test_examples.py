"""The gallery's questions have the answers that a visitor expects, from the shipped reader."""

import pytest

from apps.examples import EXAMPLES, GALLERY, KOREAN_GALLERY, SAMPLES, gallery_of
from apps.texts import TEXTS
from kgqa.qa.answerer import Answerer
from kgqa.settings import DEFAULT_READER, GRAPHS, MODELS
from kgqa.types import Passage, Question

EXPECTED = {
    "plant flowers": {"trowel", "spade"},
    "build a house": {"excavator"},
    "clean the carpet": {"vacuum cleaner"},
    "hang a picture": {"hammer"},
    "tighten a screw": {"screwdriver"},
    "a sore tooth": {"dentist"},
    "a leaking pipe": {"plumber"},
    "borrow a book": {"library"},
    "a story": {"his brother"},
    "a recipe": {"twenty minutes", "for twenty minutes"},
    "a dialogue": {"Julia"},
    "a paragraph": {"museums or holiday homes", "museums"},
    "in the passage": {"wooden spoon", "a wooden spoon", "with a wooden spoon"},
    "among choices": {"telescope"},
    "said nowhere": {None},
}


EXPECTED_KOREAN = {
    "꽃 심기": {"모종삽", "삽"},
    "집 짓기": {"굴착기"},
    "카펫 청소": {"진공청소기"},
    "나사 조이기": {"드라이버"},
    "아픈 이": {"치과 의사"},
    "새는 파이프": {"배관공"},
    "책 빌리기": {"도서관"},
    "이야기": {"다리 위"},
    "요리법": {"20분"},
    "글에 있는 답": {"나무 숟가락"},
    "까닭": {"감기에 걸려서"},
    "선택지": {"망원경"},
    "어디에도 없음": {None},
}


def asked(values: tuple[str, str, str]) -> Question:
    passage, question, choices = values
    return Question(question, tuple(choices.split()), Passage(passage))


def test_rows_have_their_words() -> None:
    assert set(GALLERY) <= set(TEXTS["en"]) and list(EXPECTED) == list(EXAMPLES)
    assert {path.stem for path in (GRAPHS / "examples").glob("*.ttl")} == set(SAMPLES)


def test_both_languages_show_the_same_kinds() -> None:
    assert gallery_of("en") is GALLERY and list(gallery_of("ko")) == list(GALLERY)
    assert list(EXPECTED_KOREAN) == [name for group in KOREAN_GALLERY.values() for name in group]


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    if not (MODELS / DEFAULT_READER).exists():
        pytest.skip("no shipped reader here: train one with training/recipes/answer/kgqa-base.toml")
    return Answerer.load()


@pytest.mark.parametrize("name", EXPECTED)
def test_the_shipped_reader_answers_the_gallery(answerer: Answerer, name: str) -> None:
    assert answerer.answer(asked(EXAMPLES[name])).text in EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED_KOREAN)
def test_the_shipped_reader_answers_the_gallery_in_korean(answerer: Answerer, name: str) -> None:
    (values,) = (group[name] for group in KOREAN_GALLERY.values() if name in group)
    assert answerer.answer(asked(values)).text in EXPECTED_KOREAN[name]


def test_a_graph_of_ones_own_is_answered_from(answerer: Answerer) -> None:
    from apps.custom_graphs import uploaded

    path = GRAPHS / "examples" / "beekeeping.ttl"
    graph = uploaded([(path.name, path.read_bytes())])
    assert answerer.with_graph(graph).answer(asked(SAMPLES["beekeeping"])).text == "smoker"


def test_a_table_of_things_is_uploaded_under_its_name() -> None:
    from apps.custom_graphs import uploaded

    graph = uploaded(
        [("Tall ships.csv", b"name,masts\nMoth,3\nWasp,2\n"), ("Tall ships.csv", b"name,crew\nMoth,9\n")]
    )
    assert graph.edge_count == 5 and len(graph.find(["tall ship"])[0]) == 1
    assert [source["file"] for source in graph.manifest["sources"]] == ["Tall ships.csv"] * 2
